//! Lists of objects as a bundle has them, whatever files a capture holds the objects in: a file a kind and namespace, one item a
//! line, of the kind that readers of troubleshoot's bundles decode.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use casefile_bundle::entry::OBJECTS;
use casefile_bundle::{BundlePath, EntrySpool};
use casefile_redact::{Content, Key, Redactor};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The lists that grow while a capture is read, by path.
pub(super) struct Lists {
    spill: PathBuf,
    key: Key,
    open: BTreeMap<String, List>,
}

/// One of them.
pub(super) struct List {
    pub(super) origin: String,
    pub(super) redactor: Redactor,
    pub(super) spool: EntrySpool,
    /// Kind of the items, and their group and version.
    pub(super) kind: String,
    pub(super) version: String,
    pub(super) namespaced: bool,
    /// Whether it has an item.
    begun: bool,
}

/// Kind, group and version that items have which do not say their own.
#[derive(Clone, Default)]
pub(super) struct Kind {
    pub(super) kind: String,
    pub(super) version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    api_version: String,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

/// The objects in a file of JSON: of a list, of an array, or the one that it is. None where it is no such file.
pub(super) fn in_json(text: &str) -> Option<(Kind, Vec<Value>)> {
    let each = |raw: &&RawValue| serde_json::from_str::<Value>(raw.get()).ok();
    if let Ok(list) = serde_json::from_str::<Listed<'_>>(text) {
        let single = list.kind.strip_suffix("List");
        // A list of nothing may say null.
        if single.is_some() || list.items.is_some() {
            let kind = Kind {
                kind: single.unwrap_or_default().to_owned(),
                version: list.api_version,
            };
            let items = list.items.unwrap_or_default();
            return Some((kind, items.iter().filter_map(each).collect()));
        }
    }
    let items = match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(items) => items.iter().filter_map(each).collect(),
        Err(_) => vec![serde_json::from_str::<Value>(text).ok()?],
    };
    let objects = items.iter().all(|item| item.get("metadata").is_some());
    objects.then(|| (Kind::default(), items))
}

/// Whether an entry of ours is a list of objects.
pub(super) fn is_list(ours: &str) -> bool {
    ours.starts_with(OBJECTS) && ours.ends_with(".json") && !super::discovery::is_file(ours)
}

impl Lists {
    pub(super) fn new(spill: &Path, key: Key) -> Self {
        Self {
            spill: spill.to_owned(),
            key,
            open: BTreeMap::new(),
        }
    }

    /// Adds an object that the capture holds in `origin`, which would be `ours`.
    pub(super) fn add(
        &mut self,
        ours: &str,
        origin: &str,
        of: &Kind,
        item: &Value,
    ) -> io::Result<()> {
        let (path, namespaced) = place(ours, item);
        let said = |key: &str| item.get(key).and_then(Value::as_str);
        let of = Kind {
            kind: said("kind").unwrap_or(&of.kind).to_owned(),
            version: said("apiVersion").unwrap_or(&of.version).to_owned(),
        };
        let list = self.list(path, origin, of, namespaced)?;
        let mut line = match std::mem::replace(&mut list.begun, true) {
            true => b",\n".to_vec(),
            false => Vec::new(),
        };
        serde_json::to_writer(&mut line, item)?;
        list.push(&line)
    }

    /// Notes a list that the capture holds and that has no item: that is not the same as none.
    pub(super) fn empty(&mut self, ours: &str, origin: &str, of: &Kind) -> io::Result<()> {
        let namespaced = ours.trim_start_matches(OBJECTS).contains('/');
        self.list(ours.to_owned(), origin, of.clone(), namespaced)?;
        Ok(())
    }

    fn list(
        &mut self,
        path: String,
        origin: &str,
        of: Kind,
        namespaced: bool,
    ) -> io::Result<&mut List> {
        let of = match of.kind.is_empty() {
            true => known(&path).unwrap_or(of),
            false => of,
        };
        match self.open.entry(path) {
            Entry::Occupied(list) => Ok(list.into_mut()),
            Entry::Vacant(free) => {
                let mut list = List {
                    origin: origin.to_owned(),
                    redactor: Redactor::new(Content::JsonLines, self.key.clone()),
                    spool: EntrySpool::new(&self.spill),
                    kind: of.kind,
                    version: of.version,
                    namespaced,
                    begun: false,
                };
                let head = list.head();
                list.push(head.as_bytes())?;
                Ok(free.insert(list))
            }
        }
    }

    /// The finished lists, each with its path.
    pub(super) fn finish(self) -> io::Result<Vec<(String, List)>> {
        let mut done = Vec::new();
        for (path, mut list) in self.open {
            list.push(b"\n]}\n")?;
            done.push((path, list));
        }
        Ok(done)
    }
}

