//! What to do about a cause as steps: the typed changes that were tried, else what the rule says in words.

use std::collections::BTreeSet;

use super::blocks::{Look, Rich, StepItem};
use super::words;
use crate::change::{looks, risk};
use crate::model::fix::{Fix, FixAction, FixOutcome};
use crate::model::{Incident, Step};

/// Steps with their files and the way back.
pub(crate) struct Plan {
    /// What to do, in order.
    pub(crate) steps: Vec<StepItem>,
    /// Files that the commands use: name, language, content.
    pub(crate) files: Vec<(String, String, String)>,
    /// How each change is taken back: what it was, and the command or sentence.
    pub(crate) back: Vec<StepItem>,
}

/// The plan for one cause.
pub(crate) fn of(incident: &Incident) -> Plan {
    match tried(incident) {
        Some(fix) if !is_in_words(incident) => of_fix(fix),
        _ => in_words(incident),
    }
}

/// Whether the plan is the rule's own steps: a change that only a person makes says less than they do.
pub(crate) fn is_in_words(incident: &Incident) -> bool {
    match tried(incident) {
        Some(fix) if incident.remedy.steps.is_empty() => fix.actions.is_empty(),
        Some(fix) => fix.actions.iter().all(|action| action.by_hand),
        None => true,
    }
}

/// The fix, where it was tried and does not leave the cause there.
pub(crate) fn tried(incident: &Incident) -> Option<&Fix> {
    let fix = incident.fix.as_ref()?;
    (fix.outcome != FixOutcome::StillThere && !fix.actions.is_empty()).then_some(fix)
}

/// The rule's own steps and files.
pub(crate) fn in_words(incident: &Incident) -> Plan {
    let remedy = &incident.remedy;
    let file = |file: &crate::model::FixFile| {
        (
            file.name.clone(),
            file.language.clone(),
            file.content.clone(),
        )
    };
    Plan {
        steps: steps(&remedy.steps),
        files: remedy.files.iter().map(file).collect(),
        back: Vec::new(),
    }
}

/// Steps of the model as steps of the report.
pub(crate) fn steps(steps: &[Step]) -> Vec<StepItem> {
    let text = |step: &Step| {
        let text = Rich::prose(&words::sentence(&step.text));
        match step.command.as_deref().and_then(risk::interrupts) {
            Some(risk) => text.text(risk::MARK).say(&risk),
            None => text,
        }
    };
    let step = |step: &Step| StepItem {
        text: text(step),
        looks: Vec::new(),
        command: step
            .command
            .as_ref()
            .map(|command| command.trim().to_owned())
            .filter(|command| !command.is_empty()),
        expect: step
            .expect
            .as_ref()
            .map(|text| Rich::prose(&words::sentence(text))),
    };
    steps.iter().map(step).collect()
}

fn of_fix(fix: &Fix) -> Plan {
    let mut plan = Plan {
        steps: Vec::new(),
        files: files(fix),
        back: Vec::new(),
    };
    for action in &fix.actions {
        let mut text = Rich::prose(&words::sentence(&action.text))
            .text(" ")
            .text(place(action));
        if !action.interrupts.trim().is_empty() {
            text = text
                .text(risk::MARK)
                .say(&words::sentence(&action.interrupts));
        }
        let mut change = step(text, action.command.as_ref(), &action.expect);
        change.looks = looks(action);
        plan.steps.push(change);
        plan.back.push(back(action, plan.steps.len()));
    }
    plan
}

/// What is run before a change and changes nothing.
fn looks(action: &FixAction) -> Vec<Look> {
    let mut looks = Vec::new();
    if let (Some(check), Some(what)) = (&action.check, &action.checks) {
        looks.push(Look {
            label: format!(
                "First check that {}. If this fails, collect and analyse again",
                words::clause(what)
            ),
            command: check.trim().to_owned(),
        });
    }
    if let Some(dry) = &action.dry_run {
        looks.push(Look {
            label: "Dry run".to_owned(),
            command: dry.trim().to_owned(),
        });
    }
    looks
}

