//! What an input holds beyond what is evaluated together: left out, and named.

use super::gather::Gather;
use super::kube_list::Bounded;
use super::out::Out;
use crate::model::{Place, Problem};
use crate::parsers::{Parsed, Read};

/// What is said of an entry that is read as a whole or not at all, and is too large for that.
const TOO_LARGE: &str = "is too large to be read as a whole and was not read";

/// The same of texts of unknown origin.
pub(super) const LINES_ONLY: &str = "is larger than the texts in which tables and objects are looked for (4 MiB): its lines were searched, and nothing else was read of it";

/// What is said of an entry for which there was no room while it waited.
pub(super) const LOST: &str = "was not read, or not to its end: there was no room for it in memory or in the folder for temporary files";

/// Bytes as a text; what is said where they are none.
pub(super) fn text(
    bytes: Vec<u8>,
    place: impl Fn(Option<u32>) -> Place,
) -> (String, Option<Problem>) {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return (text, None),
        Err(error) => error,
    };
    let at = error.utf8_error().valid_up_to();
    let line = 1 + memchr::memchr_iter(b'\n', &error.as_bytes()[..at]).count();
    let problem = Problem {
        place: place(u32::try_from(line).ok()),
        text: "holds bytes that are not UTF-8; they are shown as \u{fffd}".into(),
    };
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    (text, Some(problem))
}

/// The entries of which that was said.
pub(crate) fn not_read(problems: &[Problem]) -> impl Iterator<Item = &str> {
    let said = problems.iter().filter(|problem| problem.text == TOO_LARGE);
    said.map(|problem| problem.place.path.as_str())
}

impl Gather<'_> {
    /// Reads a stretch of a list that had to wait; false where it is lost.
    pub(super) fn read_later(&self, path: &str, piece: &mut Out) -> bool {
        let later = std::mem::take(&mut piece.later);
        if later.is_empty() || self.listed > self.spill.budget().facts() {
            return true;
        }
        let mut bytes = Vec::new();
        let read = self.spill.take(later, &mut bytes);
        if let Some(Read::Items(parse)) = self.router.parser(path).map(|parser| parser.read)
            && !self.sink().items(path, &bytes, parse, piece)
        {
            piece.kept = self.spill.keep(&bytes);
            piece.list = None;
        }
        read
    }

    pub(super) fn lost(&mut self, path: &str, is_lost: bool) {
        if is_lost {
            self.problem(path, LOST);
        }
    }

    /// Counts a stretch of a list; true where it is over what is evaluated together, and was emptied.
    pub(super) fn is_over(&mut self, piece: &mut Out) -> bool {
        if piece.list.is_none() {
            return false;
        }
        self.listed = self.listed.saturating_add(piece.cost);
        let is_over = self.listed > self.spill.budget().facts();
        if is_over {
            piece.parsed = Parsed::default();
            piece.hits.clear();
            piece.said.clear();
        }
        is_over
    }

    /// How many more facts of lists are evaluated together.
    pub(super) fn room(&self) -> usize {
        self.spill.budget().facts().saturating_sub(self.listed)
    }

    /// Takes what a list gave that was read as a whole.
    pub(super) fn list(&mut self, path: &str, list: Bounded) {
        self.listed = self.listed.saturating_add(list.cost);
        self.left_out(path, list.left_out);
        self.parsed(list.parsed);
    }

    /// Names the line from which on objects of a list were left out.
    pub(super) fn left_out(&mut self, path: &str, line: Option<u32>) {
        if line.is_none() {
            return;
        }
        let text =
            "from here on objects were left out: the input holds more than are evaluated together";
        self.problems.push(Problem {
            place: Place {
                path: path.into(),
                line,
            },
            text: text.to_owned(),
        });
    }

    pub(super) fn too_large(&mut self, path: &str) {
        self.problem(path, TOO_LARGE);
    }
}
