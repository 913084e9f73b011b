//! Names of Kubernetes objects, and where the bundle keeps them.

use casefile_bundle::Entry;
use serde_json::Value;

use super::edit_list;
use crate::change::Refused;
use crate::change::captured::Captured;
use crate::change::shell::{Command, Line, Pipe, Program, Script, Word, run};

/// An object by kind, namespace and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) kind: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
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
    /// The kind is written as in a manifest, e.g. `Deployment`.
    pub(super) fn new(kind: &str, namespace: Option<&str>, name: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            namespace: namespace.filter(|one| !one.is_empty()).map(str::to_owned),
            name: name.to_owned(),
        }
    }

    /// Refuses what kubectl would take for an option, or could not be a name that the API server gave.
    pub(super) fn check(&self) -> Result<(), Refused> {
        let plain = |text: &str| {
            text.starts_with(|c: char| c.is_alphanumeric())
                && !text.contains(['/', '%', ','])
                && !text.chars().any(|c| c.is_control() || c.is_whitespace())
        };
        let kind = self
            .kind
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
        let all = std::iter::once(&self.name).chain(&self.namespace);
        match all.into_iter().find(|name| !plain(name)) {
            Some(name) => Err(Refused::new(format!(
                "{name:?} can be no name of a {}",
                self.kind
            ))),
            None if !kind || !plain(&self.kind) => Err(Refused::new(format!(
                "{:?} is no kind of an object",
                self.kind
            ))),
            None => Ok(()),
        }
    }

    /// `kubectl VERB KIND NAME -n NAMESPACE`.
    pub(super) fn kubectl(&self, verb: &[&'static str]) -> Command {
        let command = run(Program::Kubectl)
            .words(verb)
            .text(self.kind.to_lowercase())
            .text(&self.name);
        match &self.namespace {
            Some(namespace) => command.with("-n", Word::text(namespace)),
            None => command,
        }
    }

    /// `kubectl get` of one field.
    pub(super) fn field(&self, path: &str) -> Command {
        self.kubectl(&["get"])
            .with("-o", Word::text(format!("jsonpath={path}")))
    }

    /// The same for people, inside a sentence.
    pub(super) fn target(&self) -> String {
        let flag = self
            .namespace
            .as_ref()
            .map(|namespace| format!(" -n {namespace}"));
        format!(
            "{} {}{}",
            self.kind.to_lowercase(),
            self.name,
            flag.unwrap_or_default()
        )
    }

    /// Saves it, without what would keep it from being put back.
    pub(super) fn save(&self, name: &str) -> Line {
        let get = self.kubectl(&["get"]).words(&["-o", "yaml"]);
        let edit = run(Program::Sed)
            .word("-E")
            .text("/^  (resourceVersion|uid|creationTimestamp):/d");
        Line::Save(get.pipe(edit), Word::saved(name))
    }

    /// Shows what a command would make of it, as the API server would do it; fails where the server refuses it.
    pub(super) fn differs(&self, change: Command) -> Script {
        let then = change.words(&["--dry-run=server", "-o", "yaml"]);
        Line::Compare(
            Pipe::from(self.kubectl(&["get"]).words(&["-o", "yaml"])),
            then.into(),
        )
        .into()
    }

    /// A name for files about it.
    pub(super) fn file(&self) -> String {
        format!("{}-{}", self.kind.to_lowercase(), self.name)
    }

    /// Edits the captured object.
    pub(super) fn edit(
        &self,
        state: &mut Captured,
        edit: impl FnOnce(&mut Value) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        self.check()?;
        let path = self.entry();
        if state.now(&path).is_none() {
            return Err(Refused::new(format!(
                "{path} is not in the bundle, so nothing can be shown about {self}"
            )));
        }
        edit_list(state, &path, |items| {
            let own = items.iter_mut().find(|item| self.is(item));
            edit(own.ok_or_else(|| Refused::new(format!("{path} holds no {self}")))?)
        })
    }

    /// The captured object as it stands now.
    pub(super) fn read(&self, state: &mut Captured) -> Option<Value> {
        let list: Value = serde_json::from_str(&state.now(&self.entry())?).ok()?;
        let items = list.get("items")?.as_array()?;
        items.iter().find(|item| self.is(item)).cloned()
    }

    /// What a manifest names.
    pub(super) fn of(manifest: &Value) -> Result<Self, Refused> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let metadata = manifest.get("metadata");
        let missing = |what: &str| Refused::new(format!("the manifest has no {what}"));
        let named = Self {
            kind: text(manifest.get("kind")).ok_or_else(|| missing("kind"))?,
            name: text(metadata.and_then(|one| one.get("name")))
                .ok_or_else(|| missing("metadata.name"))?,
            namespace: text(metadata.and_then(|one| one.get("namespace"))),
        };
        named.check()?;
        Ok(named)
    }

    /// The entry of its list. Resource names are the kind in lower case and plural.
    pub(super) fn entry(&self) -> String {
        let kind = self.kind.to_lowercase();
        let plural = if kind.ends_with('s') {
            format!("{kind}es")
        } else if let Some(stem) = kind.strip_suffix('y').filter(|_| !kind.ends_with("ay")) {
            format!("{stem}ies")
        } else {
            format!("{kind}s")
        };
        match &self.namespace {
            Some(namespace) => Entry::ListIn(&plural, namespace).path(),
            None => Entry::List(&plural).path(),
        }
    }

    /// Whether it is this item of its list.
    pub(super) fn is(&self, item: &Value) -> bool {
        item.pointer("/metadata/name").and_then(Value::as_str) == Some(self.name.as_str())
    }
}