/// Whether a step of a rule changes nothing that runs: it asks, prepares a folder, saves what is there, or is a dry run.
pub(crate) fn only_looks(step: &StepItem) -> bool {
    let command = step.command.as_deref().unwrap_or_default().trim();
    !command.is_empty() && looks::at_most_saves(command)
}

/// Whether a step is done instead of one before it: rules begin its words so.
pub(crate) fn is_other_way(step: &StepItem) -> bool {
    let text = step.text.plain();
    let text = text.strip_prefix(words::OF_KUBERNETES).unwrap_or(&text);
    ["Or ", "Or,", "or ", "or,"]
        .iter()
        .any(|word| text.starts_with(word))
}

/// The number of the step that a step is done instead of, both from 1.
pub(crate) fn instead_of(steps: &[StepItem], number: usize) -> Option<usize> {
    let step = steps.get(number.checked_sub(1)?)?;
    let before = (1..number).zip(&steps[..number - 1]);
    let mut back = before.rev();
    let base = back.find(|(_, step)| !is_other_way(step));
    base.map(|(number, _)| number)
        .filter(|_| is_other_way(step))
}

/// How many steps there are, and which of them are done instead of others.
pub(crate) fn counted(steps: &[StepItem]) -> String {
    let all = words::count(steps.len() as u64, "step");
    let others: Vec<usize> = (1..=steps.len())
        .filter(|number| is_other_way(&steps[number - 1]))
        .collect();
    let bases: BTreeSet<Option<usize>> = others
        .iter()
        .map(|number| instead_of(steps, *number))
        .collect();
    let named: Vec<String> = others.iter().map(usize::to_string).collect();
    match (named.is_empty(), bases.iter().next()) {
        (true, _) => all,
        (_, Some(Some(base))) if bases.len() == 1 => {
            format!("{all}, {} instead of {base}", words::join(&named))
        }
        _ => format!("{all}, {} being other ways", words::join(&named)),
    }
}

fn step(text: Rich, command: Option<&String>, expect: &str) -> StepItem {
    StepItem {
        text,
        looks: Vec::new(),
        command: command.map(|text| text.trim().to_owned()),
        expect: (!expect.trim().is_empty()).then(|| Rich::prose(&words::sentence(expect))),
    }
}

fn place(action: &FixAction) -> String {
    match &action.node {
        Some(node) => format!("Run it as root on {node}."),
        None if action.by_hand => "This is done by hand.".to_owned(),
        None => "Run it where helm and kubectl reach the cluster.".to_owned(),
    }
}

fn back(action: &FixAction, number: usize) -> StepItem {
    let text = Rich::from(format!("Undo step {number}. {}", place(action)));
    if action.by_hand {
        let by_hand = text.text(" ").say(&words::sentence(&action.roll_back));
        return step(by_hand, None, "");
    }
    step(text, Some(&action.roll_back), "")
}

/// The files that the commands name; others are for people and lie in the folder of `fix`. Where no command
/// names one, all of them.
fn files(fix: &Fix) -> Vec<(String, String, String)> {
    let named = |name: &str| {
        let in_text = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(name));
        let mut actions = fix.actions.iter();
        actions.any(|action| in_text(&action.command) || in_text(&action.dry_run))
    };
    let any = fix.files.iter().any(|file| named(&file.name));
    let patched = |name: &str| {
        let patch = format!("{name}.patch");
        fix.files.iter().any(|file| file.name == patch)
    };
    // The patch says what changes; the whole file lies in the folder of `fix`.
    let used = fix.files.iter().filter(|file| !any || named(&file.name));
    let used = used.filter(|file| !patched(&file.name));
    used.map(|file| {
        (
            file.name.clone(),
            language(&file.name),
            file.content.clone(),
        )
    })
    .collect()
}

fn language(name: &str) -> String {
    let ending = name.rsplit('.').next().unwrap_or_default();
    match ending {
        "yaml" | "yml" => "yaml",
        "json" => "json",
        "toml" => "toml",
        "sh" => "sh",
        _ => "text",
    }
    .to_owned()
}
