//! How the fix begins, and what the whole of it interrupts.

use super::super::blocks::{Rich, StepItem};
use super::super::{plan, words};
use super::StatusRow;
use crate::change::risk;
use crate::model::fix::Fix;
use crate::model::{Incident, Verdict};

/// Characters of a command or a step that the screen shows.
const LONGEST: usize = 200;

/// What comes first of a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// A command that is the whole fix.
    Whole(String),
    /// A command that others follow.
    Command(String),
    /// Something that a person does by hand, before any command helps.
    ByHand(String),
}

/// The rows; none where nothing short can be said.
pub(super) fn rows(first: &Incident) -> Vec<StatusRow> {
    let row = |label, text| super::row(label, text);
    let start = start(first).filter(|start| !start.is_open());
    let start = start.map(|start| match start {
        Start::Whole(line) => row("Command", Rich::new().code(line)),
        Start::Command(line) => row("Start with", Rich::new().code(line)),
        Start::ByHand(text) => row("Start with", Rich::prose(&text)),
    });
    let risk = interrupts(first).map(|risk| row("Interrupts", Rich::new().say(&risk)));
    start.into_iter().chain(risk).collect()
}

impl Start {
    /// Whether a person has to fill in something first, so that it cannot be typed as it is.
    fn is_open(&self) -> bool {
        let (Start::Whole(line) | Start::Command(line)) = self else {
            return false;
        };
        // Redirections and here-documents have no letter behind the sign.
        line.split('<').skip(1).any(|rest| {
            rest.starts_with(|first: char| first.is_ascii_lowercase()) && rest.contains('>')
        })
    }

    /// The command, where it is one.
    pub(crate) fn command(&self) -> Option<&str> {
        match self {
            Start::Whole(line) | Start::Command(line) => Some(line),
            Start::ByHand(_) => None,
        }
    }
}

/// How the fix begins, where one line of a screen can say it.
pub(crate) fn start(first: &Incident) -> Option<Start> {
    if first.verdict > Verdict::Likely {
        return None;
    }
    let plan = plan::of(first);
    let acting: Vec<&StepItem> = plan.steps.iter().filter(|step| acts(step)).collect();
    let step = acting.first()?;
    let Some(command) = step.command.as_deref() else {
        let text = step.text.plain();
        // Where no step has a command, the sentence of the fix says the same.
        let more = acting.iter().any(|step| step.command.is_some());
        return (more && text.chars().count() <= LONGEST).then_some(Start::ByHand(text));
    };
    let (line, all) = line(command)?;
    Some(match acting.len() {
        1 if all => Start::Whole(line),
        // One command of several is not yet the fix.
        _ => Start::Command(line),
    })
}

/// A command as one line, and whether that is all of it: a few lines are joined, of a longer script the first one that
/// changes something is shown where it says enough alone.
fn line(command: &str) -> Option<(String, bool)> {
    let lines = command.lines().map(str::trim);
    // What it saves first stands in the script; of a script one line says little.
    let lines: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !line.starts_with("mkdir -p ./backup"))
        .collect();
    let is_alone = |line: &&str| {
        // What prepares a file, or deletes after a check, says too little or too much alone.
        let alone = !line.contains("--local") && !line.contains(" delete ");
        alone && !line.ends_with(['\\', '{']) && !line.starts_with("if ")
    };
    let is_plain = |line: &&str| is_alone(line) && !line.contains("<<") && !line.contains('#');
    let fits = |text: &str| text.chars().count() <= LONGEST;
    let joined = lines.join(" && ");
    if lines.len() > 1 && lines.iter().all(is_plain) && fits(&joined) {
        return Some((joined, true));
    }
    let first = lines.first().filter(|line| is_alone(line) && fits(line))?;
    Some(((*first).to_owned(), lines.len() == 1))
}

/// Whether a step changes something, by a command or by hand.
fn acts(step: &StepItem) -> bool {
    !plan::only_looks(step)
}

/// What the fix stops from its first step to its last; none where no step changes anything.
fn interrupts(first: &Incident) -> Option<String> {
    if first.verdict > Verdict::Likely {
        return None;
    }
    let typed = plan::tried(first).map(of_fix);
    // Commands that a person types tell more than the change that stands for them.
    let by_person = plan::is_in_words(first).then(|| of_steps(first));
    let told: Vec<Stops> = by_person.into_iter().chain(typed).collect();
    if let Some(one) = told.iter().find(|one| one.stopped().count() > 0) {
        return Some(one.stopped().collect::<Vec<_>>().join(" "));
    }
    let Some(nothing) = told.iter().rev().find(|one| one.known) else {
        // A row that is missing reads as safe.
        let plan = plan::of(first);
        return plan.steps.iter().any(acts).then(|| UNKNOWN.to_owned());
    };
    let said = nothing.sentences.first();
    Some(said.map_or(NOTHING, String::as_str).to_owned())
}

/// What is said of the steps of a fix.
struct Stops {
    sentences: Vec<String>,
    /// Whether that is all.
    known: bool,
}

impl Stops {
    fn of<'a>(told: impl Iterator<Item = &'a str>, known: bool) -> Self {
        let mut sentences: Vec<String> = Vec::new();
        for text in told.map(words::sentence) {
            if !text.is_empty() && !sentences.contains(&text) {
                sentences.push(text);
            }
        }
        Stops { sentences, known }
    }

    fn stopped(&self) -> impl Iterator<Item = &str> {
        let sentences = self.sentences.iter().map(String::as_str);
        sentences.filter(|text| stops(text))
    }
}

fn of_fix(fix: &Fix) -> Stops {
    let told = || fix.actions.iter().map(|action| action.interrupts.trim());
    let known = told().all(|text| !text.is_empty() && !text.starts_with("Not known"));
    Stops::of(told(), known)
}

/// What each step stops, with its number where it is not the first that does something.
fn of_steps(first: &Incident) -> Stops {
    let plan = plan::of(first);
    let acting: Vec<(usize, &StepItem)> = (1..)
        .zip(&plan.steps)
        .filter(|(_, step)| acts(step))
        .collect();
    let begins = acting.first().map_or(1, |(number, _)| *number);
    let (mut told, mut known) = (Vec::new(), true);
    for (number, step) in acting {
        let Some(risk) = step.command.as_deref().map(risk::stops) else {
            known = false;
            continue;
        };
        known &= risk.known;
        let stopping = risk.sentences.iter().any(|text| stops(text));
        let said = risk
            .sentences
            .iter()
            .filter(|text| !stopping || stops(text));
        let text = said.map(String::as_str).collect::<Vec<_>>().join(" ");
        told.push(match text.is_empty() || !stops(&text) || number == begins {
            true => text,
            false => format!("Step {number}: {text}"),
        });
    }
    Stops::of(told.iter().map(String::as_str), known)
}

fn stops(text: &str) -> bool {
    !text.starts_with("Nothing") && !text.starts_with("Not known")
}

/// Said of a fix whose commands only write files, settings and objects that nothing is restarted for.
const NOTHING: &str = "Nothing that runs.";
/// Said of a fix of which a command, or a step by hand, was not judged.
const UNKNOWN: &str = "Not known for every step: read each before it runs.";
