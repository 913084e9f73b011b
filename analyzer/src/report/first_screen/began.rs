//! Since when: the first sign of the first cause, or the time since when a workload of it is failing.

use chrono::{DateTime, TimeDelta, Utc};

use super::ages;
use super::impact::workloads_of;
use super::stamp::{self, Dates};
use crate::model::{Analysis, Beside, Evidence, Incident, Role, Verdict};
use crate::report::blocks::Rich;
use crate::report::sections::{SectionCtx, without_quote};
use crate::report::words;

/// When it began. Logs often hold the last try only, so the state of the workloads counts too. A cause that is only
/// possible dates nothing: there the time is that of what fails.
pub(crate) fn began(analysis: &Analysis) -> Option<DateTime<Utc>> {
    if !is_settled(analysis) {
        return unexplained_since(analysis);
    }
    let times = [first_sign(analysis), failing_since(analysis)];
    times.into_iter().flatten().min()
}

/// Whether the first cause is confirmed or likely.
fn is_settled(analysis: &Analysis) -> bool {
    let first = analysis.incidents.first();
    first.is_some_and(|first| first.verdict <= Verdict::Likely)
}

/// Since when the first failing thing without a known cause is failing.
fn unexplained_since(analysis: &Analysis) -> Option<DateTime<Utc>> {
    analysis.unexplained.first()?.since
}

/// The row `Since` where no cause is sure: none where nothing is known to be failing.
pub(super) fn since_failing(analysis: &Analysis) -> Option<Rich> {
    let first = analysis.unexplained.first()?;
    if let Some(at) = first.since {
        return Some(ago(analysis, at).text("."));
    }
    // A fact may have lost the head of its line; the same line as evidence has it.
    let evidence = analysis.incidents.iter().flat_map(|one| &one.evidence);
    let same = evidence.filter(|line| line.place == first.place);
    let same = same
        .map(|line| (line.text.as_str(), Some(&line.place)))
        .filter(|(text, _)| text.contains(&first.last_words));
    let dates = Dates::of(analysis);
    let own = first.lines.iter();
    let own = own.map(|line| (line.as_str(), Some(&first.place)));
    let stamp = stamp::of_lines(own, dates);
    let stamp = stamp.or_else(|| stamp::of_lines(same, dates));
    let stamp = stamp.or_else(|| beside(first.beside.as_ref(), analysis));
    Some(match stamp {
        // It is no older than its pod.
        Some(stamp) if stamp.starts_with(ages::AT_MOST) => Rich::from(format!("{stamp}.")),
        Some(stamp) => Rich::from(format!("{stamp}{ONE_LINE}.")),
        None => not_known(),
    })
}

/// Whether the row `Since` says when the first failing thing began.
pub(super) fn is_dated(analysis: &Analysis) -> bool {
    since_failing(analysis).is_some_and(|since| since != not_known())
}

/// Whether a line for a cause, or one beside it, says when, by whatever clock.
pub(super) fn is_stamped(first: &Incident, analysis: &Analysis) -> bool {
    stamped(first, analysis).is_some()
}

/// The time of a line for a cause, of one that follows from it, or of one beside it.
fn stamped(first: &Incident, analysis: &Analysis) -> Option<String> {
    let dates = Dates::of(analysis);
    let stamp = stamp::of_lines(shown(first), dates).or_else(|| {
        let follows = first.symptoms.iter().flat_map(|one| &one.evidence);
        let stamp = stamp::of_lines(lines_for(follows), dates)?;
        Some(format!("{stamp}{ONE_LINE}"))
    });
    stamp.or_else(|| beside(first.beside.as_ref(), analysis))
}

/// The lines kept of it are some of many; what they tell of may be older.
const ONE_LINE: &str = ". That is the time of one line that shows it; it may have begun earlier";

/// What a line beside says of the time.
fn beside(beside: Option<&Beside>, analysis: &Analysis) -> Option<String> {
    stamp::of_beside(beside?, Dates::of(analysis))
}

/// The row `Since` of signs that nothing is known to fail of: when the lines that show them were written.
pub(super) fn since_shown(first: &Incident, analysis: &Analysis) -> Option<Rich> {
    if let Some(at) = first.since {
        return Some(ago(analysis, at).text("."));
    }
    let stamp = stamped(first, analysis)?;
    Some(Rich::from(format!("{stamp}.")))
}

/// When a cause was first seen, in few words.
pub(super) fn first_seen(incident: &Incident, analysis: &Analysis) -> Option<String> {
    let stamped = || {
        let stamp = stamp::of_lines(shown(incident), Dates::of(analysis))?;
        let short = stamp.split([';', ',']).next()?;
        Some(short.replace(" by the node's own clock", ""))
    };
    incident.since.map(words::time).or_else(stamped)
}

fn not_known() -> Rich {
    Rich::from("Not known: the lines that show it have no time.")
}

/// A time, and how long before the end of the collection that was.
fn ago(analysis: &Analysis, at: DateTime<Utc>) -> Rich {
    let time = words::time(at);
    match before(analysis, at) {
        // Whatever the last line tells is as old as that or older.
        Some((_, "the last line", _)) if analysis.reference_time == Some(at) => {
            Rich::from(format!("{time} at the latest: no line is later"))
        }
        Some((span, until, now)) => {
            Rich::from(format!("{time}, {span} before {until} ({now} UTC)"))
        }
        None => Rich::from(time),
    }
}

