//! The report in another language. A language is one file of `templates/lang`: the English texts as the report builds
//! them, and what to print instead. Texts of rules stay English, and the report says so.
//!
//! To add one: a file beside `de.toml` and its line in [`FILES`].

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::Page;
use super::blocks::{Block, Inline, Rich};
use super::first_screen::StatusRow;

/// The languages beside English.
const FILES: &[&str] = &[include_str!("../../../templates/lang/de.toml")];

static LANGUAGES: LazyLock<Vec<Language>> =
    LazyLock::new(|| FILES.iter().filter_map(|file| parse(file)).collect());

/// How deep what a hole holds is translated: a list of counts of spans.
const DEPTH: u8 = 8;

/// A language other than English.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// Its code, e.g. `de`.
    pub code: String,
    /// What is not translated, said in that language.
    note: String,
    /// Texts without a hole.
    whole: BTreeMap<String, String>,
    /// Texts with holes, those with most letters of their own first.
    patterns: Vec<Pattern>,
}

/// A text with holes.
#[derive(Debug, PartialEq, Eq)]
struct Pattern {
    /// What stands between the holes, and before the first and behind the last.
    between: Vec<String>,
    /// Whether each hole takes a number only.
    numbers: Vec<bool>,
    /// The same in the language, with holes in the same order.
    instead: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    code: String,
    note: String,
    texts: BTreeMap<String, String>,
}

/// The codes that can be asked for, English first.
pub fn codes() -> impl Iterator<Item = &'static str> {
    let others = LANGUAGES.iter().map(|one| one.code.as_str());
    std::iter::once("en").chain(others)
}

/// A language by its code; none for English, which needs no translation, and for one that is not there.
pub fn find(code: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|one| one.code == code)
}

fn parse(text: &str) -> Option<Language> {
    let file: File = toml::from_str(text).ok()?;
    let (holed, whole): (BTreeMap<_, _>, BTreeMap<_, _>) = file
        .texts
        .into_iter()
        .partition(|(text, _)| text.contains('{'));
    let mut patterns: Vec<Pattern> = holed
        .iter()
        .map(|(from, to)| Pattern::new(from, to))
        .collect();
    patterns.sort_by_key(|one| {
        let letters: usize = one.between.iter().map(String::len).sum();
        std::cmp::Reverse(letters)
    });
    Some(Language {
        code: file.code,
        note: file.note,
        whole,
        patterns,
    })
}

impl Pattern {
    fn new(from: &str, to: &str) -> Self {
        let (between, numbers) = cut(from);
        Self {
            between,
            numbers,
            instead: cut(to).0,
        }
    }

    /// What stands in the holes, if the text is of this form.
    fn holes<'a>(&self, text: &'a str) -> Option<Vec<&'a str>> {
        let mut rest = text.strip_prefix(self.between.first()?.as_str())?;
        let mut holes = Vec::new();
        for (nth, numbers) in self.numbers.iter().enumerate() {
            let next = self.between.get(nth + 1)?;
            let last = nth + 1 == self.numbers.len();
            let end = match (next.is_empty(), last) {
                (true, _) => rest.len(),
                // The last text ends the whole, so a hole before it may hold the like.
                (false, true) => rest.len() - next.len().min(rest.len()),
                (false, false) => rest.find(next.as_str())?,
            };
            let hole = rest.get(..end)?;
            let digits = |c: char| c.is_ascii_digit();
            if hole.is_empty() || (*numbers && !hole.chars().all(digits)) {
                return None;
            }
            rest = rest.get(end..)?.strip_prefix(next.as_str())?;
            holes.push(hole);
        }
        rest.is_empty().then_some(holes)
    }
}

/// A text at its holes, and which of them take numbers.
fn cut(text: &str) -> (Vec<String>, Vec<bool>) {
    let (mut between, mut numbers) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('{') {
        let Some((hole, tail)) = tail.split_once('}') else {
            break;
        };
        between.push(head.to_owned());
        numbers.push(hole == "n");
        rest = tail;
    }
    between.push(rest.to_owned());
    (between, numbers)
}

impl Language {
    /// A text in this language; as it is where no line of the file is of its form.
    pub fn text(&self, text: &str) -> String {
        self.known(text, DEPTH).unwrap_or_else(|| text.to_owned())
    }

