//! What the first screen says where causes are only possible: their names, and the question that settles one.

use std::borrow::Cow;

use chrono::{DateTime, TimeDelta, Utc};

use super::began;
use crate::grade;
use crate::model::{Analysis, Evidence, Incident, Role, Unexplained, Verdict};
use crate::report::blocks::Rich;
use crate::report::escape;
use crate::report::words;
use crate::rules::template::is_shell_word;

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

/// The causes that are only possible, by name. Where something fails that none of them is about, that is said too.
pub(super) fn guesses(analysis: &Analysis) -> Rich {
    let mut named = 2;
    let mut text = if words::is_calm(analysis) {
        Rich::from(
            "None, for nothing was seen to fail. Lines that fit a cause, each only possible: ",
        )
    } else if only_guesses(analysis) {
        if has_spoken(analysis) {
            return Rich::from(
                "Its own last words, under Failing, are the best lead. No known cause is confirmed.",
            );
        }
        // It may be a fault of its own; the names of more would only lead away from what fails.
        named = 1;
        Rich::from(
            "No cause is confirmed. Single lines would fit others, without a link to this failure: ",
        )
    } else if has_spoken(analysis) {
        Rich::from(
            "Its own last words, under Failing, are the best lead. No known cause is confirmed; ",
        )
        .verdict(Verdict::Possible)
        .text(" besides: ")
    } else {
        Rich::from("No cause is confirmed; ")
            .verdict(Verdict::Possible)
            .text(": ")
    };
    for (index, incident) in analysis.incidents.iter().take(named).enumerate() {
        text = text.text(if index == 0 { "" } else { "; " });
        text = text.say(&words::clause(&incident.title));
        let alone = words::is_calm(analysis) || only_guesses(analysis);
        let when = || seen_when(incident, analysis).filter(|_| alone);
        if let Some(against) = contradicted(incident) {
            text = text.text(format!(" (against it: {against})"));
        } else if let Some(when) = when() {
            text = quote(text.text(format!(" ({when}")), incident).text(")");
        }
    }
    match analysis.incidents.len().saturating_sub(named) {
        0 => text.text("."),
        more => text.text(format!("; {}.", words::count_more(more as u64, "cause"))),
    }
}

/// When a sign was first seen, and when last, where the input goes on after it.
fn seen_when(incident: &Incident, analysis: &Analysis) -> Option<String> {
    let (Some(since), Some((last, span))) = (incident.since, ended(incident, analysis)) else {
        let at = began::first_seen(incident, analysis)?;
        return Some(format!("first seen {at}"));
    };
    let (first, last) = (words::time(since), words::time(last));
    Some(match first == last {
        true => format!("seen at {first}, not in the last {span} of the input"),
        false => format!("seen from {first} to {last}, not in the last {span} of the input"),
    })
}

/// When a sign was seen last, and how long the input goes on after it without it.
fn ended(incident: &Incident, analysis: &Analysis) -> Option<(DateTime<Utc>, String)> {
    const WITHOUT: TimeDelta = TimeDelta::minutes(2);
    let last = incident.last?;
    let without = analysis.reference_time? - last;
    (without >= WITHOUT).then(|| (last, words::span(without)))
}

/// What a line says that shows a sign, for it often names what the sign is about.
fn quote(text: Rich, incident: &Incident) -> Rich {
    const NAMES: [&str; 3] = ["image=\"", "pod=\"", "object=\""];
    let lines = || {
        let all = incident.evidence.iter();
        all.filter(|line| line.role == Role::For && !line.text.trim().is_empty())
    };
    let naming = |line: &&Evidence| NAMES.iter().any(|name| line.text.contains(name));
    let Some(line) = lines().find(naming).or_else(|| lines().next()) else {
        return text;
    };
    let said = said(&line.text);
    let text = text.text(": ").code(escape::cut_end(&said, QUOTE));
    match pod(&line.text).filter(|pod| !said.contains(pod)) {
        Some(pod) => text.text(" of ").code(pod),
        None => text,
    }
}

/// The pod that a line of klog's form is about.
fn pod(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" pod=\"")?;
    let (pod, _) = rest.split_once('"')?;
    pod.contains('/').then_some(pod)
}

/// Characters of what a line says.
const QUOTE: usize = 130;

/// What a line says without its head: of a line of fields the error, else the message.
fn said(line: &str) -> String {
    let (_, message) = grade::message(line.trim());
    let message = match message.split_once("] ") {
        Some((head, rest)) if head.starts_with(['I', 'W', 'E', 'F']) && !head.contains('"') => rest,
        _ => message,
    };
    let field = |name: &str| {
        let (_, rest) = message.split_once(name)?;
        let mut end = rest.match_indices('"').map(|(at, _)| at);
        let end = end.find(|at| !rest[..*at].ends_with('\\'))?;
        Some(rest[..end].replace("\\\"", "\""))
    };
    let told = field(" err=\"").or_else(|| field(" msg=\""));
    told.unwrap_or_else(|| message.to_owned())
}

