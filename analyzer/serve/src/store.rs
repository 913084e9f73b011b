//! What was captured of one cluster: its kinds, their objects, and what was not collected and why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::chunks::{Chunks, Reader, Spot};
use crate::logs::{LogFile, NodeFile, Texts};
use crate::table::custom::CustomColumn;

/// How much of a kind the capture holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// All objects of the cluster.
    Whole,
    /// Some of them; why not all.
    Part(String),
    /// None; why.
    Missing(String),
}

/// An object: its name, and where its text is.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// `namespace/name`, or the name alone; objects are sorted by it, as in etcd.
    pub(crate) key: Box<str>,
    /// Length of the namespace; 0 where there is none.
    pub(crate) namespace: u16,
    /// Whether the text says its own kind.
    pub(crate) typed: bool,
    pub(crate) revision: u64,
    pub(crate) spot: Spot,
}

impl Object {
    pub(crate) fn name(&self) -> &str {
        match self.namespace {
            0 => &self.key,
            length => &self.key[usize::from(length) + 1..],
        }
    }
}

/// A kind in one version.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) namespaced: bool,
    pub(crate) short: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) subresources: Vec<String>,
    /// Columns of a custom resource.
    pub(crate) columns: Option<Vec<CustomColumn>>,
    /// Fields besides name and namespace that a custom resource is selected by.
    pub(crate) selectable: Vec<String>,
    /// Schema of a custom resource, where its definition was collected.
    pub(crate) schema: Option<Value>,
    /// Why the server calls this version out of date.
    pub(crate) deprecated: Option<String>,
    pub(crate) coverage: Coverage,
    /// Namespaces whose list of this kind was read to its end, also where it was empty.
    pub(crate) listed: BTreeSet<String>,
    pub(crate) objects: Vec<Object>,
}

impl Kind {
    /// `v1` or `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `pods` or `deployments.apps`, as errors name it.
    pub(crate) fn resource(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// Whether changes of it can be watched; components are only asked.
    pub(crate) fn is_watched(&self) -> bool {
        !(self.group.is_empty() && self.plural == "componentstatuses")
    }

    /// Whether a definition made it.
    pub(crate) fn is_custom(&self) -> bool {
        self.columns.is_some()
    }

    /// Objects of one namespace, or of all.
    pub(crate) fn within(&self, namespace: Option<&str>) -> &[Object] {
        let Some(namespace) = namespace else {
            return &self.objects;
        };
        // Keys are sorted by `namespace/`, so objects of one namespace stand together.
        let prefix = format!("{namespace}/");
        let start = self.objects.partition_point(|one| *one.key < *prefix);
        let rest = &self.objects[start..];
        let count = rest
            .iter()
            .take_while(|one| one.key.starts_with(&prefix))
            .count();
        &rest[..count]
    }

    /// One object.
    pub(crate) fn object(&self, namespace: Option<&str>, name: &str) -> Option<&Object> {
        let key = match namespace {
            Some(namespace) => format!("{namespace}/{name}"),
            None => name.to_owned(),
        };
        let at = self
            .objects
            .binary_search_by(|one| (*one.key).cmp(&*key))
            .ok()?;
        self.objects.get(at)
    }
}

/// What was captured of one cluster.
pub struct Store {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) chunks: Chunks,
    /// The moment that ages are told from.
    pub(crate) now: DateTime<Utc>,
    /// Version of the API server, as `/version` gave it.
    pub(crate) version: Value,
    /// The greatest resource version of all objects.
    pub(crate) revision: u64,
    /// What this is a recording of, for messages.
    pub(crate) title: String,
    pub(crate) logs: Vec<LogFile>,
    pub(crate) node_files: BTreeMap<String, Vec<NodeFile>>,
    pub(crate) texts: Arc<dyn Texts>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("title", &self.title)
            .field("kinds", &self.kinds.len())
            .finish_non_exhaustive()
    }
}

impl Store {
    /// What it is a recording of.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Whether there is nothing to ask for.
    pub fn is_empty(&self) -> bool {
        self.objects() == 0 && self.logs.is_empty() && self.node_files.is_empty()
    }

    /// Whether files of this node were collected.
    pub fn has_node(&self, name: &str) -> bool {
        self.node_files.contains_key(name)
    }

    /// How many objects it holds.
    pub fn objects(&self) -> usize {
        self.kinds.iter().map(|kind| kind.objects.len()).sum()
    }

    /// Bytes that objects take, compressed as they are held.
    pub fn held(&self) -> usize {
        self.chunks.held()
    }

    /// Paths that list every kind that was collected and can be watched, sorted, and how many objects these have.
    pub fn lists(&self) -> Vec<(String, usize)> {
        let collected = self
            .kinds
            .iter()
            .filter(|kind| kind.coverage == Coverage::Whole && kind.is_watched());
        let paths = collected.map(|kind| {
            let root = if kind.group.is_empty() { "api" } else { "apis" };
            let path = format!("/{root}/{}/{}", kind.api_version(), kind.plural);
            (path, kind.objects.len())
        });
        let mut paths: Vec<_> = paths.collect();
        paths.sort();
        paths
    }

    /// What the captured server said of a version that is on its way out. One of an older release did not know of it yet.
    pub(crate) fn deprecation<'k>(&self, kind: &'k Kind) -> Option<&'k str> {
        let text = kind.deprecated.as_deref()?;
        let number = |text: &str| text.trim_end_matches('+').parse::<u32>().ok();
        let since = text
            .split(" is deprecated in v1.")
            .nth(1)
            .and_then(|rest| number(rest.split(';').next()?));
        let own = self.version["minor"].as_str().and_then(number);
        let older = matches!((own, since), (Some(own), Some(since)) if own < since);
        (!older).then_some(text)
    }

    pub(crate) fn kind(&self, group: &str, version: &str, plural: &str) -> Option<&Kind> {
        let is =
            |kind: &&Kind| kind.group == group && kind.version == version && kind.plural == plural;
        self.kinds.iter().find(is)
    }

    /// One object as the server gives it: with its kind first.
    pub(crate) fn whole(&self, kind: &Kind, object: &Object, reader: &mut Reader) -> Bytes {
        let raw = reader.read(&self.chunks, object.spot);
        if object.typed {
            return raw;
        }
        let head = format!(
            r#"{{"kind":"{}","apiVersion":"{}","#,
            kind.kind,
            kind.api_version()
        );
        let mut text = head.into_bytes();
        match raw.get(1..) {
            Some(rest) if rest != b"}" => text.extend_from_slice(rest),
            _ => {
                text.pop();
                text.push(b'}');
            }
        }
        text.into()
    }
}
