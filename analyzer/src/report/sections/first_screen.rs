//! The first screen: what broke, since when, who is hit, what to do now, how bad. Stands above all sections.

use chrono::{DateTime, TimeDelta, Utc};

use super::SectionCtx;
use crate::model::{Analysis, Evidence, Impact, Incident, Role, Verdict};
use crate::report::blocks::{Block, Rich};
use crate::report::{escape, fill_in, plan, words};

/// One line of the status table.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct StatusRow {
    /// `Status`, `Since`, `Affected`, `Do now`, `Severity`.
    pub label: &'static str,
    /// What it says.
    pub text: Rich,
}

/// The five lines that must suffice.
pub(crate) fn status(analysis: &Analysis, ctx: &SectionCtx) -> Vec<StatusRow> {
    vec![
        StatusRow {
            label: "Status",
            text: standing(analysis),
        },
        StatusRow {
            label: "Since",
            text: since(analysis, ctx),
        },
        StatusRow {
            label: "Affected",
            text: affected(analysis, ctx),
        },
        StatusRow {
            label: "Do now",
            text: do_now(analysis),
        },
        StatusRow {
            label: "Severity",
            text: severity(analysis),
        },
    ]
}

/// The same in one paragraph, and what limits it.
pub(crate) fn blocks(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks = Vec::new();
    match analysis.incidents.first() {
        Some(first) => {
            let text = Rich::new()
                .strong("In one paragraph.")
                .text(" ")
                .say(&words::summary(first));
            blocks.push(Block::paragraph(text));
            blocks.extend(shown_by(first, ctx));
        }
        None => blocks.push(Block::paragraph(nothing_confirmed(analysis))),
    }
    if !analysis.incidents.is_empty()
        && analysis
            .incidents
            .iter()
            .all(|i| i.verdict != Verdict::Confirmed)
    {
        let text = Rich::new()
            .strong("No cause is confirmed yet.")
            .text(" What is named here is the best that the evidence supports; what would settle it stands under ")
            .jump("Root Cause Analysis", "root-cause")
            .text(".");
        blocks.push(Block::paragraph(text));
    }
    if let Some(note) = super::coverage::warning(analysis) {
        blocks.push(note);
    }
    if let Some(first) = analysis.incidents.first() {
        blocks.extend(in_short(first, analysis));
    }
    blocks
}

/// The first lines that speak for the cause: what the paragraph says of such faults at large, these say of
/// this input. A statement that the paragraph holds already is left out.
fn shown_by(incident: &Incident, ctx: &SectionCtx) -> Option<Block> {
    const SHOWN: usize = 2;
    const ALIKE: usize = 32;
    let mut said: Vec<&str> = vec![&incident.summary];
    let mut text = Rich::new().strong("What shows it here:");
    for line in incident
        .evidence
        .iter()
        .filter(|line| line.role == Role::For)
    {
        let says = super::without_quote(line.says.trim(), &line.text).trim_end_matches('.');
        // Sightings of one signal say nearly the same.
        let beginning = says.get(..says.floor_char_boundary(ALIKE)).unwrap_or(says);
        if says.is_empty() || said.iter().any(|known| known.contains(beginning)) {
            continue;
        }
        let glue = if said.len() == 1 { " " } else { "; " };
        text = text.text(glue).say(&escape::cut_end(says, 240)).text(" (");
        text = ctx.place(text, &line.place).text(")");
        said.push(says);
        if said.len() > SHOWN {
            break;
        }
    }
    (said.len() > 1).then(|| Block::paragraph(text.text(".")))
}

