//! Fills a [`Store`] from objects as they come, in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::chunks::{Chunks, Filling, Spot};
use crate::definitions::{self, Definitions};
use crate::kinds;
use crate::logs::{LogFile, NoTexts, NodeFile, Texts};
use crate::store::{Coverage, Kind, Object, Store};

/// What is known of an object from around it: a list's items do not say their kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hint<'a> {
    /// `v1` or `apps/v1`.
    pub api_version: Option<&'a str>,
    /// `Pod`.
    pub kind: Option<&'a str>,
    /// `pods`, or `gpushares.hami.io`.
    pub resource: Option<&'a str>,
}

/// A kind as the capture tells of it, collected or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// `pods`, or `deployments.apps`; empty where the capture says nothing but the kind.
    pub resource: String,
    /// `v1` or `apps/v1`.
    pub api_version: String,
    /// `Pod`.
    pub kind: String,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// Whether all objects were collected.
    pub whole: bool,
    /// Why not all were.
    pub why: Option<String>,
}

/// Why an object was left out.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unusable {
    /// It is no JSON object.
    #[error("is not a JSON object: {0}")]
    Json(String),
    /// It has no name.
    #[error("has no metadata.name")]
    Nameless,
    /// It has a name that is no part of a path, which no server would take.
    #[error("has a name that no object can have")]
    BadName,
    /// Nothing says of which kind it is.
    #[error("does not say its kind")]
    Kindless,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(borrow, default)]
    api_version: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    kind: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    metadata: Meta<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow, default)]
    name: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    namespace: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    resource_version: Option<std::borrow::Cow<'a, str>>,
}

/// Group, version and kind.
type Id = (String, String, String);

#[derive(Default)]
struct Bucket {
    objects: Vec<(Object, u32)>,
    filling: Filling,
    /// The plural, where the capture's paths give it.
    plural: Option<String>,
}

/// Fills a store.
pub struct Builder {
    buckets: BTreeMap<Id, Bucket>,
    chunks: Chunks,
    declared: Vec<Declared>,
    definitions: Definitions,
    logs: Vec<LogFile>,
    node_files: BTreeMap<String, Vec<NodeFile>>,
    version: Value,
    revision: u64,
    count: u32,
    title: String,
    missing: Option<String>,
    /// The newest release of a kubelet.
    release: Option<(u32, u32, u32)>,
    listed: BTreeMap<Id, BTreeSet<String>>,
}

