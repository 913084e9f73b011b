//! What could not be seen, and what therefore cannot be said.

use std::path::Path;

use casefile_bundle::{ReadProblem, Summary};

use crate::model::{Considered, Coverage, Place, Problem, Verdict};
use crate::rules::engine::Assessment;
use crate::scan::Scanned;
use crate::sources::UNKNOWN_TO_COLLECTOR;

/// Adds to each source the causes that its absence leaves open.
pub(super) fn complete(
    mut coverage: Vec<Coverage>,
    differential: &[Considered],
    assessments: &[Assessment<'_>],
) -> Vec<Coverage> {
    // Of several nodes one may have the source that another lacks.
    let lacks =
        |row: &&mut Coverage| !matches!(row.outcome.as_str(), "collected" | "partial" | "unknown");
    for row in coverage.iter_mut().filter(lacks) {
        let unchecked = assessments.iter().filter(|one| {
            one.verdict == Some(Verdict::NotChecked) && one.missing.contains(&row.source.as_str())
        });
        let titles = unchecked.filter_map(|one| {
            differential
                .iter()
                .find(|considered| considered.cause == one.rule.file.id)
        });
        row.so_we_cannot_say = titles
            .map(|considered| {
                format!(
                    "whether {} ({})",
                    lower_first(&considered.title),
                    considered.cause
                )
            })
            .collect();
    }
    // What the collector could not know and no cause needs is no gap of the bundle.
    coverage.retain(|row| {
        !row.so_we_cannot_say.is_empty() || row.why.as_deref() != Some(UNKNOWN_TO_COLLECTOR)
    });
    coverage
}

/// What was read and not searched for messages, because nobody said it.
pub(super) fn unsaid(scanned: &Scanned) -> Option<Coverage> {
    let lines: u64 = scanned.skipped.values().sum();
    let kinds: Vec<String> = scanned
        .skipped
        .iter()
        .map(|(kind, lines)| format!("{} ({lines})", kind.words()))
        .collect();
    (lines > 0).then(|| Coverage {
        source: "documents".into(),
        title: "Text that nobody said".into(),
        outcome: "skipped".into(),
        why: Some(format!(
            "{lines} lines were not searched for messages: {}",
            kinds.join(", ")
        )),
        missing: Vec::new(),
        so_we_cannot_say: Vec::new(),
    })
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else {
        return String::new();
    };
    // A title that starts with a name or an abbreviation keeps its capital.
    let second_upper = letters.clone().next().is_some_and(char::is_uppercase);
    if second_upper || text.starts_with("NVIDIA") {
        text.to_owned()
    } else {
        first.to_lowercase().chain(letters).collect()
    }
}

/// What the reader and the parsers could not read, by place.
pub(super) fn problems(scanned: &Scanned) -> Vec<Problem> {
    let mut problems = scanned.problems.clone();
    let foreign = scanned.summary.header.is_none();
    problems.extend(of_input(&scanned.summary.problems, foreign));
    problems.sort();
    problems.dedup();
    problems
}

/// Says of a bundle that a killed run left, or may have left, that nothing searched it for leaks: the collector does
/// so last, and gives the file its name only then.
pub(super) fn leak_check(input: &Path, summary: &Summary) -> Option<Problem> {
    let header = summary.header.as_ref()?;
    let name = input.file_name().unwrap_or(input.as_os_str());
    let name = name.to_string_lossy();
    let text = if input.extension().is_some_and(|end| end == "partial") {
        format!(
            "{name} is what a killed run on {} left: its leak check has not run; redaction has, but look through it \
             before it is handed on",
            header.node
        )
    } else if summary.manifest.is_none() {
        format!(
            "{name} has no end: if a killed run left it so, its leak check has not run; look through it before it is \
             handed on"
        )
    } else {
        return None;
    };
    Some(Problem {
        place: Place::default(),
        text,
    })
}

/// What the reader says; links, which whole copied folders consist of, are counted where there are many.
fn of_input(all: &[ReadProblem], foreign: bool) -> Vec<Problem> {
    const FEW: usize = 5;
    let is_link = |problem: &&ReadProblem| matches!(problem, ReadProblem::NotRegular { .. });
    let links = all.iter().filter(is_link).count();
    if !foreign || links <= FEW {
        return all.iter().map(of_reader).collect();
    }
    let mut told: Vec<Problem> = all
        .iter()
        .filter(|one| !is_link(one))
        .map(of_reader)
        .collect();
    told.push(Problem {
        place: Place::default(),
        text: format!("{links} links and special files were not followed"),
    });
    told
}

fn of_reader(problem: &ReadProblem) -> Problem {
    Problem {
        place: Place::default(),
        text: problem.to_string(),
    }
}
