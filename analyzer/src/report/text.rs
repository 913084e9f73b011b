//! The answer of `diagnose` for a person at a terminal: under a screen, no colours, no control characters.

use std::fmt::Write as _;

use super::{escape, words};
use crate::model::{About, Analysis, Considered, Evidence, Incident, Role, Verdict};

/// Columns of the screen that are used.
const WIDTH: usize = 100;
/// Lines of the screen.
const HEIGHT: usize = 40;
/// Incidents that are shown in full where there is room.
const IN_FULL: usize = 2;
/// Further incidents that get a line each.
const IN_SHORT: usize = 2;

/// The answer as text, each line ending with a line feed: sentences as whole as the screen has room for.
pub(crate) fn render(analysis: &Analysis) -> String {
    let rooms = [
        (4, IN_FULL),
        (3, IN_FULL),
        (2, IN_FULL),
        (1, IN_FULL),
        (2, 1),
    ];
    let mut fitting = rooms
        .into_iter()
        .map(|(room, in_full)| draw(analysis, room, in_full))
        .filter(|text| height(text) < HEIGHT);
    fitting.next().unwrap_or_else(|| draw(analysis, 1, 1))
}

/// Lines that a text takes on the screen, where a long one goes on below.
fn height(text: &str) -> usize {
    let lines = text.lines().map(|line| line.chars().count());
    lines.map(|width| width.div_ceil(WIDTH).max(1)).sum()
}

/// The answer with at most `room` lines for a sentence, and so many incidents in full.
fn draw(analysis: &Analysis, room: usize, in_full: usize) -> String {
    let mut out = String::new();
    wrapped(&mut out, "", &words::title(analysis), 2);
    let input = &analysis.input.name;
    match analysis.reference_time {
        Some(now) => line(
            &mut out,
            0,
            &format!("{input} · as of {}", words::time(now)),
        ),
        None => line(&mut out, 0, input),
    }
    out.push('\n');
    if let Some(asked) = &analysis.about {
        about(analysis, asked, &mut out);
    }
    if analysis.incidents.is_empty() {
        nothing(analysis, &mut out);
    }
    for (index, found) in analysis.incidents.iter().take(in_full).enumerate() {
        incident(analysis, found, index, room, &mut out);
    }
    let rest = analysis.incidents.iter().skip(in_full);
    for found in rest.take(IN_SHORT) {
        let text = format!(
            "{}: {} ({})",
            found.verdict.word(),
            found.title,
            found.cause
        );
        line(&mut out, 0, &format!("also {text}"));
    }
    let named = in_full + IN_SHORT;
    if analysis.incidents.len() > named {
        let more = analysis.incidents.len() - named;
        line(&mut out, 0, &format!("also {more} more, see the report"));
    }
    unexplained(analysis, room, &mut out);
    harmless(analysis, &mut out);
    unseen(analysis, &mut out);
    out
}

