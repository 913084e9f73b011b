//! The first screen as plain text, for any field of any tracker.

use super::{at_most, flat};
use crate::report::Page;

/// Most characters: what people read before they scroll, and what the smallest trackers take.
const MOST: usize = 1_500;
/// Characters that the text may have before a line feed ends it.
const ROOM: usize = MOST - 4;
/// What is given up where the text is too long, in this order: a row as a whole, or its last statements down to so many
/// characters. What fails, since when and what to do stay for as long as anything else can go, and one line that proves it
/// for longer than more sentences about it.
const LEAST_FIRST: [(&str, usize); 19] = [
    ("Proof", 160),
    ("Not seen", 150),
    ("Also found", 80),
    ("Looked at", 80),
    ("Language", 0),
    ("Look first", 0),
    ("Also found", 0),
    ("Not seen", 60),
    ("Fix", 240),
    ("Cause", 240),
    ("Not known", 160),
    ("Proof", 0),
    ("Since", 80),
    ("Affected", 160),
    ("Not seen", 0),
    ("Command", 0),
    ("Start with", 0),
    ("Next", 200),
    ("Interrupts", 120),
];

/// Title, time and rows, each cut at the end of a statement until they fit.
pub(in crate::report) fn text(page: &Page<'_>) -> String {
    let mut rows: Vec<(&str, &str, String)> = page
        .status
        .iter()
        .map(|row| (row.key, row.label, flat(&row.text)))
        .collect();
    for (key, least) in LEAST_FIRST {
        let over = print(page, &rows).chars().count().saturating_sub(ROOM);
        if over == 0 {
            break;
        }
        if least == 0 {
            rows.retain(|(own, ..)| *own != key);
        } else if let Some((.., text)) = rows.iter_mut().find(|(own, ..)| *own == key) {
            let keep = text.chars().count().saturating_sub(over + 2).max(least);
            *text = match key {
                // How many of them there are says more than a few of their names.
                "Affected" => statements(text, keep, &["; ", ": "]),
                _ => statements(text, keep, &["; "]),
            };
        }
    }
    format!("{}\n", at_most(print(page, &rows).trim_end(), MOST - 1))
}

/// The whole statements of a text that fit into so many characters, at least the first: half a sentence says less than
/// none, and half a command something else.
fn statements(text: &str, most: usize, marks: &[&str]) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let ends = ends(text, marks);
    let fits = |at: &&usize| text[..**at].chars().count() < most;
    let end = ends.iter().rev().find(fits).or(ends.first());
    match end {
        Some(end) => format!("{}.", &text[..*end]),
        None => text.to_owned(),
    }
}

/// Where statements end, and their parts by the given marks: outside brackets, which hold commands.
fn ends(text: &str, marks: &[&str]) -> Vec<usize> {
    let (mut ends, mut depth) = (Vec::new(), 0_u32);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let rest = &text[at..];
        // `e.g. this` goes on.
        let ends_here = match rest.strip_prefix(". ") {
            Some(next) => !next.starts_with(char::is_lowercase),
            None => marks.iter().any(|mark| rest.starts_with(mark)),
        };
        if depth == 0 && ends_here {
            ends.push(at);
        }
    }
    ends
}

fn print(page: &Page<'_>, rows: &[(&str, &str, String)]) -> String {
    let mut out = format!("{}\n", crate::report::columns::shown(&page.title));
    if !page.reference_time.is_empty() {
        for part in [page.kicker, " · ", page.reference_time.as_str(), "\n"] {
            out.push_str(part);
        }
    }
    out.push('\n');
    for (_, label, text) in rows {
        out.push_str(label);
        out.push_str(": ");
        out.push_str(text);
        out.push('\n');
    }
    out
}
