//! Pods and what makes them: a change of a pod is a change of its owner's template.

use serde_json::Value;

use super::object::{Named, saved};
use super::{edit_list, to_yaml};
use crate::fix::captured::Captured;
use crate::fix::change::{Action, Applied, HandOver, Place, Refused};
use crate::fix::write::beside;

/// A pod's owner, and what stands above it.
struct Owner {
    named: Named,
    /// What sets the owner back: an operator, a helm release.
    above: Vec<String>,
    generation: Option<i64>,
}

/// `NAMESPACE/NAME`, as rules write it, also with `pod/` before it.
fn pod_of(text: &str) -> Result<Named, Refused> {
    let text = text.strip_prefix("pod/").unwrap_or(text);
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => {
            Ok(Named::new("Pod", Some(namespace), name))
        }
        _ => Err(Refused::new(format!(
            "{text:?} is no NAMESPACE/NAME of a pod"
        ))),
    }
}

/// Reads the spec of a pod.
pub(super) fn spec(state: &mut Captured, pod: &str) -> Result<Value, Refused> {
    let named = pod_of(pod)?;
    let object = named.read(state).ok_or_else(|| {
        Refused::new(format!(
            "{named} is not in {}, so nothing can be shown about it",
            named.entry()
        ))
    })?;
    Ok(object.get("spec").cloned().unwrap_or_default())
}

/// Merges a delta into the spec of a pod, of its siblings and of their owner's template.
pub(super) fn change(
    state: &mut Captured,
    pod: &str,
    delta: &Value,
    title: &str,
) -> Result<Applied, Refused> {
    let named = pod_of(pod)?;
    spec(state, pod)?;
    let owner = owner(state, &named);
    let path = named.entry();
    let mut pods = Vec::new();
    let siblings = owner.as_ref().map(|owner| owner.named.clone());
    edit_list(state, &path, |items| {
        for item in items {
            let own = named.is(item);
            let same = siblings.as_ref().is_some_and(|owner| made_by(item, owner));
            if own || same {
                merge_spec(&mut item["spec"], delta);
                pods.extend(item["metadata"]["name"].as_str().map(str::to_owned));
            }
        }
        Ok(())
    })?;
    let mut changed = vec![path];
    if let Some(owner) = &owner
        && owner.named.read(state).is_some()
    {
        owner.named.edit(state, |item| {
            if let Some(spec) = item.pointer_mut("/spec/template/spec") {
                merge_spec(spec, delta);
            }
            Ok(())
        })?;
        changed.push(owner.named.entry());
    }
    told(&named, owner, delta, title, &pods, changed)
}

fn told(
    pod: &Named,
    owner: Option<Owner>,
    delta: &Value,
    title: &str,
    pods: &[String],
    changed: Vec<String>,
) -> Result<Applied, Refused> {
    let mut applied = Applied {
        title: format!("{title} of {pod}"),
        changed,
        simulated: true,
        ..Applied::default()
    };
    let Some(owner) = owner else {
        applied.files.push(HandOver {
            name: format!("{}.yaml", pod.file()),
            content: to_yaml(&serde_json::json!({"spec": delta}))?,
            what: format!("the fields to change in the manifest of {pod}"),
        });
        applied.actions.push(by_hand(pod));
        return Ok(applied);
    };
    let name = format!("{}.yaml", owner.named.file());
    applied.files.push(HandOver {
        name: name.clone(),
        content: to_yaml(&serde_json::json!({"spec": {"template": {"spec": delta}}}))?,
        what: format!("the fields to change in the template of {}", owner.named),
    });
    applied.assumes = owner.above.iter().map(|above| format!(
        "{above} does not set {} back; where it does, put the same there, or its next run takes the change back", owner.named
    )).collect();
    applied.actions.push(patch(&owner, &name, pods));
    Ok(applied)
}

fn patch(owner: &Owner, file: &str, pods: &[String]) -> Action {
    let target = owner.named.target();
    let patch = format!(
        "kubectl patch {target} --type strategic --patch-file {}",
        beside(file)
    );
    let saved = saved(&format!("{}.yaml", owner.named.file()));
    let rolls = ["Deployment", "DaemonSet", "StatefulSet"].contains(&owner.named.kind.as_str());
    Action {
        text: format!("Change the template of {}.", owner.named),
        place: Place::Cluster,
        guard: owner.generation.map(|generation| {
            (
                format!("[ \"$(kubectl get {target} -o jsonpath='{{.metadata.generation}}')\" = {generation} ]"),
                format!("{} is still at generation {generation}", owner.named),
            )
        }),
        dry_run: Some(format!("{patch} --dry-run=server -o yaml")),
        backup: Vec::new(),
        command: Some(format!("{}\n{patch}", owner.named.save(&format!("{}.yaml", owner.named.file())))),
        expect: if rolls {
            format!("'kubectl rollout status {target}' ends with \"successfully rolled out\".")
        } else {
            "The next pods have the change; those that run keep their template.".into()
        },
        roll_back: if rolls {
            format!("kubectl rollout undo {target}")
        } else {
            format!("kubectl replace -f {saved}")
        },
        interrupts: if rolls {
            format!("The pods are replaced one after another: {}.", some(pods))
        } else {
            "Nothing that runs; delete the failed pods so that new ones are made.".into()
        },
    }
}

