//! The captured state of one input, and what changes make of it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use casefile_bundle::{Input, Keys, Limits, MANIFEST_PATH, Manifest, OpenError, entry};
use serde_json::Value;

use super::shell::safe_name;
use crate::join::Member;
use crate::scan::joined::without_deleted;
use crate::scan::node_of;

/// Entries with another content than the input's, by path.
pub type Overlay = BTreeMap<String, String>;

/// What was replaced in a bundle, in counts (the format's section 3).
const PRIVACY_PATH: &str = "privacy.json";
/// Longest entry that a change may touch, in bytes.
const LONGEST: usize = 16 << 20;
/// Entries that are read ahead of one bundle may hold this much together, in bytes.
const AHEAD: usize = 64 << 20;

/// Reads entries of the input on demand and keeps what changes make of them. The input itself is
/// never written.
#[derive(Clone)]
pub struct Captured {
    files: Rc<Files>,
    overlay: Overlay,
    /// The node that a change without a node is for, where the input holds several.
    about: Option<String>,
    /// Names of the files that changes hand over.
    handed: BTreeSet<String>,
}

/// Why a copy in the bundle is not the node's own text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Altered {
    /// Secrets were replaced.
    #[error("secrets were taken out of its copy in the bundle")]
    Secrets,
    /// Names and addresses were replaced.
    #[error("the bundle is anonymised, so its copy holds other names")]
    Names,
    /// A part is missing.
    #[error("{0}")]
    Cut(String),
    /// It is a link, so that writing it would break or follow it.
    #[error("it is a link to {0:?}")]
    Link(String),
    /// It is there and was not read.
    #[error("it is there and was not collected ({0})")]
    Uncollected(String),
}

/// What was collected, read once for all copies of the state.
struct Files {
    bundles: Vec<Bundle>,
    /// The bundles that hold each entry, the one that counts first.
    holders: BTreeMap<String, Vec<usize>>,
    /// Texts that stand inside other texts, under the path that a bundle would have them at.
    pasted: Overlay,
    read: RefCell<BTreeMap<String, Option<String>>>,
}

/// One bundle of the input.
struct Bundle {
    input: PathBuf,
    keys: Option<Keys>,
    ahead: RefCell<Option<BTreeMap<String, String>>>,
}

