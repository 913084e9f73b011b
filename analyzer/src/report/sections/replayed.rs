//! What trying a fix on a copy of the captured state showed: part of the Resolution Process.

use super::SectionCtx;
use crate::model::fix::{CauseName, Fix, FixClaim, FixOutcome};
use crate::model::{Analysis, Incident, Verdict};
use crate::report::blocks::{Block, Rich};
use crate::report::{first_screen, words};

/// Characters of the reason; the evidence that is gone stands in full above.
const WHY: usize = 260;
/// Longest difference that is printed, in lines.
const DIFF_LINES: usize = 60;

/// Whether the cause is gone, what remains, what is new, and what the fix opens, takes and assumes.
pub(crate) fn blocks(fix: &Fix, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(verdict(fix))];
    if fix.actions.is_empty() {
        return blocks;
    }
    let mut items: Vec<Rich> = Vec::new();
    // Where nothing could be tried, that nothing changed says nothing.
    let tried = fix.outcome != FixOutcome::CannotBeShown;
    for (label, causes) in [("Still there", &fix.remains), ("New", &fix.appears)] {
        let causes: Vec<&CauseName> = causes.iter().filter(|one| is_sure(one)).collect();
        if tried && !causes.is_empty() {
            items.push(
                Rich::new()
                    .strong(format!("{label}:"))
                    .text(" ")
                    .join(causes_of(&causes)),
            );
        }
    }
    let not_shown = merged(&fix.not_shown);
    let notes = [
        ("It opens:", &fix.opens),
        ("It leaves closed:", &fix.leaves_closed),
        ("Decide first:", &fix.costs),
        ("Not shown:", &not_shown),
        ("Assumes that", &fix.assumes),
    ];
    for (label, texts) in notes {
        let note = |text: &String| {
            Rich::new()
                .strong(label)
                .text(" ")
                .say(&words::sentence(text))
        };
        items.extend(texts.iter().map(note));
    }
    items.truncate(ctx.limits.evidence);
    if !items.is_empty() {
        blocks.push(Block::list(items));
    }
    blocks
}

/// `pod (what): why` of several pods with one reason, as one.
fn merged(texts: &[String]) -> Vec<String> {
    let mut groups: Vec<(Vec<String>, &str)> = Vec::new();
    for text in texts {
        let at = text.find(" (").filter(|_| text.contains("): "));
        let (pod, why) = text.split_at(at.unwrap_or(0));
        match groups
            .iter_mut()
            .find(|(_, known)| at.is_some() && *known == why)
        {
            Some((pods, _)) => pods.push(pod.to_owned()),
            None => groups.push((vec![pod.to_owned()], why)),
        }
    }
    let groups = groups.into_iter();
    groups
        .map(|(pods, why)| {
            let pods = words::join(&pods);
            let step = STEPS.iter().find_map(|(step, can)| {
                let why = why.strip_prefix(" (")?.strip_prefix(step)?;
                Some((can, why.strip_prefix("): ")?))
            });
            match step {
                Some((can, why)) => format!("whether {pods} can {can}; on the snapshot: {why}"),
                None => format!("{pods}{why}"),
            }
        })
        .collect()
}

/// What a pod has to get through, and what it can do then.
const STEPS: [(&str, &str); 4] = [
    ("scheduled", "be scheduled"),
    ("sandbox", "get a sandbox"),
    ("image", "pull the image"),
    ("flow", "use the network"),
];

/// What trying the fix showed, in a sentence for the first screen; none where nothing was tried.
pub(crate) fn in_short(incident: &Incident, analysis: &Analysis) -> Option<String> {
    let fix = incident.fix.as_ref()?;
    let with = "Simulated on the snapshot: with this change the cause would be gone";
    let cost = fix.costs.first().map(|cost| words::clause(cost));
    let text = match (&fix.claim, cost) {
        (FixClaim::DoesNotHelp, _) => {
            return Some(
                "Simulated on the snapshot: this change does not remove the cause.".to_owned(),
            );
        }
        (FixClaim::CannotBeShown, _) => return Some(cannot_be_shown(incident)),
        (FixClaim::NeedsARuntimeStep, _) if fix.outcome == FixOutcome::CannotBeShown => {
            return Some(and_check(STEP, incident));
        }
        (_, Some(cost)) => format!("{with}. Decide first: {cost}"),
        (FixClaim::HealsTheWorkload, None) => format!("{with}, and {} can run", pods(analysis)),
        // Whether what failed can then run stands under what is not known.
        (FixClaim::RemovesTheCause, None) => with.to_owned(),
        (FixClaim::NeedsARuntimeStep, None) => {
            let left = fix.not_shown.first().map(|text| words::clause(text));
            let left = left.unwrap_or_else(|| "a step on the running node remains".to_owned());
            match fix.deltas.is_empty() {
                true => format!("Simulated on the snapshot: the step removes the cause; {left}"),
                false => format!("Simulated on the snapshot: the changed files are right; {left}"),
            }
        }
    };
    let left: Vec<String> = left(fix, analysis)
        .map(|left| words::clause(&left.title))
        .collect();
    Some(match left.is_empty() {
        true => format!("{text}."),
        false => format!(
            "{text}. Still to be fixed after it: {}.",
            words::join(&left)
        ),
    })
}

