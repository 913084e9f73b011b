//! A kernel parameter, now and after the next boot.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry;
use crate::change::captured::Captured;
use crate::change::shell::{Line, New, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, HandOver, Kind, Refused, RunsOn};

/// Where settings that belong to nobody else are kept, one a file.
const FOLDER: &str = "/etc/sysctl.d";

/// Where systemd-sysctl looks, see sysctl.d(5): of two files that set a parameter that counts whose name sorts later,
/// in whichever folder it lies.
const FOLDERS: [&str; 5] = [
    FOLDER,
    "/run/sysctl.d",
    "/usr/local/lib/sysctl.d",
    "/usr/lib/sysctl.d",
    "/lib/sysctl.d",
];
/// The old file, and the name by which Debian and Ubuntu link it into the folder.
const OLD_FILE: (&str, &str) = ("/etc/sysctl.conf", "99-sysctl.conf");

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
    fn sets(&self) -> Vec<(String, String)> {
        vec![(
            format!("{} on {}", self.name, self.node),
            self.value.clone(),
        )]
    }

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
        let kept = self.kept(state)?;
        Ok(self.told(state, &proc, captured, &before, &kept))
    }
}

impl Sysctl {
    fn told(
        &self,
        state: &mut Captured,
        proc: &str,
        captured: String,
        before: &str,
        kept: &Kept,
    ) -> Applied {
        let (name, value) = (&self.name, &self.value);
        let Kept { file_name, after } = kept;
        let path = format!("{FOLDER}/{file_name}");
        let (file, beside) = (Word::text(&path), state.fresh_name(file_name));
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
                text: format!("Set {name} now and for the next boot{after}."),
                place: RunsOn::Node(self.node.clone()),
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

    /// A file that sorts behind the one that sets the parameter last, or it would be undone at the next boot. A name that
    /// sorts behind all of ours, as somebody may make one up, is refused.
    fn kept(&self, state: &mut Captured) -> Result<Kept, Refused> {
        let own = format!("casefile-{}.conf", self.name.replace('/', "."));
        let last = self.last_set(state);
        let sorts = last.as_ref().map_or("", |(path, _)| sorts_as(path));
        let file_name = ["90", "zz", "zzz"]
            .map(|first| format!("{first}-{own}"))
            .into_iter()
            .find(|name| name.as_str() > sorts);
        let after = match &last {
            Some((path, set)) if *set != self.value => {
                format!("; the file is read after {path}, which sets it to {set}")
            }
            _ => String::new(),
        };
        let file_name = file_name.ok_or_else(|| {
            Refused::new(format!(
                "{sorts} sets {} and is read after every other file; change it there",
                self.name
            ))
        })?;
        Ok(Kept { file_name, after })
    }

    /// The captured file that sets the parameter last at a boot, with its value.
    fn last_set(&self, state: &mut Captured) -> Option<(String, String)> {
        let copies = super::copies(&self.node);
        let is_settings = |path: &str| {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            path == OLD_FILE.0 || (FOLDERS.contains(&folder) && path.ends_with(".conf"))
        };
        let mut paths: Vec<String> = state
            .paths()
            .filter_map(|path| path.strip_prefix(&copies))
            .filter(|path| is_settings(path))
            .map(str::to_owned)
            .collect();
        paths.sort_by(|a, b| sorts_as(a).cmp(sorts_as(b)));
        let plain = |name: &str| name.trim().trim_start_matches('-').replace('/', ".");
        let setting = |text: &str| {
            let lines = text.lines().filter_map(|line| line.split_once('='));
            let mut own = lines.filter(|(name, _)| plain(name) == plain(&self.name));
            own.next_back().map(|(_, value)| value.trim().to_owned())
        };
        paths.into_iter().rev().find_map(|path| {
            let text = state.now(&entry(&self.node, &path))?;
            Some((path, setting(&text)?))
        })
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

/// Where a value is kept for the next boot.
struct Kept {
    /// A file of [`FOLDER`].
    file_name: String,
    /// What a step says of the file that it is read after; empty where none sets another value.
    after: String,
}

/// The name by which a file of settings is put in order.
fn sorts_as(path: &str) -> &str {
    match path == OLD_FILE.0 {
        true => OLD_FILE.1,
        false => path.rsplit('/').next().unwrap_or_default(),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"sysctl": {"node": trial.node, "name": "net.ipv4.x", "value": trial.bad}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_file_is_read_after_every_other_that_sets_the_parameter() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = folder.path().join("nodes/n1/rootfs").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let change = Sysctl {
            node: "n1".into(),
            name: "net.ipv4.ip_forward".into(),
            value: "1".into(),
        };
        let named = || {
            let mut state = Captured::open(folder.path()).unwrap();
            let kept = change.kept(&mut state).ok().map(|kept| kept.file_name);
            (kept, change.last_set(&mut state).map(|(path, _)| path))
        };
        let is = |name: &str| Some(name.to_owned());
        put("proc/sys/net/ipv4/ip_forward", "0\n");
        put(
            "etc/sysctl.d/99-other.conf",
            "# net.ipv4.ip_forward = 0\nvm.swappiness = 1\n",
        );
        let ninety = "90-casefile-net.ipv4.ip_forward.conf";
        assert_eq!(named(), (is(ninety), None));
        put(
            "usr/lib/sysctl.d/10-forward.conf",
            "net/ipv4/ip_forward=0\n",
        );
        assert_eq!(named().0, is(ninety));
        put("etc/sysctl.conf", "net.ipv4.ip_forward=0\n");
        let (name, last) = named();
        assert_eq!(name, is("zz-casefile-net.ipv4.ip_forward.conf"));
        assert_eq!(last.as_deref(), Some("/etc/sysctl.conf"));
        put("etc/sysctl.d/zz-hard.conf", "-net.ipv4.ip_forward = 0\n");
        assert_eq!(named().0, is("zzz-casefile-net.ipv4.ip_forward.conf"));
        put("etc/sysctl.d/~.conf", "net.ipv4.ip_forward = 0\n");
        assert_eq!(named().0, None, "no name of ours sorts behind it");
    }
}
