//! All sources. Adding one is a file beside this one, called as its entry in `bundle/src/sources.rs`, the list of both
//! programs.

pub mod nvml;
pub mod processes;

use std::sync::LazyLock;

use crate::options::Options;
use crate::source::Source;

/// Makes the modules of the sources and the list of them.
macro_rules! modules {
    ($($file:ident)*) => {
        $(pub mod $file;)*

        /// Every source, in the order of their ids.
        pub static SOURCES: LazyLock<Vec<&'static Source>> = LazyLock::new(|| {
            let mut sources = vec![$(&$file::SOURCE,)*];
            sources.sort_unstable_by_key(|source| source.id);
            sources
        });
    };
}

casefile_bundle::each_source!(modules);

/// A source that runs only where the user asks for it.
pub struct OptIn {
    /// The source.
    pub source: &'static Source,
    /// Whether the options ask for it.
    pub asked: fn(&Options) -> bool,
    /// How to ask for it.
    pub by: &'static str,
}

/// The sources that are off by default.
pub static OPT_IN: &[OptIn] = &[
    OptIn {
        source: &cluster_node_logs::SOURCE,
        asked: |options| !options.node_logs.is_empty(),
        by: "--node-logs NODE",
    },
    OptIn {
        source: &probe::SOURCE,
        asked: |options| options.probe || options.only.contains(probe::SOURCE.id),
        by: "--probe",
    },
];

/// The source of this id.
pub fn find(id: &str) -> Option<&'static Source> {
    SOURCES.iter().copied().find(|source| source.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_this_folder_is_compiled() {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sources");
        let own = std::fs::read_to_string(format!("{here}/mod.rs")).unwrap();
        for file in std::fs::read_dir(here).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(
                name == "mod" || find(name).is_some() || own.contains(&format!("mod {name};")),
                "{name} has no entry in bundle/src/sources.rs"
            );
        }
    }

    #[test]
    fn ids_are_unique_sorted_and_fit_for_the_command_line() {
        let ids: Vec<_> = SOURCES.iter().map(|source| source.id).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(ids, sorted);
        for id in ids {
            assert!(
                id.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
                "{id}"
            );
        }
    }
}