    fn known(&self, text: &str, depth: u8) -> Option<String> {
        if let Some(known) = self.whole.get(text) {
            return Some(known.clone());
        }
        let depth = depth.checked_sub(1)?;
        let found = self
            .patterns
            .iter()
            .find_map(|one| Some((one, one.holes(text)?)));
        if let Some((pattern, holes)) = found {
            let mut out = pattern.instead.first()?.clone();
            for (hole, behind) in holes.iter().zip(pattern.instead.iter().skip(1)) {
                out.push_str(
                    &self
                        .known(hole, depth)
                        .unwrap_or_else(|| (*hole).to_owned()),
                );
                out.push_str(behind);
            }
            return Some(out);
        }
        // A sentence of parts, each with a line of its own.
        if let Some(inner) = text.strip_suffix('.') {
            return Some(format!("{}.", self.known(inner, depth)?));
        }
        if let Some(inner) = text.strip_suffix("; ") {
            return Some(format!("{}; ", self.known(inner, depth)?));
        }
        // The last part first: a part may hold a semicolon of its own.
        let (head, tail) = text.rsplit_once("; ")?;
        let (first, rest) = (self.known(head, depth), self.known(tail, depth));
        (first.is_some() || rest.is_some()).then(|| {
            let or = |known: Option<String>, text: &str| known.unwrap_or_else(|| text.to_owned());
            format!("{}; {}", or(first, head), or(rest, tail))
        })
    }

    /// A text of the report's own without a hole.
    pub(super) fn fixed(&'static self, text: &'static str) -> &'static str {
        self.whole.get(text).map_or(text, String::as_str)
    }

    /// Translates a page in place.
    pub(super) fn page(&'static self, page: &mut Page<'_>) {
        page.lang = &self.code;
        page.title = self.text(&page.title);
        page.kicker = self.fixed(page.kicker);
        page.status.push(StatusRow {
            key: "Language",
            label: "Language",
            text: Rich::from(self.note.as_str()),
        });
        for row in &mut page.status {
            row.label = self.fixed(row.key);
            self.rich(&mut row.text);
        }
        self.blocks(&mut page.lead);
        for section in &mut page.sections {
            section.title = self.fixed(section.title);
            self.blocks(&mut section.blocks);
        }
    }

    fn blocks(&self, blocks: &mut [Block]) {
        for block in blocks {
            match block {
                Block::Heading { text, .. } | Block::Paragraph { text } => self.rich(text),
                Block::List { items, .. } | Block::Message { lines: items, .. } => {
                    items.iter_mut().for_each(|text| self.rich(text));
                }
                Block::Table { columns, rows, .. } => {
                    let cells = columns.iter_mut().chain(rows.iter_mut().flatten());
                    cells.for_each(|text| self.rich(text));
                }
                Block::Callout { title, text, .. } => {
                    *title = self.text(title);
                    self.rich(text);
                }
                Block::Blanks { items } => {
                    items.iter_mut().for_each(|text| *text = self.text(text));
                }
                Block::Details { summary, blocks } => {
                    *summary = self.text(summary);
                    self.blocks(blocks);
                }
                _ => {}
            }
        }
    }

    fn rich(&self, text: &mut Rich) {
        for part in &mut text.0 {
            match part {
                Inline::Text { text }
                | Inline::Strong { text }
                | Inline::Badge { text, .. }
                | Inline::Jump { text, .. } => *text = self.text(text),
                Inline::Blank { text } => {
                    let text = format!("[{}: {}]", self.text("fill in"), self.text(text));
                    *part = Inline::Strong { text };
                }
                Inline::Code { .. } | Inline::Place { .. } | Inline::Link { .. } => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_file_is_read_and_its_lines_keep_their_holes() {
        assert_eq!(
            LANGUAGES.len(),
            FILES.len(),
            "a file is no TOML of this form"
        );
        for pattern in LANGUAGES.iter().flat_map(|one| &one.patterns) {
            assert_eq!(pattern.between.len(), pattern.instead.len(), "{pattern:?}");
            let letters: usize = pattern.between.iter().map(|text| text.trim().len()).sum();
            let numbers = pattern.numbers.iter().all(|number| *number);
            assert!(numbers || letters >= 4, "takes texts of rules: {pattern:?}");
        }
    }

    #[test]
    fn a_text_is_translated_with_what_its_holes_hold_and_an_unknown_one_stays() {
        let german = find("de").unwrap();
        let said = |text: &str| german.text(text);
        assert_eq!(
            said("2 pods are failing (longest for 52 minutes): "),
            "2 Pods fallen aus (am längsten seit 52 Minuten): "
        );
        assert_eq!(
            said("1 of 1 GPU node affected and 0 of 2 GPUs allocatable."),
            "1 von 1 GPU-Knoten betroffen und 0 von 2 GPUs zuteilbar."
        );
        assert_eq!(said("It waits ten minutes"), "It waits ten minutes");
        assert_eq!(find("en"), None);
    }
}
