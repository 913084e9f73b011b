//! A Kubernetes object that is created or patched.

use casefile_bundle::entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::object::Named;
use super::{edit_list, merge, yaml};
use crate::change::captured::Captured;
use crate::change::shell::{Line, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, HandOver, Kind, Refused, RunsOn};

/// A manifest: the whole object where it is new, else the fields to merge into it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KubeObject {
    /// YAML with `apiVersion`, `kind` and `metadata.name`.
    pub manifest: String,
    /// Refuse where the object does not exist yet.
    #[serde(default)]
    pub patch: bool,
    /// Delete the object that the manifest names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
}

impl Kind for KubeObject {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let manifest = yaml("the manifest", &self.manifest)?;
        let named = Named::of(&manifest)?;
        let path = named.entry();
        let list = state.now(&path);
        if list.is_none() && !state.paths().any(|path| path.starts_with(entry::OBJECTS)) {
            return Err(Refused::new(
                "the bundle holds no Kubernetes objects, so nothing can be shown about this one",
            ));
        }
        if self.remove {
            return remove(state, &named);
        }
        let before = named.read(state);
        if let Some(before) = &before {
            keeps_handler(&named, before, &manifest)?;
        }
        edit_list(state, &path, |items| {
            let own = items.iter_mut().find(|item| named.is(item));
            match own {
                Some(item) => {
                    merge(item, &manifest);
                }
                None if self.patch => {
                    return Err(Refused::new(format!("{path} holds no {named}")));
                }
                None => items.push(manifest.clone()),
            }
            Ok(())
        })?;
        Ok(self.told(state, &named, path, before.as_ref()))
    }
}

impl KubeObject {
    fn told(
        &self,
        state: &mut Captured,
        named: &Named,
        path: String,
        before: Option<&Value>,
    ) -> Applied {
        let existed = before.is_some();
        let file = state.fresh_name(&format!("{}.yaml", named.file()));
        let verb = if existed { "Patch" } else { "Create" };
        let (dry_run, act, back) = if existed {
            patched(named, &file)
        } else {
            created(named, &file)
        };
        Applied {
            title: format!("{verb} {named}"),
            changed: vec![path],
            files: vec![HandOver {
                name: file,
                content: self.manifest.clone(),
                what: if existed {
                    "the fields to change".into()
                } else {
                    "the object".into()
                },
            }],
            actions: vec![Action {
                text: format!("{verb} {named}."),
                place: RunsOn::Cluster,
                guard: Some(guard(named, before)),
                dry_run,
                backup: Vec::new(),
                act: Act::Script(act),
                expect: format!("'kubectl get {} -o yaml' shows the change.", named.target()),
                back: Back::Script(back),
                interrupts: "Nothing by itself; pods that use it follow.".into(),
            }],
            assumes: Vec::new(),
            simulated: true,
            ..Applied::default()
        }
    }
}

fn patched(named: &Named, file: &str) -> (Script, Script, Script) {
    let patch = || {
        named
            .kubectl(&["patch"])
            .words(&["--type", "merge"])
            .with("--patch-file", Word::beside(file))
    };
    (
        named.differs(patch()),
        Script::from(named.save(file)).run(patch()),
        put_back(file),
    )
}

fn created(named: &Named, file: &str) -> (Script, Script, Script) {
    let on = |verb: &'static str| {
        run(Program::Kubectl)
            .word(verb)
            .with("-f", Word::beside(file))
    };
    (
        Line::Shows(on("diff").into()).into(),
        on("create").into(),
        named.kubectl(&["delete", "--ignore-not-found"]).into(),
    )
}

/// What was saved is put back; where nothing was saved, nothing was changed.
pub(super) fn put_back(file: &str) -> Script {
    let saved = Word::saved(file);
    let back = run(Program::Kubectl)
        .word("replace")
        .with("-f", saved.clone());
    Line::If(
        Test::IsSaved(saved),
        back.into(),
        Line::Say("nothing was changed").into(),
    )
    .into()
}

