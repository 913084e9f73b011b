//! Archives inside archives: which path an entry of one of them has.

use std::collections::BTreeSet;
use std::path::Path;

use super::several;
use super::top::TopFolder;
use crate::path::BundlePath;

/// The archives around what is read, the input itself among them.
pub(crate) struct Levels {
    outer: Level,
    /// The innermost last.
    inner: Vec<Level>,
    /// Archives whose first folder keeps its name, by the prefix of their entries.
    kept: BTreeSet<String>,
    /// Archives of which this reading shows that it should.
    to_keep: BTreeSet<String>,
}

/// One archive.
struct Level {
    /// What the paths of its entries start with.
    prefix: String,
    top: TopFolder,
}

impl Levels {
    pub(crate) fn new(input: &Path, strip_top: bool) -> Self {
        let kept = several::known(input);
        let top = TopFolder::new(strip_top && !kept.contains(""));
        let prefix = String::new();
        Self {
            outer: Level { prefix, top },
            inner: Vec::new(),
            kept,
            to_keep: BTreeSet::new(),
        }
    }

    fn innermost(&mut self) -> &mut Level {
        self.inner.last_mut().unwrap_or(&mut self.outer)
    }

    /// Begins an archive that is an entry; none for the input itself.
    pub(crate) fn enter(&mut self, path: Option<&BundlePath>) {
        if let Some(path) = path {
            let prefix = format!("{path}/");
            let top = TopFolder::new(!self.kept.contains(&prefix));
            self.inner.push(Level { prefix, top });
        }
    }

    /// Ends the innermost archive; the input itself ends with the reading.
    pub(crate) fn leave(&mut self) {
        if let Some(level) = self.inner.pop() {
            self.look_beside(&level);
        }
    }

    /// Remembers an archive of several folders.
    fn look_beside(&mut self, level: &Level) {
        if level.top.is_one_of_several() {
            self.to_keep.insert(level.prefix.clone());
        }
    }

    /// The entry that is the archive being read; none for the input itself.
    pub(crate) fn archive(&self) -> Option<&str> {
        let level = self.inner.last()?;
        Some(level.prefix.trim_end_matches('/'))
    }

    /// The archive that is being read names the folder that it was packed from.
    pub(crate) fn note_here(&mut self) {
        self.innermost().top.note_here();
    }

    /// The path of an entry of the archive that is being read; none for its top folder.
    pub(crate) fn name(&mut self, path: BundlePath, is_folder: bool) -> Option<String> {
        let level = self.innermost();
        let below = level.top.strip(path, is_folder)?;
        Some(format!("{}{below}", level.prefix))
    }

    /// Ends all archives; those whose first folder should have kept its name.
    pub(crate) fn finish(&mut self) -> BTreeSet<String> {
        while !self.inner.is_empty() {
            self.leave();
        }
        if self.outer.top.is_one_of_several() {
            self.to_keep.insert(self.outer.prefix.clone());
        }
        std::mem::take(&mut self.to_keep)
    }
}