/// The commands of the fix and the first check, for a reader who has two minutes. Steps that only look keep
/// their numbers and stand in the plan itself.
fn in_short(incident: &Incident, analysis: &Analysis) -> Vec<Block> {
    let plan = plan::of(incident);
    let mut lines = Vec::new();
    for (nth, step) in plan.steps.iter().enumerate() {
        if plan.dry.contains(&(nth + 1)) {
            continue;
        }
        lines.push(format!(
            "# {}. {}",
            nth + 1,
            first_sentence(&step.text.plain())
        ));
        lines.extend(step.command.clone());
    }
    let verify = plan::steps(&incident.remedy.verify);
    let check = verify.iter().find(|step| step.command.is_some());
    if let Some(step) = check.filter(|_| !lines.is_empty()) {
        lines.push(format!("# Check: {}", first_sentence(&step.text.plain())));
        lines.extend(step.command.clone());
    }
    let commands = plan.steps.iter().any(|step| step.command.is_some());
    if !commands || incident.verdict > Verdict::Likely {
        return Vec::new();
    }
    let files = match (plan.files.is_empty(), plan.dry.is_empty()) {
        (true, true) => " Why stands under ",
        (true, false) => " Why and the dry run stand under ",
        (false, true) => " Why and the files stand under ",
        (false, false) => " Why, the files and the dry run stand under ",
    };
    let text = Rich::new()
        .strong("The fix in short.")
        .text(files)
        .jump("Resolution Process", "resolution")
        .text("; nothing of it was run.");
    let mut blocks = vec![
        Block::paragraph(text),
        Block::Command {
            command: lines.join("\n"),
        },
    ];
    let shown: Vec<_> = plan.steps.iter().chain(check).cloned().collect();
    blocks.extend(fill_in::note(&shown, incident, analysis));
    blocks
}

/// The first sentence of a text, on one line.
fn first_sentence(text: &str) -> String {
    let text = escape::one_line(text);
    let text = text.trim();
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    text.get(..end).unwrap_or(text).to_owned()
}

/// What is said when no cause is in play: never that all is well.
pub(crate) fn nothing_confirmed(analysis: &Analysis) -> Rich {
    let of = |verdict| {
        analysis
            .differential
            .iter()
            .filter(|c| c.verdict == verdict)
            .count() as u64
    };
    let (out, open) = (of(Verdict::RuledOut), of(Verdict::NotChecked));
    let mut text = Rich::new()
        .strong("No cause was confirmed.")
        .text(" This does not mean that the node is healthy. ");
    text = match (out, open) {
        (0, 0) => text.text("No cause of the catalogue had any evidence for or against it in this input."),
        _ => text.text(format!(
            "{} of the catalogue {} checked and ruled out, {} could not be checked because what decides them was not collected (see ",
            words::count(out, "cause"),
            if out == 1 { "was" } else { "were" },
            open
        ))
        .jump("Differential", "differential")
        .text(" and ")
        .jump("Coverage", "coverage")
        .text(")."),
    };
    text
}

fn standing(analysis: &Analysis) -> Rich {
    let Some(first) = analysis.incidents.first() else {
        return Rich::new()
            .strong("no cause confirmed")
            .text(" · see what was checked and what was not seen below");
    };
    let mut text = Rich::new()
        .verdict(first.verdict)
        .text(format!(" · {}", words::standing(first)));
    if let Some(fix) = super::replayed::in_short(first.fix.as_ref()) {
        text = text.text(format!(" · {fix}"));
    } else if !first.remedy.steps.is_empty() {
        text = text.text(" · fix described below, not applied");
    }
    let more = analysis.incidents.len() - 1;
    if more > 0 {
        text = text.text(format!(
            " · {} next in line",
            words::count(more as u64, "further cause")
        ));
    }
    text
}

/// First sign of the primary cause, or of any cause if the primary one shows no time.
fn first_sign(analysis: &Analysis) -> Option<DateTime<Utc>> {
    let mut times = analysis.incidents.iter().map(|incident| incident.since);
    times.next().flatten().or_else(|| times.flatten().min())
}

/// When it began: the first sign of the cause, or the time since when a workload that it names is not well. Logs
/// often hold the last try only.
pub(super) fn began(analysis: &Analysis) -> Option<DateTime<Utc>> {
    let times = [first_sign(analysis), hit_since(analysis)];
    times.into_iter().flatten().min()
}

