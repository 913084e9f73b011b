//! A flag of the kubelet's command line, in the file that its unit takes arguments from.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::host_file::HostFile;
use super::kubelet_config::{UNIT, follow_resolver};
use super::sets;
use super::{entry, first_collected};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const FILES: [&str; 4] = [
    "/var/lib/kubelet/kubeadm-flags.env",
    "/etc/default/kubelet",
    "/etc/sysconfig/kubelet",
    "/var/snap/k8s/common/args/kubelet",
];

/// A flag that the kubelet shall have or lose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KubeletFlag {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The file; the first usual one that was collected if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Flag without dashes, e.g. `container-runtime-endpoint`.
    pub flag: String,
    /// Value; none removes the flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Unit to restart after it; `kubelet.service` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl Kind for KubeletFlag {
    fn sets(&self) -> Vec<(String, String)> {
        vec![(
            format!("--{}", self.flag),
            sets::word(self.value.as_deref()),
        )]
    }

    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let plain = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte))
        };
        if self.flag.is_empty() || !plain(&self.flag) || !self.value.as_deref().is_none_or(plain) {
            return Err(Refused::new(format!(
                "--{} with the value {:?} cannot stand in an arguments file without quotes",
                self.flag, self.value
            )));
        }
        let node = super::node(self.node.as_deref(), state)?;
        let path = first_collected(state, &node, self.path.as_deref(), &FILES)?;
        let before = state.now(&entry(&node, &path)).unwrap_or_default();
        let after = with_flag(&before, &self.flag, self.value.as_deref());
        if after == before {
            return Err(Refused::new(format!(
                "{path} has --{} like that already, or has none to remove",
                self.flag
            )));
        }
        let file = HostFile {
            node: node.clone(),
            path,
            content: Some(after),
            restart: self.unit.clone().or(Some(UNIT.to_owned())),
            ..HostFile::default()
        };
        let mut applied = file.apply(state)?;
        if let ("resolv-conf", Some(file)) = (self.flag.as_str(), &self.value) {
            follow_resolver(state, &node, file, &mut applied);
        }
        if follow(state, &node, &self.flag, self.value.as_deref()) {
            applied
                .changed
                .push(Entry::Node(&node, "processes.json").path());
        }
        Ok(applied)
    }
}

/// A text of arguments with a flag set or removed; quotes of an assignment stay around all of them.
fn with_flag(text: &str, flag: &str, value: Option<&str>) -> String {
    let new = value.map(|value| format!("--{flag}={value}"));
    let name = format!("--{flag}");
    let mut found = false;
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with('#') || !line.contains(&name) {
            lines.push(line.to_owned());
            continue;
        }
        let edited = in_line(line, &name, new.as_deref(), &mut found);
        if !edited.trim().is_empty() {
            lines.push(edited);
        }
    }
    if let (false, Some(new)) = (found, new.as_deref()) {
        let assignment = lines.iter_mut().rev().find(|line| line.contains("ARGS="));
        match assignment {
            Some(line) if line.ends_with('"') => {
                line.pop();
                let gap = if line.ends_with('"') { "" } else { " " };
                line.extend([gap, new, "\""]);
            }
            Some(line) => line.extend([" ", new]),
            None => lines.push(new.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

fn in_line(line: &str, name: &str, new: Option<&str>, found: &mut bool) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut words = line.split(' ').peekable();
    while let Some(word) = words.next() {
        let Some(at) = word.find(name) else {
            kept.push(word.to_owned());
            continue;
        };
        let (head, rest) = (&word[..at], &word[at + name.len()..]);
        let bare = rest.trim_end_matches(['"', '\'']);
        if !bare.is_empty() && !bare.starts_with('=') {
            kept.push(word.to_owned());
            continue;
        }
        let mut tail = rest[bare.len()..].to_owned();
        if bare.is_empty()
            && tail.is_empty()
            && words.peek().is_some_and(|next| !next.starts_with('-'))
        {
            let value = words.next().unwrap_or_default();
            tail = value[value.trim_end_matches(['"', '\'']).len()..].to_owned();
        }
        let once = new.filter(|_| !*found).unwrap_or_default();
        *found = true;
        let word = format!("{head}{once}{tail}");
        if !word.is_empty() {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// The restarted kubelet has the flag in its arguments.
fn follow(state: &mut Captured, node: &str, flag: &str, value: Option<&str>) -> bool {
    let path = Entry::Node(node, "processes.json").path();
    let Some(mut list) = state
        .now(&path)
        .and_then(|text| serde_json::from_str::<Value>(&text).ok())
    else {
        return false;
    };
    let mut changed = false;
    for process in list["processes"].as_array_mut().into_iter().flatten() {
        if process["comm"] != "kubelet" {
            continue;
        }
        let arguments: Vec<String> = process["cmdline"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one.as_str().map(str::to_owned))
            .collect();
        let text = with_flag(&arguments.join("\n"), flag, value);
        process["cmdline"] = text.lines().map(Value::from).collect();
        changed = true;
    }
    if changed {
        let lines: Vec<String> = list["processes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(Value::to_string)
            .collect();
        state.set(
            &path,
            format!("{{\"processes\":[\n{}\n]}}\n", lines.join(",\n")),
        );
    }
    changed
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![serde_json::json!({"kubelet-flag": {"flag": "x", "value": trial.bad}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_replaced_added_and_removed_inside_the_quotes() {
        let env = "KUBELET_KUBEADM_ARGS=\"--a=1 --max-pods=110\"\n";
        assert_eq!(
            with_flag(env, "max-pods", Some("200")),
            "KUBELET_KUBEADM_ARGS=\"--a=1 --max-pods=200\"\n"
        );
        assert_eq!(
            with_flag(env, "b", Some("2")),
            "KUBELET_KUBEADM_ARGS=\"--a=1 --max-pods=110 --b=2\"\n"
        );
        assert_eq!(
            with_flag(env, "a", None),
            "KUBELET_KUBEADM_ARGS=\" --max-pods=110\"\n"
        );
        assert_eq!(
            with_flag("--a 1\n--ab=2\n", "a", Some("3")),
            "--a=3\n--ab=2\n"
        );
    }
}
