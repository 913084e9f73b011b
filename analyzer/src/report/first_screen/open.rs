//! What the first screen says where causes are only possible: their names, and the question that settles one.

use crate::model::{Analysis, Incident, Verdict};
use crate::report::blocks::Rich;
use crate::report::words;

/// Whether the state of pods, nodes or units is known, so that a cause that is only possible is no more than a guess
/// about them: its fix and its lines have no place on the first screen. Of plain log lines it is what there is to say.
pub(super) fn is_about_something_else(analysis: &Analysis) -> bool {
    let pods = analysis
        .impact
        .counts
        .get("pods")
        .is_some_and(|all| *all > 0);
    pods || !analysis.state.nodes.is_empty() || !analysis.unexplained.is_empty()
}

/// The causes that are only possible, by name.
pub(super) fn guesses(analysis: &Analysis) -> Rich {
    const NAMED: usize = 2;
    let mut text = Rich::from("No cause is confirmed. Only ")
        .verdict(Verdict::Possible)
        .text(": ");
    for (index, incident) in by_fit(analysis).into_iter().take(NAMED).enumerate() {
        text = text.text(if index == 0 { "" } else { "; " });
        text = text.say(&words::clause(&incident.title));
    }
    match analysis.incidents.len().saturating_sub(NAMED) {
        0 => text.text("."),
        more => text.text(format!("; {}.", words::count_more(more as u64, "cause"))),
    }
}

/// The causes that are only possible, first those about something that fails: the others explain nothing of it.
fn by_fit(analysis: &Analysis) -> Vec<&Incident> {
    let failing = |subject: &String| {
        let mut known = analysis.unexplained.iter();
        known.any(|one| one.subject == *subject || one.also.contains(subject))
    };
    let mut causes: Vec<&Incident> = analysis.incidents.iter().collect();
    causes.sort_by_key(|incident| !incident.subjects.iter().any(failing));
    causes
}

/// The question that settles a cause which is only possible, with its command and what the answers mean.
pub(super) fn settle(analysis: &Analysis, calm: bool) -> Option<String> {
    let first = by_fit(analysis).into_iter().next()?;
    let which = match analysis.incidents.len() {
        1 => "possible cause",
        _ => "first possible cause",
    };
    const UNLESS: &str = "Nothing, unless somebody reports a fault.";
    let text = first.would_settle.first().map(|text| words::clause(text));
    match (text, calm) {
        (Some(text), true) => Some(format!("{UNLESS} Then settle the {which}: {text}.")),
        (None, true) => Some(UNLESS.to_owned()),
        (Some(text), false) => Some(format!("Settle the {which}: {text}.")),
        (None, false) => None,
    }
}