fn since(analysis: &Analysis, ctx: &SectionCtx) -> Rich {
    let Some(at) = began(analysis) else {
        return Rich::from("not known: no line with a time shows when it began");
    };
    let mut text = match analysis.reference_time {
        Some(now) if now >= at => Rich::from(format!(
            "{}, {} before the end of collection",
            words::time(at),
            words::span(now - at)
        )),
        _ => Rich::from(words::time(at)),
    };
    // Readiness and log lines of one event lie some seconds apart.
    let apart = |one: DateTime<Utc>| one - at >= TimeDelta::minutes(2);
    let (sign, hit) = (first_sign(analysis), hit_since(analysis));
    let late = sign.is_some_and(apart);
    if late {
        text = text.text(" · workloads are hit since then");
    }
    if let Some(line) = sign.and_then(|sign| line_of(analysis, sign)) {
        text = text.text(match (late, line.at) {
            (true, Some(time)) => format!(" · first sign of the cause at {}: ", words::time(time)),
            _ => " · first sign: ".to_owned(),
        });
        let says = super::without_quote(line.says.trim(), &line.text);
        text = text
            .say(&escape::cut_end(&words::clause(says), 160))
            .text(" (");
        text = ctx.place(text, &line.place).text(")");
    }
    match hit.filter(|hit| apart(*hit)) {
        Some(hit) => text.text(format!(" · workloads are hit since {}", words::time(hit))),
        None => text,
    }
}

/// The line that shows the first sign, if one bears its time. An event is dated by its last time, so the line
/// may be a log's of the same second.
fn line_of(analysis: &Analysis, at: DateTime<Utc>) -> Option<&Evidence> {
    let mut lines = analysis.incidents.iter().flat_map(|incident| {
        let symptoms = incident.symptoms.iter().flat_map(|one| &one.evidence);
        incident.evidence.iter().chain(symptoms)
    });
    let same = |line: &Evidence| {
        line.at
            .is_some_and(|time| time.timestamp() == at.timestamp())
    };
    lines.find(|line| same(line) && !line.says.trim().is_empty())
}

/// Since when the first workload that the causes name does not do its work.
fn hit_since(analysis: &Analysis) -> Option<DateTime<Utc>> {
    let named = |subject: &String| {
        let mut incidents = analysis.incidents.iter();
        incidents.any(|incident| incident.subjects.contains(subject))
    };
    let workloads = analysis.impact.workloads.iter();
    let hit = workloads.filter(|workload| named(&workload.subject));
    hit.filter_map(|workload| workload.since).min()
}

/// Counts that are printed together, and the words for them.
const PAIRS: [(&str, &str); 3] = [
    ("gpu_nodes_affected", "gpu_nodes"),
    ("gpus_allocatable", "gpus"),
    ("pods_unhealthy", "pods"),
];

/// What was counted, as short phrases.
pub(crate) fn counted(impact: &Impact) -> Vec<String> {
    let get = |key: &str| impact.counts.get(key).copied();
    let mut parts = Vec::new();
    for (part, whole) in PAIRS {
        let (Some(part_count), Some(all)) = (get(part), get(whole)) else {
            continue;
        };
        parts.push(match whole {
            // That none is affected says little where single pods are.
            "gpu_nodes" if part_count == 0 => continue,
            // Shared cards are handed out in more pieces than there are, and nvidia-smi may have been run on one
            // node of several.
            "gpus" if part_count > all => format!(
                "{} allocatable ({all} listed by nvidia-smi)",
                words::count(part_count, "GPU")
            ),
            "gpu_nodes" => format!("{part_count} of {} affected", words::count(all, "GPU node")),
            "gpus" => format!("{part_count} of {} allocatable", words::count(all, "GPU")),
            _ => format!("{part_count} of {} not healthy", words::count(all, "pod")),
        });
    }
    // Without a count of the cards themselves, what the cluster can hand out still says something.
    if let (Some(free), None) = (get("gpus_allocatable"), get("gpus")) {
        parts.push(format!("{} allocatable", words::count(free, "GPU")));
    }
    parts
}

