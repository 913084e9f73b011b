//! Swap of a node, taken out of use now and after the next boot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry;
use super::node_file::{check_path, edit};
use crate::change::captured::Captured;
use crate::change::shell::{Line, Pipe, Program, Script, Test, run};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

const IN_USE: &str = "/proc/swaps";
const AT_BOOT: &str = "/etc/fstab";

/// A node that shall have no swap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwapOff {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl Kind for SwapOff {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let node = super::node(self.node.as_deref(), state)?;
        let captured = entry(&node, IN_USE);
        let text = state.now(&captured).ok_or_else(|| {
            Refused::new(format!(
                "{captured} is not in the bundle, so the swap of {node} is not known"
            ))
        })?;
        let devices = devices(&text);
        if devices.is_empty() {
            return Err(Refused::new(format!(
                "{captured} names no swap that is in use"
            )));
        }
        for device in &devices {
            check_path(device)?;
        }
        let head: String = text.lines().take(1).collect();
        state.set(&captured, head + "\n");
        let mut applied = Applied {
            title: format!("Turn swap off on {node}"),
            changed: vec![captured],
            simulated: true,
            runtime: vec![format!(
                "{} is emptied on {node}; only the node shows whether its memory suffices",
                devices.join(", ")
            )],
            costs: vec![format!(
                "programs of {node} lose their swap: where memory runs short, the kernel kills one of them"
            )],
            ..Applied::default()
        };
        at_boot(state, &node, &mut applied)?;
        applied
            .actions
            .extend(devices.iter().map(|device| off(&node, device)));
        Ok(applied)
    }
}

/// The devices and files of `/proc/swaps`. It writes a blank of a name as `\040`, which no name of one is taken for.
fn devices(text: &str) -> Vec<String> {
    let rows = text.lines().skip(1);
    let names = rows.filter_map(|row| row.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// The lines of fstab that take swap into use at a boot become comments.
fn at_boot(state: &mut Captured, node: &str, applied: &mut Applied) -> Result<(), Refused> {
    let Some(before) = state.now(&entry(node, AT_BOOT)) else {
        applied.assumes.push(format!("{AT_BOOT} was not collected; a line of it may take swap into use again at the next boot"));
        return Ok(());
    };
    let after: String = before
        .split_inclusive('\n')
        .map(|line| {
            if is_swap(line) {
                format!("#{line}")
            } else {
                line.to_owned()
            }
        })
        .collect();
    if after == before {
        applied.assumes.push(format!(
            "no line of {AT_BOOT} names swap; a unit of the kind .swap would take it into use again"
        ));
        return Ok(());
    }
    let parts = edit(state, node, AT_BOOT, &after, "fstab")?;
    applied.changed.push(entry(node, AT_BOOT));
    applied.files = parts.files;
    applied.actions.push(Action {
        text: format!("Make comments of the lines of {AT_BOOT} that take swap into use."),
        place: RunsOn::Node(node.to_owned()),
        guard: Some(parts.guard),
        dry_run: parts.dry_run,
        backup: vec![AT_BOOT.to_owned()],
        act: Act::Script(parts.write),
        expect: format!("'grep swap {AT_BOOT}' shows comments only."),
        back: Back::Script(parts.back),
        interrupts: "Nothing before the next boot.".into(),
    });
    Ok(())
}

fn is_swap(line: &str) -> bool {
    let mut fields = line.split_whitespace();
    !line.trim_start().starts_with('#') && fields.nth(2) == Some("swap")
}

fn off(node: &str, device: &str) -> Action {
    let in_use = || -> Pipe {
        let names = run(Program::Cut).words(&["-d", " ", "-f", "1", IN_USE]);
        let own = run(Program::Grep).words(&["-c", "-x", "-F"]).text(device);
        names.pipe(own).quiet()
    };
    let again = run(Program::Swapon).text(device);
    let there = Line::Say("it is in use");
    Action {
        text: format!("Take the swap {device} out of use."),
        place: RunsOn::Node(node.to_owned()),
        guard: Some(Guard {
            test: Test::Succeeds(in_use()),
            says: format!("the swap {device} is in use"),
        }),
        dry_run: run(Program::Cat).word(IN_USE).into(),
        backup: Vec::new(),
        act: Act::Script(Script::from(run(Program::Swapoff).text(device))),
        expect: format!("'cat {IN_USE}' does not name {device}."),
        back: Back::Script(Line::If(Test::Fails(in_use()), again.into(), there.into()).into()),
        interrupts: "What lies in the swap is read back into memory, for minutes where it is much; it is refused where memory does not suffice.".into(),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![serde_json::json!({"swap-off": {"node": trial.node}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_swap_are_known_by_their_type_and_comments_stay() {
        assert!(is_swap("UUID=1 none swap sw 0 0\n"));
        for other in [
            "# /a none swap sw 0 0",
            "/dev/swap1 /data ext4 defaults 0 0",
            "swap",
        ] {
            assert!(!is_swap(other), "{other}");
        }
        let text = "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition\t1\t0\t-2\n/swapfile file\t1\t0\t-3\n";
        assert_eq!(devices(text), ["/dev/sda2", "/swapfile"]);
    }
}