impl Captured {
    /// Lists one input.
    pub fn open<'a>(input: impl Into<Input<'a>>) -> Result<Self, OpenError> {
        let input = input.into();
        let (_, entries) = casefile_bundle::list(input, &Limits::default())?;
        let paths = entries.into_iter().map(|one| one.path.as_str().to_owned());
        Ok(Self::of(
            vec![Bundle::new(input.path().to_owned(), input.keys().cloned())],
            paths.map(|path| (path, vec![0])).collect(),
        ))
    }

    /// The bundles of a cluster's nodes, newest first: a node's files from its own bundle, of an object the
    /// newest copy.
    pub fn joined(members: &[Member], keys: Option<&Keys>) -> Self {
        let mut holders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, member) in members.iter().enumerate() {
            for path in &member.paths {
                holders.entry(path.clone()).or_default().push(index);
            }
        }
        for (path, holding) in &mut holders {
            let node = node_of(path);
            if node.is_empty() {
                *holding = without_deleted(members, path, holding);
            } else {
                holding.sort_by_key(|index| members[*index].node != node);
            }
        }
        let bundle = |member: &Member| Bundle::new(member.input.clone(), keys.cloned());
        Self::of(members.iter().map(bundle).collect(), holders)
    }

    fn of(bundles: Vec<Bundle>, holders: BTreeMap<String, Vec<usize>>) -> Self {
        let files = Files {
            bundles,
            holders,
            pasted: Overlay::new(),
            read: RefCell::default(),
        };
        Self {
            files: Rc::new(files),
            overlay: Overlay::new(),
            about: None,
            handed: BTreeSet::new(),
        }
    }

    /// Adds texts that stand inside others, under the path that a bundle would have them at.
    pub fn with_pasted(mut self, pasted: Overlay) -> Self {
        if let Some(files) = Rc::get_mut(&mut self.files) {
            files.pasted = pasted;
        }
        self
    }

    /// Paths of all entries, those that a change added included, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let own = self.files.holders.keys();
        let all = own
            .chain(self.files.pasted.keys())
            .chain(self.overlay.keys());
        let mut all: Vec<&str> = all.map(String::as_str).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter()
    }

    /// The entry as it was collected; none where there is none, or where it is no text.
    pub fn before(&mut self, path: &str) -> Option<String> {
        self.files.text(path)
    }

    /// The entry as it stands after the changes so far.
    pub fn now(&mut self, path: &str) -> Option<String> {
        match self.overlay.get(path) {
            Some(changed) => Some(changed.clone()),
            None => self.before(path),
        }
    }

    /// Gives an entry another content.
    pub fn set(&mut self, path: &str, text: String) {
        self.overlay.insert(path.to_owned(), text);
    }

    /// Everything that was changed.
    pub fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// Whether the collector replaced secrets in this entry, so that it is not the node's own text.
    pub fn is_redacted(&mut self, path: &str) -> bool {
        let holders = self.files.holders.get(path).map_or(&[][..], Vec::as_slice);
        let redacted = |index: &usize| {
            let manifest = self.files.bundles[*index].text(MANIFEST_PATH);
            let manifest: Option<Manifest> =
                manifest.and_then(|text| serde_json::from_str(&text).ok());
            let entry = manifest.as_ref().and_then(|manifest| {
                manifest
                    .entries
                    .iter()
                    .find(|entry| entry.path.as_str() == path)
            });
            entry.is_none_or(|entry| !entry.redactions.is_empty())
        };
        holders.is_empty() || holders.iter().any(redacted)
    }

    /// Why a copied file is not the node's own to the last byte; none where the bundle speaks of nothing that was
    /// replaced or left out. Such a text must never be written back as a whole.
    pub fn altered(&mut self, path: &str) -> Option<Altered> {
        if let Some(why) = self.of_file_log(path) {
            return Some(why);
        }
        let text = self.before(path)?;
        if ["<redacted:", "<not collected>"]
            .iter()
            .any(|mark| text.contains(mark))
        {
            return Some(Altered::Secrets);
        }
        let holder = *self.files.holders.get(path)?.first()?;
        let bundle = &self.files.bundles[holder];
        let read = |name: &str| -> Option<Value> { serde_json::from_str(&bundle.text(name)?).ok() };
        let replaced = read(PRIVACY_PATH).is_some_and(|report| {
            let counts = report["anonymised"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            counts.values().any(|count| count.as_u64() != Some(0))
        });
        if replaced {
            return Some(Altered::Names);
        }
        let manifest = read(MANIFEST_PATH)?;
        let entries = manifest["entries"].as_array()?;
        let entry = entries.iter().find(|entry| entry["path"] == path)?;
        let redacted = entry["redactions"]
            .as_object()
            .is_some_and(|all| !all.is_empty());
        match entry["truncated"].as_str() {
            Some(why) => Some(Altered::Cut(format!(
                "only a part of it was collected ({why})"
            ))),
            None => redacted.then_some(Altered::Secrets),
        }
    }

    /// What the collector noted beside a host file that makes its copy another thing than the file.
    fn of_file_log(&mut self, path: &str) -> Option<Altered> {
        let (folder, host) = path.split_once("/rootfs/")?;
        let log: Value =
            serde_json::from_str(&self.before(&format!("{folder}/files.json"))?).ok()?;
        let host = format!("/{host}");
        let file = log["files"]
            .as_array()?
            .iter()
            .find(|file| file["path"] == host.as_str())?;
        if let Some(target) = file["link"].as_str() {
            return Some(Altered::Link(target.to_owned()));
        }
        match file["outcome"].as_str()? {
            "copied" | "absent" | "listed" => None,
            "truncated" => Some(Altered::Cut("only its beginning was collected".into())),
            other => Some(Altered::Uncollected(other.to_owned())),
        }
    }

    /// A name for a file to hand over that no other of these changes has.
    pub fn fresh_name(&mut self, name: &str) -> String {
        let name = safe_name(name);
        let (stem, end) = match name.rsplit_once('.') {
            Some((stem, end)) if !stem.is_empty() => (stem.to_owned(), format!(".{end}")),
            _ => (name.clone(), String::new()),
        };
        let numbered = (2..).map(|number| format!("{stem}-{number}{end}"));
        let fresh = std::iter::once(name.clone())
            .chain(numbered)
            .find(|name| !self.handed.contains(name));
        let fresh = fresh.unwrap_or(name);
        self.handed.insert(fresh.clone());
        fresh
    }

    /// Whether the text was cut out of another one, so that it may be a part of the file only.
    pub fn is_pasted(&self, path: &str) -> bool {
        self.files.pasted.contains_key(path)
    }

    /// Says which node a change without a node is for, where the input holds several.
    pub fn about(&mut self, node: Option<&str>) {
        self.about = node.map(str::to_owned);
    }

    /// Nodes of which the input holds files or what commands printed, sorted.
    pub fn nodes(&self) -> Vec<String> {
        let own = |path: &&str| path.contains("/rootfs/") || path.contains("/commands/");
        let of = |paths: &mut dyn Iterator<Item = &str>| -> BTreeSet<String> {
            let nodes = paths.map(node_of).filter(|node| !node.is_empty());
            nodes.map(str::to_owned).collect()
        };
        let looked_at = of(&mut self.paths().filter(own));
        let all = if looked_at.is_empty() {
            of(&mut self.paths())
        } else {
            looked_at
        };
        all.into_iter().collect()
    }

    /// The node that the files of the bundle belong to, where it is only one, or the one that the change is about.
    pub fn only_node(&self) -> Option<String> {
        if self.about.is_some() {
            return self.about.clone();
        }
        match self.nodes().as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }
}

