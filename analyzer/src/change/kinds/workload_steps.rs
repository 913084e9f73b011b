//! What a person does to change the pods of a workload.

use serde_json::{Value, json};

use super::object::Named;
use super::pod_restart;
use super::to_yaml;
use super::workload::{Owner, Pods};
use crate::change::captured::Captured;
use crate::change::shell::{Command, Dialect, Line, Pipe, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, HandOver, Refused, RunsOn};

/// Kinds whose controller replaces pods when the template changes.
const ROLLING: [&str; 3] = ["Deployment", "DaemonSet", "StatefulSet"];

/// The steps for a change of a pod, `pods` being those that it is about.
pub(super) fn told(
    state: &mut Captured,
    pod: &Named,
    owner: Option<Owner>,
    delta: &Value,
    title: &str,
    pods: &Pods,
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
            name: state.fresh_name(&format!("{}.yaml", pod.file())),
            content: to_yaml(delta)?,
            what: format!("the fields to change in the manifest of {pod}"),
        });
        applied.actions.push(of_bare_pod(pod));
        return Ok(applied);
    };
    let name = state.fresh_name(&format!("{}.yaml", owner.named.file()));
    applied.files.push(HandOver {
        name: name.clone(),
        content: to_yaml(&json!({"spec": {"template": delta}}))?,
        what: format!("the fields to change in the template of {}", owner.named),
    });
    applied.assumes = assumed(&owner);
    applied.actions.push(match owner.named.kind.as_str() {
        kind if ROLLING.contains(&kind) => match &owner.kept_by {
            Some(operator) => through(operator, &owner, &name, &pods.names),
            None => rolled(&owner, &name, pods),
        },
        "Job" => job(&owner, &name, pods),
        _ => by_hand(&owner, &name, &pods.names),
    });
    applied.actions.extend(unstick(&owner, pods));
    Ok(applied)
}

/// A StatefulSet waits for a pod that never became ready before it replaces any, this one as well
/// (`updateStatefulSet` in pkg/controller/statefulset; Kubernetes calls it a forced rollback).
fn is_stuck(owner: &Owner, pods: &Pods) -> bool {
    owner.named.kind == "StatefulSet" && !owner.on_delete && !pods.waiting.is_empty()
}

/// Deletes the pods that such a StatefulSet waits for.
fn unstick(owner: &Owner, pods: &Pods) -> Vec<Action> {
    if !is_stuck(owner, pods) {
        return Vec::new();
    }
    let maker = format!("StatefulSet {}", owner.named.name);
    let namespace = owner.named.namespace.as_deref();
    let waiting = pods.waiting.iter();
    let delete = |(name, uid): &(String, Option<String>)| {
        let pod = Named::new("Pod", namespace, name);
        // A run that begins again finds another pod, or none yet.
        let still = || match uid {
            Some(uid) => Test::Prints(pod.field("{.metadata.uid}").into(), Word::text(uid)),
            None => Test::Prints(pod.field("{.status.phase}").into(), Word::text("Pending")),
        };
        let only_then = |command: Command| -> Script {
            let made = Line::Say("it was made anew already");
            Line::If(still(), command.into(), made.into()).into()
        };
        let step = pod_restart::action(&pod, &maker);
        Action {
            dry_run: only_then(pod.kubectl(&["delete"]).word("--dry-run=server")),
            act: Act::Script(only_then(pod.kubectl(&["delete"]))),
            interrupts: format!("Nothing that runs: {pod} has not started."),
            ..step
        }
    };
    waiting.map(delete).collect()
}

fn assumed(owner: &Owner) -> Vec<String> {
    let named = &owner.named;
    let where_it_does = "; if one does, make the same change there, or it is reverted";
    if owner.above.is_empty() && !owner.collected {
        return vec![format!(
            "no operator or Helm release manages {named} (the bundle shows none){where_it_does}"
        )];
    }
    let above = owner.above.iter();
    above
        .filter(|one| owner.kept_by.as_ref() != Some(one))
        .map(|one| {
            format!(
                "{one} does not revert {named}{}",
                where_it_does.replace("one does", "it does")
            )
        })
        .collect()
}

fn guard(owner: &Owner) -> Option<Guard> {
    let (path, value) = owner.known_by.as_ref()?;
    Some(Guard {
        test: Test::Prints(owner.named.field(path).into(), Word::text(value)),
        says: format!("{} is the one that was collected", owner.named),
    })
}