/// What was deleted is made again from what was saved. A run that was stopped before it deleted, or after it made the
/// object again, left it there.
pub(super) fn made_again(named: &Named, file: &str) -> Script {
    let saved = Word::saved(file);
    let there = Test::Succeeds(named.kubectl(&["get"]).quiet());
    let create = run(Program::Kubectl)
        .word("create")
        .with("-f", saved.clone());
    let kept = Script::from(Line::Say("it is there"));
    Line::If(
        Test::IsSaved(saved),
        Line::If(there, kept, create.into()).into(),
        Line::Say("nothing was changed").into(),
    )
    .into()
}

/// The API server lets nobody change the handler of a RuntimeClass that exists.
fn keeps_handler(named: &Named, before: &Value, manifest: &Value) -> Result<(), Refused> {
    let changes = |handler: &Value| before.get("handler") != Some(handler);
    if named.kind == "RuntimeClass" && manifest.get("handler").is_some_and(changes) {
        return Err(Refused::new(format!(
            "the handler of {named} cannot be changed, the API server refuses that; delete the class and create it anew, or give the handler a class of its own"
        )));
    }
    Ok(())
}

/// Whether the object is still the captured one, or still not there.
fn guard(named: &Named, before: Option<&Value>) -> Guard {
    let Some(before) = before else {
        return Guard {
            test: Test::Fails(named.kubectl(&["get"]).quiet()),
            says: format!("{named} does not exist"),
        };
    };
    same(
        named,
        before.pointer("/metadata/uid").and_then(Value::as_str),
    )
}

/// Whether the object is the one with this uid; without one, whether it is there.
pub(super) fn same(named: &Named, uid: Option<&str>) -> Guard {
    match uid {
        Some(uid) => Guard {
            test: Test::Prints(named.field("{.metadata.uid}").into(), Word::text(uid)),
            says: format!("{named} is the one that was collected"),
        },
        None => Guard {
            test: Test::Succeeds(named.kubectl(&["get"]).quiet()),
            says: format!("{named} is there"),
        },
    }
}

/// Takes an object out of its list.
fn remove(state: &mut Captured, named: &Named) -> Result<Applied, Refused> {
    let object = named
        .read(state)
        .ok_or_else(|| Refused::new(format!("{} holds no {named} to remove", named.entry())))?;
    edit_list(state, &named.entry(), |items| {
        items.retain(|item| !named.is(item));
        Ok(())
    })?;
    let file = state.fresh_name(&format!("{}-removed.yaml", named.file()));
    let delete = |option: &'static str| named.kubectl(&["delete"]).word(option);
    Ok(Applied {
        title: format!("Delete {named}"),
        changed: vec![named.entry()],
        actions: vec![Action {
            text: format!("Delete {named}."),
            place: RunsOn::Cluster,
            guard: Some(guard(named, Some(&object))),
            dry_run: delete("--dry-run=server").into(),
            backup: Vec::new(),
            act: Act::Script(Script::from(named.save(&file)).run(delete("--wait=false"))),
            expect: format!(
                "'kubectl get {}' says NotFound; an object that stays has a finalizer, and its controller has to act first.",
                named.target()
            ),
            back: Back::Script(made_again(named, &file)),
            interrupts: format!("Whatever uses {named}."),
        }],
        assumes: vec!["no controller makes it again".into()],
        simulated: true,
        ..Applied::default()
    })
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let manifest = |name: &str| {
        serde_json::json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"x": trial.bad}}}).to_string()
    };
    let (there, new) = (manifest(trial.bad), manifest(&format!("{}new", trial.bad)));
    vec![
        serde_json::json!({"kube-object": {"manifest": there}}),
        serde_json::json!({"kube-object": {"manifest": new}}),
        serde_json::json!({"kube-object": {"manifest": there, "remove": true}}),
    ]
}
