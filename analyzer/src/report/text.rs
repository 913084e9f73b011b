//! The answer of `diagnose` for a person at a terminal: under a screen, no colours, no control characters.

use std::fmt::Write as _;

use super::{escape, words};
use crate::model::{Analysis, Considered, Evidence, Incident, Role, Verdict};

/// Columns of an excerpt.
const WIDTH: usize = 110;
/// Incidents that are shown in full.
const IN_FULL: usize = 2;
/// Further incidents that get a line each.
const IN_SHORT: usize = 3;

/// The answer as text, each line ending with a line feed.
pub(crate) fn render(analysis: &Analysis) -> String {
    let mut out = String::new();
    line(&mut out, 0, &words::title(analysis));
    if let Some(now) = analysis.reference_time {
        line(
            &mut out,
            0,
            &format!("{} · as of {}", analysis.input.name, words::time(now)),
        );
    } else {
        line(&mut out, 0, &analysis.input.name);
    }
    out.push('\n');
    if analysis.incidents.is_empty() {
        nothing(analysis, &mut out);
    }
    for (index, found) in analysis.incidents.iter().take(IN_FULL).enumerate() {
        incident(found, index, &mut out);
    }
    let rest = analysis.incidents.iter().skip(IN_FULL);
    for found in rest.take(IN_SHORT) {
        line(
            &mut out,
            0,
            &format!(
                "also {}: {} ({})",
                found.verdict.word(),
                found.cause,
                found.title
            ),
        );
    }
    let named = IN_FULL + IN_SHORT;
    if analysis.incidents.len() > named {
        line(
            &mut out,
            0,
            &format!(
                "also {} more, see the report",
                analysis.incidents.len() - named
            ),
        );
    }
    unseen(analysis, &mut out);
    out
}

/// Appends one line: control characters shown, cut to the width.
fn line(out: &mut String, indent: usize, text: &str) {
    let text = escape::one_line(text);
    let text = escape::cut_end(text.trim(), WIDTH + 40);
    let text = escape::visible(&text, false);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{:indent$}{text}", "");
}

/// The first cause in full, another one in short.
fn incident(incident: &Incident, index: usize, out: &mut String) {
    let first = index == 0;
    let head = format!(
        "{} · {} · severity {}",
        incident.verdict.word(),
        incident.cause,
        incident.severity.word()
    );
    line(out, 0, &format!("[{}] {head}", index + 1));
    line(out, 4, &incident.title);
    if let Some(since) = incident.since.filter(|_| first) {
        line(out, 4, &format!("since {}", words::time(since)));
    }
    evidence(incident, Role::For, if first { 3 } else { 1 }, out);
    evidence(incident, Role::Against, if first { 2 } else { 1 }, out);
    for symptom in incident.symptoms.iter().take(if first { 3 } else { 1 }) {
        line(out, 4, &format!("symptom: {}", symptom.text));
    }
    for text in incident.would_settle.iter().take(if first { 2 } else { 1 }) {
        line(out, 4, &format!("would settle it: {text}"));
    }
    if !incident.remedy.title.is_empty() {
        line(out, 4, &format!("fix: {}", incident.remedy.title));
    }
    out.push('\n');
}

fn evidence(incident: &Incident, role: Role, most: usize, out: &mut String) {
    let label = match role {
        Role::For => "for",
        Role::Against => "against",
    };
    let lines: Vec<&Evidence> = incident
        .evidence
        .iter()
        .filter(|line| line.role == role)
        .collect();
    if lines.is_empty() && role == Role::Against {
        line(out, 4, "against: none seen");
    }
    for evidence in lines.iter().take(most) {
        let times = if evidence.count > 1 {
            format!(" (seen {} times)", evidence.count)
        } else {
            String::new()
        };
        line(out, 4, &format!("{label}: {}{times}", evidence.says));
        excerpt(
            out,
            &format!("{}: {}", evidence.place, evidence.text.trim()),
        );
    }
    if lines.len() > most {
        line(
            out,
            4,
            &format!("{label}: {} more in the report", lines.len() - most),
        );
    }
}

/// Appends an excerpt: its spaces stay as they are, so that it can be searched for.
fn excerpt(out: &mut String, text: &str) {
    let text = escape::visible(text, false);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "        {}", escape::cut_middle(&text, WIDTH));
}

fn nothing(analysis: &Analysis, out: &mut String) {
    let of = |verdict: Verdict| -> Vec<&Considered> {
        analysis
            .differential
            .iter()
            .filter(|cause| cause.verdict == verdict)
            .collect()
    };
    let (ruled_out, open) = (of(Verdict::RuledOut), of(Verdict::NotChecked));
    line(
        out,
        0,
        "No cause was confirmed. This does not mean that the node is healthy.",
    );
    line(
        out,
        0,
        &format!(
            "ruled out: {}; not checked: {}",
            ruled_out.len(),
            open.len()
        ),
    );
    for cause in ruled_out.iter().take(8) {
        line(
            out,
            4,
            &format!("ruled out: {}: {}", cause.cause, cause.why),
        );
    }
    for cause in open.iter().take(6) {
        line(
            out,
            4,
            &format!("not checked: {}: {}", cause.cause, cause.why),
        );
    }
    out.push('\n');
}

fn unseen(analysis: &Analysis, out: &mut String) {
    const SHOWN: usize = 3;
    if analysis.input.cut_short {
        line(
            out,
            0,
            "not seen: the input has no manifest; what is missing from it may not have been written",
        );
    }
    let gaps: Vec<_> = analysis
        .coverage
        .iter()
        .filter(|source| source.outcome != "collected")
        .collect();
    for source in gaps.iter().take(SHOWN) {
        let why = source
            .why
            .as_deref()
            .or(source.missing.first().map(String::as_str))
            .unwrap_or("no reason recorded");
        line(
            out,
            0,
            &format!("not seen: {} ({}: {why})", source.title, source.outcome),
        );
    }
    if gaps.len() > SHOWN {
        line(
            out,
            0,
            &format!(
                "not seen: {} more sources, see the report",
                gaps.len() - SHOWN
            ),
        );
    }
    if gaps.is_empty() && !analysis.coverage.is_empty() {
        line(
            out,
            0,
            "every source that was attempted was collected whole",
        );
    }
}
