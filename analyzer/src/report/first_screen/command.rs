//! How the fix begins, and what the whole of it interrupts.

use std::collections::BTreeSet;

use super::super::blocks::{Rich, StepItem};
use super::super::{plan, words};
use super::StatusRow;
use crate::change::risk;
use crate::model::fix::{Fix, FixAction};
use crate::model::{Analysis, Incident, Verdict};

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
pub(super) fn rows(first: &Incident, analysis: &Analysis) -> Vec<StatusRow> {
    let row = |label, text| super::row(label, text);
    let host = |line: &str| host(first, analysis, line);
    let start = start(first).and_then(|start| match start.is_open() {
        // What has to be filled in first stands in the step; here its words suffice.
        true => in_words(first).map(Start::ByHand),
        false => Some(start),
    });
    let lead = lead(first);
    let start = start.map(|start| match start {
        Start::Whole(line) => row("Command", lead.join(host(&line)).code(line)),
        Start::Command(line) => row("Start with", lead.join(host(&line)).code(line)),
        Start::ByHand(text) => row("Start with", lead.join(Rich::prose(&text))),
    });
    let risk = interrupts(first).map(|risk| row("Interrupts", Rich::new().say(&risk)));
    start.into_iter().chain(risk).collect()
}

/// Which step it is, so that what it interrupts is found in the row below; and that a question comes before it.
fn lead(first: &Incident) -> Rich {
    let asked = first.verdict == Verdict::Likely && !first.would_settle.is_empty();
    let plan = plan::of(first);
    let number = match chosen(&plan.steps) {
        Chosen::Step { number, .. } if plan.steps.len() > 1 => Some(number),
        Chosen::Look if plan.steps.len() > 1 => Some(1),
        _ => None,
    };
    Rich::from(match (asked, number) {
        (true, Some(number)) => format!("Once it is settled, step {number}. "),
        (true, None) => "Once it is settled. ".to_owned(),
        (false, Some(number)) => format!("Step {number}. "),
        (false, None) => String::new(),
    })
}

/// Where a command is run that asks no cluster: typed at the desk, it would change the wrong machine.
fn host(first: &Incident, analysis: &Analysis, line: &str) -> Rich {
    if ["kubectl ", "helm "]
        .iter()
        .any(|name| line.starts_with(name))
    {
        return Rich::new();
    }
    let typed = plan::tried(first).filter(|_| !plan::is_in_words(first));
    let of_step = typed.and_then(|fix| fix.actions.first()?.node.as_deref());
    let mut nodes: BTreeSet<&str> = first
        .subjects
        .iter()
        .filter_map(|subject| subject.strip_prefix("node/"))
        .collect();
    if nodes.is_empty() {
        let failing = super::hit(analysis).into_iter();
        nodes.extend(failing.map(|one| one.node.as_str()));
    }
    let nodes: Vec<&str> = nodes.into_iter().filter(|name| !name.is_empty()).collect();
    let text = match (of_step, nodes.as_slice()) {
        (Some(node), _) | (None, &[node]) => Rich::from("On ").code(node),
        (None, _) => Rich::from("On the node"),
    };
    // They are handed over with the report and have to be brought there.
    text.text(match line.contains("\"./") {
        true => ", with the files of this fix: ",
        false => ": ",
    })
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
    let (step, is_all) = match chosen(&plan.steps) {
        Chosen::Nothing => return None,
        Chosen::Look => {
            let (line, _) = line(plan.steps.first()?.command.as_deref()?)?;
            return Some(Start::Command(line));
        }
        Chosen::Step { step, is_all, .. } => (step, is_all),
    };
    let Some(command) = step.command.as_deref() else {
        return by_hand(step).map(Start::ByHand);
    };
    Some(match line(command) {
        Some((line, true)) if is_all => Start::Whole(line),
        // One command of several is not yet the fix.
        Some((line, _)) => Start::Command(line),
        None => Start::ByHand(IN_STEPS.to_owned()),
    })
}

/// Which step of a plan comes first.
enum Chosen<'a> {
    /// None: no step changes anything.
    Nothing,
    /// The first one, which only looks: a person does all others.
    Look,
    /// The first that changes something.
    Step {
        /// Its number in the plan.
        number: usize,
        step: &'a StepItem,
        /// Whether no other step changes anything.
        is_all: bool,
    },
}

fn chosen(steps: &[StepItem]) -> Chosen<'_> {
    let all = (1..).zip(steps);
    let mut acting: Vec<(usize, &StepItem)> = all.filter(|(_, step)| acts(step)).collect();
    // What only a cluster answers is no start on a machine that shows none.
    let of_kubernetes =
        |(_, step): &(usize, &StepItem)| step.text.plain().starts_with(words::OF_KUBERNETES);
    if !acting.iter().all(of_kubernetes) {
        acting.retain(|step| !of_kubernetes(step));
    }
    let Some(&(number, step)) = acting.first() else {
        return Chosen::Nothing;
    };
    match acting.iter().all(|(_, step)| step.command.is_none()) {
        true => Chosen::Look,
        false => Chosen::Step {
            number,
            step,
            is_all: acting.len() == 1,
        },
    }
}

/// The step that comes first, without its command.
fn in_words(first: &Incident) -> Option<String> {
    let plan = plan::of(first);
    match chosen(&plan.steps) {
        Chosen::Nothing => None,
        Chosen::Look => by_hand(plan.steps.first()?),
        Chosen::Step { step, .. } => by_hand(step),
    }
}

/// What a step says, without where it is run and what it interrupts, where a screen has room for it.
fn by_hand(step: &StepItem) -> Option<String> {
    let text = step.text.plain();
    let text = text.split(risk::MARK).next().unwrap_or_default();
    let text = text.split(" Run it ").next().unwrap_or_default();
    (text.chars().count() <= LONGEST).then(|| words::sentence(text))
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
        Stops {
            number,
            name: name(&step.text.plain()),
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

/// The first words of a step in brackets, where they are few.
fn name(text: &str) -> String {
    const SHORT: usize = 48;
    let text = text.split(risk::MARK).next().unwrap_or_default();
    let first = words::first_clause(&text.replace('`', ""), SHORT);
    let first = first.trim_end_matches('.');
    match first.ends_with('…') || first.contains('(') {
        true => String::new(),
        false => format!(" ({})", words::small(first)),
    }
}

/// What a step stops, and whether that is all.
fn of_step(step: &StepItem) -> (String, bool) {
    let Some(command) = step.command.as_deref() else {
        let text = step.text.plain();
        let said = text.split_once(risk::MARK).map(|(_, said)| said.to_owned());
        let known = said.is_some();
        return (words::sentence(&said.unwrap_or_default()), known);
    };
    let risk = risk::stops(command);
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

/// Where a script stands that is too long for a screen.
const IN_STEPS: &str = "The first step of the report; its commands are too long for this screen.";
/// Said of a fix whose commands only write files, settings and objects that nothing is restarted for.
const NOTHING: &str = "Nothing that runs.";
/// Said of a fix whose only step, a command or a person's work, was not judged.
const UNKNOWN: &str = "Not known: read it before it runs.";