fn rolled(owner: &Owner, file: &str, pods: &Pods) -> Action {
    let waits = is_stuck(owner, pods);
    let (pods, ran) = (&pods.names, pods.ran);
    let named = &owner.named;
    let patch = || {
        named
            .kubectl(&["patch"])
            .words(&["--type", "strategic"])
            .with("--patch-file", Word::beside(file))
    };
    // Undone only where the template is no longer the saved one: an undo too many would take another change back.
    let template = Word::saved(&format!("template-{file}"));
    let now = || Pipe::from(named.field("{.spec.template}"));
    let undo = named.kubectl(&["rollout", "undo"]);
    let back = Line::If(
        Test::Differs(now(), template.clone()),
        undo.into(),
        Line::Say("nothing was changed").into(),
    );
    let back = Line::If(
        Test::IsSaved(template.clone()),
        back.into(),
        Line::Say("nothing was changed").into(),
    );
    Action {
        text: format!("Change the template of {named}."),
        place: RunsOn::Cluster,
        guard: guard(owner),
        dry_run: named.differs(patch()),
        backup: Vec::new(),
        act: Act::Script(
            Script::from(named.save(file))
                .then(Line::Save(now(), template))
                .run(patch()),
        ),
        expect: if owner.on_delete {
            "New pods have the change; those that run keep their template until they are deleted."
                .into()
        } else if waits {
            "The template has the change; the pods get it once the waiting one is deleted.".into()
        } else {
            format!(
                "'kubectl rollout status {}' ends with \"successfully rolled out\".",
                named.target()
            )
        },
        back: Back::Script(back.into()),
        interrupts: if owner.on_delete {
            format!(
                "Nothing by itself (its update strategy is OnDelete); then each pod that is deleted: {}.",
                some(pods)
            )
        } else if waits && !ran {
            "Nothing that runs: the pods that wait get it once they are deleted.".to_owned()
        } else if owner.named.kind == "DaemonSet" {
            format!(
                "The DaemonSet's pods on all nodes are replaced one after another; known here: {}.",
                some(pods)
            )
        } else {
            format!("The pods are replaced one after another: {}.", some(pods))
        },
    }
}

/// What the API server fills in for one Job and refuses for another.
fn own_of_a_job() -> String {
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
    own.to_string()
}

/// A Job's template cannot be changed, so the Job is made anew.
fn job(owner: &Owner, file: &str, pods: &Pods) -> Action {
    let named = &owner.named;
    let (old, new) = (Word::saved(file), Word::saved(&format!("new-{file}")));
    let local =
        || run(Program::Kubectl).words(&["patch", "--local", "--type", "strategic", "-o", "yaml"]);
    let stdin = |command: Command| command.with("-f", Word::Fixed("-"));
    let plain = || {
        let get = named.kubectl(&["get"]).words(&["-o", "yaml"]);
        get.pipe(stdin(local()).with("-p", Word::text(own_of_a_job())))
    };
    let changed = || local().with("--patch-file", Word::beside(file));
    let tried = json!({"metadata": {"name": "casefile-dry-run"}}).to_string();
    let create = run(Program::Kubectl).words(&["create", "--dry-run=server", "-o", "yaml"]);
    let dry_run = plain()
        .pipe(stdin(changed()))
        .pipe(stdin(local()).with("-p", Word::text(tried)))
        .pipe(stdin(create));
    let replace = |file: &Word| {
        run(Program::Kubectl)
            .words(&["replace", "--force"])
            .with("-f", file.clone())
    };
    let uid = Word::saved(&format!("uid-{file}"));
    let is_another = Test::Differs(named.field("{.metadata.uid}").into(), uid.clone());
    let back = Line::If(
        is_another,
        replace(&old).into(),
        Line::Say("nothing was changed").into(),
    );
    let back = Line::If(
        Test::IsSaved(uid.clone()),
        back.into(),
        Line::Say("nothing was changed").into(),
    );
    Action {
        text: format!(
            "Recreate {named} with the changed template: the template of a Job cannot be changed in place."
        ),
        place: RunsOn::Cluster,
        guard: guard(owner),
        dry_run: dry_run.into(),
        backup: Vec::new(),
        act: Act::Script(
            Script::from(Line::Save(plain(), old.clone()))
                .then(Line::Save(named.field("{.metadata.uid}").into(), uid))
                .run(changed().with("-f", old).into_file(new.clone()))
                .run(replace(&new)),
        ),
        expect: format!(
            "'kubectl get pods{} -l job-name={}' shows new pods.",
            named
                .namespace
                .as_ref()
                .map(|one| format!(" -n {one}"))
                .unwrap_or_default(),
            named.name
        ),
        back: Back::Script(back.into()),
        interrupts: match pods.ran {
            true => format!(
                "The Job and its pods are deleted and start again; what they have not saved is lost: {}.",
                some(&pods.names)
            ),
            false => format!(
                "Nothing that runs: the Job and its pods, of which none has started, are made anew: {}.",
                some(&pods.names)
            ),
        },
    }
}

