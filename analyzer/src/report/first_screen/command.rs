//! The first command of the fix, and what it interrupts.

use super::super::blocks::Rich;
use super::super::{plan, words};
use super::StatusRow;
use crate::change::risk;
use crate::model::{Incident, Verdict};

/// The rows; none where no command stands on its own.
pub(super) fn rows(first: &Incident) -> Vec<StatusRow> {
    let Some(line) = line(first) else {
        return Vec::new();
    };
    let risk = interrupts(first, &line);
    let risk = risk.map(|risk| super::row("Interrupts", Rich::new().say(&words::sentence(&risk))));
    std::iter::once(command(first, line)).chain(risk).collect()
}

/// What the command stops: by the change that it is of, where there is one.
fn interrupts(first: &Incident, line: &str) -> Option<String> {
    let of_line = |command: &String| command.lines().any(|own| own.trim() == line);
    let actions = plan::tried(first).map_or(&[][..], |fix| &fix.actions);
    let action = actions
        .iter()
        .find(|action| action.command.as_ref().is_some_and(of_line));
    match action.map(|action| action.interrupts.trim()) {
        Some("") | None => risk::interrupts(line),
        Some(told) if told.starts_with("Nothing") => None,
        Some(told) => Some(told.to_owned()),
    }
}

fn command(first: &Incident, line: String) -> StatusRow {
    let steps = plan::of(first).steps;
    let acting = steps.iter().filter(|step| !plan::only_looks(step));
    // One command of several is not yet the fix.
    let label = match acting.count() {
        0 | 1 => "Command",
        _ => "Start with",
    };
    super::row(label, Rich::new().code(line))
}

/// The first command of the fix that changes something, where it is one line of a screen.
fn line(first: &Incident) -> Option<String> {
    const LONGEST: usize = 200;
    if first.verdict > Verdict::Likely {
        return None;
    }
    let plan = plan::of(first);
    let mut steps = plan.steps.iter().filter(|step| !plan::only_looks(step));
    let command = steps.find_map(|step| step.command.as_deref())?;
    let mut lines = command.lines().map(str::trim);
    // What it saves first stands in the script; of a script one line says little.
    let line = lines.find(|line| !line.starts_with("mkdir -p ./backup"))?;
    // What prepares a file, or deletes after a check, says too little or too much alone.
    let alone = !line.contains("--local") && !line.contains(" delete ");
    let whole = alone && !line.ends_with(['\\', '{']) && !line.starts_with("if ");
    // What a person has to fill in first cannot be typed as it is.
    let is_open = line.contains(" <") || line.contains("=<") || line.contains("-<");
    (whole && !is_open && line.chars().count() <= LONGEST).then(|| line.to_owned())
}
