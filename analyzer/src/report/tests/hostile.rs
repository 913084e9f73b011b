//! Hostile text in every field: inert in every format, and shown.

use std::collections::BTreeSet;

use proptest::prelude::*;
use pulldown_cmark::{Event, Options as Extensions, Parser, Tag};

use super::*;
use rewrite::rewrite;

/// What strangers might put into a pod name, a label, a log line or a file.
const PAYLOADS: &[&str] = &[
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>' autofocus onfocus=alert(1) x='",
    "</style></pre></code></title><!-- --> ]]> <![CDATA[ --!>",
    "[click](javascript:alert(1)) ![x](https://evil.test/x.png) <https://evil.test> https://evil.test/@a www.evil.test",
    "@alice fix #1 !2 GH-3 a/b#4 :boom: mail@evil.test",
    "a|b\\|c`d``e```f | - | \\",
    "\n\n# heading\n> quote\n- item\n1. one\n---\n| a | b |\n|---|---|\n```\nfence\n~~~\n",
    "{{ 7*7 }} {% for x in y %} {# c #} ${jndi:ldap://x}",
    "\u{1b}[31mred\u{1b}]0;title\u{7} \u{9b}2J \u{8}\u{0}",
    "abc\u{202e}cba\u{2066}x\u{200b}y\u{feff}\u{2028}z\u{e0041}",
    "=cmd|' /C calc'!A0",
    "    four spaces\tand tabs",
    "&lt;b&gt; &#60;b&#62; &amp; _a_ *b* ~~c~~ $x$",
    "",
    " ",
    "`",
];

fn filled_with(text: &str) -> Analysis {
    let mut analysis = example::model_incident();
    rewrite(&mut analysis, &mut |field| {
        field.clear();
        field.push_str(text);
    });
    analysis
}

/// Fields keep their text and get the payload at both ends: what holds lists and tables together stays.
fn framed_with(text: &str) -> Analysis {
    let mut analysis = example::model_incident();
    rewrite(&mut analysis, &mut |field| {
        *field = format!("{text}{field}{text}")
    });
    analysis
}

/// Elements that the report is made of.
const ELEMENTS: &str = "html head meta title style body a header p h1 h2 h3 h4 h5 dl div dt dd nav ol ul li main section \
    footer code pre span strong table caption thead tbody tr th td figure figcaption details summary \
    svg desc defs marker path rect circle text g script";

/// Attributes that the report uses.
const ATTRIBUTES: &str = "lang charset http-equiv content name class href id aria-label aria-labelledby tabindex role \
    scope rel width height viewBox refX refY markerWidth markerHeight orient d marker-end x y rx \
    text-anchor cx cy r data-label";

fn assert_html_is_inert(html: &str) {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let page = roxmltree::Document::parse_with_options(html, options).expect("well-formed");
    let mut ids = BTreeSet::new();
    let mut targets = Vec::new();
    for node in page.descendants() {
        assert!(!node.is_comment() && !node.is_pi());
        if !node.is_element() {
            continue;
        }
        assert!(
            ELEMENTS
                .split(' ')
                .any(|known| known == node.tag_name().name()),
            "element {}",
            node.tag_name().name()
        );
        for attribute in node.attributes() {
            assert!(
                ATTRIBUTES.split(' ').any(|known| known == attribute.name()),
                "attribute {}",
                attribute.name()
            );
            match attribute.name() {
                "id" => assert!(
                    ids.insert(attribute.value()),
                    "id {} twice",
                    attribute.value()
                ),
                "href" => targets.push(attribute.value()),
                _ => {}
            }
        }
    }
    for target in targets {
        match target.strip_prefix('#') {
            Some(anchor) => assert!(ids.contains(anchor), "no target {target}"),
            None => assert!(
                target.starts_with("https://docs.nvidia.com/"),
                "link {target}"
            ),
        }
    }
    assert_nothing_hidden(html);
}

