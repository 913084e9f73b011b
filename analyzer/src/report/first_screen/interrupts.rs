//! What the whole of a fix interrupts, step by step.

use super::super::{plan, words};
use super::command::acts;
use crate::change::risk;
use crate::model::fix::{Fix, FixAction};
use crate::model::{Incident, Verdict};
use crate::report::blocks::StepItem;

/// Said of a fix whose commands only write files, settings and objects that nothing is restarted for.
const NOTHING: &str = "Nothing that runs.";
/// Said of a fix whose only step, a command or a person's work, was not judged.
const UNKNOWN: &str = "Not known: read it before it runs.";

/// What the fix stops from its first step to its last; none where no step changes anything.
pub(super) fn of(first: &Incident) -> Option<String> {
    if first.verdict > Verdict::Likely {
        return None;
    }
    let typed = plan::tried(first).map(of_fix);
    // Commands that a person types tell more than the change that stands for them.
    let by_person = plan::is_in_words(first).then(|| of_steps(first));
    let told: Vec<Vec<Stops>> = by_person.into_iter().chain(typed).collect();
    let stopping = told.iter().find(|steps| steps.iter().any(Stops::stop));
    let known = |steps: &&Vec<Stops>| steps.iter().all(|step| step.known);
    let shown = stopping
        .or_else(|| told.iter().rev().find(known))
        .or(told.first())
        .filter(|steps| !steps.is_empty())?;
    Some(in_order(shown))
}

/// What one step of a fix stops.
struct Stops {
    /// Its number in the plan.
    number: usize,
    /// What it does, in few words.
    name: String,
    /// As sentences; such as begin with `Nothing` say that it stops nothing.
    text: String,
    /// Whether that is all.
    known: bool,
}

impl Stops {
    fn stop(&self) -> bool {
        !self.text.is_empty() && stops(&self.text)
    }
}

/// What each step stops, in their order; neighbours that stop nothing, or of which nothing is known, are said together:
/// silence reads as safe.
fn in_order(steps: &[Stops]) -> String {
    if let [one] = steps {
        return match (one.text.is_empty(), one.known) {
            (false, _) => one.text.clone(),
            (true, true) => NOTHING.to_owned(),
            (true, false) => UNKNOWN.to_owned(),
        };
    }
    let alike = |a: &Stops, b: &Stops| !a.stop() && !b.stop() && a.known == b.known;
    let mut said: Vec<String> = Vec::new();
    for run in steps.chunk_by(alike) {
        let numbers: Vec<String> = run.iter().map(|step| step.number.to_string()).collect();
        said.push(match (run, run[0].known) {
            ([one], _) if one.stop() => {
                // What two steps stop alike is read once.
                let before = steps.iter().find(|other| other.text == one.text);
                match before.filter(|other| other.number < one.number) {
                    Some(other) => {
                        format!("Step {}{}: as step {}.", one.number, one.name, other.number)
                    }
                    None => format!("Step {}{}: {}", one.number, one.name, one.text),
                }
            }
            ([one], true) => format!("Step {}: nothing.", one.number),
            ([one], false) => format!("Step {}{}: not known.", one.number, one.name),
            (_, true) => format!("Steps {}: nothing.", words::join(&numbers)),
            (_, false) => format!("Steps {}: not known.", words::join(&numbers)),
        });
    }
    said.join(" ")
}

fn of_fix(fix: &Fix) -> Vec<Stops> {
    let steps = (1..).zip(&fix.actions);
    let step = |(number, action): (usize, &FixAction)| {
        let text = words::sentence(action.interrupts.trim());
        Stops {
            number,
            name: name(&action.text),
            known: !text.is_empty() && !text.starts_with("Not known"),
            text,
        }
    };
    steps.map(step).collect()
}

/// What each step stops; one that only looks stops nothing.
fn of_steps(first: &Incident) -> Vec<Stops> {
    let plan = plan::of(first);
    let step = |(number, step): (usize, &StepItem)| {
        let (text, known) = match acts(step) {
            true => of_step(step),
            false => (String::new(), true),
        };
        // What may not concern this machine at all is said without what follows from it.
        let text = match step.text.plain().starts_with(words::OF_KUBERNETES) {
            true => in_short(&text),
            false => text,
        };
        Stops {
            number,
            name: match name(&step.text.plain()) {
                short if short.is_empty() => match plan::instead_of(&plan.steps, number) {
                    Some(base) => format!(" (instead of step {base})"),
                    None => short,
                },
                short => short,
            },
            text,
            known,
        }
    };
    let all = (1..).zip(&plan.steps);
    match plan.steps.iter().any(acts) {
        true => all.map(step).collect(),
        false => Vec::new(),
    }
}

/// Each sentence without what stands behind its semicolon.
fn in_short(text: &str) -> String {
    let sentences = text.split_inclusive(". ");
    let short = sentences.map(|one| words::sentence(one.split(';').next().unwrap_or(one).trim()));
    short.collect::<Vec<_>>().join(" ")
}

/// The first words of a step in brackets, where they are few.
fn name(text: &str) -> String {
    const SHORT: usize = 48;
    let text = text.split(risk::MARK).next().unwrap_or_default();
    let first = words::first_clause(&text.replace('`', ""), SHORT);
    let first = first.trim_end_matches('.');
    let first = first.split(" (").next().unwrap_or(first);
    match first.ends_with('…') || first.contains('(') {
        true => String::new(),
        false => format!(" ({})", words::small(first)),
    }
}

/// What a step stops, and whether that is all.
fn of_step(step: &StepItem) -> (String, bool) {
    let text = step.text.plain();
    let said = text.split_once(risk::MARK).map(|(_, said)| said);
    let risk = step.command.as_deref().map(risk::stops);
    // Of a command that nothing is known of, the rule may say it.
    let Some(risk) = risk.filter(|risk| risk.known || said.is_none()) else {
        return (words::sentence(said.unwrap_or_default()), said.is_some());
    };
    let stopping = risk.sentences.iter().any(|text| stops(text));
    let said = risk
        .sentences
        .iter()
        .filter(|text| !stopping || stops(text));
    let text = said.map(String::as_str).collect::<Vec<_>>().join(" ");
    (text, risk.known)
}

fn stops(text: &str) -> bool {
    !text.starts_with("Nothing") && !text.starts_with("Not known")
}
