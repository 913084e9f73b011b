//! What to do about a cause as steps: the typed changes that were tried, else what the rule says in words.

use super::blocks::{Rich, StepItem};
use super::words;
use crate::model::fix::{Fix, FixAction, FixOutcome};
use crate::model::{Incident, Step};

/// Steps with their files and the way back.
pub(crate) struct Plan {
    /// What to do, in order.
    pub(crate) steps: Vec<StepItem>,
    /// Numbers of the steps that only show what would change, from 1.
    pub(crate) dry: Vec<usize>,
    /// Files that the commands use: name, language, content.
    pub(crate) files: Vec<(String, String, String)>,
    /// How each change is taken back: what it was, and the command or sentence.
    pub(crate) back: Vec<StepItem>,
}

/// The plan for one cause.
pub(crate) fn of(incident: &Incident) -> Plan {
    match tried(incident) {
        Some(fix) => of_fix(fix),
        None => in_words(incident),
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
    let dry = remedy.steps.iter().enumerate().filter(|(_, step)| {
        let command = step.command.as_deref().unwrap_or_default();
        command.contains("--dry-run")
    });
    let file = |file: &crate::model::FixFile| {
        (
            file.name.clone(),
            file.language.clone(),
            file.content.clone(),
        )
    };
    Plan {
        steps: steps(&remedy.steps),
        dry: dry.map(|(index, _)| index + 1).collect(),
        files: remedy.files.iter().map(file).collect(),
        back: Vec::new(),
    }
}

/// Steps of the model as steps of the report.
pub(crate) fn steps(steps: &[Step]) -> Vec<StepItem> {
    let step = |step: &Step| StepItem {
        text: Rich::prose(&words::sentence(&step.text)),
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
        dry: Vec::new(),
        files: files(fix),
        back: Vec::new(),
    };
    for action in &fix.actions {
        // Said once a change: a step that is read first tells where all of them run.
        let mut place = Some(place(action));
        let mut place = || place.take().unwrap_or_default();
        if let (Some(check), Some(what)) = (&action.check, &action.checks) {
            plan.steps.push(step(
                Rich::from("Make sure that ")
                    .say(&words::clause(what))
                    .text(place())
                    .text("."),
                Some(check),
                "It ends without an error; otherwise collect and analyse again",
            ));
        }
        if let Some(dry) = &action.dry_run {
            let text = Rich::from("Look at what would change, without changing it");
            plan.steps
                .push(step(text.text(place()).text("."), Some(dry), ""));
            plan.dry.push(plan.steps.len());
        }
        let mut text = Rich::prose(&words::clause(&action.text)).text(place());
        text = text.text(".");
        if !action.interrupts.trim().is_empty() {
            text = text
                .text(" Interrupts: ")
                .say(&words::sentence(&action.interrupts));
        }
        let command = action.command.as_ref();
        plan.steps.push(step(text, command, &action.expect));
        plan.back.push(back(action, plan.steps.len()));
    }
    plan
}

fn step(text: Rich, command: Option<&String>, expect: &str) -> StepItem {
    StepItem {
        text,
        command: command.map(|text| text.trim().to_owned()),
        expect: (!expect.trim().is_empty()).then(|| Rich::prose(&words::sentence(expect))),
    }
}

fn place(action: &FixAction) -> String {
    match &action.node {
        Some(node) => format!(" (as root on node {node})"),
        None if action.by_hand => " (by hand)".to_owned(),
        None => " (where helm and kubectl reach the cluster)".to_owned(),
    }
}

fn back(action: &FixAction, number: usize) -> StepItem {
    let text = format!("Step {number}{}.", place(action));
    let command = (!action.by_hand).then_some(&action.roll_back);
    match command {
        Some(command) => step(Rich::from(text), Some(command), ""),
        None => step(
            Rich::from(text)
                .text(" By hand: ")
                .say(&words::sentence(&action.roll_back)),
            None,
            "",
        ),
    }
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
    let used = fix.files.iter().filter(|file| !any || named(&file.name));
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
