//! A sentence about what a person has to fill in before a command runs.

use super::blocks::{Block, Rich, StepItem};
use crate::diagnose::fill_in::meanings;

/// What the commands of steps leave open; none where they are whole.
pub(crate) fn note(steps: &[StepItem]) -> Option<Block> {
    let commands = steps.iter().filter_map(|step| step.command.as_deref());
    let open = meanings(commands);
    if open.is_empty() {
        return None;
    }
    let mut text = Rich::new().strong("Fill in:");
    for (nth, (name, meaning)) in open.into_iter().enumerate() {
        text = text
            .text(if nth == 0 { " " } else { "; " })
            .code(name)
            .text(format!(" is {meaning}"));
    }
    Some(Block::paragraph(text.text(".")))
}