impl Builder {
    /// An empty one; `title` says what the recording is of.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            buckets: BTreeMap::new(),
            chunks: Chunks::default(),
            declared: Vec::new(),
            definitions: Definitions::default(),
            logs: Vec::new(),
            node_files: BTreeMap::new(),
            version: Value::Null,
            revision: 1,
            count: 0,
            title: title.into(),
            missing: None,
            release: None,
            listed: BTreeMap::new(),
        }
    }

    /// What the recording is of, once that is known.
    pub fn title(&mut self, title: impl Into<String>) {
        self.title = title.into();
    }

    /// What `/version` answered.
    pub fn version(&mut self, version: Value) {
        self.version = version;
    }

    /// The resource version of a list, which may be newer than any object.
    pub fn revision(&mut self, revision: u64) {
        self.revision = self.revision.max(revision);
    }

    /// A kind that the capture tells of.
    pub fn declare(&mut self, declared: Declared) {
        self.declared.push(declared);
    }

    /// A namespace's list of a kind that was read to its end.
    pub fn listed(&mut self, api_version: &str, kind: &str, namespace: &str) {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let id = (group.to_owned(), version.to_owned(), kind.to_owned());
        let namespaces = self.listed.entry(id).or_default();
        namespaces.insert(namespace.to_owned());
    }

    /// Why kinds of which the capture says nothing are missing.
    pub fn missing(&mut self, why: impl Into<String>) {
        self.missing = Some(why.into());
    }

    /// A container's log.
    pub fn log(&mut self, log: LogFile) {
        self.logs.push(log);
    }

    /// A file of a node.
    pub fn node_file(&mut self, node: &str, file: NodeFile) {
        self.node_files
            .entry(node.to_owned())
            .or_default()
            .push(file);
    }

    /// Adds an object.
    ///
    /// Errors: why it was left out.
    pub fn add(&mut self, raw: &[u8], hint: Hint<'_>) -> Result<(), Unusable> {
        let raw = raw.trim_ascii();
        let head: Head<'_> =
            serde_json::from_slice(raw).map_err(|error| Unusable::Json(error.to_string()))?;
        if !raw.starts_with(b"{") {
            return Err(Unusable::Json("not in braces".to_owned()));
        }
        let name = head
            .metadata
            .name
            .filter(|name| !name.is_empty())
            .ok_or(Unusable::Nameless)?;
        let (plural, of_group) = match hint
            .resource
            .map(|text| text.split_once('.').unwrap_or((text, "")))
        {
            Some((plural, group)) => (Some(plural), Some(group)),
            None => (None, None),
        };
        let known = plural.and_then(|plural| {
            let mut all = kinds::all();
            all.find(|one| {
                one.plural == plural
                    && of_group.is_none_or(|group| group.is_empty() || group == one.group)
            })
        });
        let typed = head.kind.is_some() && head.api_version.is_some();
        let kind = head
            .kind
            .as_deref()
            .or(hint.kind)
            .or(known.map(|one| one.kind));
        let kind = kind.ok_or(Unusable::Kindless)?.to_owned();
        let by_name = known.map(|one| match one.group {
            "" => one.version.to_owned(),
            group => format!("{group}/{}", one.version),
        });
        let api_version = head
            .api_version
            .as_deref()
            .or(hint.api_version)
            .map(str::to_owned);
        let api_version = api_version.or(by_name).ok_or(Unusable::Kindless)?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let namespace = head.metadata.namespace.as_deref().unwrap_or("");
        checked(&name, namespace)?;
        let revision = head.metadata.resource_version;
        let revision = revision.and_then(|text| text.parse().ok()).unwrap_or(0);
        let object = Object {
            key: if namespace.is_empty() {
                name.as_ref().into()
            } else {
                format!("{namespace}/{name}").into()
            },
            namespace: u16::try_from(namespace.len()).map_err(|_| Unusable::BadName)?,
            typed,
            revision,
            spot: Spot::default(),
        };
        match kind.as_str() {
            "CustomResourceDefinition" => self.definitions.add(raw),
            "Node" => self.release = self.release.max(release(raw)),
            _ => {}
        }
        self.revision = self.revision.max(revision);
        self.count += 1;
        let bucket = self
            .buckets
            .entry((group.to_owned(), version.to_owned(), kind))
            .or_default();
        if bucket.plural.is_none() {
            bucket.plural = plural.map(str::to_owned);
        }
        bucket.filling.add(bucket.objects.len(), raw);
        bucket.objects.push((object, self.count));
        if bucket.filling.is_full() {
            bucket.close(&mut self.chunks);
        }
        Ok(())
    }

    /// The store, with ages as of `now`.
    pub fn finish(mut self, now: DateTime<Utc>, texts: Option<Arc<dyn Texts>>) -> Store {
        let mut kinds = Vec::new();
        for ((group, version, kind), mut bucket) in std::mem::take(&mut self.buckets) {
            bucket.close(&mut self.chunks);
            let plural = bucket.plural.clone();
            let mut made = definitions::kind(&self.definitions, &group, &version, &kind, plural);
            made.objects = sorted(bucket.objects);
            made.namespaced &=
                made.objects.iter().any(|one| one.namespace > 0) || made.objects.is_empty();
            kinds.push(made);
        }
        self.cover(&mut kinds);
        for kind in &mut kinds {
            let id = (kind.group.clone(), kind.version.clone(), kind.kind.clone());
            kind.listed = self.listed.remove(&id).unwrap_or_default();
        }
        for kind in self.definitions.unused(&kinds) {
            kinds.push(kind);
        }
        self.add_missing(&mut kinds);
        kinds.sort_by_cached_key(|kind| {
            (
                kinds::rank(&kind.group),
                kind.group.clone(),
                definitions::version_rank(&kind.version),
                kind.plural.clone(),
            )
        });
        self.logs.sort();
        self.node_files.values_mut().for_each(|files| files.sort());
        Store {
            kinds,
            chunks: self.chunks,
            now,
            version: version(self.version, self.release),
            revision: self.revision,
            title: self.title,
            logs: self.logs,
            node_files: self.node_files,
            texts: texts.unwrap_or_else(|| Arc::new(NoTexts)),
        }
    }

    /// Says of each kind how much of it was collected, and adds those that were declared and hold nothing.
    fn cover(&self, kinds: &mut Vec<Kind>) {
        for declared in &self.declared {
            let (group, version) = declared
                .api_version
                .split_once('/')
                .unwrap_or(("", &declared.api_version));
            let plural = declared.resource.split('.').next().unwrap_or_default();
            let plural = Some(plural.to_owned()).filter(|plural| !plural.is_empty());
            let is = |kind: &Kind| {
                kind.group == group && kind.version == version && kind.kind == declared.kind
            };
            let index = match kinds.iter().position(is) {
                Some(index) => index,
                None => {
                    let mut kind = definitions::kind(
                        &self.definitions,
                        group,
                        version,
                        &declared.kind,
                        plural.clone(),
                    );
                    if plural.is_some() {
                        kind.namespaced = declared.namespaced;
                    }
                    kinds.push(kind);
                    kinds.len() - 1
                }
            };
            let why = || {
                declared
                    .why
                    .clone()
                    .unwrap_or_else(|| "it was not collected".to_owned())
            };
            let Some(kind) = kinds.get_mut(index) else {
                continue;
            };
            kind.plural = plural.unwrap_or_else(|| std::mem::take(&mut kind.plural));
            kind.coverage = match (declared.whole, kind.objects.is_empty()) {
                (true, _) => Coverage::Whole,
                (false, true) => Coverage::Missing(why()),
                (false, false) => Coverage::Part(why()),
            };
        }
    }

    /// Kinds of Kubernetes that the capture says nothing of: named, so that asking for one is answered with why.
    fn add_missing(&self, kinds: &mut Vec<Kind>) {
        let why = self
            .missing
            .as_deref()
            .unwrap_or("the capture does not hold this kind");
        for one in kinds::all() {
            let known = kinds
                .iter()
                .any(|kind| kind.group == one.group && kind.plural == one.plural);
            // What servers have switched off, or have not any more, is no gap of the capture.
            let common = one.version.starts_with('v') && !one.version.contains(['a', 'b']);
            // The same events under another name.
            let twice =
                one.group == "events.k8s.io" && kinds.iter().any(|kind| kind.plural == "events");
            if !known && common && !twice {
                let mut kind =
                    definitions::kind(&self.definitions, one.group, one.version, one.kind, None);
                kind.coverage = Coverage::Missing(why.to_owned());
                kinds.push(kind);
            }
        }
    }
}

