//! Words: how times, spans and counts are written, the same in every format.

use chrono::{DateTime, TimeDelta, Utc};

use crate::model::{Analysis, Evidence, Incident, Verdict};

/// What follows a contradiction that was looked for and not found.
pub(crate) const NOT_THE_CASE: &str = "(not the case: ";

/// How a step begins whose command only a cluster answers, where the input shows none.
pub(crate) const OF_KUBERNETES: &str = "On a node of Kubernetes: ";

/// A moment, to the second.
pub(crate) fn time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// A span of time as people say it; negative spans count as zero.
pub(crate) fn span(delta: TimeDelta) -> String {
    let seconds = delta.num_seconds().max(0);
    match seconds {
        0..=119 => count(seconds.unsigned_abs(), "second"),
        120..=7199 => count((seconds / 60).unsigned_abs(), "minute"),
        7200..=172_799 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// `1 pod`, `2 pods`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// `1 more pod`, `2 more pods`.
pub(crate) fn count_more(number: u64, noun: &str) -> String {
    count(number, &format!("more {noun}"))
}

/// `is` or `are`.
pub(crate) fn are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// `was` or `were`.
pub(crate) fn were(number: u64) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

/// A subject as people write it: `default/web` for a pod, the bare name of a node, `GPU 0000:04:00 on gpu-1`, else with
/// its kind.
pub(crate) fn subject(id: &str) -> String {
    match id.split_once('/') {
        // Where a text names no namespace, or no pod at all, nothing stands before the name.
        Some(("pod", _)) if is_unnamed(id) => "a pod that is not named".to_owned(),
        Some(("pod" | "node", name)) => name.trim_start_matches('/').to_owned(),
        Some(("gpu", name)) => match name.split_once('/') {
            Some(("", bus_id)) => format!("GPU {bus_id}"),
            Some((node, bus_id)) => format!("GPU {bus_id} on {node}"),
            None => format!("GPU {name}"),
        },
        Some((kind, name)) => format!("{kind} {name}"),
        None => id.to_owned(),
    }
}

/// What stands for a name where no message has it. Nothing in a cluster can have this name.
pub(crate) const NOT_NAMED: &str = "(not named)";

/// Whether a subject is something that its line does not name.
pub(crate) fn is_unnamed(subject: &str) -> bool {
    subject.ends_with(NOT_NAMED)
}

/// The whole sentences of a text that fit into `most` characters, at least the first.
pub(crate) fn sentences(text: &str, most: usize) -> String {
    let text = text.trim();
    let mut end = 0;
    for (at, _) in text.match_indices(". ") {
        let capital = text[at + 2..].chars().next();
        // `e.g. this` and `vs. that` go on.
        if !capital.is_some_and(|c| c.is_uppercase() || c.is_numeric()) {
            continue;
        }
        if end > 0 && text[..=at].chars().count() > most {
            return text[..end].to_owned();
        }
        end = at + 1;
    }
    if end > 0 && text.chars().count() > most {
        text[..end].to_owned()
    } else {
        text.to_owned()
    }
}

/// A statement without what follows its first colon, semicolon or bracket, where it is longer than `most`
/// characters.
pub(crate) fn first_clause(text: &str, most: usize) -> String {
    const SHORTEST: usize = 24;
    let text = text.trim();
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let ends = [": ", "; ", ", which ", " (", ", "];
    let cut = ends.iter().find_map(|mark| {
        let at = text.match_indices(mark).map(|(at, _)| at);
        at.filter(|at| (SHORTEST..=most).contains(at)).last()
    });
    match cut {
        Some(at) => text[..without_label(text, at, SHORTEST)].to_owned(),
        None => cut_at_word(text, most),
    }
}

/// Where a text that is cut at `at` ends without the label of what is cut away: `...; first step: reset it`.
fn without_label(text: &str, at: usize, shortest: usize) -> usize {
    const LABEL: usize = 3;
    if !text[at..].starts_with(": ") {
        return at;
    }
    let before = text[..at].rfind("; ").filter(|before| {
        let label = text[before + 1..at].split_whitespace();
        *before >= shortest && label.count() <= LABEL
    });
    before.unwrap_or(at)
}

/// As many whole words as fit into `most` characters.
pub(crate) fn cut_at_word(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.to_owned();
    };
    let end = text[..end].rfind(' ').unwrap_or(end);
    format!("{} …", text[..end].trim_end())
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// A sentence from the model with a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut out = text.to_owned();
    if !text.is_empty() && !text.ends_with(['.', '!', '?', ':', ';']) {
        out.push('.');
    }
    out
}

/// A sentence that goes on behind other words: its first letter small, unless the first word is a name or short form.
pub(crate) fn small(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// A text with a capital first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase());
    first.map_or_else(String::new, |first| first.chain(letters).collect())
}

/// What an incident is, as a sentence; of a merely possible cause only under the condition that it is so.
pub(crate) fn summary(incident: &Incident) -> String {
    let said = sentence(&incident.summary);
    if incident.verdict == Verdict::Possible && !said.is_empty() {
        format!("If so: {said}")
    } else {
        said
    }
}

/// A text with a lower-case first letter where that cannot damage a name, to stand inside a sentence.
pub(crate) fn clause(text: &str) -> String {
    text.trim().trim_end_matches('.').to_owned()
}

/// When and how often a line was seen, empty if neither is known.
pub(crate) fn seen(evidence: &Evidence) -> String {
    let mut parts = Vec::new();
    if let Some(at) = evidence.at {
        parts.push(time(at));
    }
    if evidence.count > 1 {
        parts.push(format!("seen {} times", evidence.count));
    }
    parts.join(", ")
}

/// The title of the whole report. Says so when the cause is not confirmed.
pub(crate) fn title(analysis: &Analysis) -> String {
    match analysis.incidents.first() {
        Some(first) => match first.verdict {
            Verdict::Confirmed => first.title.clone(),
            Verdict::Likely => format!("Likely: {}", first.title),
            // What other causes explain as well is no headline.
            _ => unsettled(analysis),
        },
        None => unsettled(analysis),
    }
}

fn unsettled(analysis: &Analysis) -> String {
    if !analysis.unexplained.is_empty() {
        return failing(analysis);
    }
    // What only speaks for a cause a little is no finding, and neither is it a clean bill.
    let what = match is_calm(analysis) || analysis.incidents.is_empty() {
        true => "No failure found",
        false => "No cause confirmed",
    };
    let listed = analysis.state.nodes.iter().map(|node| node.name.as_str());
    let mut machines: Vec<&str> = listed.collect();
    if machines.is_empty() {
        machines = analysis
            .seen
            .logs
            .nodes
            .iter()
            .map(String::as_str)
            .collect();
    }
    let machine = match (analysis.input.node.as_deref(), machines.as_slice()) {
        (None, [only]) => Some((*only).to_owned()),
        // A folder's name says less.
        (None, [first, others @ ..]) => Some(format!(
            "{first} and {}",
            count_more(others.len() as u64, "node")
        )),
        (node, _) => node.map(str::to_owned),
    };
    match (machine, is_blind(analysis)) {
        (Some(node), false) => format!("{what} on {node}"),
        (Some(node), true) => {
            format!("{what} on {node}; the input does not show pods and nodes")
        }
        (None, false) => format!("{what} in {}", analysis.input.name),
        (None, true) => format!(
            "{what} in {}, which does not show pods and nodes",
            analysis.input.name
        ),
    }
}

/// Whether nothing of the input says how pods and nodes are.
pub(crate) fn is_blind(analysis: &Analysis) -> bool {
    let pods = analysis.impact.counts.get("pods").copied();
    let mut nodes = analysis.state.nodes.iter();
    pods.unwrap_or(0) == 0 && nodes.all(|node| node.ready.is_none())
}

/// Whether the state of pods or nodes is known, nothing of it fails, and causes are only possible: then nobody has to
/// repair anything, and fixes and checks after them are left out.
pub(crate) fn is_calm(analysis: &Analysis) -> bool {
    let pods = analysis
        .impact
        .counts
        .get("pods")
        .is_some_and(|all| *all > 0);
    let nodes = &analysis.state.nodes;
    let fails = !analysis.unexplained.is_empty()
        || !analysis.impact.workloads.is_empty()
        || nodes.iter().any(|node| node.ready == Some(false));
    let mut causes = analysis.incidents.iter();
    (pods || !nodes.is_empty()) && !fails && causes.all(|one| one.verdict == Verdict::Possible)
}

/// The first thing that fails without a known cause, and how many more do.
fn failing(analysis: &Analysis) -> String {
    let Some(first) = analysis.unexplained.first() else {
        return String::new();
    };
    // A log may tell of what is over, so it is said who said it.
    if let Some(logged) = logged(&first.reason) {
        let graver = graver(&first.reason).filter(|graver| *graver != logged);
        let logged = match graver {
            Some(graver) => format!("{graver} and {logged}"),
            None => logged.to_owned(),
        };
        return format!(
            "The driver logged {logged} for {}; no cause confirmed",
            subject(&first.subject)
        );
    }
    let state = match first.reason.split(',').next() {
        _ if first.subject.starts_with("log/") => "ends with an error".to_owned(),
        Some("") | None => "fails".to_owned(),
        Some(state) => format!("is failing ({state})"),
    };
    match failing_things(analysis) - 1 {
        0 => format!("{} {state}; no cause confirmed", subject(&first.subject)),
        more => format!(
            "{} {state}, {more} more as well; no cause confirmed",
            subject(&first.subject)
        ),
    }
}

/// How many things fail without a known cause; alike ones are one entry of the report.
pub(crate) fn failing_things(analysis: &Analysis) -> u64 {
    let entries = analysis.unexplained.iter();
    entries.map(|entry| 1 + entry.also.len() as u64).sum()
}

/// `Xid 79` of a state that the driver's log alone tells.
pub(crate) fn logged(state: &str) -> Option<&str> {
    let (fault, _) = state.strip_prefix("the driver logged ")?.split_once(':')?;
    Some(fault)
}

/// The fault of such a state that weighs more than the one it begins with: a program does not cause it.
fn graver(state: &str) -> Option<&str> {
    let (_, fault) = state.split_once("; a program does not cause ")?;
    fault.split(['.', ',', ';']).next()
}

/// The state of a failing pod: one that runs is not ready.
pub(crate) fn ill(state: &str) -> String {
    if state == "Running" {
        "Running, not ready".to_owned()
    } else {
        state.to_owned()
    }
}

/// The part an incident plays.
pub(crate) fn rank(index: usize) -> String {
    match index {
        0 => "Primary".to_owned(),
        1 => "Secondary".to_owned(),
        _ => format!("Further ({})", index + 1),
    }
}

/// The commands of a line: cut at what joins them, outside quotes.
pub(crate) fn commands(command: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quote) = (Vec::new(), 0, None);
    for (at, c) in command.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | ';' | '\n' | '&') => {
                parts.push(&command[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&command[start..]);
    parts
}

/// The words of one command. OpenShift's program is kubectl by another name.
pub(crate) fn split(command: &str) -> Vec<&str> {
    let words = command.split_whitespace();
    words
        .map(|word| if word == "oc" { "kubectl" } else { word })
        .collect()
}

/// `71s`, `2m39s`, `28h`, `12d`, as kubectl prints ages.
pub(crate) fn is_age(word: &str) -> bool {
    let parts = word.split_inclusive(|letter: char| letter.is_ascii_alphabetic());
    let is_part = |part: &str| {
        let digits = part.trim_end_matches(['s', 'm', 'h', 'd', 'y']);
        digits.len() + 1 == part.len() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    word.starts_with(|first: char| first.is_ascii_digit())
        && parts.clone().count() <= 2
        && parts.clone().all(is_part)
}

/// How many seconds an age such as `4m12s` is; none where a word is no age.
pub(crate) fn age(word: &str) -> Option<u64> {
    if !is_age(word) {
        return None;
    }
    let parts = word.split_inclusive(|letter: char| letter.is_ascii_alphabetic());
    let seconds = parts.filter_map(|part| {
        let (number, unit) = part.split_at_checked(part.len().checked_sub(1)?)?;
        let one = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86400,
            _ => 365 * 86400,
        };
        number.parse::<u64>().ok()?.checked_mul(one)
    });
    Some(seconds.fold(0, u64::saturating_add))
}

/// A question without its command in brackets, where that is one that cannot be asked.
pub(crate) fn without_command(asked: &str, is_left_out: impl Fn(&str) -> bool) -> String {
    match asked_by(asked) {
        Some((ask, command, answers)) if is_left_out(command) => format!("{ask} {answers}"),
        _ => asked.to_owned(),
    }
}

/// A question, the command that stands in brackets behind it, and what its answers mean.
pub(crate) fn asked_by(asked: &str) -> Option<(&str, &str, &str)> {
    let (ask, rest) = asked.split_once(" (")?;
    let (command, answers) = rest.split_once("). ")?;
    Some((ask, command, answers))
}

/// Bytes as people read them.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (unit, size) in UNITS {
        if number >= size {
            let tenths = u128::from(number) * 10 / u128::from(size);
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    count(number, "byte")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_written_as_people_say_them() {
        assert_eq!(span(TimeDelta::seconds(3840)), "64 minutes");
        assert_eq!(span(TimeDelta::seconds(-5)), "0 seconds");
        assert_eq!(span(TimeDelta::seconds(7260)), "2 h 1 min");
        assert_eq!(span(TimeDelta::seconds(200_000)), "2 days 7 h");
    }

    #[test]
    fn a_line_is_cut_into_commands_outside_quotes() {
        let line = "kubectl top nodes | grep -E 'a|b'; ls";
        assert_eq!(
            commands(line),
            ["kubectl top nodes ", " grep -E 'a|b'", " ls"]
        );
    }

    #[test]
    fn sizes_do_not_overflow() {
        assert_eq!(bytes(u64::MAX), "17179869183.9 GiB");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(1), "1 byte");
    }
}
