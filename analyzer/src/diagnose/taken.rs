//! Steps that collect what the input already is.

use crate::model::{Analysis, Step};

/// A tool by its format, and the command that takes its capture.
const TAKEN: [(&str, &str); 1] = [("nvidia-bug-report", "nvidia-bug-report.sh")];

/// Leaves out the command that took the input; a step that has no other goes with it.
pub(super) fn leave_out(analysis: &mut Analysis) {
    let taken = TAKEN
        .iter()
        .filter(|(format, _)| analysis.seen.format.contains(format));
    let commands: Vec<&str> = taken.map(|(_, command)| *command).collect();
    if commands.is_empty() {
        return;
    }
    for incident in &mut analysis.incidents {
        let steps = &mut incident.remedy.steps;
        if steps.len() > 1 {
            steps.retain_mut(|step| strip(step, &commands));
        }
    }
}

/// Takes the commands out of a step; whether anything of it is left to do.
fn strip(step: &mut Step, commands: &[&str]) -> bool {
    let Some(all) = &step.command else {
        return true;
    };
    let parts = all.split(';').map(str::trim);
    let own: Vec<&str> = parts.filter(|part| !commands.contains(part)).collect();
    let is_left = !own.is_empty();
    step.command = is_left.then(|| own.join("; "));
    is_left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_only_takes_the_input_again_goes_and_one_that_asks_more_stays() {
        let step = |command: &str| Step {
            text: "Save it.".to_owned(),
            command: Some(command.to_owned()),
            expect: None,
        };
        let commands = ["nvidia-bug-report.sh"];
        assert!(!strip(&mut step("nvidia-bug-report.sh"), &commands));
        let mut both = step("nvidia-bug-report.sh; ipmitool sel elist");
        assert!(strip(&mut both, &commands));
        assert_eq!(both.command.as_deref(), Some("ipmitool sel elist"));
    }
}
