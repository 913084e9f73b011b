//! The first screen: the cause, who is affected since when, the fix, the proof, and what was not seen.
//!
//! It stands above all sections, and `--format ticket` is this screen alone.

mod ages;
mod began;
mod command;
mod impact;
mod interrupts;
mod named;
mod open;
mod stamp;
mod unknown;

pub(crate) use began::began;
pub(crate) use command::{Start, start};
pub(crate) use impact::{counted, failing, gpus, hit};
pub(crate) use open::{by_relevance, only_guesses};

use super::blocks::{Block, Rich, Tone};
use super::sections::{SectionCtx, replayed, without_quote};
use super::{escape, plan, words};
use crate::model::{Analysis, Incident, Place, Role, Unexplained, Verdict};
use crate::rules::template::is_shell_word;

/// Characters of the cause: the sentences that fit.
const CAUSE: usize = 420;
/// Lines of proof.
const PROOFS: usize = 3;
/// Characters of one line of proof.
const PROOF: usize = 150;

/// Words of lines that only put the others into context.
const WEAK: [&str; 5] = [
    "is mentioned",
    "the message comes from",
    "runs on the node",
    "has its own address",
    "is given",
];

/// One row of the first screen.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct StatusRow {
    /// What it is, in any language: the English label.
    pub key: &'static str,
    /// E.g. `Cause` or `Fix`.
    pub label: &'static str,
    /// What it says.
    pub text: Rich,
}

/// The rows that must suffice.
pub(crate) fn status(analysis: &Analysis, ctx: &SectionCtx) -> Vec<StatusRow> {
    let Some(first) = analysis.incidents.first() else {
        return without_cause(analysis, ctx);
    };
    let proof = proof(first, ctx);
    let mut rows = Vec::new();
    let affected = impact::affected(analysis);
    if first.verdict == Verdict::Possible {
        // What fails is sure, and comes before a cause that is not.
        let calm = impact::is_nobody(&affected) && analysis.unexplained.is_empty();
        rows.extend(failing_thing(analysis, ctx));
        rows.extend(began::since_failing(analysis).map(|text| row("Since", text)));
        if rows.is_empty() || !impact::is_nobody(&affected) {
            rows.push(row("Affected", affected));
        } else {
            rows.extend(impact::beside(analysis).map(|text| row("Affected", text)));
        }
        // Of lines alone it is all that is known of the time.
        if analysis.unexplained.is_empty() && words::is_blind(analysis) && !words::is_calm(analysis)
        {
            let since = began::since_shown(first, analysis);
            rows.extend(since.map(|text| row("Since", text)));
        }
        if open::is_about_something_else(analysis) {
            rows.push(row("Cause", open::guesses(analysis)));
            if words::is_calm(analysis) {
                rows.extend(past(analysis, ctx).map(|text| row("Past", text)));
            }
            rows.extend(open::settle(analysis, calm).map(|text| row("Next", Rich::prose(&text))));
            rows.extend(unknown::left_open(analysis));
            return rows;
        }
        rows.push(row("Cause", cause(first, analysis)));
    } else {
        rows.push(row("Cause", cause(first, analysis)));
        rows.push(row("Since", began::since(analysis, ctx, &proof)));
        rows.push(row("Affected", affected));
    }
    rows.push(row("Fix", fix(first, analysis)));
    rows.extend(command::rows(first, analysis));
    if !proof.is_empty() {
        rows.push(row("Proof", proof));
    }
    rows.extend(next(analysis).map(|text| row("Also found", text)));
    rows.extend(unexplained(analysis).map(|text| row("Also fails", text)));
    rows.extend(unknown::left_open(analysis));
    rows
}

fn row(label: &'static str, text: Rich) -> StatusRow {
    StatusRow {
        key: label,
        label,
        text,
    }
}

