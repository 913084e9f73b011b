//! Files of the driver's libraries that are there and are no libraries: an update that broke off, or a full disk, leaves
//! them cut short.

use casefile_bundle::Entry;
use serde::Deserialize;

use super::Known;
use crate::facts::gpu::DamagedLibrary;
use crate::facts::{AnyFact, Fact};
use crate::gpu::version;
use crate::model::Place;

/// A line of `host/libraries.json`.
#[derive(Deserialize)]
pub(super) struct Library {
    pub(super) path: String,
    #[serde(default)]
    pub(super) cached_as: String,
    #[serde(default)]
    real: String,
    #[serde(default)]
    pub(super) version: String,
    /// What the header of an ELF file is for; none where the file is no whole ELF file.
    #[serde(default)]
    machine: Option<String>,
    #[serde(default)]
    size: Option<u64>,
    pub(super) exists: bool,
}

/// The libraries of that file, each with its line and the number of it.
pub(super) fn records(text: &str) -> impl Iterator<Item = (Library, &str, u32)> {
    text.lines().zip(1_u32..).filter_map(|(line, number)| {
        let record = line.trim().trim_end_matches(',');
        Some((serde_json::from_str(record).ok()?, record, number))
    })
}

/// The damaged libraries that programs are given by the loader's cache, each file once.
pub(super) fn facts(known: &Known<'_>, node: &str) -> Vec<AnyFact> {
    let path = Entry::Host(node, "libraries.json").path();
    let Some(text) = known.documents.get(&path) else {
        return Vec::new();
    };
    let mut files: Vec<String> = Vec::new();
    let mut facts = Vec::new();
    for (library, record, number) in records(text) {
        let Some(bytes) = damaged(&library).filter(|_| !files.contains(&library.real)) else {
            continue;
        };
        files.push(library.real.clone());
        let fact = Fact {
            data: DamagedLibrary {
                node: node.to_owned(),
                library: library.cached_as,
                path: library.real,
                bytes,
            },
            place: Place {
                path: path.as_str().into(),
                line: Some(number),
            },
            text: record.into(),
            at: None,
        };
        facts.push(fact.into());
    }
    facts
}

/// The size of a file that the cache names as a library of the driver and that is no ELF file.
fn damaged(library: &Library) -> Option<u64> {
    let is_asked = library.cached_as.ends_with(".so.1") && version::is_driver(&library.version);
    library
        .size
        .filter(|_| is_asked && library.machine.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<u64> {
        damaged(&serde_json::from_str(line).unwrap())
    }

    #[test]
    fn a_file_without_a_header_is_damaged_and_one_of_another_package_is_not_judged() {
        let line = r#"{"path":"/lib/libcuda.so.1","cached_as":"libcuda.so.1","exists":true,"real":"/lib/libcuda.so.580.159.04","version":"580.159.04","size":0}"#;
        assert_eq!(of(line), Some(0));
        let whole = line.replace(r#","size""#, r#","machine":"x86_64","size""#);
        assert_eq!(of(&whole), None);
        assert_eq!(of(&line.replace("580.159.04", "2")), None);
    }
}