impl Files {
    fn text(&self, path: &str) -> Option<String> {
        if let Some(known) = self.read.borrow().get(path) {
            return known.clone();
        }
        let holders = self.holders.get(path).map_or(&[][..], Vec::as_slice);
        let mut texts = holders
            .iter()
            .filter_map(|index| self.bundles[*index].text(path));
        let text = if holders.len() > 1 && path.starts_with(entry::OBJECTS) {
            newest_copies(texts.collect())
        } else {
            texts.next()
        };
        let text = text.or_else(|| self.pasted.get(path).cloned());
        self.read.borrow_mut().insert(path.to_owned(), text.clone());
        text
    }
}

impl Bundle {
    fn new(input: PathBuf, keys: Option<Keys>) -> Self {
        Self {
            input,
            keys,
            ahead: RefCell::default(),
        }
    }

    fn text(&self, path: &str) -> Option<String> {
        let input = Input::new(&self.input, self.keys.as_ref());
        let mut ahead = self.ahead.borrow_mut();
        // An archive can only be read from its start, so what changes look at is read in one pass.
        let ahead = ahead.get_or_insert_with(|| {
            let limits = Limits::default();
            let read = casefile_bundle::read_entries(input, &limits, &is_usual, LONGEST, AHEAD);
            let texts = read.unwrap_or_default().into_iter();
            texts
                .filter_map(|(path, bytes)| Some((path, String::from_utf8(bytes).ok()?)))
                .collect()
        });
        if let Some(text) = ahead.get(path) {
            return Some(text.clone());
        }
        let bytes = casefile_bundle::read_entry(input, &Limits::default(), path, LONGEST);
        String::from_utf8(bytes.ok()??).ok()
    }
}

/// Entries that changes look at: state, without logs, events and journals.
fn is_usual(path: &str) -> bool {
    let history = ["/logs/", "/journal/", "/var/log/", entry::EVENTS, "dmesg"];
    !history.iter().any(|part| path.contains(part))
}

/// One list of several bundles' lists, newest first: of each object the first copy. No list is the first text.
fn newest_copies(texts: Vec<String>) -> Option<String> {
    let read = |text: &String| serde_json::from_str::<Value>(text).ok();
    let lists: Option<Vec<Value>> = texts.iter().map(read).collect();
    let is_list = |list: &Value| list.get("items").is_some_and(Value::is_array);
    let Some(lists) = lists.filter(|lists| lists.iter().all(is_list)) else {
        return texts.into_iter().next();
    };
    let (mut known, mut items) = (BTreeSet::new(), Vec::new());
    for list in &lists {
        let mut own = Vec::new();
        for item in list["items"].as_array().into_iter().flatten() {
            let uid = item.pointer("/metadata/uid").and_then(Value::as_str);
            if uid.is_none_or(|uid| !known.contains(uid)) {
                items.push(item.to_string());
            }
            own.extend(uid.map(str::to_owned));
        }
        known.extend(own);
    }
    let head = lists.first()?;
    Some(format!(
        "{{\"kind\":{},\"apiVersion\":{},\"items\":[\n{}\n]}}\n",
        head["kind"],
        head["apiVersion"],
        items.join(",\n")
    ))
}