/// The state of a node, a pod or a GPU that speaks against a cause: what lines told before is not so any more.
fn contradicted(incident: &Incident) -> Option<String> {
    let found = incident.would_refute.iter();
    let mut found = found.filter_map(|text| Some(text.split_once("(found: ")?.1));
    // That everything is well is said beside.
    let found = found.find(|text| !text.starts_with("every ") && !text.contains("all healthy"))?;
    let end = found.find(" (").unwrap_or(found.len().saturating_sub(1));
    Some(found.get(..end)?.to_owned())
}

/// Whether something fails, and no cause that is possible has to do with it.
pub(crate) fn only_guesses(analysis: &Analysis) -> bool {
    let mut causes = analysis.incidents.iter();
    let first = analysis.incidents.first();
    !analysis.unexplained.is_empty()
        && causes.all(|one| one.verdict == Verdict::Possible)
        && first.is_some_and(|first| !is_about_what_fails(first, analysis))
}

/// Whether a cause was seen on something that fails.
fn is_about_what_fails(incident: &Incident, analysis: &Analysis) -> bool {
    let mut known = analysis.unexplained.iter();
    known.any(|one| {
        let of = |subject: &String| one.subject == *subject || one.also.contains(subject);
        incident.subjects.iter().any(of)
    })
}

/// The analysis with guesses about something that fails before other guesses, which explain nothing of it.
pub(crate) fn by_relevance(analysis: &Analysis) -> Cow<'_, Analysis> {
    // What the state of things speaks against comes after what nothing does.
    let rank = |one: &Incident| {
        let guessed = one.verdict == Verdict::Possible;
        (
            guessed && !is_about_what_fails(one, analysis),
            guessed && contradicted(one).is_some(),
        )
    };
    if analysis.incidents.iter().is_sorted_by_key(rank) {
        return Cow::Borrowed(analysis);
    }
    let mut sorted = analysis.clone();
    sorted.incidents.sort_by_key(rank);
    Cow::Owned(sorted)
}

/// Whether its last words are a row of a list, which says how it is and does not speak.
pub(super) fn is_listed(one: &Unexplained) -> bool {
    let words = one.last_words.trim_end();
    let name = one.subject.rsplit('/').next().unwrap_or_default();
    let state = one.reason.split([',', ' ']).next().unwrap_or_default();
    let mut cells = words.split_whitespace();
    let says_state = !state.is_empty() && cells.any(|cell| cell == state);
    !name.is_empty() && words.contains(name) && (says_state || words.ends_with(name))
}

/// What tells more of a thing that fails, with the program of its cluster.
pub(super) fn look_closer(one: &Unexplained, analysis: &Analysis) -> String {
    let text = look(one);
    match analysis.seen.openshift {
        true => text.replace("kubectl ", "oc "),
        false => text,
    }
}

fn look(one: &Unexplained) -> String {
    let around = match one.place.line {
        Some(line) => format!(
            "Read the lines around line {line} of `{}`",
            one.place.path.rsplit('/').next().unwrap_or_default()
        ),
        None => "Read the lines around its last words".to_owned(),
    };
    let subject = one.subject.as_str();
    if let Some((_, bus_id)) = subject
        .strip_prefix("gpu/")
        .and_then(|gpu| gpu.split_once('/'))
        && is_shell_word(bus_id)
    {
        // The driver logs the device without its function, which nvidia-smi asks for.
        let bus_id = match bus_id.contains('.') {
            true => bus_id.to_owned(),
            false => format!("{bus_id}.0"),
        };
        return format!(
            "{around}, and ask the driver: `nvidia-smi -q -i {bus_id}; dmesg -T | grep -i -e xid -e nvrm | tail`."
        );
    }
    let pod = subject.strip_prefix("pod/");
    let pod = pod.and_then(|pod| pod.split_once('/'));
    match pod.filter(|(space, name)| is_shell_word(space) && is_shell_word(name)) {
        Some((space, name)) => {
            let first = match is_listed(one) {
                true => "Look at the pod".to_owned(),
                false => format!("{around}, and look at the pod"),
            };
            // A container that never ran has no log of an earlier run.
            let never_ran = one.restarts == 0
                && !["exit", "Error", "Crash"]
                    .iter()
                    .any(|word| one.reason.starts_with(word))
                && !one.reason.contains("exit code");
            match never_ran {
                true => format!("{first}: `kubectl describe pod {name} -n {space}`."),
                false => format!(
                    "{first}: `kubectl describe pod {name} -n {space}; kubectl logs {name} -n {space} --all-containers --previous`."
                ),
            }
        }
        None => match object(subject) {
            Some(command) => format!("Look at the object: `{command}`."),
            None => format!("{around}."),
        },
    }
}

/// What asks the API server for an object whose state is all that its words are; none of what logs tell.
fn object(subject: &str) -> Option<String> {
    const LOGGED: [&str; 6] = ["unit", "log", "kernel", "gpu", "gpus", "helmrelease"];
    let parts: Vec<&str> = subject.split('/').collect();
    if !parts.iter().all(|part| is_shell_word(part)) || LOGGED.contains(&parts[0]) {
        return None;
    }
    match parts.as_slice() {
        ["node" | "pod", ..] => None,
        [kind, name] => Some(format!("kubectl get {kind} {name} -o yaml")),
        [kind, space, name] => Some(format!("kubectl get {kind} {name} -n {space} -o yaml")),
        _ => None,
    }
}

