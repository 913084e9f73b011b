//! What one piece of an entry gave, until all of the entry is put together.

use super::patterns::Hit;
use super::sayings::Saying;
use super::spill::Kept;
use crate::parsers::Parsed;

/// What one piece gave, or the whole entry where it is read by lines.
#[derive(Default)]
pub(super) struct Out {
    pub(super) parsed: Parsed,
    /// What objects of a list say.
    pub(super) said: Vec<Saying>,
    /// The same found at once, where several bundles may hold the object.
    pub(super) hits: Vec<Hit>,
    /// Newlines in the piece.
    pub(super) lines: u32,
    /// Bytes kept for a reader of the whole entry.
    pub(super) kept: Kept,
    /// A stretch of a list that is read when all else was: too many objects were in memory.
    pub(super) later: Kept,
    /// What it gave in stretches that are counted one by one, and nothing else but problems.
    pub(super) stretches: Vec<Out>,
    /// The line at which it begins, where its places count from the beginning of the entry.
    pub(super) begins: Option<u32>,
    /// Of a list that is read piece by piece: whether this one is seen to begin it, and whether it ends it.
    pub(super) list: Option<(bool, bool)>,
    /// By how many blanks the objects of the list are indented, where they are.
    pub(super) indent: Option<usize>,
    /// The entry is over the limit for being kept.
    pub(super) too_large: bool,
    /// How many facts of lists it stands for.
    pub(super) cost: usize,
    /// Objects of a list: their lines and uids, where they were asked for.
    pub(super) uids: Vec<(u32, String)>,
}

impl Out {
    /// A text that is read when all of its entry is there.
    pub(super) fn keeping(kept: Kept) -> Self {
        Self {
            kept,
            ..Self::default()
        }
    }

    /// Its stretches, behind what is said of all of it.
    pub(super) fn stretched(mut self) -> impl Iterator<Item = Self> {
        let stretches = std::mem::take(&mut self.stretches);
        std::iter::once(self).chain(stretches)
    }

    /// Whether nothing is to be put together: of an archive's very many small entries most are settled when they are read.
    fn is_nothing(&self) -> bool {
        let Self {
            parsed,
            said,
            hits,
            lines,
            kept,
            later,
            stretches,
            begins: _,
            list,
            indent: _,
            too_large,
            cost,
            uids,
        } = self;
        let is_said =
            parsed.facts.is_empty() && parsed.said.is_empty() && parsed.problems.is_empty();
        let is_list = list.is_none() && said.is_empty() && hits.is_empty() && stretches.is_empty();
        let is_kept = kept.is_empty() && later.is_empty() && uids.is_empty();
        is_said && is_list && is_kept && *lines == 0 && *cost == 0 && !too_large
    }
}

/// What one piece gave, in little room where that is nothing.
pub(super) struct Given(Option<Box<Out>>);

impl From<Out> for Given {
    fn from(out: Out) -> Self {
        Self((!out.is_nothing()).then(|| Box::new(out)))
    }
}

impl From<Given> for Out {
    fn from(given: Given) -> Self {
        given.0.map_or_else(Self::default, |out| *out)
    }
}