/// The number of its sections.
fn assert_markdown_is_inert(markdown: &str) -> usize {
    let mut depth_of_code = 0_usize;
    let mut in_link = false;
    let mut sections = 0;
    for event in Parser::new_ext(
        markdown,
        Extensions::ENABLE_TABLES | Extensions::ENABLE_STRIKETHROUGH,
    ) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => panic!("html {html}"),
            Event::Start(Tag::Link { dest_url, .. }) => {
                assert!(
                    dest_url.starts_with("https://docs.nvidia.com/"),
                    "link {dest_url}"
                );
                in_link = true;
            }
            Event::End(pulldown_cmark::TagEnd::Link) => in_link = false,
            Event::Start(Tag::Image { dest_url, .. }) => panic!("image {dest_url}"),
            Event::Start(Tag::Strikethrough) => panic!("strikethrough"),
            Event::Start(Tag::Heading { level, .. }) if level as usize == 2 => sections += 1,
            Event::Start(Tag::CodeBlock(_)) => depth_of_code += 1,
            Event::End(pulldown_cmark::TagEnd::CodeBlock) => depth_of_code -= 1,
            Event::Text(text) if depth_of_code == 0 && !in_link => {
                assert!(
                    !text.contains('@') && !text.contains("://"),
                    "live text {text}"
                );
            }
            _ => {}
        }
    }
    assert_nothing_hidden(markdown);
    sections
}

fn assert_nothing_hidden(text: &str) {
    let hidden = text
        .chars()
        .find(|&c| c != '\n' && c != '\t' && super::super::escape::is_hidden(c));
    assert_eq!(hidden, None);
}

/// How many tables the Markdown has, and rows and cells in each, as a reader's renderer sees them.
fn table_shapes(markdown: &str) -> Vec<Vec<usize>> {
    let mut tables = Vec::new();
    for event in Parser::new_ext(markdown, Extensions::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Table(_)) => tables.push(Vec::new()),
            Event::Start(Tag::TableRow | Tag::TableHead) => tables.last_mut().unwrap().push(0),
            Event::Start(Tag::TableCell) => *tables.last_mut().unwrap().last_mut().unwrap() += 1,
            _ => {}
        }
    }
    tables
}

/// Cells per row as written, an unescaped `|` being an edge: a renderer drops surplus cells without a word.
fn assert_rows_have_their_cells(markdown: &str) {
    let mut expected = None;
    let mut fence: Option<String> = None;
    for line in markdown.lines() {
        let marks: String = line
            .trim_start()
            .chars()
            .take_while(|c| *c == '`')
            .collect();
        if let Some(open) = &fence {
            if marks.len() >= open.len() && line.trim_start().len() == marks.len() {
                fence = None;
            }
            continue;
        }
        if marks.len() >= 3 && !line.trim_start()[marks.len()..].contains('`') {
            fence = Some(marks);
            continue;
        }
        if !line.starts_with('|') {
            expected = None;
            continue;
        }
        let mut edges = 0;
        let mut escaped = false;
        for c in line.chars() {
            match c {
                '\\' => escaped = !escaped,
                '|' if !escaped => edges += 1,
                _ => {}
            }
            if c != '\\' {
                escaped = false;
            }
        }
        assert_eq!(*expected.get_or_insert(edges), edges, "{line}");
    }
}

/// A report without its row of the first command: what is not one whole command has none.
fn without_command(report: &str) -> String {
    const ROWS: [&str; 3] = ["Command", "Start with", "Interrupts"];
    let is_row = |line: &&str| {
        let is = |row: &str| {
            line.starts_with(&format!("| **{row}** |")) || line.starts_with(&format!("|| {row} |"))
        };
        ROWS.iter().any(|row| is(row))
    };
    let lines: Vec<&str> = report.lines().filter(|line| !is_row(line)).collect();
    lines.join("\n")
}

/// A report as long as it gets: hostile texts are long, and what a limit leaves out cannot be looked at.
fn unlimited(analysis: &Analysis, format: Format) -> String {
    let options = Options {
        max_size: Some(usize::MAX),
        ..Options::default()
    };
    render(analysis, format, &options).unwrap()
}

