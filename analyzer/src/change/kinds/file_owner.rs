//! Owner and mode of a folder or file of the node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_file::check_path;
use crate::change::captured::Captured;
use crate::change::shell::{Line, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

/// A path, and whose it shall be. What lies in a folder stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileOwner {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Absolute path.
    pub path: String,
    /// `USER:GROUP`, e.g. `root:root`.
    pub owner: String,
    /// Mode in octal digits, e.g. `755`.
    pub mode: String,
}

impl Kind for FileOwner {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        self.check()?;
        let node = super::node(self.node.as_deref(), state)?;
        Ok(self.told(&node))
    }
}

impl FileOwner {
    fn check(&self) -> Result<(), Refused> {
        check_path(&self.path)?;
        let name = |text: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && text.bytes().all(plain)
        };
        let owner = self.owner.split_once(':');
        if !owner.is_some_and(|(user, group)| name(user) && name(group)) {
            return Err(Refused::new(format!("{:?} is no USER:GROUP", self.owner)));
        }
        let octal = |c: char| ('0'..='7').contains(&c);
        if !(3..=4).contains(&self.mode.len()) || !self.mode.chars().all(octal) {
            return Err(Refused::new(format!("{:?} is no mode", self.mode)));
        }
        Ok(())
    }

    fn told(&self, node: &str) -> Applied {
        let (path, owner, mode) = (&self.path, &self.owner, &self.mode);
        let asked = |format: &'static str| {
            run(Program::Stat)
                .with("-c", Word::Fixed(format))
                .text(path)
        };
        let own = |to: Word| run(Program::Chown).on(to).text(path);
        let allow = |to: Word| run(Program::Chmod).on(to).text(path);
        let saved = |name: &str| Test::IsSaved(Word::saved(name));
        let nothing = || Script::from(Line::Say("it was not touched"));
        let act = Script::from(Line::Save(asked("%u:%g").into(), Word::saved("owner")))
            .then(Line::Save(asked("%a").into(), Word::saved("mode")))
            .run(own(Word::text(owner)))
            .run(allow(Word::text(mode)));
        // A new owner takes bits of the mode away, so that it comes back last.
        let back = Script::from(Line::If(
            saved("owner"),
            own(Word::saved_text("owner")).into(),
            nothing(),
        ))
        .then(Line::If(
            saved("mode"),
            allow(Word::saved_text("mode")).into(),
            Script::default(),
        ));
        Applied {
            title: format!("Give {path} on {node} to {owner}, with the mode {mode}"),
            actions: vec![Action {
                text: format!(
                    "Change owner and mode of {path} itself; what lies in it stays as it is."
                ),
                place: RunsOn::Node(node.to_owned()),
                guard: Some(Guard {
                    test: Test::AnyThere(vec![Word::text(path)]),
                    says: format!("{path} is there"),
                }),
                dry_run: asked("%U:%G %a %n").into(),
                backup: Vec::new(),
                act: Act::Script(act),
                expect: format!("'stat -c \"%U:%G %a\" {path}' says {owner} {mode}."),
                back: Back::Script(back),
                interrupts: "Nothing that runs.".into(),
            }],
            runtime: vec![format!(
                "{path} on {node} is given to {owner}; only the node shows whether what failed can then write there"
            )],
            costs: vec![format!(
                "whoever owns {path} on {node} now can no longer write there, unless it is {owner}"
            )],
            ..Applied::default()
        }
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let of = |path: &str, owner: &str| serde_json::json!({"file-owner": {"path": path, "owner": owner, "mode": "755"}});
    vec![
        of("/etc/containerd", "root:root"),
        of(&format!("/etc/{}", trial.segment), "root:root"),
        of("/etc/containerd", trial.bad),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_owner_or_no_mode_is_refused() {
        let of = |owner: &str, mode: &str| {
            let change = FileOwner {
                node: Some("n1".into()),
                path: "/opt/cni".into(),
                owner: owner.into(),
                mode: mode.into(),
            };
            change.check()
        };
        assert!(of("root:root", "755").is_ok());
        for (owner, mode) in [
            ("root", "755"),
            ("-R:root", "755"),
            ("a:b;c", "755"),
            ("a:b", "rwx"),
            ("a:b", "75"),
        ] {
            assert!(of(owner, mode).is_err(), "{owner} {mode}");
        }
    }
}
