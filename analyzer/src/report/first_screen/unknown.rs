//! What is not known: one row of its own, so that nobody has to guess from what the other rows leave out.

use super::{StatusRow, began, impact, named, open, row};
use crate::model::fix::FixClaim;
use crate::model::{Analysis, Incident, Verdict};
use crate::report::blocks::Rich;
use crate::report::sections::{coverage, replayed};
use crate::report::words;

/// Questions that one row holds.
const MOST: usize = 4;

/// What is not known, and which sources are missing.
pub(super) fn left_open(analysis: &Analysis) -> impl Iterator<Item = StatusRow> {
    let unknown = row("Not known", unknown(analysis));
    std::iter::once(unknown).chain(unseen(analysis))
}

/// Which sources are missing that known causes need.
pub(super) fn unseen(analysis: &Analysis) -> Option<StatusRow> {
    let text = coverage::unseen(analysis);
    let text = match text.is_empty() {
        // A row that is missing leaves open whether anything was.
        true if !analysis.incidents.is_empty() => {
            Rich::from("Nothing that a known cause depends on.")
        }
        _ => text,
    };
    (!text.is_empty()).then(|| row("Not seen", text))
}

/// The row `Not known`: what the input leaves open, each with what would tell it.
fn unknown(analysis: &Analysis) -> Rich {
    let sure = analysis
        .incidents
        .first()
        .filter(|first| first.verdict <= Verdict::Likely);
    let asked = match sure {
        Some(first) => of_cause(first, analysis),
        None if analysis.unexplained.is_empty() => of_nothing(analysis),
        None => of_failing(analysis),
    };
    let mut text = Rich::new();
    for (nth, one) in asked.into_iter().take(MOST).enumerate() {
        text = text.text(if nth == 0 { "" } else { " " }).say(&one);
    }
    match text.is_empty() {
        true => Rich::from("Nothing that this cause and its fix need."),
        false => text,
    }
}

/// What a cause that is sure leaves open.
fn of_cause(first: &Incident, analysis: &Analysis) -> Vec<String> {
    let mut asked = Vec::new();
    if first.meanwhile.is_some() {
        asked.push("Whether it comes back, and when.".to_owned());
    } else if first.verdict == Verdict::Likely {
        asked.push(match first.would_settle.first() {
            Some(text) => format!(
                "Whether it is this cause; to settle it: {}.",
                words::clause(text)
            ),
            None => "Whether it is this cause: nothing that was collected tells.".to_owned(),
        });
    }
    if began::began(analysis).is_none() && !began::is_stamped(first, analysis) {
        asked.push("When it began.".to_owned());
    }
    let hit = impact::hit(analysis);
    if hit.is_empty() && first.subjects.is_empty() && !named::is_anybody(analysis) {
        asked.push("Which node or pod it hits: whoever took the input knows.".to_owned());
    }
    if hit.is_empty() {
        asked.extend(after_the_end(analysis));
    }
    asked.extend(of_fix(first, analysis));
    asked
}

/// What trying the fix left open.
fn of_fix(first: &Incident, analysis: &Analysis) -> Option<String> {
    let helps = || "Whether the fix helps: the check after it tells.".to_owned();
    let Some(fix) = &first.fix else {
        // Nobody asked for a trial, as with `diagnose`.
        return (!first.remedy.title.trim().is_empty()).then(helps);
    };
    let pods = impact::hit(analysis).len();
    match fix.claim {
        // The replay shows what keeps the pods from running then.
        FixClaim::RemovesTheCause if replayed::left(fix, analysis).next().is_some() => {
            Some("Whether the pods can run once the rest under Fix is fixed too.".to_owned())
        }
        FixClaim::RemovesTheCause if pods == 1 => {
            Some("Whether the pod can run after the fix: the check after it tells.".to_owned())
        }
        FixClaim::RemovesTheCause if pods > 1 => Some(format!(
            "Whether the {pods} pods can run after the fix: the check after it tells."
        )),
        FixClaim::NeedsARuntimeStep | FixClaim::CannotBeShown => Some(helps()),
        _ => None,
    }
}

/// What is open where something fails and no cause is sure.
fn of_failing(analysis: &Analysis) -> Vec<String> {
    let mut asked = vec![
        match open::has_spoken(analysis) {
            true => "Whether its own last words are the whole cause.",
            false => "Why it fails: what stands under Next tells more.",
        }
        .to_owned(),
    ];
    if !began::is_dated(analysis) {
        asked.push("When it began.".to_owned());
    }
    let first = analysis.unexplained.first();
    if first.is_some_and(|first| words::logged(&first.reason).is_some()) {
        asked.push("Whether it works again: the command under Next tells.".to_owned());
    } else if first.is_some_and(|first| !open::is_listed(first)) {
        asked.extend(after_the_end(analysis));
    }
    asked
}

/// What is open where nothing was seen to fail.
fn of_nothing(analysis: &Analysis) -> Vec<String> {
    let mut asked = Vec::new();
    if words::is_blind(analysis) {
        let logs = &analysis.seen.logs;
        let said = match logs.pods > 0 || logs.nodes.len() > 1 {
            true => "How pods and nodes are now: the input holds their logs, not their state.",
            false => "How pods and nodes are: the input does not show it.",
        };
        asked.push(said.to_owned());
    }
    let first = analysis.incidents.first();
    let is_stamped = first.is_some_and(|first| began::is_stamped(first, analysis));
    let clocks = &analysis.clocks;
    let is_dated = is_stamped || clocks.started().is_some() || clocks.newest.is_some();
    if analysis.reference_time.is_none() && !is_dated {
        asked.push("How old the input is: no line has a date.".to_owned());
    }
    if asked.is_empty() {
        asked.push("Whether anybody noticed a fault: the input shows none.".to_owned());
    }
    asked
}

/// Whether it goes on: logs end at some line, and nothing tells what came after it.
fn after_the_end(analysis: &Analysis) -> Option<String> {
    let input = &analysis.input;
    let is_snapshot = input.finished.or(input.started).is_some();
    if is_snapshot || !words::is_blind(analysis) {
        return None;
    }
    // The clock of a line without a zone may be ahead of it.
    let dated = began::began(analysis).and(analysis.reference_time);
    Some(match dated {
        Some(now) => format!(
            "Whether it goes on after the last line ({}).",
            words::time(now)
        ),
        None => "Whether it goes on after the last line.".to_owned(),
    })
}
