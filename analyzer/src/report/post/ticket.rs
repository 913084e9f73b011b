//! The first screen as plain text, for any field of any tracker.

use super::{at_most, flat};
use crate::report::Page;

/// Most characters: what people read before they scroll, and what the smallest trackers take.
const MOST: usize = 1_500;
/// Rows that are shortened where the text is too long, in this order, and the characters that each keeps at least.
const LEAST_FIRST: [(&str, usize); 9] = [
    ("Proof", 160),
    ("Since", 80),
    ("Cause", 240),
    ("Affected", 160),
    ("Not seen", 150),
    ("Also found", 80),
    ("Next", 200),
    ("Command", 0),
    ("Start with", 0),
];

/// Title, time and rows, each cut at the end of a statement until they fit.
pub(in crate::report) fn text(page: &Page<'_>) -> String {
    let mut rows: Vec<(&str, &str, String)> = page
        .status
        .iter()
        .map(|row| (row.key, row.label, flat(&row.text)))
        .collect();
    for (key, least) in LEAST_FIRST {
        let over = print(page, &rows).chars().count().saturating_sub(MOST);
        if over == 0 {
            break;
        }
        if least == 0 {
            // A part of a command is none.
            rows.retain(|(own, ..)| *own != key);
        } else if let Some((.., text)) = rows.iter_mut().find(|(own, ..)| *own == key) {
            let keep = text.chars().count().saturating_sub(over + 2).max(least);
            *text = statements(text, keep);
        }
    }
    format!("{}\n", at_most(print(page, &rows).trim_end(), MOST - 1))
}

/// The whole statements of a text that fit into so many characters; where none does, its beginning.
fn statements(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let end = text
        .char_indices()
        .nth(most)
        .map_or(text.len(), |(end, _)| end);
    let ends = [". ", "; ", ": since then"];
    let cut = ends.iter().filter_map(|mark| text[..end].rfind(mark)).max();
    match cut {
        // A short first statement is less than the beginning of the next.
        Some(at) if at * 3 > end => format!("{}.", &text[..at]),
        _ => at_most(text, most),
    }
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