fn without_cause(analysis: &Analysis, ctx: &SectionCtx) -> Vec<StatusRow> {
    let mut rows = vec![row("Cause", nothing_confirmed(analysis))];
    match failing_thing(analysis, ctx) {
        Some(failing) => {
            rows.push(failing);
            rows.extend(began::since_failing(analysis).map(|text| row("Since", text)));
        }
        None => rows.push(row("Affected", impact::affected(analysis))),
    }
    if analysis.unexplained.is_empty() {
        rows.extend(past(analysis, ctx).map(|text| row("Past", text)));
        rows.extend(looked_at(analysis).map(|text| row("Looked at", text)));
    }
    let next = match (
        analysis.unexplained.is_empty(),
        unknown::unseen(analysis).is_some(),
    ) {
        // The collector has been there: what it did not find it would not find again.
        (true, true) if analysis.seen.format == "casefile" => {
            "If nobody has reported a fault, nothing. If somebody has, find out first why the node lacks what stands under Not seen."
        }
        (true, true) => {
            "If nobody has reported a fault, nothing. If somebody has, run casefile-collector as root on the node in question: it only reads, and takes what stands under Not seen."
        }
        (true, false) => "Nothing if nobody has reported a fault.",
        (false, _) => "",
    };
    let next = match analysis.unexplained.first().filter(|_| next.is_empty()) {
        Some(first) => Rich::prose(&open::look_closer(first, analysis)),
        None => Rich::from(next),
    };
    rows.push(row("Next", next));
    rows.extend(unknown::left_open(analysis));
    rows
}

/// The first thing that fails and no cause explains, with its last words.
fn failing_thing(analysis: &Analysis, ctx: &SectionCtx) -> Option<StatusRow> {
    let first = analysis.unexplained.first()?;
    let mut text = Rich::new().code(words::subject(&first.subject));
    if !first.reason.is_empty() {
        text = text.text(format!(" ({})", words::clause(&first.reason)));
    }
    if !first.last_words.is_empty() {
        let words = escape::cut_middle(&first.last_words, PROOF * 2).into_owned();
        let listed = open::is_listed(first);
        let words = match listed {
            // Columns of a table are no columns any more on one line.
            true => words.split_whitespace().collect::<Vec<_>>().join(" "),
            false => words,
        };
        text = text.text(if listed {
            ". Listed as: "
        } else {
            ". Its last words: "
        });
        text = text.code(words);
    }
    text = ctx.short_place(text.text(" · "), &first.place);
    if first.lasts {
        text = text.text(". It was still so at the end of the input");
    }
    let all = words::failing_things(analysis);
    if all > 1 {
        text = others(text.text(". "), analysis, all - 1);
    }
    Some(row("Failing", text))
}

/// What else fails: by name where there are few.
fn others(text: Rich, analysis: &Analysis, more: u64) -> Rich {
    let named = analysis.unexplained.iter().skip(1);
    let names: Vec<String> = named.map(|one| words::subject(&one.subject)).collect();
    match names.len() as u64 == more && more <= FEW {
        true => {
            let text = text
                .text("Also failing: ")
                .jump(words::join(&names), "unexplained");
            match analysis.unexplained.get(1).filter(|_| more == 1) {
                Some(other) => spoken(text, other),
                None => text,
            }
        }
        false => text.jump(words::count_more(more, "failing thing"), "unexplained"),
    }
}

/// The last words of another thing that fails, for they may say why the first one does.
fn spoken(text: Rich, other: &Unexplained) -> Rich {
    if other.last_words.is_empty() || open::is_listed(other) {
        return text;
    }
    let words = escape::cut_end(&other.last_words, PROOF);
    text.text(" (").code(words).text(")")
}

/// What fails beside a cause that does not explain it, the first by its last words.
fn unexplained(analysis: &Analysis) -> Option<Rich> {
    let first = analysis.unexplained.first()?;
    let text = Rich::from("Not explained by any cause: ").code(words::subject(&first.subject));
    let text = spoken(text, first);
    let more = words::failing_things(analysis).saturating_sub(1);
    let text = match more {
        0 => text,
        _ => others(text.text(". "), analysis, more),
    };
    Some(text.text("."))
}

/// So many failing things are named.
const FEW: u64 = 3;