/// Counts that [`counted`] has no phrase for, by their own names.
pub(super) fn counted_besides(impact: &Impact) -> Vec<String> {
    let paired = |key: &str| {
        PAIRS.iter().any(|(part, whole)| {
            (key == *part || key == *whole)
                && impact.counts.contains_key(*part)
                && impact.counts.contains_key(*whole)
        })
    };
    let told = [
        "gpus_allocatable",
        "nodes",
        "namespaces_affected",
        "workloads_affected",
        "gpus_wanted",
    ];
    let phrased = |key: &str| paired(key) || told.contains(&key);
    let rest = impact.counts.iter().filter(|(key, _)| !phrased(key));
    rest.map(|(key, number)| format!("{}: {number}", key.replace('_', " ")))
        .collect()
}

fn affected(analysis: &Analysis, ctx: &SectionCtx) -> Rich {
    const SHOWN: usize = 3;
    let counted = counted(&analysis.impact);
    let mut text = Rich::new();
    let mut first = true;
    let whom = super::executive_summary::plain(analysis);
    for part in whom.into_iter().chain(counted.into_iter().map(Rich::from)) {
        text = text.text(if first { "" } else { " · " }).join(part);
        first = false;
    }
    for workload in analysis.impact.workloads.iter().take(SHOWN) {
        text = text
            .text(if first { "" } else { " · " })
            .code(workload.subject.clone())
            .text(" ");
        text = text.text(words::ill(&workload.state));
        if workload.restarts > 0 {
            text = text.text(format!(" ({})", words::count(workload.restarts, "restart")));
        }
        first = false;
    }
    let rest = analysis.impact.workloads.len().saturating_sub(SHOWN);
    if rest > 0 {
        text = text
            .text(format!(" · {rest} more under "))
            .jump("Impact", "impact");
    }
    if first && let Some(incident) = analysis.incidents.first() {
        for (index, subject) in incident
            .subjects
            .iter()
            .take(ctx.limits.rows.min(5))
            .enumerate()
        {
            text = text
                .text(if index == 0 { "" } else { " · " })
                .code(subject.clone());
        }
        first = incident.subjects.is_empty();
    }
    if first {
        Rich::from("nothing was counted from this input")
    } else {
        text
    }
}

fn do_now(analysis: &Analysis) -> Rich {
    let Some(first) = analysis.incidents.first() else {
        if super::coverage::is_whole(analysis) {
            return Rich::from(
                "nothing follows from this input; compare it with what was reported",
            );
        }
        return Rich::from("collect what is missing, see ").jump("Next Steps", "next-steps");
    };
    let mut text = Rich::new();
    if first.verdict != Verdict::Confirmed && !first.would_settle.is_empty() {
        text = text
            .text("settle it first: ")
            .say(&words::clause(&first.would_settle[0]))
            .text("; then ");
    }
    if first.remedy.title.is_empty() {
        text = text
            .text("no fix is known for this cause here; see ")
            .jump("Next Steps", "next-steps");
    } else {
        let steps = words::count(plan::of(first).steps.len() as u64, "step");
        text = text.say(&words::clause(&first.remedy.title));
        text = text
            .text(format!(" ({steps}, "))
            .jump("Resolution Process", "resolution")
            .text(")");
    }
    if let Some(next) = analysis.incidents.get(1) {
        text = text
            .text("; then the next in line: ")
            .code(next.cause.clone())
            .text(" ")
            .verdict(next.verdict);
    }
    text
}

fn severity(analysis: &Analysis) -> Rich {
    match words::worst(analysis) {
        Some(severity) => Rich::new().severity(severity).text(format!(
            " · faults of this rank mean that {}",
            words::severity_meaning(severity)
        )),
        None => Rich::from("not known: no cause was confirmed"),
    }
}