/// Messages for chats and trackers are JSON or plain text of bounded length, and nothing in them is hidden.
fn assert_posts_are_inert(analysis: &Analysis) {
    for format in [Format::Slack, Format::Teams, Format::Adf] {
        let text = unlimited(analysis, format);
        assert_nothing_hidden(&text);
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
    let ticket = unlimited(analysis, Format::Ticket);
    assert_nothing_hidden(&ticket);
    assert!(ticket.chars().count() <= 1_500, "{ticket}");
    let slack = unlimited(analysis, Format::Slack);
    let slack: serde_json::Value = serde_json::from_str(&slack).unwrap();
    for block in slack["blocks"].as_array().unwrap() {
        let text = block["text"]["text"].as_str().unwrap_or_default();
        assert!(text.chars().count() <= 3_000);
        // Slack reads markup in `mrkdwn` alone.
        let marked = block["text"]["type"] == "mrkdwn";
        assert!(!marked || !text.contains('<'), "{text}");
    }
}

fn assert_inert(analysis: &Analysis) {
    let markdown = unlimited(analysis, Format::Markdown);
    let plain = unlimited(&example::model_incident(), Format::Markdown);
    let expected = plain.matches("\n## ").count();
    let sections = assert_markdown_is_inert(&markdown);
    // A section whose texts are all empty is left out.
    assert!(sections <= expected, "a section heading was made");
    assert_rows_have_their_cells(&markdown);
    assert_html_is_inert(&render_html(analysis).unwrap());
    assert_nothing_hidden(&render_text(analysis, TextOptions::default()));
    let json = render_json(analysis).unwrap();
    assert_nothing_hidden(&json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json["incidents"][0]["evidence"][0]["text"],
        analysis.incidents[0].evidence[0].text
    );
    let jira = unlimited(analysis, Format::Jira);
    assert_nothing_hidden(&jira);
    let plain = unlimited(&example::model_incident(), Format::Jira);
    // Rows of tables depend on how texts group, so they are compared where all are alike.
    let marks = |text: &str| {
        let mut marks = jira_marks(text);
        marks.remove("table");
        marks
    };
    // An empty text may leave a heading with nothing below it out; no text makes one.
    let (own, most) = (marks(&jira), marks(&plain));
    let none_made = own
        .iter()
        .all(|(kind, number)| most.get(kind) >= Some(number));
    assert!(none_made, "marks of wiki markup: {own:?}, {most:?}");
    assert_posts_are_inert(analysis);
    let sarif = render_sarif(analysis).unwrap();
    assert_nothing_hidden(&sarif);
    serde_json::from_str::<serde_json::Value>(&sarif).unwrap();
    let junit = render_junit(std::slice::from_ref(analysis));
    assert_nothing_hidden(&junit);
    let junit = roxmltree::Document::parse(&junit).expect("well-formed");
    let known = ["testsuites", "testsuite", "testcase", "failure", "skipped"];
    assert!(
        junit
            .descendants()
            .all(|node| !node.is_element() || known.contains(&node.tag_name().name()))
    );
    assert_colours_are_ours(&render_colour(analysis, TextOptions::default()));
}

/// Marks of wiki markup outside of blocks that are shown as they stand, by kind: text of strangers adds none.
/// Bold and fixed-width text may be missing where a field is empty, so those are only looked at per line.
fn jira_marks(jira: &str) -> std::collections::BTreeMap<&'static str, usize> {
    let mut marks = std::collections::BTreeMap::new();
    let mut raw = false;
    for line in jira.lines() {
        if line == "{noformat}" {
            raw = !raw;
            continue;
        }
        if raw {
            continue;
        }
        let outside: String = line
            .split("{{")
            .map(|part| part.split("}}").last().unwrap_or(""))
            .collect();
        let inside = line
            .split("{{")
            .skip(1)
            .filter_map(|part| part.split("}}").next());
        for text in inside {
            assert!(
                !text.contains(['{', '}', '*', '[', '|', '!', '\\']),
                "{line}"
            );
        }
        assert!(
            !outside.contains(['{', '}', '!', '\\', '^', '~', '@', '<', '>']),
            "{line}"
        );
        let links = outside.matches("[https://docs.nvidia.com/").count();
        assert_eq!(outside.matches('[').count(), links, "{line}");
        for (name, prefix) in [
            ("heading", "h"),
            ("quote", "bq. "),
            ("table", "|"),
            ("rule", "----"),
        ] {
            let found = match name {
                "heading" => {
                    line.len() > 3
                        && line.starts_with(prefix)
                        && line[1..].starts_with(|c: char| c.is_ascii_digit())
                        && line[2..].starts_with(". ")
                }
                _ => line.starts_with(prefix),
            };
            if found {
                *marks.entry(name).or_insert(0) += 1;
            }
        }
    }
    assert!(!raw, "a block is open at the end");
    marks
}