impl Bucket {
    fn close(&mut self, chunks: &mut Chunks) {
        for (index, spot) in self.filling.close(chunks) {
            if let Some((object, _)) = self.objects.get_mut(index) {
                object.spot = spot;
            }
        }
    }
}

/// What `/version` answered; where that was not collected, the release that the server has at least: no kubelet is newer.
fn version(answered: Value, kubelet: Option<(u32, u32, u32)>) -> Value {
    if answered.is_object() {
        return answered;
    }
    let (major, minor, patch) = kubelet.unwrap_or((1, 0, 0));
    let from = if kubelet.is_some() {
        "+kubelet"
    } else {
        "-unknown"
    };
    let release = format!("v{major}.{minor}.{patch}{from}");
    // Clients only compare these numbers with their own.
    json!({"major": major.to_string(), "minor": minor.to_string(), "gitVersion": release, "gitCommit": "", "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": ""})
}

/// The release of a node's kubelet.
fn release(raw: &[u8]) -> Option<(u32, u32, u32)> {
    const MARK: &[u8] = b"\"kubeletVersion\":";
    let at = raw.windows(MARK.len()).position(|part| part == MARK)? + MARK.len();
    let text = raw.get(at..)?.trim_ascii_start().strip_prefix(b"\"v")?;
    let end = text
        .iter()
        .take(40)
        .position(|byte| !matches!(byte, b'0'..=b'9' | b'.'))?;
    let mut parts = std::str::from_utf8(&text[..end])
        .ok()?
        .split('.')
        .map(str::parse);
    let mut next = || parts.next()?.ok();
    Some((next()?, next()?, next().unwrap_or(0)))
}

fn checked(name: &str, namespace: &str) -> Result<(), Unusable> {
    let fine = is_segment(name) && (namespace.is_empty() || is_segment(namespace));
    if fine { Ok(()) } else { Err(Unusable::BadName) }
}

/// Whether a name can be a part of a path, as every server asks of names.
fn is_segment(name: &str) -> bool {
    let odd = |c: char| matches!(c, '/' | '%' | '\\') || c.is_control();
    !matches!(name, "." | "..") && !name.contains(odd)
}

/// Objects by name; of one that came several times, the newest copy, and of equal ones the first.
fn sorted(mut objects: Vec<(Object, u32)>) -> Vec<Object> {
    objects.sort_by(|(a, came), (b, later)| {
        a.key
            .cmp(&b.key)
            .then(b.revision.cmp(&a.revision))
            .then(came.cmp(later))
    });
    objects.dedup_by(|(later, _), (first, _)| later.key == first.key);
    objects.into_iter().map(|(object, _)| object).collect()
}