fn by_hand(pod: &Named) -> Action {
    let target = pod.target();
    Action {
        text: format!(
            "{pod} has no owner that would make it again: change the manifest that it was made from, delete the pod and create it anew."
        ),
        place: Place::Hands,
        guard: None,
        dry_run: None,
        backup: Vec::new(),
        command: Some(format!(
            "kubectl get {target} -o yaml > pod-before.yaml; kubectl delete {target}; kubectl apply -f MANIFEST"
        )),
        expect: "The pod runs.".into(),
        roll_back: "The same with the manifest as it was.".into(),
        interrupts: format!("The pod {} itself.", pod.name),
    }
}

fn some(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let more = names.len().saturating_sub(SHOWN);
    let mut text = names[..names.len() - more].join(", ");
    if more > 0 {
        text.extend([" and ", &more.to_string(), " more"]);
    }
    text
}

fn controller(item: &Value) -> Option<(String, String)> {
    let owners = item.pointer("/metadata/ownerReferences")?.as_array()?;
    let own = owners
        .iter()
        .find(|one| one["controller"] == true)
        .or(owners.first())?;
    Some((
        own.get("kind")?.as_str()?.to_owned(),
        own.get("name")?.as_str()?.to_owned(),
    ))
}

/// The workload behind a pod; a replica set stands for its deployment.
fn workload_of(item: &Value) -> Option<(String, String)> {
    let (kind, name) = controller(item)?;
    match (kind.as_str(), name.rsplit_once('-')) {
        ("ReplicaSet", Some((deployment, _))) => Some(("Deployment".into(), deployment.to_owned())),
        ("Node", _) => None,
        _ => Some((kind, name)),
    }
}

fn made_by(item: &Value, owner: &Named) -> bool {
    workload_of(item).is_some_and(|(kind, name)| kind == owner.kind && name == owner.name)
}

fn owner(state: &mut Captured, pod: &Named) -> Option<Owner> {
    let (kind, name) = workload_of(&pod.read(state)?)?;
    let named = Named::new(&kind, pod.namespace.as_deref(), &name);
    let object = named.read(state).unwrap_or_default();
    let mut above = Vec::new();
    above.extend(controller(&object).map(|(kind, name)| format!("{kind} {name}")));
    let release = object.pointer("/metadata/annotations/meta.helm.sh~1release-name");
    above.extend(
        release
            .and_then(Value::as_str)
            .map(|name| format!("helm release {name}")),
    );
    Some(Owner {
        named,
        above,
        generation: object
            .pointer("/metadata/generation")
            .and_then(Value::as_i64),
    })
}

/// Merges as `kubectl patch --type strategic` does with the lists of a pod: by name or mount path, else added.
fn merge_spec(into: &mut Value, delta: &Value) {
    match (into, delta) {
        (Value::Object(into), Value::Object(delta)) => {
            for (key, value) in delta {
                if value.is_null() {
                    into.remove(key);
                } else {
                    merge_spec(into.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (Value::Array(into), Value::Array(delta)) => {
            for item in delta {
                let key = ["name", "mountPath"]
                    .into_iter()
                    .find(|key| item.get(key).is_some());
                let same = |old: &Value| key.is_some_and(|key| old.get(key) == item.get(key));
                match into.iter().position(same) {
                    Some(at) => merge_spec(&mut into[at], item),
                    None if into.contains(item) => {}
                    None => into.push(item.clone()),
                }
            }
        }
        (into, delta) => *into = delta.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_merge_by_name_and_tolerations_are_added() {
        let mut spec =
            json!({"containers": [{"name": "a", "image": "x"}], "tolerations": [{"key": "k"}]});
        merge_spec(
            &mut spec,
            &json!({"containers": [{"name": "a", "env": [{"name": "E", "value": "1"}]}], "tolerations": [{"key": "g"}], "nodeSelector": null}),
        );
        assert_eq!(
            spec,
            json!({"containers": [{"name": "a", "image": "x", "env": [{"name": "E", "value": "1"}]}], "tolerations": [{"key": "k"}, {"key": "g"}]})
        );
    }

    #[test]
    fn a_pod_of_a_replica_set_belongs_to_its_deployment() {
        let pod = json!({"metadata": {"ownerReferences": [{"kind": "ReplicaSet", "name": "web-5d9c", "controller": true}]}});
        assert_eq!(workload_of(&pod), Some(("Deployment".into(), "web".into())));
    }
}
