//! The first screen as plain text, for any field of any tracker.

use super::{at_most, flat};
use crate::report::Page;

/// Most characters: what people read before they scroll, and what the smallest trackers take.
const MOST: usize = 1_500;
/// Rows that are shortened where the text is too long, in this order, and the characters that each keeps at least.
const LEAST_FIRST: [(&str, usize); 6] = [
    ("Since", 70),
    ("Cause", 320),
    ("Proof", 200),
    ("Not seen", 110),
    ("Affected", 160),
    ("Next", 80),
];

/// Title and rows, each cut at the end of a statement until they fit.
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
        if let Some((.., text)) = rows.iter_mut().find(|(own, ..)| *own == key) {
            let keep = text.chars().count().saturating_sub(over + 2).max(least);
            // The last sentence of a cause is how grave it is.
            *text = match text.rsplit_once(". ").filter(|_| key == "Cause") {
                Some((head, grave)) => {
                    let room = keep.saturating_sub(grave.chars().count() + 2);
                    format!("{} {grave}", statements(&format!("{head}."), room))
                }
                None => statements(text, keep),
            };
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
    let ends = [". ", "; ", ": a pod"];
    let cut = ends.iter().filter_map(|mark| text[..end].rfind(mark)).max();
    match cut {
        Some(at) if at > 0 => format!("{}.", &text[..at]),
        _ => at_most(text, most),
    }
}

fn print(page: &Page<'_>, rows: &[(&str, &str, String)]) -> String {
    let mut out = format!("{}\n\n", crate::report::columns::shown(&page.title));
    for (_, label, text) in rows {
        out.push_str(label);
        out.push_str(": ");
        out.push_str(text);
        out.push('\n');
    }
    out
}
