//! Which node and cluster a bundle is of, read without its content.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use casefile_bundle::{Entry, HEADER_PATH, Input, Keys, Limits, Summary};
use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::Member;

/// A list of namespaces or nodes may hold this much, in bytes.
const LIST_LIMIT: usize = 64 << 20;
/// Longest header, in bytes.
const HEADER_LIMIT: usize = 1 << 20;

#[derive(Deserialize)]
struct List {
    items: Vec<Object>,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    uid: Option<String>,
}

/// The uid of the namespace kube-system in a list of namespaces, which stands for the cluster.
pub fn cluster_uid(namespaces: &str) -> Option<String> {
    let list: List = serde_json::from_str(namespaces).ok()?;
    let mut items = list.items.into_iter();
    let own = items.find(|item| item.metadata.name == "kube-system")?;
    own.metadata.uid
}

/// Whether this is a bundle, packed or unpacked; reads no further than its header.
pub(super) fn is_bundle(path: &Path, keys: Option<&Keys>) -> bool {
    let named = |endings: &[&str]| {
        path.extension()
            .is_some_and(|ending| endings.iter().any(|known| ending == *known))
    };
    if path.is_dir() {
        return path.join(HEADER_PATH).is_file();
    }
    named(&["gz", "tgz", "tar", "partial", "age"])
        && casefile_bundle::read_entry(
            Input::new(path, keys),
            &Limits::default(),
            HEADER_PATH,
            HEADER_LIMIT,
        )
        .is_ok_and(|header| header.is_some())
}

/// The bundles directly in a folder, sorted, and how many other files it holds.
pub(super) fn inside(folder: &Path, keys: Option<&Keys>) -> (Vec<PathBuf>, usize) {
    if !folder.is_dir() || folder.join(HEADER_PATH).is_file() {
        return (Vec::new(), 0);
    }
    let children = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = children.map(|entry| entry.path()).collect();
    paths.sort();
    let (bundles, others): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|path| is_bundle(path, keys));
    (bundles, others.len())
}

/// Reads what a bundle says of itself; none for anything else, which says itself what is wrong with it.
pub(super) fn read(input: PathBuf, keys: Option<&Keys>) -> Option<Member> {
    let limits = Limits::default();
    let (summary, entries) = casefile_bundle::list(Input::new(&input, keys), &limits).ok()?;
    let node = summary.header.as_ref()?.node.clone();
    let paths: BTreeSet<String> = entries
        .iter()
        .map(|entry| entry.path.as_str().to_owned())
        .collect();
    let text = |entry: Entry<'_>| {
        let path = entry.path();
        let there = paths.contains(&path);
        let bytes = there.then(|| {
            casefile_bundle::read_entry(Input::new(&input, keys), &limits, &path, LIST_LIMIT)
        });
        String::from_utf8(bytes?.ok()??).ok()
    };
    let cluster = text(Entry::List("namespaces")).and_then(|text| cluster_uid(&text));
    let listed =
        text(Entry::List("nodes")).and_then(|text| serde_json::from_str::<List>(&text).ok());
    let nodes = listed.into_iter().flat_map(|list| list.items);
    Some(Member {
        name: name(&input),
        node,
        cluster,
        nodes: nodes.map(|item| item.metadata.name).collect(),
        summary,
        paths,
        input,
    })
}

/// A path's last part.
pub(super) fn name(input: &Path) -> String {
    let name = input.file_name();
    name.map_or_else(
        || ".".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// When a bundle was taken.
pub(super) fn taken(summary: &Summary) -> Option<DateTime<Utc>> {
    let finished = summary.manifest.as_ref().map(|one| one.finished);
    finished.or_else(|| summary.header.as_ref().map(|one| one.started))
}
