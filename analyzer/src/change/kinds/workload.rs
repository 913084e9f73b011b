//! Pods and what makes them: a change of a pod is a change of its owner's template.

use serde_json::{Value, json};

use super::object::Named;
use super::pod_merge::merge as merge_spec;
use super::workload_steps::told;
use super::{edit_list, merge};
use crate::change::captured::Captured;
use crate::change::{Applied, Refused};

/// A pod's owner, and what stands above it.
pub(super) struct Owner {
    pub(super) named: Named,
    /// What sets the owner back: an operator, a helm release.
    pub(super) above: Vec<String>,
    /// That which does so at once: an operator, by the object that it works from or by its name.
    pub(super) kept_by: Option<String>,
    /// The owner itself was collected, so that what stands above it is known.
    pub(super) collected: bool,
    /// What tells that the owner is still the captured one: a path in the object, and what is there.
    pub(super) known_by: Option<(&'static str, String)>,
    /// New pods are made only when somebody deletes the old ones.
    pub(super) on_delete: bool,
}

/// The pods that a change is about.
#[derive(Default)]
pub(super) struct Pods {
    pub(super) names: Vec<String>,
    /// A container of one of them has run, so that there is something to lose.
    pub(super) ran: bool,
    /// Those of which none has run: name, and uid where it was collected.
    pub(super) waiting: Vec<(String, Option<String>)>,
}

impl Pods {
    fn add(&mut self, pod: &Value) {
        let text = |field: &str| pod["metadata"][field].as_str().map(str::to_owned);
        let Some(name) = text("name") else { return };
        match has_run(pod) {
            true => self.ran = true,
            false => self.waiting.push((name.clone(), text("uid"))),
        }
        self.names.push(name);
    }
}

/// `NAMESPACE/NAME`, as rules write it, also with `pod/` before it.
pub(super) fn pod_of(text: &str) -> Result<Named, Refused> {
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
    change_all(state, pod, &json!({"spec": delta}), title)
}

/// The same with fields of the pod's metadata beside its spec.
pub(super) fn change_all(
    state: &mut Captured,
    pod: &str,
    delta: &Value,
    title: &str,
) -> Result<Applied, Refused> {
    let named = pod_of(pod)?;
    spec(state, pod)?;
    let owner = owner(state, &named);
    named.check()?;
    owner.as_ref().map_or(Ok(()), |owner| owner.named.check())?;
    let path = named.entry();
    let mut pods = Pods::default();
    let siblings = owner.as_ref().map(|owner| owner.named.clone());
    edit_list(state, &path, |items| {
        for item in items {
            let own = named.is(item);
            let same = siblings.as_ref().is_some_and(|owner| made_by(item, owner));
            if own || same {
                merge_pod(item, delta);
                pods.add(item);
            }
        }
        Ok(())
    })?;
    let mut changed = vec![path];
    if let Some(owner) = &owner
        && owner.named.read(state).is_some()
    {
        owner.named.edit(state, |item| {
            if let Some(template) = item.pointer_mut("/spec/template") {
                merge_pod(template, delta);
            }
            Ok(())
        })?;
        changed.push(owner.named.entry());
    }
    told(state, &named, owner, delta, title, &pods, changed)
}

/// Whether a container of a pod runs or has run; a pod without a state may have.
fn has_run(pod: &Value) -> bool {
    let Some(status) = pod
        .get("status")
        .filter(|status| status.get("phase").is_some())
    else {
        return true;
    };
    let all = status.get("containerStatuses").and_then(Value::as_array);
    let ran = |one: &Value| {
        [
            "/state/running",
            "/state/terminated",
            "/lastState/terminated",
        ]
        .iter()
        .any(|path| one.pointer(path).is_some())
    };
    all.is_some_and(|all| all.iter().any(ran)) || status["phase"] != "Pending"
}

/// A pod or a template, with the fields merged in.
fn merge_pod(pod: &mut Value, delta: &Value) {
    if let Some(metadata) = delta.get("metadata") {
        merge(&mut pod["metadata"], metadata);
    }
    if let Some(spec) = delta.get("spec").filter(|_| pod.get("spec").is_some()) {
        merge_spec(&mut pod["spec"], spec);
    }
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

pub(super) fn owner(state: &mut Captured, pod: &Named) -> Option<Owner> {
    let pod_object = pod.read(state)?;
    let (kind, name) = workload_of(&pod_object)?;
    let named = Named::new(&kind, pod.namespace.as_deref(), &name);
    let object = named.read(state);
    let text = |object: &Value, path: &str| {
        let value = object.pointer(path);
        value.and_then(Value::as_str).map(str::to_owned)
    };
    let mut above = Vec::new();
    let mut kept_by = None;
    if let Some(object) = &object {
        kept_by = controller(object).map(|(kind, name)| format!("{kind} {name}"));
        above.extend(kept_by.clone());
        let release = text(object, "/metadata/annotations/meta.helm.sh~1release-name");
        above.extend(release.map(|name| format!("helm release {name}")));
    }
    // An operator that labels what it makes is known from the pod alone.
    let manager = text(
        &pod_object,
        "/metadata/labels/app.kubernetes.io~1managed-by",
    );
    let manager = manager.filter(|name| above.is_empty() && name != "Helm");
    let manager = manager.map(|name| format!("the operator {name}"));
    above.extend(manager.clone());
    let generation = object
        .as_ref()
        .and_then(|object| object.pointer("/metadata/generation")?.as_i64());
    let uid = || {
        let own = pod_object
            .pointer("/metadata/ownerReferences")?
            .as_array()?;
        let own = own
            .iter()
            .find(|one| one["kind"] == kind.as_str() && one["name"] == name.as_str())?;
        text(own, "/uid")
    };
    Some(Owner {
        named,
        above,
        kept_by: kept_by.or(manager),
        collected: object.is_some(),
        known_by: generation
            .map(|generation| ("{.metadata.generation}", generation.to_string()))
            .or_else(|| Some(("{.metadata.uid}", uid()?))),
        on_delete: object
            .and_then(|object| text(&object, "/spec/updateStrategy/type"))
            .is_some_and(|strategy| strategy == "OnDelete"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_of_a_replica_set_belongs_to_its_deployment() {
        let pod = json!({"metadata": {"ownerReferences": [{"kind": "ReplicaSet", "name": "web-5d9c", "controller": true}]}});
        assert_eq!(workload_of(&pod), Some(("Deployment".into(), "web".into())));
    }

    #[test]
    fn a_pod_that_waits_for_its_first_start_has_nothing_to_lose() {
        let waits = json!({"state": {"waiting": {"reason": "ContainerCreating"}}});
        let ended = json!({"state": {"waiting": {}}, "lastState": {"terminated": {"exitCode": 1}}});
        let pod = |phase: &str, all: &[&Value]| json!({"status": {"phase": phase, "containerStatuses": all}});
        assert!(!has_run(&json!({"status": {"phase": "Pending"}})));
        assert!(!has_run(&pod("Pending", &[&waits])));
        assert!(has_run(&pod("Pending", &[&waits, &ended])));
        assert!(has_run(&pod("Running", &[])));
        assert!(has_run(&json!({"metadata": {}})));
    }
}
