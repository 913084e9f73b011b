//! The page as an Atlassian Document, for Jira's and Confluence's newer interfaces.

use serde_json::{Value, json};

use super::pretty;
use crate::report::Page;
use crate::report::blocks::{Block, ExcerptItem, Inline, Rich, StepItem};
use crate::report::columns::shown;
use crate::report::escape::visible;

/// The document as JSON.
pub(in crate::report) fn document(page: &Page<'_>) -> String {
    let mut content = vec![heading(1, &Rich::from(page.title.as_str()))];
    let rows = page.status.iter().map(|row| {
        let label = Rich::new().strong(row.label);
        json!({"type": "tableRow", "content": [cell("tableHeader", &label), cell("tableCell", &row.text)]})
    });
    content.push(json!({"type": "table", "content": rows.collect::<Vec<_>>()}));
    content.extend(page.lead.iter().flat_map(block));
    for section in &page.sections {
        content.push(heading(2, &Rich::from(section.title)));
        content.extend(section.blocks.iter().flat_map(block));
    }
    pretty(&json!({"version": 1, "type": "doc", "content": content}))
}

/// Bytes of a document's text: Jira counts what its readers read, not the JSON around it.
pub(in crate::report) fn said(document: &str) -> usize {
    fn of(value: &Value) -> usize {
        match value {
            Value::Object(map) => {
                let own = map.get("text").and_then(Value::as_str).map_or(0, str::len);
                own + map.values().map(of).sum::<usize>()
            }
            Value::Array(all) => all.iter().map(of).sum(),
            _ => 0,
        }
    }
    serde_json::from_str(document).as_ref().map_or(0, of)
}

fn block(block: &Block) -> Vec<Value> {
    match block {
        Block::Heading { level, text, .. } => vec![heading(*level, text)],
        Block::Paragraph { text } => vec![paragraph(text)],
        Block::List { ordered, items } => {
            list(*ordered, items.iter().map(|item| vec![paragraph(item)]))
        }
        Block::Steps { items } => list(true, items.iter().map(step)),
        Block::Table { columns, rows, .. } => vec![table(columns, rows)],
        Block::Excerpt { ordered, items } => list(*ordered, items.iter().map(excerpt)),
        Block::Command { command } => vec![code(command, "bash")],
        Block::File {
            name,
            language,
            content,
        } => {
            vec![
                paragraph(&Rich::new().code(name.clone())),
                code(content, language),
            ]
        }
        Block::Callout { title, text, .. } => {
            let text = Rich::new().strong(format!("{title}. ")).join(text.clone());
            vec![
                json!({"type": "panel", "attrs": {"panelType": "warning"}, "content": [paragraph(&text)]}),
            ]
        }
        Block::Blanks { items } => {
            let blanks = items
                .iter()
                .map(|item| vec![paragraph(&Rich::from(format!("{item}: ")).blank("fill in"))]);
            list(false, blanks)
        }
        Block::Figure { text, .. } if text.is_empty() => Vec::new(),
        Block::Figure { text, .. } => vec![code(text, "text")],
        Block::CloserView { .. } => Vec::new(),
        Block::Message { lines, .. } => {
            let lines: Vec<String> = lines.iter().map(Rich::plain).collect();
            vec![code(&lines.join("\n"), "text")]
        }
        Block::Details { summary, blocks } => {
            let content: Vec<Value> = blocks.iter().flat_map(self::block).collect();
            vec![json!({"type": "expand", "attrs": {"title": shown(summary)}, "content": content})]
        }
    }
}

fn heading(level: u8, text: &Rich) -> Value {
    json!({"type": "heading", "attrs": {"level": level.min(6)}, "content": inline(text)})
}

fn paragraph(text: &Rich) -> Value {
    json!({"type": "paragraph", "content": inline(text)})
}

fn code(text: &str, language: &str) -> Value {
    let text = visible(text.trim_end(), true);
    // An empty text node is refused.
    let content = if text.is_empty() {
        json!([])
    } else {
        json!([{"type": "text", "text": text}])
    };
    json!({"type": "codeBlock", "attrs": {"language": language}, "content": content})
}

fn list(ordered: bool, items: impl Iterator<Item = Vec<Value>>) -> Vec<Value> {
    let kind = if ordered { "orderedList" } else { "bulletList" };
    let items: Vec<Value> = items
        .map(|content| json!({"type": "listItem", "content": content}))
        .collect();
    match items.is_empty() {
        true => Vec::new(),
        false => vec![json!({"type": kind, "content": items})],
    }
}

fn step(step: &StepItem) -> Vec<Value> {
    let mut content = vec![paragraph(&step.text)];
    for look in &step.looks {
        content.push(paragraph(&Rich::from(format!("{}:", look.label))));
        content.push(code(&look.command, "bash"));
    }
    content.extend(step.command.iter().map(|command| code(command, "bash")));
    let expect = step.expect.iter();
    content.extend(expect.map(|text| paragraph(&Rich::from("Expect: ").join(text.clone()))));
    content
}

fn excerpt(item: &ExcerptItem) -> Vec<Value> {
    let mut text = item
        .says
        .clone()
        .text(" (")
        .code(item.place.clone())
        .text(")");
    if !item.note.is_empty() {
        text = text.text(format!(", {}", item.note));
    }
    let mut content = vec![paragraph(&text)];
    if !item.text.is_empty() {
        content.push(code(&item.text, "text"));
    }
    content
}

fn table(columns: &[Rich], rows: &[Vec<Rich>]) -> Value {
    let row = |kind: &str, cells: &[Rich]| {
        let cells: Vec<Value> = cells.iter().map(|text| cell(kind, text)).collect();
        json!({"type": "tableRow", "content": cells})
    };
    let mut all = vec![row("tableHeader", columns)];
    all.extend(rows.iter().map(|cells| row("tableCell", cells)));
    json!({"type": "table", "content": all})
}

fn cell(kind: &str, text: &Rich) -> Value {
    json!({"type": kind, "content": [paragraph(text)]})
}

fn inline(text: &Rich) -> Vec<Value> {
    let part = |part: &Inline| {
        let (text, mark) = match part {
            Inline::Code { text } | Inline::Place { text, .. } => (text.clone(), Some("code")),
            Inline::Strong { text } | Inline::Badge { text, .. } => (text.clone(), Some("strong")),
            Inline::Text { text } | Inline::Jump { text, .. } => (text.clone(), None),
            Inline::Link { href } => (href.clone(), None),
            Inline::Blank { text } => (format!("[fill in: {text}]"), None),
        };
        let text = visible(&text, false).into_owned();
        (!text.is_empty()).then(|| match mark {
            Some(mark) => json!({"type": "text", "text": text, "marks": [{"type": mark}]}),
            None => json!({"type": "text", "text": text}),
        })
    };
    text.0.iter().filter_map(part).collect()
}
