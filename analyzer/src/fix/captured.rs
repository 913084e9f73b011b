//! The captured state of one input, and what changes make of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use casefile_bundle::{Input, Keys, Limits, Manifest, OpenError};

/// Entries with another content than the input's, by path.
pub type Overlay = BTreeMap<String, String>;

/// Longest entry that a change may touch, in bytes.
const LONGEST: usize = 16 << 20;

/// Reads entries of the input on demand and keeps what changes make of them. The input itself is
/// never written.
#[derive(Clone)]
pub struct Captured {
    input: PathBuf,
    keys: Option<Keys>,
    paths: Vec<String>,
    read: BTreeMap<String, Option<String>>,
    overlay: Overlay,
}

impl Captured {
    /// Lists the input.
    pub fn open<'a>(input: impl Into<Input<'a>>) -> Result<Self, OpenError> {
        let input = input.into();
        let (_, entries) = casefile_bundle::list(input, &Limits::default())?;
        Ok(Self {
            input: input.path().to_owned(),
            keys: input.keys().cloned(),
            paths: entries
                .into_iter()
                .map(|entry| entry.path.as_str().to_owned())
                .collect(),
            read: BTreeMap::new(),
            overlay: Overlay::new(),
        })
    }

    /// Paths of all entries, those that a change added included, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let own = self.paths.iter().map(String::as_str);
        let added = self.overlay.keys().map(String::as_str);
        let mut all: Vec<&str> = own.chain(added).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter()
    }

    /// The entry as it was collected; none where there is none, or where it is no text.
    pub fn before(&mut self, path: &str) -> Option<String> {
        if let Some(known) = self.read.get(path) {
            return known.clone();
        }
        let there = self.paths.iter().any(|known| known == path);
        let input = Input::new(&self.input, self.keys.as_ref());
        let bytes = there
            .then(|| casefile_bundle::read_entry(input, &Limits::default(), path, LONGEST))
            .and_then(Result::ok)
            .flatten();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        self.read.insert(path.to_owned(), text.clone());
        text
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
        let manifest = self.before(casefile_bundle::MANIFEST_PATH);
        let manifest: Option<Manifest> = manifest.and_then(|text| serde_json::from_str(&text).ok());
        let entry = manifest.as_ref().and_then(|manifest| {
            manifest
                .entries
                .iter()
                .find(|entry| entry.path.as_str() == path)
        });
        entry.is_none_or(|entry| !entry.redactions.is_empty())
    }

    /// The node that the files of the bundle belong to, where it is only one.
    pub fn only_node(&self) -> Option<String> {
        let mut nodes: Vec<&str> = self
            .paths
            .iter()
            .map(|path| crate::scan::node_of(path))
            .filter(|node| !node.is_empty())
            .collect();
        nodes.dedup();
        match nodes.as_slice() {
            [only] => Some((*only).to_owned()),
            _ => None,
        }
    }
}
