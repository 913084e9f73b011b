//! Reports speak as the house does: plain words, right plurals, each fact once, nothing left open that is known.

use casefile_analyzer::report;

use crate::samples::samples;
use crate::{analyze, analyzer};

/// Words that a reader stumbles over, and what to write.
const BANNED: &[(&str, &str)] = &[
    ("do not do their work", "are failing"),
    ("does not do its work", "is failing"),
    ("hit since", "affected since"),
    ("People notice", "Symptom"),
    ("here it stands", "Source"),
    ("comes to", "effective"),
    ("Way of a packet", "Packet path"),
    ("it is no longer so", "the node has changed"),
    ("takes for granted", "assumes"),
    ("nothing of it was run", "nothing has been applied"),
    ("look-alike shows", "only this cause fits the evidence"),
    ("is well after", "is still faulty"),
    ("for want of", "insufficient"),
];

/// What is counted; a single one has no plural.
const COUNTED: &[&str] = &[
    "pods", "nodes", "causes", "sources", "lines", "errors", "steps", "files", "GPUs", "restarts",
    "cards", "entries", "claims", "volumes",
];

/// Shortest text that a reader notices when it comes back.
const NOTICED: usize = 90;

fn faults(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (banned, instead) in BANNED {
        if page.contains(banned) {
            faults.push(format!("says {banned:?}; write {instead:?}"));
        }
    }
    // HAMi's scheduler itself says "1 nodes do not meet"; it is quoted as it speaks.
    let page = &page
        .replace("1 nodes do not meet", "")
        .replace("1 nodes CardInsufficient", "");
    for word in COUNTED {
        let wrong = format!(" 1 {word}");
        let ends = |after: &str| !after.starts_with(char::is_alphanumeric);
        if page
            .match_indices(&wrong)
            .any(|(at, _)| ends(&page[at + wrong.len()..]))
        {
            faults.push(format!("counts{wrong}"));
        }
    }
    faults.extend(told_twice(page));
    faults
}

/// Paragraphs and items that stand in a page more than once; quoted lines, commands and messages may.
fn told_twice(page: &str) -> Vec<String> {
    let body = page.split("\n## Communication").next().unwrap_or_default();
    let mut fenced = false;
    let mut known: Vec<&str> = Vec::new();
    let mut faults = Vec::new();
    for line in body.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let text = line.trim_start_matches(['-', '>', ' ']);
        if fenced
            || text.len() < NOTICED
            || text.starts_with(['|', '`'])
            || text.starts_with("Quoted above: `")
        {
            continue;
        }
        if known.contains(&text) {
            faults.push(format!("tells twice: {text}"));
        }
        known.push(text);
    }
    faults
}

#[test]
fn reports_of_samples_speak_as_the_house_does() {
    let analyzer = analyzer();
    let mut wrong = Vec::new();
    for (name, files) in samples() {
        let analysis = analyze(&analyzer, &files);
        let page = report::render_markdown(&analysis).unwrap();
        let screen = report::render_text(&analysis, report::TextOptions::default());
        let found = faults(&page).into_iter().chain(faults(&screen));
        wrong.extend(found.map(|fault| format!("{name}: {fault}")));
        assert!(page.len() <= 36_000, "{name}: {} bytes", page.len());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
