//! The reviewed reports as they read: house words, short sentences, plurals, nothing left to fill in that is known, and
//! no fact told twice.

use std::collections::BTreeMap;

use casefile_analyzer::rules::prose;
use casefile_tests::bins;
use regex::Regex;

use crate::samples::samples;
use crate::support::run;

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

/// English words of the program's own that no German row or message may hold; what rules say stays English.
const ENGLISH: [&str; 12] = [
    "before this snapshot",
    "is failing",
    "are failing",
    "waiting to start",
    "not collected",
    "Nothing has been changed",
    "Simulated on",
    "Check afterwards",
    "Known so far",
    "Next update",
    "What was done",
    "Please retry",
];

/// What `--lang de` prints of a sample: the first screen, and the messages of the report and its appendix.
fn german(sample: &std::path::Path) -> Vec<String> {
    let out = tempfile::tempdir().unwrap();
    let (bundle, folder) = (sample.join("bundle"), out.path().to_str().unwrap());
    let arguments = [
        "report",
        bundle.to_str().unwrap(),
        "-o",
        folder,
        "--lang",
        "de",
        "--format",
        "md,ticket",
    ];
    let ended = run(bins::ANALYZER, &arguments);
    assert_eq!(ended.code, 0, "{}: {ended:?}", sample.display());
    let read = |name: &str| std::fs::read_to_string(out.path().join(name)).unwrap();
    let messages = |report: &str| {
        let parts = report
            .split("\n## ")
            .filter(|part| part.starts_with("Nachrichten"));
        parts.collect::<String>()
    };
    let (report, appendix) = (read("report.md"), read("report-appendix.md"));
    let texts = [read("report.txt"), messages(&report), messages(&appendix)];
    texts
        .iter()
        .flat_map(|text| text.lines().map(str::to_owned))
        .collect()
}

#[test]
fn the_first_screen_and_the_messages_are_german_where_german_is_asked_for() {
    let mut failures = Vec::new();
    for sample in samples() {
        let lines = german(&sample);
        let name = sample.file_name().unwrap().to_string_lossy();
        let reviewed = std::fs::read_to_string(sample.join("report.md")).unwrap();
        let unseen = reviewed
            .contains("**Not seen**")
            .then_some("Nicht gesehen: ");
        for wanted in
            unseen
                .into_iter()
                .chain(["Wir untersuchen: ", "BEHOBEN ", "Was getan wurde: "])
        {
            if !lines.iter().any(|line| line.starts_with(wanted)) {
                failures.push(format!("{name}: no {wanted:?}"));
            }
        }
        let english = lines
            .iter()
            .filter(|line| ENGLISH.iter().any(|words| line.contains(words)));
        failures.extend(english.map(|line| format!("{name}: {line}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
