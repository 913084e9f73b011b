//! Several bundles of one site in a row: when each cause was seen and when it went.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Comparison, Fate};
use crate::report::escape::one_line;

/// The history of comparisons that follow one another, for a screen; empty for a single one.
pub(crate) fn history(all: &[Comparison]) -> String {
    if all.len() < 2 {
        return String::new();
    }
    let mut text = format!("History of {} bundles\n", all.len() + 1);
    for (number, name) in (1..).zip(names(all)) {
        let _ = writeln!(text, "  {number}: {name}");
    }
    for (cause, story) in causes(all) {
        let _ = writeln!(text, "  {cause}: {}", story.join(", "));
    }
    for (number, one) in (2..).zip(all) {
        for change in &one.configuration {
            let _ = writeln!(
                text,
                "  changed between {} and {number}: {}",
                number - 1,
                one_line(&change.path)
            );
        }
    }
    text
}

/// The bundles by name and time.
pub(super) fn names(all: &[Comparison]) -> Vec<String> {
    let first = all.first().map(|one| &one.before);
    let inputs = first.into_iter().chain(all.iter().map(|one| &one.after));
    inputs
        .map(|input| match input.finished {
            Some(at) => format!(
                "{} ({})",
                one_line(&input.name),
                at.format("%Y-%m-%d %H:%M:%S UTC")
            ),
            None => one_line(&input.name),
        })
        .collect()
}

/// What became of each cause, by the number of the bundle in which that was seen.
pub(super) fn causes(all: &[Comparison]) -> BTreeMap<&str, Vec<String>> {
    let mut stories: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (number, one) in (2..).zip(all) {
        for change in &one.causes {
            let story = stories.entry(change.cause.as_str()).or_default();
            if story.is_empty() && change.fate != Fate::New {
                story.push(format!("seen in {}", number - 1));
            }
            story.push(match change.fate {
                Fate::Gone => format!("gone in {number}"),
                Fate::Remains => format!("still in {number}"),
                Fate::New => format!("new in {number}"),
                Fate::CannotBeSeen => format!("cannot be seen in {number}"),
            });
        }
    }
    stories
}
