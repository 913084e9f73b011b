//! The first screen as an Adaptive Card, ready for a Teams workflow's webhook.

use serde_json::json;

use super::{at_most, flat, pretty, source};
use crate::report::Page;

/// Characters of a row: a message of Teams takes 28 KB.
const ROW: usize = 1_500;

/// The message as JSON.
pub(in crate::report) fn card(page: &Page<'_>) -> String {
    let title = crate::report::columns::shown(&page.title);
    let mut body = vec![json!({
        "type": "TextBlock", "size": "Large", "weight": "Bolder", "wrap": true,
        "text": plain(&at_most(&title, ROW)),
    })];
    let facts: Vec<_> = page
        .status
        .iter()
        .map(|row| json!({"title": row.label, "value": plain(&at_most(&flat(&row.text), ROW))}))
        .collect();
    body.push(json!({"type": "FactSet", "facts": facts}));
    body.push(json!({
        "type": "TextBlock", "isSubtle": true, "wrap": true, "size": "Small",
        "text": plain(&source(page)),
    }));
    pretty(&json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard", "version": "1.4",
                "body": body,
            },
        }],
    }))
}

/// Cards read a part of Markdown: what begins a mark loses its meaning behind a backslash.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\*_[]`".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
