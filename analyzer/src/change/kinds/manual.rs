//! A step that only people can take, and that no replay can show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::captured::Captured;
use crate::change::shell::Script;
use crate::change::{Act, Action, Applied, Back, Kind, Place, Refused, risk};

/// What a person has to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manual {
    /// The step, as a sentence.
    pub step: String,
    /// Command for it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What to see after it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expect: String,
}

impl Kind for Manual {
    fn apply(&self, _: &mut Captured) -> Result<Applied, Refused> {
        Ok(self.told())
    }
}

impl Manual {
    /// What a person does.
    pub(crate) fn told(&self) -> Applied {
        let looks = self.run.as_deref().is_some_and(only_looks);
        Applied {
            title: self.step.trim_end_matches('.').to_owned(),
            actions: vec![Action {
                text: self.step.clone(),
                place: Place::Hands,
                guard: None,
                dry_run: Script::default(),
                backup: Vec::new(),
                act: Act::Hands(self.run.clone()),
                expect: self.expect.clone(),
                back: Back::Hands(if looks {
                    "Nothing to take back.".into()
                } else {
                    "Note the state before the step, and set it back to that.".into()
                }),
                interrupts: if looks {
                    "Nothing: it only looks.".into()
                } else {
                    interrupts(self.run.as_deref().unwrap_or_default())
                },
            }],
            ..Applied::default()
        }
    }

    /// The same as a step on the running system, such as a reset: `what` is done, and only the node shows its effect.
    pub(super) fn on_running(&self, what: &str, interrupts: &str, back: &str) -> Applied {
        let mut applied = self.told();
        for action in &mut applied.actions {
            action.interrupts = interrupts.to_owned();
            action.back = Back::Hands(back.to_owned());
        }
        applied.runtime = vec![format!("{what}; only the node shows whether it helps")];
        applied
    }
}

/// The node as a step names it. A kernel's log that was pasted names none, and its reader knows which one it is.
pub(super) fn which(named: Option<&str>, state: &Captured) -> String {
    let known = super::node(named, state).ok();
    let known = known.filter(|node| node != crate::lines::UNNAMED_NODE);
    known.unwrap_or_else(|| "the node".to_owned())
}

/// What a command interrupts; where that is not known, a person judges it.
fn interrupts(command: &str) -> String {
    let known = risk::of_step(command);
    known.unwrap_or_else(|| "Not known here: judge it before the step.".to_owned())
}

/// Whether a command line does nothing but print; a doubt counts as no.
fn only_looks(command: &str) -> bool {
    const LOOKS: [&str; 22] = [
        "kubectl get",
        "kubectl describe",
        "kubectl logs",
        "kubectl top",
        "journalctl",
        "dmesg",
        "cat",
        "ls",
        "df",
        "du",
        "free",
        "grep",
        "head",
        "tail",
        "sort",
        "wc",
        "lsmod",
        "lspci",
        "nvidia-smi",
        "systemctl status",
        "crictl ps",
        "helm get",
    ];
    let part_looks = |part: &str| {
        let words: Vec<&str> = part.split_whitespace().collect();
        let writes = match words.first() {
            // It also resets cards and changes their modes.
            Some(&"nvidia-smi") => words[1..].iter().any(|word| {
                !word.starts_with("--query")
                    && !word.starts_with("--format")
                    && !["-q", "-L", "-x", "topo", "-m"].contains(word)
            }),
            Some(&"dmesg") => words
                .iter()
                .any(|word| word.to_ascii_lowercase().starts_with("-c") || *word == "--clear"),
            Some(&"journalctl") => words.iter().any(|word| {
                ["vacuum", "rotate", "flush"]
                    .iter()
                    .any(|one| word.contains(one))
            }),
            _ => false,
        };
        let start = words.join(" ");
        !writes
            && LOOKS
                .iter()
                .any(|known| start == *known || start.starts_with(&format!("{known} ")))
    };
    let plain = !command.contains(['>', '`', '\n', '&']) && !command.contains("$(");
    plain && crate::words::commands(command).into_iter().all(part_looks)
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![serde_json::json!({"manual": {"step": trial.bad, "run": trial.bad, "expect": trial.bad}})]
}

#[cfg(test)]
mod tests {
    use super::only_looks;

    #[test]
    fn what_a_step_interrupts_is_what_reports_say_of_its_command() {
        let of = super::interrupts;
        assert!(of("kubectl drain n1; systemctl reboot").contains("up again"));
        assert!(of("kubectl cordon n1 && kubectl drain n1").contains("moves away"));
        assert!(of("kubectl cordon n1").starts_with("Nothing that runs"));
        assert!(of("make install").starts_with("Not known"));
    }

    #[test]
    fn what_changes_something_is_not_taken_for_a_look() {
        for look in [
            "nvidia-smi -L; kubectl get nodes | grep gpu",
            "nvidia-smi --query-compute-apps=pid --format=csv",
            "kubectl top pods -A | grep -E 'dcgm|exporter'",
        ] {
            assert!(only_looks(look), "{look}");
        }
        for change in [
            "nvidia-smi --gpu-reset -i 0",
            "nvidia-smi -r",
            "kubectl get x > y",
            "kubectl delete pod x",
            "dmesg -C",
            "ls; reboot",
            "cat $(reboot)",
        ] {
            assert!(!only_looks(change), "{change}");
        }
    }
}
