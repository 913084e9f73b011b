//! The page of an inbox. It loads nothing: its policy lets its own style and script run by their hashes and nothing else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use casefile_fleet::entry::Index;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("../../../../templates/index.css");
const SCRIPT: &str = include_str!("../../../../templates/index.js");
const PAGE: &str = include_str!("../../../../templates/index.html.j2");

/// Quarantined inputs that the page lists; all have their record in `quarantine/`.
const MOST_LISTED: usize = 200;

pub(super) fn render(index: &Index) -> anyhow::Result<String> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_auto_escape_callback(|_| AutoEscape::Html);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    env.set_syntax(syntax);
    env.add_template("index.html.j2", PAGE)?;
    let hash = |text: &str| {
        let hash = STANDARD.encode(Sha256::digest(text));
        Value::from_safe_string(format!("sha256-{hash}"))
    };
    let most = index.days.iter().map(|day| day.bundles).max().unwrap_or(0);
    let listed: Vec<_> = index.quarantine.iter().take(MOST_LISTED).collect();
    let page = env.get_template("index.html.j2")?.render(context! {
        index => Value::from(Serde(index)),
        listed => Value::from(Serde(listed)),
        most_a_day => Value::from(most.max(1)),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        style_hash => hash(STYLE),
        script_hash => hash(SCRIPT),
    })?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use casefile_fleet::entry::{Cause, Entry};

    fn entry(id: &str, node: &str, day: &str) -> Entry {
        Entry {
            id: id.to_owned(),
            input: format!("{node}-{day}.tar.gz"),
            node: node.to_owned(),
            when: format!("2026-11-{day}T10:00:00Z"),
            title: format!("GPU 0 on {node} fell off the bus <script>alert(1)</script>"),
            verdict: "confirmed".to_owned(),
            causes: vec![Cause {
                id: "gpu-fell-off-bus".to_owned(),
                fingerprint: "gpu-fell-off-bus:1".to_owned(),
                ..Cause::default()
            }],
            ..Entry::default()
        }
    }

    #[test]
    fn the_page_groups_an_incident_says_who_had_it_before_and_runs_no_text_of_a_bundle() {
        let entries = [entry("b", "gpu-2", "21"), entry("a", "gpu-1", "20")];
        let page = render(&Index::of(&entries)).unwrap();
        assert!(page.contains("reports/a/report.html") && page.contains("reports/b/report.html"));
        assert!(page.contains("2 nodes"), "{page}");
        assert!(page.contains("Seen before"));
        assert!(!page.contains("<script>alert"));
        assert!(!page.contains("http://") && !page.contains("https://"));
        let start = page.find("<script>\n").unwrap() + "<script>".len();
        let end = start + page[start..].find("</script>").unwrap();
        let hash = STANDARD.encode(Sha256::digest(&page[start..end]));
        assert!(
            page.contains(&hash),
            "the policy does not let the script run"
        );
    }
}