/// What an operator makes it sets back, so that the change belongs where the operator reads it.
fn through(operator: &str, owner: &Owner, file: &str, pods: &[String]) -> Action {
    let named = &owner.named;
    Action {
        text: format!(
            "Set the fields of {file} through {operator}, which makes {named} and takes a change of it back."
        ),
        place: RunsOn::Hands,
        guard: None,
        dry_run: Script::default(),
        backup: Vec::new(),
        act: Act::Hands(None),
        expect: format!("{named} has the change in its template, and its new pods have it."),
        back: Back::Hands("The same with the settings as they were.".into()),
        interrupts: format!("The pods are replaced one after another: {}.", some(pods)),
    }
}

/// What no built-in controller makes has its own place for the template.
fn by_hand(owner: &Owner, file: &str, pods: &[String]) -> Action {
    Action {
        text: format!(
            "Put the fields of {file} into the pod template of {}, where that kind keeps it.",
            owner.named
        ),
        place: RunsOn::Hands,
        guard: None,
        dry_run: Script::default(),
        backup: Vec::new(),
        act: Act::Hands(Some(
            Script::from(owner.named.kubectl(&["edit"])).render(Dialect::Hands),
        )),
        expect: "New pods have the change.".into(),
        back: Back::Hands("The same with the template as it was.".into()),
        interrupts: format!(
            "What its controller does with a changed template; at most these pods: {}.",
            some(pods)
        ),
    }
}

fn of_bare_pod(pod: &Named) -> Action {
    let get = pod.kubectl(&["get"]).words(&["-o", "yaml"]);
    let steps = Script::from(get.into_file(Word::Fixed("pod-before.yaml")))
        .run(pod.kubectl(&["delete"]))
        .run(run(Program::Kubectl).words(&["apply", "-f", "MANIFEST"]));
    Action {
        text: format!(
            "{pod} has no owner that would make it again: change the manifest that it was made from, delete the pod and create it anew."
        ),
        place: RunsOn::Hands,
        guard: None,
        dry_run: Script::default(),
        backup: Vec::new(),
        act: Act::Hands(Some(steps.render(Dialect::Hands).replace('\n', "; "))),
        expect: "The pod runs.".into(),
        back: Back::Hands("The same with the manifest as it was.".into()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_that_waits_is_deleted_where_a_stateful_set_would_wait_for_it() {
        let pods = Pods {
            names: vec!["db-0".into(), "db-1".into()],
            ran: true,
            waiting: vec![("db-1".into(), Some("0a1b".into()))],
        };
        let steps = |kind: &str| {
            let owner = Owner {
                named: Named::new(kind, Some("shop"), "db"),
                above: Vec::new(),
                kept_by: None,
                collected: true,
                known_by: None,
                on_delete: false,
            };
            unstick(&owner, &pods)
        };
        let [delete] = &steps("StatefulSet")[..] else {
            panic!("one step for the one pod that waits");
        };
        assert_eq!(
            delete.text,
            "Delete Pod shop/db-1; StatefulSet db makes a new one."
        );
        assert!(delete.interrupts.starts_with("Nothing that runs"));
        let Act::Script(script) = &delete.act else {
            panic!("a script deletes it");
        };
        // Begun again after a kill, it leaves the new pod alone.
        let script = script.clone().render(Dialect::Script);
        assert!(
            script.contains("0a1b") && script.contains("made anew already"),
            "{script}"
        );
        assert!(steps("Deployment").is_empty());
    }
}
