//! A file of the node that is written, edited or removed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::generated::Generated;
use super::node_file::{self, check_path};
use super::toml_text::{merge_toml, remove_toml};
use super::{entry, restart};
use crate::change::captured::Captured;
use crate::change::shell::{Line, Program, Reader, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, HandOver, Kind, Refused, RunsOn};

/// A file and what it shall hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostFile {
    /// Node.
    pub node: String,
    /// Absolute path.
    pub path: String,
    /// The whole content; for a file that is ours alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// TOML to merge into the file, keeping its comments and order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_toml: Option<String>,
    /// Tables or keys to take out of a TOML file, as dotted keys; its comments and order stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remove_toml: Vec<String>,
    /// Remove the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    /// Unit to restart after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for HostFile {
    fn sets(&self) -> Vec<(String, String)> {
        let what = match (&self.content, self.remove) {
            (Some(content), _) => content.clone(),
            (None, true) => "removed".to_owned(),
            (None, false) => return Vec::new(),
        };
        vec![(format!("{} on {}", self.path, self.node), what)]
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        check_path(&self.path)?;
        let captured = entry(&self.node, &self.path);
        let mut paths = state.paths();
        if !paths.any(|path| crate::scan::node_of(path) == self.node) {
            return Err(Refused::new(format!(
                "the bundle holds no files of node {:?}",
                self.node
            )));
        }
        drop(paths);
        let before = state.now(&captured);
        if let Some(text) = before.as_deref()
            && let Some(generated) = Generated::of(&self.path, text)
        {
            return self.through_template(state, &generated, text);
        }
        let made = before.as_deref();
        if let Some(line) = made.and_then(|text| Generated::without_template(&self.path, text)) {
            return Err(Refused::new(format!(
                "{} is written anew by a program (line {line} says so), so this change of it would be lost. A person changes what that program makes it of",
                self.path
            )));
        }
        let pasted = state.is_pasted(&captured);
        let after = self.content_after(before.as_deref())?;
        let (action, files) = if self.remove {
            (self.removed(state, &captured), Vec::new())
        } else {
            self.written(state, &after)?
        };
        let mut applied = Applied {
            title: format!(
                "{} {} on {}",
                self.verb(before.is_some()),
                self.path,
                self.node
            ),
            changed: vec![captured],
            files,
            actions: vec![action],
            assumes: Vec::new(),
            simulated: true,
            ..Applied::default()
        };
        if pasted {
            applied.assumes.push(format!(
                "{} was pasted as a whole: a part that was not pasted stays as it is and is not known here",
                self.path
            ));
        }
        self.restarted(state, &mut applied);
        Ok(applied)
    }
}

impl HostFile {
    /// A file that is made anew of a template: the template gets what is added.
    fn through_template(
        &self,
        state: &mut Captured,
        generated: &Generated,
        text: &str,
    ) -> Result<Applied, Refused> {
        let only_merges = self.content.is_none() && self.remove_toml.is_empty() && !self.remove;
        let Some(addition) = self.merge_toml.as_ref().filter(|_| only_merges) else {
            return Err(generated.refused());
        };
        let template = state.now(&entry(&self.node, &generated.template));
        let file = Self {
            path: generated.template.clone(),
            content: Some(generated.extended(text, template.as_deref(), addition)?),
            merge_toml: None,
            ..self.clone()
        };
        let mut applied = file.apply(state)?;
        let captured = entry(&self.node, &self.path);
        state.set(&captured, generated.rendered(text, addition)?);
        applied.changed.push(captured);
        applied.runtime.push(format!(
            "{} is made anew of {} on {} when what uses it starts; only the node shows that",
            self.path, generated.template, self.node
        ));
        applied.assumes.push(
            "this release of K3s or RKE2 knows the template \"base\" (it came in 2023)".into(),
        );
        Ok(applied)
    }

    /// The unit that reads the file is restarted after it.
    pub(super) fn restarted(&self, state: &mut Captured, applied: &mut Applied) {
        let Some(unit) = &self.restart else { return };
        let restart = restart::Restart {
            node: self.node.clone(),
            unit: unit.clone(),
        };
        match restart.seen(state) {
            Ok(restarted) => {
                applied.actions.extend(restarted.actions);
                applied.assumes.extend(restarted.assumes);
            }
            Err(refused) => {
                applied.simulated &= !self.path.contains("systemd");
                match restart.unseen() {
                    Some(step) => {
                        applied.actions.push(step);
                        applied.runtime.push(format!(
                            "{unit} on {} is restarted; only the node shows whether it then reads the file ({refused})",
                            self.node
                        ));
                    }
                    None => applied.assumes.push(format!(
                        "{unit} is restarted and reads the file ({refused})"
                    )),
                }
            }
        }
    }

