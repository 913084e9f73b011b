//! A kernel parameter, now and after the next boot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry;
use crate::fix::captured::Captured;
use crate::fix::change::{Action, Applied, HandOver, Kind, Place, Refused, quoted};

/// Where settings that belong to nobody else are kept.
const FILE: &str = "/etc/sysctl.d/90-casefile.conf";

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
        let (name, value) = (&self.name, &self.value);
        Ok(Applied {
            title: format!("Set {name} to {value} on {} (it is {before})", self.node),
            changed: vec![captured],
            files: vec![HandOver {
                name: "90-casefile.conf".into(),
                content: format!("{name} = {value}\n"),
                what: format!("keeps the value after a boot, as {FILE}"),
            }],
            actions: vec![Action {
                text: format!("Set {name} now and for the next boot."),
                place: Place::Node(self.node.clone()),
                guard: Some((
                    format!("[ \"$(cat {})\" = {} ]", quoted(&proc), quoted(&before)),
                    format!("{name} is still {before}"),
                )),
                dry_run: Some(format!("sysctl {name}")),
                backup: vec![FILE.into()],
                command: Some(format!(
                    "install -D -m 644 \"$here/90-casefile.conf\" {FILE}\nsysctl -w {}",
                    quoted(&format!("{name}={value}"))
                )),
                expect: format!("{name} = {value}"),
                roll_back: format!(
                    "if [ -e \"$backup\"{FILE} ]; then cp -a \"$backup\"{FILE} {FILE}; else rm -f {FILE}; fi\nsysctl -w {}",
                    quoted(&format!("{name}={before}"))
                ),
                interrupts: "Nothing.".into(),
            }],
            assumes: Vec::new(),
            simulated: true,
        })
    }
}

impl Sysctl {
    /// Sets the value in the entry that states it; gives that entry and the value before.
    fn change_entry(&self, state: &mut Captured, proc: &str) -> Result<(String, String), Refused> {
        let copy = entry(&self.node, proc);
        if let Some(before) = state.now(&copy) {
            state.set(&copy, format!("{}\n", self.value));
            return Ok((copy, before.trim().to_owned()));
        }
        let printed = format!("nodes/{}/commands/sysctl.out", self.node);
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
