//! The captured root file system of a node, for the containerd resolver.

use std::collections::BTreeSet;

use casefile_bundle::Entry;

use crate::containerd::MapTree;
use crate::derive::Known;
use crate::parsers::{CapturedFile, SMALL};

/// Builds it from the copies and from what the collector noted as absent.
pub(in crate::derive) fn captured(known: &Known<'_>, node: &str) -> MapTree {
    let prefix = Entry::Rootfs(node, "").path();
    let copies = known.documents.range(prefix.clone()..);
    let mut tree = MapTree::new();
    let copies = copies.take_while(|(path, _)| path.starts_with(&prefix));
    // What is larger is no configuration, and any file may be imported as one.
    for (path, text) in copies.filter(|(_, text)| text.len() <= SMALL) {
        tree.add(&format!("/{}", &path[prefix.len()..]), path, text);
    }
    let records = known
        .facts
        .table::<CapturedFile>()
        .iter()
        .filter(|one| one.data.node == node);
    let mut listed = BTreeSet::new();
    for record in records {
        let file = &record.data;
        match (file.outcome.as_str(), &file.link) {
            ("absent", _) => tree.add_absent(&file.path),
            ("listed", _) => {
                listed.insert(file.path.clone());
            }
            (_, Some(target)) => tree.add_link(&file.path, target),
            _ => {}
        }
    }
    for folder in listed {
        tree.add_listed(&folder);
    }
    tree
}