/// Verdict and what happened, in as many whole sentences as there is room for.
fn cause(first: &Incident, analysis: &Analysis) -> Rich {
    let text = match first.verdict {
        Verdict::Possible => Rich::from("No cause is confirmed; "),
        _ => Rich::new(),
    };
    let text = text.verdict(first.verdict);
    let text = match first.verdict {
        Verdict::Confirmed => text.text(" (no other cause fits what was collected)"),
        _ => text,
    };
    let text = match first.verdict {
        // How bad something is that may not be so says nothing.
        Verdict::Possible => text.text(": "),
        _ => text.text(", severity ").severity(first.severity).text(". "),
    };
    let summary = if first.summary.trim().is_empty() {
        words::sentence(&first.title)
    } else {
        words::sentence(&first.summary)
    };
    let mut text = match first.verdict {
        // The headline does not name it.
        Verdict::Possible => text.say(&words::sentence(&first.title)).text(" If so: "),
        _ => text,
    };
    text = text.say(&words::sentences(&summary, CAUSE));
    if first.verdict != Verdict::Confirmed {
        // What would settle a likely cause stands in the row of what is not known.
        text = text.text(" ").say(&match first.verdict {
            Verdict::Likely => rivals(first, analysis),
            _ => doubt(first, analysis),
        });
    }
    text
}

/// What the summary of the first cause says beyond the sentences of the first screen.
pub(crate) fn rest(first: &Incident) -> String {
    let shown = words::sentences(&first.summary, CAUSE);
    let summary = first.summary.trim();
    let rest = summary.get(shown.len()..).unwrap_or_default().trim();
    // What it follows from stands on the first screen, not above it.
    let rest = match rest.strip_prefix("So ") {
        Some(after) => words::capital(after),
        None => rest.to_owned(),
    };
    words::sentence(&rest)
}

/// What keeps a cause from being confirmed, and the one command that would settle it.
pub(crate) fn doubt(incident: &Incident, analysis: &Analysis) -> String {
    let settle = match incident.would_settle.first() {
        Some(text) => format!(" To settle it: {}.", words::clause(text)),
        None => String::new(),
    };
    format!("{}{settle}", rivals(incident, analysis))
}

/// Which other causes are not ruled out.
fn rivals(incident: &Incident, analysis: &Analysis) -> String {
    let rivals: Vec<String> = analysis
        .differential
        .iter()
        .filter(|other| other.verdict.is_live() && other.explained_by.is_none())
        .filter(|other| other.cause != incident.cause && other.verdict <= Verdict::Likely)
        .filter(|other| {
            analysis
                .incidents
                .iter()
                .all(|one| one.cause != other.cause)
        })
        .take(2)
        .map(|other| format!("`{}`", other.cause))
        .collect();
    if let Some(now) = &incident.meanwhile {
        return format!("It comes and goes: when this was collected, {now}.");
    }
    match (incident.verdict, rivals.is_empty()) {
        (Verdict::Possible, _) => "Other causes fit as well.".to_owned(),
        (_, true) => "Other causes are not ruled out.".to_owned(),
        (_, false) => format!(
            "{} {} not ruled out.",
            words::join(&rivals),
            words::are(rivals.len() as u64)
        ),
    }
}

/// The fix in one sentence, and what trying it on the collected state showed.
fn fix(first: &Incident, analysis: &Analysis) -> Rich {
    if first.remedy.title.trim().is_empty() {
        return Rich::from("No fix is known for this cause; the ")
            .jump("next steps", "next-steps")
            .text(" say what to collect.");
    }
    let plan = plan::of(first);
    let mut text = match first.verdict {
        // Nobody should repair what may not be broken.
        Verdict::Possible => Rich::from("Only if this is confirmed: "),
        _ => Rich::new(),
    };
    text = text.say(&words::clause(&first.remedy.title));
    let mut size = Vec::new();
    if !plan.files.is_empty() {
        size.push(match plan.files.as_slice() {
            [(name, ..)] => format!("file {name}"),
            files => words::count(files.len() as u64, "file"),
        });
    }
    if !plan.steps.is_empty() {
        size.push(plan::counted(&plan.steps));
    }
    if !size.is_empty() {
        text = text
            .text(" (")
            .jump(words::join(&size), "resolution")
            .text(")");
    }
    text = match written(first, &plan, analysis) {
        Some((command, files)) => text
            .text(". ")
            .code(command)
            .text(format!(" writes the {files}. ")),
        None => text.text(". "),
    };
    // Where there is little room, what trying it showed stays.
    let shown = match replayed::in_short(first, analysis) {
        Some(shown) => text.say(&shown).text(" "),
        None if first.verdict <= Verdict::Likely => {
            text.say(&replayed::cannot_be_shown(first)).text(" ")
        }
        None => text,
    };
    shown.text("This report has changed nothing.")
}