/// How the thing is that was asked for, and what explains it.
fn about(analysis: &Analysis, asked: &About, out: &mut String) {
    let subject = &asked.subject;
    if !asked.found {
        let text = format!("{subject} is not in this input, so nothing can be answered about it.");
        wrapped(out, "", &text, 2);
        out.push('\n');
        return;
    }
    let state = match asked.state.as_str() {
        "" => "its state was not captured",
        state => state,
    };
    line(out, 0, &format!("{subject}: {state}"));
    let number = |cause: &String| {
        let at = analysis
            .incidents
            .iter()
            .position(|one| one.cause == *cause);
        at.map(|at| format!("[{}] {cause}", at + 1))
    };
    let named = |causes: &[String]| {
        causes
            .iter()
            .filter_map(number)
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !asked.causes.is_empty() {
        line(out, 4, &format!("explained by {}", named(&asked.causes)));
    }
    if !asked.on_its_node.is_empty() {
        line(
            out,
            4,
            &format!("on its node: {}", named(&asked.on_its_node)),
        );
    }
    if let Some(words) = &asked.last_words {
        wrapped(out, "    unexplained; last words: ", words, 2);
    } else if asked.causes.is_empty() {
        line(out, 4, "nothing captured shows that it is failing");
    }
    out.push('\n');
}

/// What fails and no cause explains, with its last words; beside a cause in short.
fn unexplained(analysis: &Analysis, room: usize, out: &mut String) {
    let alone = analysis.incidents.is_empty();
    let shown = if alone { 4 } else { 2 };
    for entry in analysis.unexplained.iter().take(shown) {
        let mut head = format!("unexplained: {}", entry.subject);
        if !entry.reason.is_empty() {
            let _ = write!(head, " · {}", entry.reason);
        }
        if let Some(since) = entry.since {
            let _ = write!(head, " · since {}", words::time(since));
        }
        if !alone {
            // Beside a cause there is room for one line.
            line(out, 0, &format!("{head}: {}", entry.last_words));
            continue;
        }
        line(out, 0, &head);
        if !entry.last_words.is_empty() {
            wrapped(out, "    last words: ", &entry.last_words, room.min(2));
        }
        let place = escape::one_line(&entry.place.to_string());
        // Writing to a String cannot fail.
        let _ = writeln!(out, "        {}", escape::visible(&place, false));
        for flow in entry.flows.iter().take(1) {
            wrapped(out, "    ", flow, 2);
        }
        let settle = entry.candidates.first().filter(|_| room > 2);
        if let Some(first) = settle {
            line(
                out,
                4,
                &format!("perhaps {}: {}", first.cause, first.settle),
            );
        }
    }
    if analysis.unexplained.len() > shown {
        let more = analysis.unexplained.len() - shown;
        line(out, 0, &format!("unexplained: {more} more, see the report"));
    }
}

/// Appends one line: control characters shown, cut to the width.
fn line(out: &mut String, indent: usize, text: &str) {
    let text = escape::one_line(text);
    let text = escape::cut_end(text.trim(), WIDTH.saturating_sub(indent));
    let text = escape::visible(&text, false);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{:indent$}{text}", "");
}

/// Appends a text broken at blanks: the label on its first line, at most so many lines, cut at the end.
fn wrapped(out: &mut String, label: &str, text: &str, most: usize) {
    let text = escape::one_line(text);
    let text = escape::visible(text.trim(), false);
    let indent = label.chars().count();
    let width = WIDTH.saturating_sub(indent).max(40);
    let mut rest: &str = &text;
    for number in 1..=most {
        let head = if number == 1 { label } else { "" };
        let (now, later) = if number == most {
            (rest, "")
        } else {
            break_at(rest, width)
        };
        let now = escape::cut_end(now, width);
        let _ = writeln!(out, "{head:indent$}{now}");
        rest = later.trim_start();
        if rest.is_empty() {
            return;
        }
    }
}

/// Breaks a text at the last blank within the width; a long word goes on as it is.
fn break_at(text: &str, width: usize) -> (&str, &str) {
    let Some((end, _)) = text.char_indices().nth(width) else {
        return (text, "");
    };
    match text[..end].rfind(' ') {
        Some(at) if at > 0 => text.split_at(at),
        _ => text.split_at(end),
    }
}

/// The first cause in full, another one in short: see [`second`].
fn incident(analysis: &Analysis, incident: &Incident, index: usize, room: usize, out: &mut String) {
    if index > 0 {
        return second(incident, index, room, out);
    }
    let mut head = heading(incident, index);
    if let Some(since) = incident.since {
        let _ = write!(head, " · since {}", words::time(since));
    }
    wrapped(out, "", &head, 2);
    if incident.summary.is_empty() {
        wrapped(out, "    ", &incident.title, 2);
    } else {
        // The rule tells its cause as a fact, which one among several is not.
        let label = match incident.verdict {
            Verdict::Possible => "    if so: ",
            _ => "    ",
        };
        wrapped(out, label, &incident.summary, room.max(3));
    }
    evidence(incident, Role::For, 3, room, out);
    evidence(incident, Role::Against, 3, room, out);
    instead(analysis, incident, out);
    for symptom in incident.symptoms.iter().take(3) {
        wrapped(out, "    symptom: ", &symptom.text, (room / 2).max(1));
    }
    for text in incident.would_settle.iter().take(2) {
        wrapped(out, "    would settle it: ", text, room);
    }
    remedy(incident, out);
    out.push('\n');
}

fn heading(incident: &Incident, index: usize) -> String {
    format!(
        "[{}] {} · {} · severity {}",
        index + 1,
        incident.verdict.word(),
        incident.cause,
        incident.severity.word()
    )
}

/// Another cause in short: what it is, a line for and against it, what would settle it; where the screen is nearly
/// full without what follows from it.
fn second(incident: &Incident, index: usize, room: usize, out: &mut String) {
    line(out, 0, &heading(incident, index));
    wrapped(out, "    ", &incident.title, 2);
    evidence(incident, Role::For, 1, 1, out);
    let is_against = |line: &Evidence| line.role == Role::Against;
    if room > 2 || incident.evidence.iter().any(is_against) {
        evidence(incident, Role::Against, 1, 1, out);
    }
    let symptoms = incident.symptoms.iter().filter(|_| room > 2);
    for symptom in symptoms.take(1) {
        wrapped(out, "    symptom: ", &symptom.text, 1);
    }
    for text in incident.would_settle.iter().take(1) {
        wrapped(out, "    would settle it: ", text, 2);
    }
    if !incident.remedy.title.is_empty() {
        line(out, 4, &format!("fix: {}", incident.remedy.title));
    }
    out.push('\n');
}

/// The fix, and the first thing to do for it.
fn remedy(incident: &Incident, out: &mut String) {
    if incident.remedy.title.is_empty() {
        return;
    }
    line(out, 4, &format!("fix: {}", incident.remedy.title));
    if let Some(step) = incident.remedy.steps.first() {
        wrapped(out, "         first: ", &step.text, 2);
        if let Some(command) = step.command.as_deref().and_then(|text| text.lines().next()) {
            // Whole, so that it can be copied.
            let command = escape::one_line(command);
            let _ = writeln!(out, "         $ {}", escape::visible(&command, false));
        }
    }
}

/// Other causes that what was seen excludes, those of the same family first.
fn instead(analysis: &Analysis, incident: &Incident, out: &mut String) {
    const SHOWN: usize = 2;
    let excluded: Vec<&str> = analysis
        .differential
        .iter()
        .filter(|one| one.verdict == Verdict::RuledOut && one.cause != incident.cause)
        .map(|one| one.cause.as_str())
        .collect();
    if excluded.is_empty() {
        return;
    }
    let named = excluded.iter().take(SHOWN).copied().collect::<Vec<_>>();
    let more = match excluded.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    line(
        out,
        4,
        &format!("ruled out by what was seen: {}{more}", named.join(", ")),
    );
}

fn evidence(incident: &Incident, role: Role, most: usize, room: usize, out: &mut String) {
    let label = match role {
        Role::For => "for: ",
        Role::Against => "against: ",
    };
    let lines: Vec<&Evidence> = incident
        .evidence
        .iter()
        .filter(|line| line.role == role)
        .collect();
    if lines.is_empty() && role == Role::Against {
        let would = incident.would_refute.first();
        let would = would.map_or_else(String::new, |would| format!("; that would be: {would}"));
        wrapped(
            out,
            "    against: ",
            &format!("nothing seen{would}"),
            room.min(2),
        );
    }
    let label = format!("    {label}");
    let mut told: Vec<&str> = Vec::new();
    for evidence in lines.iter().take(most) {
        let times = if evidence.count > 1 {
            format!(" (seen {} times)", evidence.count)
        } else {
            String::new()
        };
        let again = told.contains(&evidence.says.as_str());
        if !again {
            let says = format!("{}{times}", evidence.says);
            wrapped(out, &label, &says, room);
            told.push(&evidence.says);
        }
        excerpt(out, evidence, room);
    }
    if most > 1 && lines.len() > most {
        let more = lines.len() - most;
        line(
            out,
            4,
            &format!("{}{more} more in the report", label.trim_start()),
        );
    }
}

/// Appends where a line stands, whole so that it can be opened, and as much of the line as there is room for; a
/// sentence that ends with the line is not followed by it once more.
fn excerpt(out: &mut String, evidence: &Evidence, room: usize) {
    /// Room for the words that say what is left out.
    const MARK: usize = 40;
    let place = escape::one_line(&evidence.place.to_string());
    let place = escape::visible(&place, false);
    let text = evidence.text.trim();
    // Writing to a String cannot fail.
    let _ = if text.is_empty() || evidence.says.contains(text) {
        writeln!(out, "        {place}")
    } else if 8 + place.chars().count() + 2 + text.chars().count() <= WIDTH {
        writeln!(out, "        {place}: {}", escape::visible(text, false))
    } else {
        let lines = room.saturating_sub(1).max(1);
        let room = lines * (WIDTH - 12);
        let most = if text.chars().count() > room {
            room - MARK
        } else {
            room
        };
        writeln!(out, "        {place}:").map(|()| {
            wrapped(out, "            ", &escape::cut_middle(text, most), lines);
        })
    };
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

/// What looks like a fault in the evidence and is none, so that nobody goes after it.
fn harmless(analysis: &Analysis, out: &mut String) {
    const SHOWN: usize = 2;
    for noise in analysis.benign.iter().take(SHOWN) {
        let first = noise.evidence.first();
        let says = first.map_or(noise.text.as_str(), |line| line.says.as_str());
        let more = match noise.evidence.len() {
            0 | 1 => String::new(),
            lines => format!(", and {} more like it", lines - 1),
        };
        line(out, 0, &format!("harmless: {says}{more} ({})", noise.id));
    }
    let rest = analysis.benign.iter().skip(SHOWN);
    let rest: Vec<&str> = rest.map(|noise| noise.id.as_str()).collect();
    if !rest.is_empty() {
        line(out, 0, &format!("harmless as well: {}", rest.join(", ")));
    }
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
    // Text that was pasted has no manifest; what it does not hold has one reason, so it is one line.
    let absent = |outcome: &str| matches!(outcome, "absent" | "unknown" | "excerpt");
    if !gaps.is_empty() && gaps.iter().all(|source| absent(&source.outcome)) {
        let titles: Vec<&str> = gaps
            .iter()
            .filter(|source| source.outcome == "absent")
            .map(|source| source.title.as_str())
            .collect();
        let reason = match analysis.input.tool {
            Some(_) => "not in this bundle",
            None => "because only this was given",
        };
        let text = format!("not seen, {reason}: {}", titles.join(", "));
        wrapped(out, "", &text, 2);
        return;
    }
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
