//! Settings of a systemd unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_file::{self, Edit};
use super::{copies, entry};
use crate::change::captured::Captured;
use crate::change::shell::{Line, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Kind, Refused, RunsOn};

/// Where unit files lie, the first wins.
const FOLDERS: [&str; 4] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// A unit, and lines that it shall have or lose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Unit, e.g. `kubelet.service`.
    pub unit: String,
    /// Section of the lines, e.g. `Unit`.
    pub section: String,
    /// Settings to take out, as `Name=value`. A drop-in cannot take back a dependency, so the unit's own
    /// file is replaced by a changed copy under /etc.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// Settings to add, as `Name=value`; alone they go to a drop-in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
    /// Start the unit after it: it does not run and must.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub start: bool,
}

impl Kind for Unit {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        self.check()?;
        let node = super::node(self.node.as_deref(), state)?;
        let (path, text) = if self.remove.is_empty() {
            let path = format!("{}/{}.d/90-casefile.conf", FOLDERS[0], self.unit);
            (
                path,
                format!("[{}]\n{}\n", self.section, self.add.join("\n")),
            )
        } else {
            self.changed_copy(state, &node)?
        };
        let name = path.rsplit('/').next().unwrap_or("unit.conf").to_owned();
        let edit = node_file::edit(state, &node, &path, &text, &name)?;
        let mut applied = self.told(&node, &path, edit);
        if self.start {
            applied.actions.push(self.started(&node));
            applied.runtime.push(format!(
                "{} has to be started on {node}; only the node shows whether it then stays up",
                self.unit
            ));
        }
        Ok(applied)
    }
}

