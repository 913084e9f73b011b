//! The first screen as plain text, for any field of any tracker.

use super::{at_most, flat};
use crate::report::Page;

/// Most characters: what people read before they scroll, and what the smallest trackers take.
const MOST: usize = 1_500;
/// Rows that are given up first where the text is too long.
const LEAST_FIRST: [&str; 4] = ["Not seen", "Next", "Since", "Proof"];

/// Title and rows, cut row by row until they fit.
pub(in crate::report) fn text(page: &Page<'_>) -> String {
    let mut rows: Vec<(&str, String)> = page
        .status
        .iter()
        .map(|row| (row.label, flat(&row.text)))
        .collect();
    for label in LEAST_FIRST {
        let over = print(page, &rows).chars().count().saturating_sub(MOST);
        if over == 0 {
            break;
        }
        if let Some((_, text)) = rows.iter_mut().find(|(own, _)| *own == label) {
            let keep = text.chars().count().saturating_sub(over + 2);
            *text = at_most(text, keep.max(60));
        }
    }
    let most = MOST - 1;
    format!("{}\n", at_most(print(page, &rows).trim_end(), most))
}

fn print(page: &Page<'_>, rows: &[(&str, String)]) -> String {
    let mut out = format!("{}\n\n", crate::report::columns::shown(&page.title));
    for (label, text) in rows {
        out.push_str(label);
        out.push_str(": ");
        out.push_str(text);
        out.push('\n');
    }
    out
}