    fn verb(&self, exists: bool) -> &'static str {
        match (self.remove, exists) {
            (true, _) => "Remove",
            (false, true) => "Change",
            (false, false) => "Add",
        }
    }

    /// What the file holds afterwards; a removed file holds nothing.
    fn content_after(&self, before: Option<&str>) -> Result<String, Refused> {
        let edits = self.merge_toml.is_some() || !self.remove_toml.is_empty();
        match (&self.content, edits, self.remove) {
            (Some(content), false, false) => Ok(content.clone()),
            (None, true, false) => {
                // What is added first finds its place beside what goes.
                let addition = self.merge_toml.as_deref().unwrap_or("");
                let merged = merge_toml(&self.path, before.unwrap_or(""), addition)?;
                remove_toml(&self.path, &merged, &self.remove_toml)
            }
            (None, false, true) if before.is_some() => Ok(String::new()),
            (None, false, true) => Err(Refused::new(format!(
                "{} is not in the bundle, so there is nothing to remove",
                self.path
            ))),
            _ => Err(Refused::new(format!(
                "{}: give one of content, merge_toml with remove_toml, or remove",
                self.path
            ))),
        }
    }

    fn written(
        &self,
        state: &mut Captured,
        after: &str,
    ) -> Result<(Action, Vec<HandOver>), Refused> {
        let name = file_name(&self.path);
        let edit = node_file::edit(state, &self.node, &self.path, after, &name)?;
        let script = match reader(&self.path, after, self.restart.as_deref()) {
            Some(reader) => edit.write.read_by(&reader),
            None => edit.write,
        };
        let action = Action {
            text: format!("Write {}.", self.path),
            place: RunsOn::Node(self.node.clone()),
            guard: Some(edit.guard),
            dry_run: edit.dry_run,
            backup: vec![self.path.clone()],
            act: Act::Script(script),
            expect: format!("'cat {}' shows the new content.", self.path),
            back: Back::Script(edit.back),
            interrupts: "Nothing until the program that reads it is restarted.".into(),
        };
        Ok((action, edit.files))
    }

    /// The file is saved whole before, so that its copy in the bundle need not be.
    fn removed(&self, state: &mut Captured, captured: &str) -> Action {
        let file = Word::text(&self.path);
        let known = state.altered(captured).is_none() && !state.is_pasted(captured);
        let first = state.before(captured).filter(|_| known);
        state.set(captured, String::new());
        Action {
            text: format!("Remove {}.", self.path),
            place: RunsOn::Node(self.node.clone()),
            guard: first.map(|text| Guard {
                test: Test::Sha256(file.clone(), casefile_bundle::sha256_hex(text.as_bytes())),
                says: format!("{} is as it was when the bundle was collected", self.path),
            }),
            dry_run: run(Program::Cat).on(file.clone()).into(),
            backup: vec![self.path.clone()],
            act: Act::Script(Line::Remove(file.clone()).into()),
            expect: format!("'ls {}' finds nothing.", self.path),
            back: Back::Script(Line::Restore(file).into()),
            interrupts: "Nothing until the program that reads it is restarted.".into(),
        }
    }
}

/// The program that reads the file when it starts, where it can say before whether it takes it.
fn reader(path: &str, text: &str, restart: Option<&str>) -> Option<Reader> {
    let of_system = restart.is_none_or(|unit| unit.trim_end_matches(".service") == "containerd");
    let containerd = run(Program::Containerd).with("--config", Word::New);
    let containerd = Reader::of_file(containerd.words(&["config", "dump"]));
    let crio = run(Program::Crio);
    match path {
        // Only the file that containerd reads by default is certainly that containerd's.
        "/etc/containerd/config.toml" => Some(containerd),
        "/etc/crio/crio.conf" => Some(Reader::of_file(
            crio.with("--config", Word::New).word("config"),
        )),
        _ if path.starts_with("/etc/crio/crio.conf.d/") => {
            Some(Reader::of_folder(crio.word("config")).where_there())
        }
        // Another containerd may be of another release, which reads other files than the one in the path.
        _ if path.starts_with("/etc/containerd/") && is_of_containerd(text) && of_system => {
            Some(containerd.where_there())
        }
        _ => None,
    }
}

/// Whether a TOML text is a configuration of containerd and not that of a registry or of another program beside it.
fn is_of_containerd(text: &str) -> bool {
    let all: toml::Table = toml::from_str(text).unwrap_or_default();
    let plugins = all.get("plugins").and_then(toml::Value::as_table);
    plugins.is_some_and(|all| all.keys().any(|one| one.starts_with("io.containerd.")))
}

/// The last part of a path; a hosts.toml keeps its folder, since there is one for each registry.
fn file_name(path: &str) -> String {
    let mut parts = path.rsplit('/');
    match (parts.next(), parts.next()) {
        (Some("hosts.toml"), Some(folder)) => format!("{folder}-hosts.toml"),
        (Some(name), _) => name.to_owned(),
        _ => "file".to_owned(),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let path = format!("/etc/containerd/{}", trial.segment);
    let merged = format!("b = {}", toml::Value::String(trial.bad.to_owned()));
    let new = format!("/etc/{}/new", trial.segment);
    vec![
        serde_json::json!({"host-file": {"node": trial.node, "path": path, "merge_toml": merged}}),
        serde_json::json!({"host-file": {"node": trial.node, "path": path, "remove": true}}),
        serde_json::json!({"host-file": {"node": trial.node, "path": new, "content": trial.bad, "restart": trial.bad}}),
    ]
}