impl List {
    /// Items of any kind are read by their path; a list names its own kind where they have one.
    fn head(&self) -> String {
        let kind = format!("{}List", self.kind);
        let version = match self.version.as_str() {
            "" => "v1",
            version => version,
        };
        let text = |text: &str| Value::from(text).to_string();
        format!(
            "{{\"apiVersion\":{},\"kind\":{},\"items\":[\n",
            text(version),
            text(&kind)
        )
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut clean = Vec::with_capacity(bytes.len());
        self.redactor.push(bytes, &mut clean);
        self.spool.write_all(&clean)
    }
}

/// The kind of a list whose objects do not say theirs, by its name.
fn known(path: &str) -> Option<Kind> {
    const KINDS: [(&str, &str, &str); 13] = [
        ("configmaps", "ConfigMap", "v1"),
        ("daemonsets", "DaemonSet", "apps/v1"),
        ("deployments", "Deployment", "apps/v1"),
        ("events", "Event", "v1"),
        ("limitranges", "LimitRange", "v1"),
        ("namespaces", "Namespace", "v1"),
        ("nodes", "Node", "v1"),
        ("persistentvolumeclaims", "PersistentVolumeClaim", "v1"),
        ("persistentvolumes", "PersistentVolume", "v1"),
        ("pods", "Pod", "v1"),
        ("replicasets", "ReplicaSet", "apps/v1"),
        ("services", "Service", "v1"),
        ("statefulsets", "StatefulSet", "apps/v1"),
    ];
    let below = path.strip_prefix(OBJECTS)?;
    let plural = below.split(['/', '.']).next()?;
    let found = KINDS.iter().find(|(name, ..)| *name == plural);
    found.map(|(_, kind, version)| Kind {
        kind: (*kind).to_owned(),
        version: (*version).to_owned(),
    })
}

/// Where an object goes: to the list of its kind in its namespace; and whether it has one.
fn place(ours: &str, item: &Value) -> (String, bool) {
    let below = ours.strip_prefix(OBJECTS).unwrap_or(ours);
    let (plural, rest) = below.split_once('/').unwrap_or((below, ""));
    let plural = plural.trim_end_matches(".json");
    let namespace = item
        .pointer("/metadata/namespace")
        .and_then(Value::as_str)
        .filter(|name| !name.is_empty());
    let path = match namespace {
        // Custom resources have a folder more.
        Some(_) if rest.contains('/') => ours.to_owned(),
        Some(name) => casefile_bundle::Entry::ListIn(plural, name).path(),
        None if ours.ends_with("/all-namespaces.json")
            || crate::layouts::list_of(ours).is_some() =>
        {
            casefile_bundle::Entry::List(plural).path()
        }
        None => ours.to_owned(),
    };
    match BundlePath::new(&path) {
        Ok(_) => (path, namespace.is_some()),
        Err(_) => (ours.to_owned(), namespace.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_goes_to_the_list_of_its_kind_and_namespace() {
        let pod = json!({ "metadata": { "name": "a", "namespace": "shop" } });
        for ours in [
            "cluster-resources/pods/all-namespaces.json",
            "cluster-resources/pods/dump-8.json",
            "cluster-resources/pods/shop.a.json",
        ] {
            let expected = ("cluster-resources/pods/shop.json".to_owned(), true);
            assert_eq!(place(ours, &pod), expected, "{ours}");
        }
        let hostile = json!({ "metadata": { "namespace": "../../etc" } });
        let ours = "cluster-resources/pods/default.json";
        assert_eq!(place(ours, &hostile), (ours.to_owned(), true));
        let node = json!({ "metadata": { "name": "n1" } });
        for ours in [
            "cluster-resources/nodes/n1.json",
            "cluster-resources/nodes.json",
        ] {
            let expected = ("cluster-resources/nodes.json".to_owned(), false);
            assert_eq!(place(ours, &node), expected, "{ours}");
        }
    }

    #[test]
    fn lists_arrays_and_single_objects_are_found_in_json() {
        let number = |text: &str| in_json(text).map(|(of, items)| (of.kind, items.len()));
        let typed =
            r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{}},{"metadata":{}}]}"#;
        assert_eq!(number(typed), Some(("Pod".into(), 2)));
        assert_eq!(number(r#"[{"metadata":{}}]"#), Some((String::new(), 1)));
        assert_eq!(
            number(r#"{"kind":"Pod","metadata":{}}"#),
            Some((String::new(), 1))
        );
        assert_eq!(
            number(r#"{"kind":"EventList","items":null}"#),
            Some(("Event".into(), 0))
        );
        assert_eq!(number(r#"{"level":"info"}"#), None);
        assert_eq!(number("cut {"), None);
    }
}
