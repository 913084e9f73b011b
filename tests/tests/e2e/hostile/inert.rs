//! What the text of a bundle must never become in an output.

use std::path::Path;

/// No character drives a terminal or hides.
pub(super) fn shown_as_text(name: &str, text: &str) {
    let bad = |c: &char| {
        (c.is_control() && *c != '\n' && *c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
    };
    assert_eq!(text.chars().find(bad), None, "{name}");
}

/// Only elements and attributes that reports are made of, and links inside or to documentation.
pub(super) fn html_is_inert(name: &str, html: &str) {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let page = roxmltree::Document::parse_with_options(html, options).expect(name);
    for node in page.descendants() {
        assert!(!node.is_comment() && !node.is_pi(), "{name}: {node:?}");
        let element = node.tag_name().name();
        // The one script is the report's own; its policy allows no other.
        let own = node.text().map(str::trim)
            == Some(include_str!("../../../../templates/report.js").trim());
        assert!(element != "script" || own, "{name}: {node:?}");
        let alive = [
            "img",
            "iframe",
            "object",
            "embed",
            "form",
            "input",
            "base",
            "link",
            "foreignObject",
        ];
        assert!(!alive.contains(&element), "{name}: {node:?}");
        for attribute in node.attributes() {
            let (key, value) = (attribute.name(), attribute.value());
            assert!(
                !key.starts_with("on") && key != "src" && key != "style",
                "{name}: {node:?}"
            );
            let inside = value.starts_with('#') || value.starts_with("https://");
            assert!(
                key != "href" || (inside && !value.contains("evil")),
                "{name}: {node:?}"
            );
        }
    }
    assert!(
        html.contains("&lt;img src=x onerror=alert(1)&gt;"),
        "{name}: not shown"
    );
}

/// No HTML, image, or link other than to documentation and to files of the same output, as renderers see it.
pub(super) fn markdown_is_inert(name: &str, markdown: &str, beside: &Path) {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    let with = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    let mut sections = Vec::new();
    let mut heading = false;
    for event in Parser::new_ext(markdown, with) {
        match event {
            Event::Html(text) | Event::InlineHtml(text) => panic!("{name}: HTML {text}"),
            Event::Start(Tag::Image { dest_url, .. }) => panic!("{name}: image {dest_url}"),
            Event::Start(Tag::Link { dest_url, .. }) => {
                let own = !dest_url.contains(':') && beside.join(dest_url.as_ref()).is_file();
                let read = dest_url.starts_with("https://") && !dest_url.contains("evil");
                assert!(own || read, "{name}: {dest_url}");
            }
            Event::Start(Tag::Heading { .. }) => heading = true,
            Event::End(pulldown_cmark::TagEnd::Heading(_)) => heading = false,
            Event::Text(text) if heading => sections.push(text.to_string()),
            _ => {}
        }
    }
    assert!(
        !sections.iter().any(|title| title == "heading"),
        "{name}: a heading of the bundle"
    );
}

/// Outside of blocks and fixed-width text no mark of wiki markup that a bundle brought.
pub(super) fn jira_is_inert(name: &str, jira: &str) {
    let mut raw = false;
    for line in jira.lines() {
        if line == "{noformat}" {
            raw = !raw;
        } else if !raw {
            let outside: String = line
                .split("{{")
                .map(|part| part.split("}}").last().unwrap_or(""))
                .collect();
            assert!(
                !outside.contains(['{', '}', '!', '<', '>', '@']),
                "{name}: {line}"
            );
            assert!(!outside.contains("evil.test]"), "{name}: {line}");
        }
    }
    assert!(!raw, "{name}: a block is open at the end");
}
