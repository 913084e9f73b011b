//! A kernel parameter, now and after the next boot.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry;
use crate::change::captured::Captured;
use crate::change::shell::{Line, New, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, HandOver, Kind, Place, Refused};

/// Where settings that belong to nobody else are kept, one a file.
const FOLDER: &str = "/etc/sysctl.d";

/// A parameter as sysctl names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sysctl {
    /// Node.
    pub node: String,
    /// Name, e.g. `net.ipv4.ip_forward`.
    pub name: String,
    /// Value.
    pub value: String,
}

impl Kind for Sysctl {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
        if !self.name.starts_with(|c: char| c.is_ascii_alphanumeric())
            || !self.name.bytes().all(known)
            || self.name.contains("..")
        {
            return Err(Refused::new(format!(
                "{:?} is no kernel parameter",
                self.name
            )));
        }
        if self.value.chars().any(char::is_control) {
            return Err(Refused::new(format!(
                "{:?} is no value of a kernel parameter",
                self.value
            )));
        }
        if self.node.starts_with("node/") {
            let node = super::node(Some(&self.node), state)?;
            return Self {
                node,
                ..self.clone()
            }
            .apply(state);
        }
        let proc = format!("/proc/sys/{}", self.name.replace('.', "/"));
        let (captured, before) = self.change_entry(state, &proc)?;
        Ok(self.told(state, &proc, captured, &before))
    }
}

impl Sysctl {
    fn told(&self, state: &mut Captured, proc: &str, captured: String, before: &str) -> Applied {
        let (name, value) = (&self.name, &self.value);
        let file_name = format!("90-casefile-{}.conf", name.replace('/', "."));
        let path = format!("{FOLDER}/{file_name}");
        let (file, beside) = (Word::text(&path), state.fresh_name(&file_name));
        let set = |value: &str| {
            Script::from(
                run(Program::Sysctl)
                    .word("-w")
                    .text(format!("{name}={value}")),
            )
        };
        let new = New::Whole(Word::beside(&beside));
        Applied {
            title: format!("Set {name} to {value} on {} (it is {before})", self.node),
            changed: vec![captured],
            files: vec![HandOver {
                name: beside,
                content: format!("{name} = {value}\n"),
                what: format!("keeps the value after a boot, as {path}"),
            }],
            actions: vec![Action {
                text: format!("Set {name} now and for the next boot."),
                place: Place::Node(self.node.clone()),
                guard: Some(Guard {
                    test: Test::Prints(run(Program::Cat).text(proc).into(), Word::text(before)),
                    says: format!("{name} is still {before}"),
                }),
                dry_run: run(Program::Sysctl).text(name).into(),
                backup: vec![path],
                act: Act::Script(
                    Script::from(Line::Write {
                        path: file.clone(),
                        new,
                    })
                    .and(set(value)),
                ),
                expect: format!("{name} = {value}"),
                back: Back::Script(Script::from(Line::Restore(file)).and(set(before))),
                interrupts: "Nothing.".into(),
            }],
            assumes: Vec::new(),
            simulated: true,
            ..Applied::default()
        }
    }

    /// Sets the value in the entry that states it; gives that entry and the value before.
    fn change_entry(&self, state: &mut Captured, proc: &str) -> Result<(String, String), Refused> {
        let copy = entry(&self.node, proc);
        if let Some(before) = state.now(&copy) {
            state.set(&copy, format!("{}\n", self.value));
            return Ok((copy, before.trim().to_owned()));
        }
        let printed = Entry::Printed(&self.node, "sysctl").path();
        let text = state.now(&printed).unwrap_or_default();
        let mut before = None;
        let lines: Vec<String> = text
            .lines()
            .map(|line| match line.split_once('=') {
                Some((name, value)) if name.trim() == self.name => {
                    before = Some(value.trim().to_owned());
                    format!("{} = {}", self.name, self.value)
                }
                _ => line.to_owned(),
            })
            .collect();
        let before = before.ok_or_else(|| {
            Refused::new(format!(
                "neither {copy} nor {printed} is in the bundle, so nothing can be shown about {}",
                self.name
            ))
        })?;
        state.set(&printed, lines.join("\n") + "\n");
        Ok((printed, before))
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"sysctl": {"node": trial.node, "name": "net.ipv4.x", "value": trial.bad}}),
    ]
}
