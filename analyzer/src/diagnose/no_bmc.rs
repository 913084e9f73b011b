//! Remedies for a machine that has no BMC: a virtual one, whose hardware is its host's, or a laptop.

use super::seen::figures;
use crate::change::risk;
use crate::model::{Analysis, Step};
use crate::parsers::{Figure, HostLine};
use crate::scan::Scanned;
use crate::words;

const VIRTUAL: &str = "This is a virtual machine: what concerns hardware is done on its host, and ipmitool is left out.";
const LAPTOP: &str = "This machine has a battery and no BMC, so ipmitool is left out.";

/// Leaves out commands of ipmitool where the kernel tells that there is no BMC to ask, of the only machine of an input.
pub(super) fn leave_out(analysis: &mut Analysis, scanned: &Scanned) {
    let lines = scanned.facts.table::<HostLine>();
    let mut nodes: Vec<&str> = lines.iter().map(|line| line.data.node.as_str()).collect();
    nodes.retain(|node| !node.is_empty());
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.len() > 1 {
        return;
    }
    let says = |what: &Figure| figures(scanned).any(|(_, figure)| figure == what);
    let note = match (says(&Figure::Virtual), says(&Figure::Battery)) {
        (true, _) => VIRTUAL,
        (false, true) => LAPTOP,
        (false, false) => return,
    };
    for incident in &mut analysis.incidents {
        strip(&mut incident.remedy.steps, note);
    }
}

/// The first step that loses a command says why.
fn strip(steps: &mut [Step], note: &str) {
    let mut told = false;
    for step in steps {
        let Some(command) = step.command.as_deref().filter(|text| is_of_bmc(text)) else {
            continue;
        };
        let own = command.split(';').map(str::trim);
        let own: Vec<&str> = own.filter(|part| !is_of_bmc(part)).collect();
        let mut text = words::sentence(&step.text);
        if !told {
            text = format!("{text} {note}");
            told = true;
        }
        // What it stops is as true without its command.
        let stops = risk::interrupts(command).filter(|_| own.is_empty());
        step.text = match stops {
            Some(stops) => format!("{text}{}{stops}", risk::MARK),
            None => text,
        };
        step.command = (!own.is_empty()).then(|| own.join("; "));
    }
}

fn is_of_bmc(command: &str) -> bool {
    command.split_whitespace().any(|word| word == "ipmitool")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_the_machine_itself_stays() {
        let step = |command: &str| Step {
            text: "Do it.".to_owned(),
            command: Some(command.to_owned()),
            expect: None,
        };
        let mut steps = [
            step("nvidia-bug-report.sh; ipmitool sel elist | tail -50"),
            step("ipmitool chassis power cycle"),
            step("nvidia-smi -L"),
        ];
        strip(&mut steps, LAPTOP);
        let left: Vec<_> = steps.iter().map(|step| step.command.as_deref()).collect();
        assert_eq!(
            left,
            [Some("nvidia-bug-report.sh"), None, Some("nvidia-smi -L")]
        );
        assert!(
            steps[0].text.ends_with("ipmitool is left out."),
            "{}",
            steps[0].text
        );
        assert!(
            steps[1].text.starts_with("Do it. Interrupts: "),
            "{}",
            steps[1].text
        );
    }
}
