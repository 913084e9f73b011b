//! A Kubernetes object that is created or patched.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
        let mut existed = false;
        edit_list(state, &path, |items| {
            let own = items.iter_mut().find(|item| named.is(item));
            match own {
                Some(item) => {
                    existed = true;
                    merge(item, &manifest);
                }
                None if self.patch => {
                    return Err(Refused::new(format!("{path} holds no {named}")));
                }
                None => items.push(manifest.clone()),
            }
            Ok(())
        })?;
        Ok(self.told(&named, path, existed))
    }
}

impl KubeObject {
    fn told(&self, named: &Named, path: String, existed: bool) -> Applied {
        let file = format!("{}-{}.yaml", named.kind.to_lowercase(), named.name);
        let here = beside(&file);
        let target = format!(
            "{} {}{}",
            quoted(&named.kind.to_lowercase()),
            quoted(&named.name),
            named.flag()
        );
        let (verb, dry_run, command, back) = if existed {
            let patch = format!("kubectl patch {target} --type merge --patch-file {here}");
            (
                "Patch",
                format!("{patch} --dry-run=server -o yaml"),
                patch,
                format!(
                    "kubectl get {target} -o yaml shows it; apply the copy that was saved before the change"
                ),
            )
        } else {
            let apply = format!("kubectl apply -f {here}");
            (
                "Create",
                format!("kubectl diff -f {here} || true"),
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
                guard: existed.then(|| {
                    (
                        format!("kubectl get {target} >/dev/null"),
                        format!("{named} is there"),
                    )
                }),
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

/// What a manifest names.
struct Named {
    kind: String,
    namespace: Option<String>,
    name: String,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

impl Named {
    fn of(manifest: &Value) -> Result<Self, Refused> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let metadata = manifest.get("metadata");
        let missing = |what: &str| Refused::new(format!("the manifest has no {what}"));
        Ok(Self {
            kind: text(manifest.get("kind")).ok_or_else(|| missing("kind"))?,
            name: text(metadata.and_then(|one| one.get("name")))
                .ok_or_else(|| missing("metadata.name"))?,
            namespace: text(metadata.and_then(|one| one.get("namespace"))),
        })
    }

    /// The entry of its list. Resource names are the kind in lower case and plural.
    fn entry(&self) -> String {
        let kind = self.kind.to_lowercase();
        let plural = if kind.ends_with('s') {
            format!("{kind}es")
        } else if let Some(stem) = kind.strip_suffix('y').filter(|_| !kind.ends_with("ay")) {
            format!("{stem}ies")
        } else {
            format!("{kind}s")
        };
        match &self.namespace {
            Some(namespace) => format!("cluster-resources/{plural}/{namespace}.json"),
            None => format!("cluster-resources/{plural}.json"),
        }
    }

    fn is(&self, item: &Value) -> bool {
        item.pointer("/metadata/name").and_then(Value::as_str) == Some(self.name.as_str())
    }

    fn flag(&self) -> String {
        let namespace = self.namespace.as_deref();
        namespace.map_or_else(String::new, |namespace| {
            format!(" -n {}", quoted(namespace))
        })
    }
}