/// What writes the files of a fix that its commands name, and how many they are; the report holds them too.
fn written(
    first: &Incident,
    plan: &plan::Plan,
    analysis: &Analysis,
) -> Option<(String, &'static str)> {
    let name = analysis.input.name.as_str();
    if plan.files.is_empty() || plan::is_in_words(first) || first.verdict > Verdict::Likely {
        return None;
    }
    let name = if is_shell_word(name) { name } else { "INPUT" };
    let files = if plan.files.len() == 1 {
        "file"
    } else {
        "files"
    };
    Some((format!("casefile-analyzer fix {name} -o fix"), files))
}

/// The strongest lines that speak for the cause, each with its place.
fn proof(first: &Incident, ctx: &SectionCtx) -> Rich {
    let mut text = Rich::new();
    let mut shown: Vec<String> = Vec::new();
    let mut cited: Vec<&Place> = Vec::new();
    let lines = first.evidence.iter().filter(|line| line.role == Role::For);
    for line in lines {
        let says = without_quote(line.says.trim(), &line.text).trim_end_matches('.');
        let says = words::first_clause(says, PROOF);
        // That something is mentioned proves little where it is quoted alone.
        let weak = WEAK.iter().any(|words| says.contains(words)) && !shown.is_empty();
        let begins = |text: &str| text.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let like = shown.iter().any(|known| begins(known) == begins(&says));
        // One line proves one thing.
        if says.is_empty() || like || weak || cited.contains(&&line.place) {
            continue;
        }
        cited.push(&line.place);
        text = text.text(if shown.is_empty() { "" } else { "; " });
        text = ctx
            .short_place(text.say(&says).text(" ("), &line.place)
            .text(")");
        shown.push(says);
        if shown.len() == PROOFS {
            break;
        }
    }
    if shown.is_empty() {
        text
    } else {
        text.text(".")
    }
}

/// The causes that come after the first, in the order to settle them.
fn next(analysis: &Analysis) -> Option<Rich> {
    let more = analysis
        .incidents
        .get(1..)
        .filter(|more| !more.is_empty())?;
    let mut text = Rich::new();
    for (index, incident) in more.iter().take(2).enumerate() {
        text = text.text(if index == 0 { "" } else { "; " });
        text = text
            .say(&words::clause(&incident.title))
            .text(" (")
            .verdict(incident.verdict)
            .text(")");
    }
    Some(match more.len().saturating_sub(2) {
        0 => text.text("."),
        rest => text.text(format!("; {}.", words::count_more(rest as u64, "cause"))),
    })
}

/// What follows the rows: a warning where the input itself is not whole.
pub(crate) fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = Vec::new();
    if analysis.input.cut_short {
        blocks.push(Block::Callout {
            tone: Tone::Warning,
            title: "Incomplete input".to_owned(),
            text: Rich::from(
                "The input has no manifest at its end: it was cut short, or another tool wrote it.",
            ),
        });
    }
    blocks
}

/// What is said when no cause is in play: never that all is well.
pub(crate) fn nothing_confirmed(analysis: &Analysis) -> Rich {
    let number = |verdict| {
        let causes = analysis.differential.iter();
        causes.filter(|cause| cause.verdict == verdict).count() as u64
    };
    let (out, open) = (number(Verdict::RuledOut), number(Verdict::NotChecked));
    let calm = analysis.unexplained.is_empty();
    let text = match calm {
        true => Rich::new()
            .strong("None")
            .text(", for nothing was seen to fail."),
        false => Rich::new().strong("No cause was confirmed."),
    };
    let text = match calm && open == 0 {
        true => text.text(" This does not mean that all is well. "),
        // The row above says what is not well, or how much was not checked.
        false => text.text(" "),
    };
    let text = match (out, open) {
        (0, 0) => text.text("Nothing in this input supports or contradicts a known cause."),
        (0, _) => text,
        _ => {
            let said = words::count(out, "cause");
            let said = format!("{said} {} ruled out", words::were(out));
            text.jump(said, "differential").text(". ")
        }
    };
    let text = match calm && open > 0 {
        true => text.text(format!(
            "{} could not be checked, so this does not mean that all is well.",
            words::count(open, "cause")
        )),
        false => text,
    };
    text.trimmed()
}

