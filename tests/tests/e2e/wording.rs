//! The reviewed reports as they read: house words, short sentences, plurals, nothing left to fill in that is known, and
//! no fact told twice.

use std::collections::BTreeMap;

use casefile_analyzer::rules::prose;
use regex::Regex;

use crate::samples::samples;

/// Letters from which on a sentence that occurs again is a fact told twice.
const TELLING: usize = 70;
/// What other programs say, as they say it.
const QUOTED: [&str; 2] = ["nodes do not meet", "nodes CardInsufficientMemory"];

/// A paragraph, an item or a row of a report, with the section that it stands in; names, paths and commands are left out.
struct Line {
    section: String,
    text: String,
}

/// The prose of a report. Messages repeat what is above them, so that they can be sent alone.
fn prose_of(report: &str) -> Vec<Line> {
    let code = Regex::new(r"``[^`]+``|`[^`]*`").unwrap();
    let (mut lines, mut section, mut fenced) = (Vec::new(), String::new(), false);
    for line in report.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if let Some(title) = line.strip_prefix("## ") {
            section = title.to_owned();
        } else if !fenced && !line.starts_with('#') && section != "Communication" {
            let text = code.replace_all(line, "X").replace(['*', '\\'], "");
            lines.extend(text.split('|').map(|cell| Line {
                section: section.clone(),
                text: cell.trim().to_owned(),
            }));
        }
    }
    lines
}

fn reports() -> impl Iterator<Item = (String, String)> {
    samples().into_iter().map(|sample| {
        let name = sample.file_name().unwrap().to_string_lossy().into_owned();
        (
            name,
            std::fs::read_to_string(sample.join("report.md")).unwrap(),
        )
    })
}

/// What is wrong with the wording of a report.
fn faults(report: &str) -> Vec<String> {
    let plural = Regex::new(
        r"\b1 (?:more )?(?:pods|nodes|GPUs|causes|files|steps|minutes|seconds|restarts|lines|sources|errors)\b|\b(?:[2-9]|\d{2,}) (?:pod|cause|file|step|minute|second|restart|line|source)\b",
    )
    .unwrap();
    // `number 2 and 4 shows`, `2 pods is`, `1 pod are`; but `the largest of 2 nodes has`.
    let verb = Regex::new(
        r"\b(?:numbers? )?\d+ and \d+ (?:is|was|has|does|shows|needs|fails)\b|\bnumber \d+ and \d+\b|(?:^|[^f ] )(?:[2-9]|\d{2,}) (?:more )?(?:pods|nodes|GPUs|causes|files|steps|restarts|lines|sources|errors|containers|processes) (?:is|was|has|does|shows|needs|fails)\b|\b1 (?:more )?(?:pod|node|GPU|cause|file|step|restart|line|source|error|container|process) (?:are|were|have|do|show|need|fail)\b",
    )
    .unwrap();
    let inside = Regex::new(r"\([^()]*\)").unwrap();
    let mut found = Vec::new();
    for line in prose_of(report) {
        let quoted = QUOTED.iter().any(|words| line.text.contains(words));
        let wrong = plural.find(&line.text).or_else(|| verb.find(&line.text));
        if let Some(wrong) = wrong.filter(|_| !quoted) {
            found.push(format!(
                "{}: {:?} in {}",
                line.section,
                wrong.as_str(),
                line.text
            ));
        }
        // What stands in brackets is read apart.
        let sentence = inside.replace_all(&line.text, "");
        let wrong = prose::faults_of(&sentence).into_iter();
        found.extend(wrong.map(|fault| format!("{}: {fault}", line.section)));
    }
    found.extend(twice(report));
    found
}

/// Sentences that occur again. What has to be decided is said where the fix is and where it is laid out. The timeline and the list of checks name the same events by their nature.
fn twice(report: &str) -> Vec<String> {
    const AGAIN: [&str; 2] = ["Timeline", "Next Steps"];
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in prose_of(report) {
        if AGAIN.contains(&line.section.as_str()) {
            continue;
        }
        for sentence in line.text.split(". ") {
            let sentence = sentence.trim().trim_start_matches(['-', '→', ' ']);
            if sentence.chars().count() >= TELLING && !sentence.starts_with("Decide first") {
                let known = places.entry(sentence.trim_end_matches('.').to_owned());
                known.or_default().push(line.section.clone());
            }
        }
    }
    let again = places.into_iter().filter(|(_, places)| places.len() > 1);
    again
        .map(|(sentence, places)| format!("told in {}: {sentence}", places.join(" and ")))
        .collect()
}

#[test]
fn every_reviewed_report_reads_in_the_house_style() {
    let mut failures = Vec::new();
    for (name, report) in reports() {
        failures.extend(
            faults(&report)
                .into_iter()
                .map(|fault| format!("{name}: {fault}")),
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Values that the bundle of every sample holds, so no command of its report may ask for them.
#[test]
fn no_reviewed_report_leaves_a_blank_whose_value_is_known() {
    let blank = Regex::new(r"(?:^|[ /=-])(NODE|POD|NAMESPACE|BUS_ID)(?:$|[ /:;'-])").unwrap();
    let mut failures = Vec::new();
    for (name, report) in reports() {
        let found = report.lines().filter(|line| blank.is_match(line));
        failures.extend(found.map(|line| format!("{name}: {line}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_is_wrong_is_found() {
    let fact =
        "the kubelet's containerd reads another file than the one that the toolkit wrote for it";
    let report = format!("## A\n\n1 pods fail. {fact}.\n\n## B\n\n- {fact}\n");
    let found = faults(&report);
    assert!(
        found.iter().any(|fault| fault.contains("1 pods")),
        "{found:?}"
    );
    assert!(
        found.iter().any(|fault| fault.contains("A and B")),
        "{found:?}"
    );
    for wrong in [
        "Number 2 and 4 shows it",
        "2 pods is failing",
        "1 cause were ruled out",
    ] {
        assert_eq!(faults(&format!("## A\n\n{wrong}.\n")).len(), 1, "{wrong}");
    }
    let long = format!("It {}.", "goes on and ".repeat(12));
    assert_eq!(faults(&long).len(), 1);
    assert_eq!(
        faults("## A\n\n1 pod fails.\n\n```text\n1 pods\n```\n"),
        Vec::<String>::new()
    );
}
