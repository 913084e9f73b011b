//! The first screen as Slack blocks (Block Kit), ready for `chat.postMessage` or an incoming webhook.

use serde_json::json;

use super::{at_most, flat, marked, pretty, source};
use crate::report::Page;

/// Characters that a header takes, and a section: what Slack's reference of blocks allows.
const HEADER: usize = 150;
const SECTION: usize = 3_000;

/// The message as JSON.
pub(in crate::report) fn blocks(page: &Page<'_>) -> String {
    let title = crate::report::columns::shown(&page.title);
    let mut blocks = vec![json!({
        "type": "header",
        "text": {"type": "plain_text", "text": at_most(&title, HEADER), "emoji": false},
    })];
    for row in &page.status {
        let text = marked(&row.text, escape, |name| {
            format!("`{}`", escape(&name.replace('`', "'")))
        });
        let text = format!("*{}*  {text}", row.label);
        blocks.push(json!({
            "type": "section",
            "text": {"type": "mrkdwn", "text": at_most(&text, SECTION), "verbatim": true},
        }));
    }
    blocks.push(json!({
        "type": "context",
        "elements": [{"type": "plain_text", "text": at_most(&source(page), SECTION), "emoji": false}],
    }));
    // The text stands in notifications, where blocks are not shown.
    let first = page.status.first().map(|row| flat(&row.text));
    let text = at_most(
        &format!("{title}. {}", first.unwrap_or_default()),
        HEADER * 2,
    );
    pretty(&json!({"text": escape(&text), "blocks": blocks}))
}

/// The three characters that Slack reads as markup anywhere; others only mark where words end.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace(['*', '~'], "\u{2217}")
}