/// Only the few colours that the analyzer itself sets drive the terminal.
fn assert_colours_are_ours(painted: &str) {
    for part in painted.split('\u{1b}').skip(1) {
        let code = part.split('m').next().unwrap_or("");
        assert!(code.starts_with('[') && code.len() <= 5, "{code:?}");
        assert!(
            code[1..].chars().all(|c| c.is_ascii_digit() || c == ';'),
            "{code:?}"
        );
    }
    assert_nothing_hidden(&painted.replace('\u{1b}', ""));
}

#[test]
fn ordinary_reports_pass_the_checks_that_hostile_ones_must() {
    assert_inert(&example::model_incident());
    assert_html_is_inert(&render_html(&example::nothing_found()).unwrap());
}

#[test]
fn hostile_text_in_every_field_is_inert_in_every_format() {
    for payload in PAYLOADS {
        assert_inert(&filled_with(payload));
        assert_inert(&framed_with(payload));
    }
    assert_inert(&filled_with(&PAYLOADS.concat()));
}

#[test]
fn hostile_text_breaks_no_markdown_table() {
    for payload in PAYLOADS.iter().filter(|text| !text.is_empty()) {
        let markdown = |text: &str| unlimited(&framed_with(text), Format::Markdown);
        let plain = table_shapes(&without_command(&markdown("x")));
        let hostile = table_shapes(&without_command(&markdown(payload)));
        assert_eq!(
            plain.iter().map(Vec::len).sum::<usize>(),
            hostile.iter().map(Vec::len).sum::<usize>()
        );
        assert_eq!(plain, hostile, "{payload:?}");
    }
}

#[test]
fn hostile_text_makes_no_row_of_a_wiki_table() {
    let jira = |text: &str| without_command(&unlimited(&filled_with(text), Format::Jira));
    let plain = jira_marks(&jira("x"));
    for payload in PAYLOADS.iter().filter(|payload| !payload.trim().is_empty()) {
        assert_eq!(jira_marks(&jira(payload)), plain, "{payload:?}");
    }
}

#[test]
fn hostile_text_is_shown_not_dropped() {
    let analysis = filled_with("<b>\u{202e}x</b>");
    let html = render_html(&analysis).unwrap();
    assert!(html.contains("&lt;b&gt;\\u{202e}x&lt;/b&gt;"));
    assert!(
        render_markdown(&analysis)
            .unwrap()
            .contains("<b>\\u{202e}x</b>"),
        "as it stands, inside code"
    );
    assert!(render_text(&analysis, TextOptions::default()).contains("<b>\\u{202e}x</b>"));
}

#[test]
fn template_syntax_in_a_bundle_is_not_run() {
    let html = render_html(&filled_with("{{ 7*7 }}{% raw %}")).unwrap();
    assert!(html.contains("{{ 7*7 }}{% raw %}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_breaks_no_format(text in "\\PC{0,12}|[`|\\\\<>*_#@&!\\[\\]()~:/ \n-]{0,24}|.{0,16}") {
        assert_inert(&framed_with(&text));
        assert_inert(&filled_with(&text));
    }
}