/// How long before the end of the collection that was, what ended then, and when that was.
fn before(analysis: &Analysis, at: DateTime<Utc>) -> Option<(String, &'static str, String)> {
    let now = analysis.reference_time.filter(|now| *now >= at)?;
    // What has no time of its own was taken at some moment after its newest line.
    let input = &analysis.input;
    let until = match input.finished.or(input.started) {
        Some(_) => "this snapshot",
        None => "the last line",
    };
    let span = words::span(now - at);
    Some((span, until, now.format("%H:%M:%S").to_string()))
}

/// It began in between: a pod was no longer ready before any collected line shows why.
fn between(analysis: &Analysis, at: DateTime<Utc>, sign: DateTime<Utc>) -> Rich {
    let first = match before(analysis, at) {
        Some((span, until, now)) => format!(" ({span} before {until}, {now} UTC)"),
        None => String::new(),
    };
    Rich::from(format!(
        "{} at the earliest{first}, when a pod was no longer ready; {} at the latest, when the first collected line shows the cause",
        words::time(at),
        clock(at, sign)
    ))
}

/// A later time, of the same day without its date.
fn clock(at: DateTime<Utc>, later: DateTime<Utc>) -> String {
    if at.date_naive() == later.date_naive() {
        later.format("%H:%M:%S").to_string()
    } else {
        words::time(later)
    }
}

/// The row `Since` of the first screen.
pub(super) fn since(analysis: &Analysis, ctx: &SectionCtx, proof: &Rich) -> Rich {
    let Some(at) = began(analysis) else {
        let first = analysis.incidents.first();
        return match first.and_then(|first| stamped(first, analysis)) {
            Some(stamp) => Rich::from(format!("{stamp}.")),
            None => not_known(),
        };
    };
    // Readiness and log lines of one event lie some seconds apart.
    let later = |time: &DateTime<Utc>| *time - at >= TimeDelta::minutes(2);
    let sign = first_sign(analysis);
    let line = sign.and_then(|sign| line_at(analysis, sign));
    // The row of proofs quotes it.
    let untold = line.map(first_clause);
    let untold = untold.filter(|says| !proof.plain().contains(says.as_str()));
    let mut text = match sign.filter(later).filter(|_| line.is_some()) {
        Some(sign) => between(analysis, at, sign),
        None if untold.is_some() => ago(analysis, at).text(". First sign"),
        None => ago(analysis, at),
    };
    if let (Some(line), Some(says)) = (line, &untold) {
        text = text.text(": ").say(says).text(" (");
        text = ctx.short_place(text, &line.place).text(")");
    }
    text = text.text(".");
    if let Some(last) = last_said(analysis, at) {
        text = text.text(format!(" Last seen at {}.", clock(at, last)));
    }
    match failing_since(analysis).filter(later) {
        Some(time) => text.text(format!(
            " The first pod failed {} later, at {}.",
            words::span(time - at),
            clock(at, time)
        )),
        None => text,
    }
}

/// When the lines for the first cause were said for the last time, where that is later than the first time and no pod
/// that fails shows that it goes on.
fn last_said(analysis: &Analysis, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let first = analysis.incidents.first()?;
    let last = first
        .last
        .filter(|last| *last - at >= TimeDelta::minutes(1))?;
    workloads_of(first, analysis).is_empty().then_some(last)
}

/// What a line says, in few words.
fn first_clause(line: &Evidence) -> String {
    let says = without_quote(line.says.trim(), &line.text);
    words::first_clause(&words::clause(says), 150)
}

/// The lines for a cause, the strongest first, as they stand.
fn shown(incident: &Incident) -> impl Iterator<Item = stamp::Line<'_>> {
    lines_for(incident.evidence.iter())
}

fn lines_for<'a>(
    evidence: impl Iterator<Item = &'a Evidence>,
) -> impl Iterator<Item = stamp::Line<'a>> {
    let lines = evidence.filter(|line| line.role == Role::For);
    lines.map(|line| (line.text.as_str(), Some(&line.place)))
}

/// First sign of the first cause, or of any cause if the first one shows no time.
fn first_sign(analysis: &Analysis) -> Option<DateTime<Utc>> {
    let mut times = analysis.incidents.iter().map(|incident| incident.since);
    times.next().flatten().or_else(|| times.flatten().min())
}

/// Since when the first workload of the first cause is failing.
fn failing_since(analysis: &Analysis) -> Option<DateTime<Utc>> {
    let first = analysis.incidents.first()?;
    let workloads = workloads_of(first, analysis).into_iter();
    workloads.filter_map(|workload| workload.since).min()
}

/// The line that shows the first sign, if one bears its time. An event is dated by its last time, so the line
/// may be a log's of the same second.
fn line_at(analysis: &Analysis, at: DateTime<Utc>) -> Option<&Evidence> {
    let mut lines = analysis.incidents.iter().flat_map(|incident| {
        let symptoms = incident
            .symptoms
            .iter()
            .flat_map(|symptom| &symptom.evidence);
        incident.evidence.iter().chain(symptoms)
    });
    let same = |line: &Evidence| {
        line.at
            .is_some_and(|time| time.timestamp() == at.timestamp())
    };
    lines.find(|line| same(line) && !line.says.trim().is_empty())
}