/// What the changed state still has, or has now, that keeps something from working.
pub(crate) fn left<'a>(
    fix: &'a Fix,
    analysis: &'a Analysis,
) -> impl Iterator<Item = &'a CauseName> {
    let stays = |left: &&CauseName| analysis.incidents.iter().any(|one| one.cause == left.cause);
    let remains = fix.remains.iter().filter(stays);
    remains.chain(fix.appears.iter().filter(|one| is_sure(one)))
}

/// What a person checks where nothing was simulated: it cannot be, or nobody asked for it, as `diagnose` does not.
pub(crate) fn cannot_be_shown(incident: &Incident) -> String {
    let said = match incident.fix {
        Some(_) => "This fix could not be tried on the snapshot.",
        None => "It was not tried on the snapshot.",
    };
    and_check(said, incident)
}

/// Said of a reset, a reboot, or a package: the files of a node do not tell what it does.
const STEP: &str = "It was not tried: no snapshot can show a step on the running system.";

/// With the first check of the rule.
fn and_check(said: &str, incident: &Incident) -> String {
    let check = incident.remedy.verify.first();
    let check = check.filter(|check| !check.text.trim().is_empty());
    match check {
        Some(check) => format!("{said} Afterwards: {}", words::sentence(&check.text)),
        None => said.to_owned(),
    }
}

/// The failing pods of the first cause; the row above names them.
fn pods(analysis: &Analysis) -> String {
    match first_screen::hit(analysis).len() {
        0 => "the workload".to_owned(),
        1 => "the pod".to_owned(),
        more => format!("the {more} pods"),
    }
}

fn verdict(fix: &Fix) -> Rich {
    let text = Rich::new();
    let text = match fix.outcome {
        FixOutcome::Gone if fix.claim == FixClaim::NeedsARuntimeStep => text
            .text("The cause is ")
            .strong("gone after a step on the running system")
            .text(", which no snapshot can show: "),
        FixOutcome::Gone => text.text("The cause is ").strong("gone").text(": "),
        FixOutcome::StillThere => text
            .text("The cause is ")
            .strong("still there")
            .text(", so this fix does not resolve it: "),
        FixOutcome::CannotBeShown if fix.claim == FixClaim::NeedsARuntimeStep => text
            .text("This fix ")
            .strong("needs a step on the running system")
            .text(", which no snapshot can show. "),
        FixOutcome::CannotBeShown => text
            .text("This fix ")
            .strong("cannot be simulated")
            .text(". "),
    };
    let why = words::sentence(&words::first_clause(&fix.why, WHY));
    match fix.outcome {
        FixOutcome::CannotBeShown => text.say(&words::capital(&why)),
        _ => text.say(&why),
    }
}

/// Whether a cause is more than a guess, which no fix has to remove.
pub(crate) fn is_sure(cause: &CauseName) -> bool {
    cause.verdict <= Verdict::Likely
}

fn causes_of(causes: &[&CauseName]) -> Rich {
    let mut text = Rich::new();
    for (index, cause) in causes.iter().enumerate() {
        text = text
            .text(if index == 0 { "" } else { " · " })
            .code(cause.cause.clone())
            .text(": ")
            .say(&words::clause(&cause.title))
            .text(" ")
            .verdict(cause.verdict);
    }
    text
}

/// The entries that differ, captured against changed.
pub(crate) fn deltas(fix: &Fix, ctx: &SectionCtx) -> Vec<Block> {
    let shown = fix.deltas.iter().take(ctx.limits.evidence);
    let mut blocks: Vec<Block> = shown
        .map(|delta| Block::File {
            name: delta.entry.clone(),
            language: "diff".to_owned(),
            content: shortened(&delta.diff),
        })
        .collect();
    let rest = fix.deltas.len().saturating_sub(ctx.limits.evidence) as u64;
    if rest > 0 {
        let files = words::count_more(rest, "changed file");
        blocks.push(Block::paragraph(format!("{files} in report.json.")));
    }
    blocks
}

fn shortened(diff: &str) -> String {
    let lines = diff.lines().count();
    if lines <= DIFF_LINES {
        return diff.to_owned();
    }
    let mut shown: Vec<&str> = diff.lines().take(DIFF_LINES).collect();
    let rest = format!("[{} more lines in report.json]\n", lines - DIFF_LINES);
    shown.push(&rest);
    shown.join("\n")
}
