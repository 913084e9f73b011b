//! What a person does to change the pods of a workload.

use serde_json::{Value, json};

use super::object::{Named, differs, saved};
use super::to_yaml;
use super::workload::Owner;
use crate::fix::change::{Action, Applied, HandOver, Place, Refused, quoted};
use crate::fix::write::beside;

/// Kinds whose controller replaces pods when the template changes.
const ROLLING: [&str; 3] = ["Deployment", "DaemonSet", "StatefulSet"];

/// The steps for a change of a pod, `pods` being those that it is about.
pub(super) fn told(
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
            content: to_yaml(&json!({"spec": delta}))?,
            what: format!("the fields to change in the manifest of {pod}"),
        });
        applied.actions.push(of_bare_pod(pod));
        return Ok(applied);
    };
    let name = format!("{}.yaml", owner.named.file());
    applied.files.push(HandOver {
        name: name.clone(),
        content: to_yaml(&json!({"spec": {"template": {"spec": delta}}}))?,
        what: format!("the fields to change in the template of {}", owner.named),
    });
    applied.assumes = assumed(&owner);
    applied.actions.push(match owner.named.kind.as_str() {
        kind if ROLLING.contains(&kind) => rolled(&owner, &name, pods),
        "Job" => job(&owner, &name, pods),
        _ => by_hand(&owner, &name, pods),
    });
    Ok(applied)
}

fn assumed(owner: &Owner) -> Vec<String> {
    let named = &owner.named;
    let where_it_does =
        "; where one does, put the same there, or its next run takes the change back";
    if owner.above.is_empty() && !owner.collected {
        return vec![format!(
            "no operator and no helm release sets {named} back (the bundle does not hold it, so none is known){where_it_does}"
        )];
    }
    let above = owner.above.iter();
    above
        .map(|one| {
            format!(
                "{one} does not set {named} back{}",
                where_it_does.replace("one does", "it does")
            )
        })
        .collect()
}

fn guard(owner: &Owner) -> Option<(String, String)> {
    let (path, value) = owner.known_by.as_ref()?;
    Some((
        format!(
            "[ \"$(kubectl get {} -o jsonpath='{path}')\" = {} ]",
            owner.named.target(),
            quoted(value)
        ),
        format!("{} is the one that was collected", owner.named),
    ))
}

fn rolled(owner: &Owner, file: &str, pods: &[String]) -> Action {
    let target = owner.named.target();
    let patch = format!(
        "kubectl patch {target} --type strategic --patch-file {}",
        beside(file)
    );
    Action {
        text: format!("Change the template of {}.", owner.named),
        place: Place::Cluster,
        guard: guard(owner),
        dry_run: Some(differs(&target, &patch)),
        backup: Vec::new(),
        command: Some(format!("{}\n{patch}", owner.named.save(file))),
        expect: if owner.on_delete {
            "New pods have the change; those that run keep their template until they are deleted."
                .into()
        } else {
            format!("'kubectl rollout status {target}' ends with \"successfully rolled out\".")
        },
        roll_back: format!("kubectl rollout undo {target}"),
        interrupts: if owner.on_delete {
            format!(
                "Nothing by itself (its update strategy is OnDelete); then each pod that is deleted: {}.",
                some(pods)
            )
        } else {
            format!("The pods are replaced one after another: {}.", some(pods))
        },
    }
}

/// A Job's template cannot be changed, so the Job is made anew.
fn job(owner: &Owner, file: &str, pods: &[String]) -> Action {
    let target = owner.named.target();
    let (old, new) = (saved(file), saved(&format!("new-{file}")));
    // What the API server fills in for one Job and refuses for another.
    let labels = json!({
        "controller-uid": null, "batch.kubernetes.io/controller-uid": null,
        "job-name": null, "batch.kubernetes.io/job-name": null,
    });
    let own = json!({
        "metadata": {"uid": null, "resourceVersion": null, "creationTimestamp": null, "generation": null,
            "managedFields": null, "labels": labels},
        "spec": {"selector": null, "template": {"metadata": {"creationTimestamp": null, "labels": labels}}},
        "status": null,
    });
    let local = "kubectl patch --local --type strategic -o yaml";
    let plain = format!(
        "kubectl get {target} -o yaml | {local} -f - -p {}",
        quoted(&own.to_string())
    );
    let changed = format!("{local} --patch-file {}", beside(file));
    let tried = json!({"metadata": {"name": "casefile-dry-run"}}).to_string();
    Action {
        text: format!(
            "Make {} anew with the changed template: the API server lets nobody change the template of a Job.",
            owner.named
        ),
        place: Place::Cluster,
        guard: guard(owner),
        dry_run: Some(format!(
            "{plain} | {changed} -f - | {local} -f - -p {} | kubectl create --dry-run=server -o yaml -f -",
            quoted(&tried)
        )),
        backup: Vec::new(),
        command: Some(format!(
            "{plain} > {old}\n{changed} -f {old} > {new}\nkubectl replace --force -f {new}"
        )),
        expect: format!(
            "'kubectl get pods{} -l job-name={}' shows new pods.",
            owner.named.flag(),
            owner.named.name
        ),
        roll_back: format!("kubectl replace --force -f {old}"),
        interrupts: format!(
            "The Job and its pods are deleted and start again; what they have not saved is lost: {}.",
            some(pods)
        ),
    }
}

/// What no built-in controller makes has its own place for the template.
fn by_hand(owner: &Owner, file: &str, pods: &[String]) -> Action {
    Action {
        text: format!(
            "Put the fields of {file} into the pod template of {}, where that kind keeps it.",
            owner.named
        ),
        place: Place::Hands,
        guard: None,
        dry_run: None,
        backup: Vec::new(),
        command: Some(format!("kubectl edit {}", owner.named.target())),
        expect: "New pods have the change.".into(),
        roll_back: "The same with the template as it was.".into(),
        interrupts: format!(
            "What its controller does with a changed template; at most these pods: {}.",
            some(pods)
        ),
    }
}

fn of_bare_pod(pod: &Named) -> Action {
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