impl Unit {
    fn check(&self) -> Result<(), Refused> {
        let plain = |text: &str| {
            !text.is_empty()
                && !text.starts_with(['-', '.'])
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"@._-:\\".contains(&byte))
        };
        if !plain(&self.unit) || !self.unit.contains('.') {
            return Err(Refused::new(format!(
                "{:?} is no name of a unit",
                self.unit
            )));
        }
        if self.section.is_empty()
            || !self
                .section
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric())
        {
            return Err(Refused::new(format!(
                "{:?} is no section of a unit",
                self.section
            )));
        }
        let all = self.remove.iter().chain(&self.add);
        for line in all {
            if !line.contains('=') || line.chars().any(char::is_control) {
                return Err(Refused::new(format!(
                    "{line:?} is no setting of a unit: write Name=value"
                )));
            }
        }
        if self.remove.is_empty() && self.add.is_empty() {
            return Err(Refused::new("no setting is named"));
        }
        Ok(())
    }

    /// The file that holds the settings, without them; a vendor's file becomes a copy under /etc.
    fn changed_copy(&self, state: &mut Captured, node: &str) -> Result<(String, String), Refused> {
        for path in self.files(state, node) {
            let text = state.now(&entry(node, &path)).unwrap_or_default();
            let kept: Vec<&str> = text.lines().filter(|line| !self.takes_out(line)).collect();
            if kept.len() == text.lines().count() {
                continue;
            }
            let own = path.starts_with(FOLDERS[0]);
            // A vendor's file becomes a copy under /etc, so all of it has to be known.
            if let Some(why) = state.altered(&entry(node, &path)).filter(|_| !own) {
                return Err(Refused::new(format!(
                    "{path} on {node} is not copied to {}: {why}. A person does it on the node with 'systemctl edit --full'",
                    FOLDERS[0]
                )));
            }
            let changed = with_lines(&kept, &self.section, &self.add);
            let name = path
                .strip_prefix(FOLDERS[2])
                .or(path.strip_prefix(FOLDERS[3]))
                .or(path.strip_prefix(FOLDERS[1]));
            let path = name.map_or_else(|| path.clone(), |name| format!("{}{name}", FOLDERS[0]));
            return Ok((path, changed));
        }
        Err(Refused::new(format!(
            "no collected file of {} on {node} has {}",
            self.unit,
            self.remove.join(" or ")
        )))
    }

    fn takes_out(&self, line: &str) -> bool {
        let flat = |text: &str| {
            text.split_once('=')
                .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        };
        let own = flat(line);
        own.is_some() && self.remove.iter().any(|one| flat(one) == own)
    }

    /// Collected files of the unit, as systemd ranks them.
    fn files(&self, state: &Captured, node: &str) -> Vec<String> {
        let mut all = Vec::new();
        for folder in FOLDERS {
            let (own, drop_ins) = (
                format!("{folder}/{}", self.unit),
                format!("{folder}/{}.d/", self.unit),
            );
            let prefix = copies(node);
            let there = state
                .paths()
                .filter_map(|path| path.strip_prefix(prefix.as_str()));
            all.extend(
                there
                    .filter(|path| *path == own || path.starts_with(&drop_ins))
                    .map(str::to_owned),
            );
        }
        all
    }

    /// The unit is started; where it runs already there is nothing to do, and nothing to take back.
    fn started(&self, node: &str) -> Action {
        let call = |verb: &'static str| run(Program::Systemctl).word(verb);
        let status = || call("status").word("--no-pager").text(&self.unit);
        let rests = Test::Fails(call("is-active").word("--quiet").text(&self.unit).into());
        let was = Word::saved("was-inactive");
        let note = Line::Save(
            run(Program::Printf).words(&["%s", "inactive"]).into(),
            was.clone(),
        );
        let start = Script::from(note)
            .run(call("start").text(&self.unit))
            .run(status());
        let stop = call("stop").text(&self.unit).into();
        let shown = run(Program::Printf).words(&["%s\\n", "it does not run"]);
        Action {
            text: format!("Start {}, which does not run.", self.unit),
            place: RunsOn::Node(node.to_owned()),
            guard: None,
            dry_run: Line::Either(status().into(), shown.into()).into(),
            backup: Vec::new(),
            act: Act::Script(Line::If(rests, start, Line::Say("it runs already").into()).into()),
            expect: format!(
                "'systemctl is-active {}' says active, also a minute later.",
                self.unit
            ),
            back: Back::Script(
                Line::If(Test::IsSaved(was), stop, Line::Say("it ran before").into()).into(),
            ),
            interrupts: "Nothing: the unit does not run.".into(),
        }
    }

    fn told(&self, node: &str, path: &str, edit: Edit) -> Applied {
        let reload = || run(Program::Systemctl).word("daemon-reload");
        let mut dry_run = edit.dry_run;
        // A drop-in alone is no unit that could be checked.
        if let Some(file) = edit.whole.filter(|_| !path.ends_with(".conf")) {
            dry_run = dry_run.run(
                run(Program::SystemdAnalyze)
                    .words(&["--man=no", "verify"])
                    .on(file),
            );
        }
        Applied {
            title: format!("Change [{}] of {} on {node}", self.section, self.unit),
            changed: vec![entry(node, path)],
            files: edit.files,
            actions: vec![Action {
                text: format!("Write {path} and let systemd read its units again."),
                place: RunsOn::Node(node.to_owned()),
                guard: Some(edit.guard),
                dry_run,
                backup: vec![path.to_owned()],
                act: Act::Script(edit.write.run(reload())),
                expect: format!("'systemctl cat {}' shows the new lines.", self.unit),
                back: Back::Script(edit.back.and(Script::from(reload()))),
                interrupts: "Nothing: a reload of systemd's units stops none of them.".into(),
            }],
            simulated: true,
            ..Applied::default()
        }
    }
}

/// Lines with settings added at the end of a section; the section is added where there is none.
fn with_lines(lines: &[&str], section: &str, add: &[String]) -> String {
    let head = format!("[{section}]");
    let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    match all.iter().position(|line| line.trim() == head) {
        None => {
            all.push(head);
            all.extend(add.iter().cloned());
        }
        Some(start) => {
            let after = all[start + 1..]
                .iter()
                .position(|line| line.trim_start().starts_with('['));
            let mut at = after.map_or(all.len(), |next| start + 1 + next);
            while at > start + 1 && all[at - 1].trim().is_empty() {
                at -= 1;
            }
            all.splice(at..at, add.iter().cloned());
        }
    }
    all.join("\n") + "\n"
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let wants = format!("Wants={}", trial.bad);
    vec![
        serde_json::json!({"unit": {"unit": "kubelet.service", "section": "Unit", "remove": ["BindsTo=a"], "add": [wants]}}),
        serde_json::json!({"unit": {"unit": trial.bad, "section": "Unit", "add": [wants]}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_go_to_the_end_of_their_section() {
        let unit = ["[Unit]", "After=a", "", "[Service]", "ExecStart=/b"];
        assert_eq!(
            with_lines(&unit, "Unit", &["Wants=a".to_owned()]),
            "[Unit]\nAfter=a\nWants=a\n\n[Service]\nExecStart=/b\n"
        );
    }
}