/// Whether a program that ended left a line of its own log, or the plan that was to install an operator says why it failed.
pub(super) fn has_spoken(analysis: &Analysis) -> bool {
    let first = analysis.unexplained.first();
    first.is_some_and(|first| {
        let ended = first.subject.starts_with("pod/") && first.reason.contains("exit code");
        // What an event tells of it are the kubelet's words.
        let own = !first.last_words.is_empty() && !first.place.path.contains("/events");
        (ended && own) || first.last_words.starts_with("InstallPlan ")
    })
}

/// What to do next: read the log of what fails, where no cause is about it; else the question that settles a cause which
/// is only possible, with its command and what the answers mean.
pub(super) fn settle(analysis: &Analysis, calm: bool) -> Option<String> {
    let first = analysis.incidents.first()?;
    if only_guesses(analysis) {
        let closer = look_closer(analysis.unexplained.first()?, analysis);
        return Some(match has_spoken(analysis) {
            true => format!("Do what its last words ask for. {closer}"),
            false => closer,
        });
    }
    let which = match (analysis.incidents.len(), calm) {
        (1, true) => "sign",
        (_, true) => "first sign",
        (1, false) => "possible cause",
        (_, false) => "first possible cause",
    };
    const UNLESS: &str = "Nothing if nobody has reported a fault.";
    // A question with blanks to fill is none that a command settles.
    let text = first
        .would_settle
        .first()
        .map(|text| as_code(&words::clause(&words::without_command(text, is_blank))));
    let is_over = analysis
        .incidents
        .iter()
        .all(|one| ended(one, analysis).is_some());
    match (text, calm) {
        (Some(text), true) if is_over => Some(format!(
            "If nobody has reported a fault of that time, nothing. If somebody has, look into the {which}: {text}. Looking changes nothing."
        )),
        (Some(text), true) => Some(format!(
            "If nobody has reported a fault, nothing. If somebody has, look into the {which}: {text}. Looking changes nothing."
        )),
        (None, true) => Some(UNLESS.to_owned()),
        (None, false) if has_spoken(analysis) => {
            let closer = look_closer(analysis.unexplained.first()?, analysis);
            Some(format!("Do what its last words ask for. {closer}"))
        }
        // What a program itself says last is nearer to the truth than any guess.
        (Some(text), false) if has_spoken(analysis) => Some(format!(
            "Do what its last words ask for; the lines around them tell more. If they do not say it, look into the {which}: {text}. Looking changes nothing."
        )),
        (Some(text), false) => Some(format!(
            "Look into the {which}: {text}. Looking changes nothing."
        )),
        // What only people can answer is no next step; the thing that fails can be looked at.
        (None, false) => Some(look_closer(analysis.unexplained.first()?, analysis)),
    }
}

/// A question whose command stands between brackets, with the command as code, so that it is copied as it is.
fn as_code(asked: &str) -> String {
    match words::asked_by(asked) {
        Some((ask, command, answers)) if !asked.contains('`') => {
            format!("{ask} (`{command}`). {answers}")
        }
        _ => asked.to_owned(),
    }
}

/// Whether a command has a blank that nobody filled.
fn is_blank(command: &str) -> bool {
    let mut parts = command.split('<').skip(1);
    parts.any(|part| {
        let name = part.split('>').next().unwrap_or_default();
        name.len() < part.len()
            && !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_quoted_by_what_it_says() {
        let kubelet = r#"Sep 09 02:18:12 n1 kubelet[2142]: E0909 02:18:12.04 2142 remote_image.go:180] "Failed" err="manifest for \"a:1\" not found" image="a:1""#;
        assert_eq!(said(kubelet), r#"manifest for "a:1" not found"#);
        let docker = r#"Sep 09 02:18:12 n1 dockerd[1]: time="2024-09-09T02:18:12Z" level=error msg="Not continuing" spanID=1"#;
        assert_eq!(said(docker), "Not continuing");
        assert_eq!(said("[ 12.5] NVRM: Xid 31"), "[ 12.5] NVRM: Xid 31");
    }

    #[test]
    fn the_command_of_a_question_is_code() {
        let asked = "How long do writes take? (iostat -x 2 3). Below 10 ms the disk is well";
        let code = "How long do writes take? (`iostat -x 2 3`). Below 10 ms the disk is well";
        assert_eq!(as_code(asked), code);
        assert_eq!(as_code("Is it there?"), "Is it there?");
    }

    #[test]
    fn a_command_with_a_blank_is_told_from_one_that_reads_a_file() {
        assert!(is_blank("kubectl describe pod <pod> | head"));
        assert!(is_blank("skopeo inspect `docker://<image-name>`"));
        assert!(!is_blank("grep x < /tmp/file; wc > /tmp/other"));
        assert!(!is_blank("iostat -x 2 3"));
    }
}
