//! The settings in effect: those of the file, and of the flags what the file has not.

use serde_json::Value;

use super::file::Entries;
use super::flags::Flags;
use super::keys::Release;
use crate::containerd::FileLine;
use crate::runtimes::line_of_key;

/// The file and the flags, once it is known that they can be read together.
pub(super) struct Loaded<'a> {
    pub(super) release: Release,
    pub(super) entries: &'a Entries,
    pub(super) flags: &'a Flags,
    pub(super) file: &'a File,
}

/// Where the entries stand.
#[derive(Default)]
pub(super) struct File {
    pub(super) text: String,
    pub(super) path: String,
    pub(super) bundle_path: String,
}

impl File {
    pub(super) fn place(&self, key: &str) -> Option<FileLine> {
        (!self.text.is_empty()).then(|| FileLine {
            host_path: self.path.clone(),
            bundle_path: self.bundle_path.clone(),
            line: line_of_key(&self.text, key),
        })
    }

    pub(super) fn at(&self, line: usize) -> FileLine {
        FileLine {
            host_path: self.path.clone(),
            bundle_path: self.bundle_path.clone(),
            line: u32::try_from(line.max(1)).unwrap_or(u32::MAX),
        }
    }
}

impl Loaded<'_> {
    pub(super) fn place(&self, key: &str) -> Option<FileLine> {
        self.file.place(key)
    }

    /// A text of the file, else of the flags; the empty one counts as none.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let flag = || self.flags.get(key)?.last().cloned();
        self.entries
            .text(key)
            .or_else(flag)
            .filter(|text| !text.is_empty())
    }

    pub(super) fn list(&self, key: &str) -> Vec<String> {
        let own = self.entries.list(key).filter(|list| !list.is_empty());
        own.or_else(|| self.flags.get(key).cloned())
            .unwrap_or_default()
    }

    pub(super) fn switch(&self, key: &str, default: bool) -> bool {
        let flag = || Some(self.flags.get(key)?.last()? != "false");
        self.entries.switch(key).or_else(flag).unwrap_or(default)
    }

    pub(super) fn number(&self, key: &str) -> Option<i64> {
        self.entries.number(key)
    }

    pub(super) fn feature(&self, name: &str) -> Option<bool> {
        let own = self.entries.get("features");
        let own = own
            .as_ref()
            .and_then(|all| all.get(name))
            .and_then(Value::as_bool);
        let flag = || {
            let mut set = self.flags.get("features")?.iter().rev();
            set.find_map(|one| match one.split_once('=').unwrap_or((one, "true")) {
                (key, value) if key == name => Some(value == "true" || value == "1"),
                _ => None,
            })
        };
        own.or_else(flag)
    }
}
