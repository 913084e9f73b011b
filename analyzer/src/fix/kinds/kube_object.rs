//! A Kubernetes object that is created or patched.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::object::{Named, differs, saved};
use super::{edit_list, merge, yaml};
use crate::fix::captured::Captured;
use crate::fix::change::{Action, Applied, HandOver, Kind, Place, Refused, quoted};
use crate::fix::write::beside;

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
        if list.is_none()
            && !state
                .paths()
                .any(|path| path.starts_with("cluster-resources/"))
        {
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
        Ok(self.told(&named, path, before.as_ref()))
    }
}

impl KubeObject {
    fn told(&self, named: &Named, path: String, before: Option<&Value>) -> Applied {
        let existed = before.is_some();
        let file = format!("{}.yaml", named.file());
        let here = beside(&file);
        let target = named.target();
        let saved = saved(&file);
        let (verb, dry_run, command, back) = if existed {
            let patch = format!("kubectl patch {target} --type merge --patch-file {here}");
            (
                "Patch",
                differs(&target, &patch),
                format!("{}\n{patch}", named.save(&file)),
                format!("kubectl replace -f {saved}"),
            )
        } else {
            let apply = format!("kubectl create -f {here}");
            (
                "Create",
                format!("kubectl diff -f {here} || [ $? = 1 ]"),
                apply,
                format!("kubectl delete {target}"),
            )
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
                place: Place::Cluster,
                guard: Some(guard(named, before)),
                dry_run: Some(dry_run),
                backup: Vec::new(),
                command: Some(command),
                expect: format!("'kubectl get {target} -o yaml' shows the change."),
                roll_back: back,
                interrupts: "Nothing by itself; pods that use it follow.".into(),
            }],
            assumes: Vec::new(),
            simulated: true,
        }
    }
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
fn guard(named: &Named, before: Option<&Value>) -> (String, String) {
    let target = named.target();
    let Some(before) = before else {
        return (
            format!("! kubectl get {target} >/dev/null 2>&1"),
            format!("{named} does not exist"),
        );
    };
    match before.pointer("/metadata/uid").and_then(Value::as_str) {
        Some(uid) => (
            format!(
                "[ \"$(kubectl get {target} -o jsonpath='{{.metadata.uid}}')\" = {} ]",
                quoted(uid)
            ),
            format!("{named} is the one that was collected"),
        ),
        None => (
            format!("kubectl get {target} >/dev/null"),
            format!("{named} is there"),
        ),
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
    let (target, file) = (named.target(), format!("{}-removed.yaml", named.file()));
    Ok(Applied {
        title: format!("Delete {named}"),
        changed: vec![named.entry()],
        actions: vec![Action {
            text: format!("Delete {named}."),
            place: Place::Cluster,
            guard: Some(guard(named, Some(&object))),
            dry_run: Some(format!("kubectl delete {target} --dry-run=server")),
            backup: Vec::new(),
            command: Some(format!(
                "{}\nkubectl delete {target} --wait=false",
                named.save(&file)
            )),
            expect: format!(
                "'kubectl get {target}' says NotFound; an object that stays has a finalizer, and its controller has to act first."
            ),
            roll_back: format!("kubectl create -f {}", saved(&file)),
            interrupts: format!("Whatever uses {named}."),
        }],
        assumes: vec!["no controller makes it again".into()],
        simulated: true,
        ..Applied::default()
    })
}