/// Whose own logs a calm answer rests on, where nothing tells more of the nodes.
fn logs_of_nodes(analysis: &Analysis) -> Option<String> {
    let logs = &analysis.seen.logs;
    let is_told = analysis.state.nodes.iter().any(|node| node.ready.is_some());
    if is_told || logs.nodes.len() < 2 {
        return None;
    }
    let shown: Vec<String> = logs.nodes.iter().take(NODES).cloned().collect();
    let more = logs.nodes.len() - shown.len();
    let names = match more {
        0 => words::join(&shown),
        more => format!("{} and {more} more", shown.join(", ")),
    };
    let ready = match logs.ready {
        0 => String::new(),
        all if all == logs.nodes.len() => {
            "; each kubelet says that its node became ready".to_owned()
        }
        some => format!("; {some} kubelets say that their node became ready"),
    };
    let count = words::count(logs.nodes.len() as u64, "node");
    Some(format!("the logs of {count} ({names}{ready})"))
}

/// Of how many pods logs are there, where no list tells how they are.
fn logs_of_pods(analysis: &Analysis) -> Option<String> {
    let pods = analysis.seen.logs.pods as u64;
    let listed = analysis.impact.counts.get("pods").copied().unwrap_or(0);
    (listed == 0 && pods > 0).then(|| format!("the logs of {}", words::count(pods, "pod")))
}

/// So many nodes are named.
const NODES: usize = 4;

/// What the driver or the fabric said before, and does not say any more: who was told of a fault looks for it.
fn past(analysis: &Analysis, ctx: &SectionCtx) -> Option<Rich> {
    const OF_GPUS: [&str; 3] = ["gpu-hardware", "driver", "fabric"];
    let causes = analysis.differential.iter();
    let mut past = causes.filter(|one| {
        one.verdict == Verdict::Past
            && OF_GPUS.contains(&one.family.as_str())
            && !one.why.is_empty()
    });
    let first = past.next()?;
    let (says, ended) = first.why.rsplit_once("; ").unwrap_or((&first.why, ""));
    let says = words::first_clause(says, PROOF);
    let text = Rich::new().say(&words::capital(&words::clause(&says)));
    let text = match &first.place {
        Some(place) => ctx.short_place(text.text(" ("), place).text(")"),
        None => text,
    };
    let text = match ended {
        "" => text,
        ended => text.text("; ").say(&words::clause(ended)),
    };
    Some(match past.count() {
        0 => text.text("."),
        more => text.text(format!("; {}.", words::count_more(more as u64, "cause"))),
    })
}

/// What a calm answer rests on.
fn looked_at(analysis: &Analysis) -> Option<Rich> {
    let seen = &analysis.seen;
    let counted = |number: u64, noun: &str| (number > 0).then(|| words::count(number, noun));
    let named = |what: &str, value: &Option<String>| Some(format!("{what} {}", value.as_deref()?));
    let parts = [
        logs_of_nodes(analysis),
        logs_of_pods(analysis),
        counted(seen.gpus, "GPU"),
        named("NVIDIA driver", &seen.driver_version),
        named("kernel", &seen.kernel),
        named("Kubernetes", &seen.kubernetes_version),
        counted(seen.events, "event"),
        seen.boots.and_then(|boots| counted(boots, "boot")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return None;
    }
    let text = Rich::from(words::capital(&format!("{}.", words::join(&parts))));
    let is_snapshot = analysis.input.finished.or(analysis.input.started).is_some();
    let clocks = &analysis.clocks;
    if let (None, Some((at, place))) = (analysis.reference_time, &clocks.newest) {
        return Some(text.text(format!(
            " The newest date in the input is {} ({place}).",
            words::time(*at)
        )));
    }
    Some(match (analysis.reference_time, clocks.started()) {
        (Some(now), _) if !is_snapshot => {
            text.text(format!(" The last line is of {}.", words::time(now)))
        }
        (Some(_), _) => text,
        (None, Some(at)) => text.text(format!(
            " The kernel started at {} by {}.",
            at.format("%Y-%m-%d %H:%M:%S"),
            stamp::HARDWARE
        )),
        (None, None) => text.text(" No line has a date, so its age is not known."),
    })
}
