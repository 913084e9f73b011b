//! Quotes inside the kubelet's arguments, which systemd hands over as part of the value.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host_file::HostFile;
use super::kubelet_config::UNIT;
use super::{copies, entry};
use crate::change::captured::Captured;
use crate::change::shell::{Program, run};
use crate::change::{Act, Applied, Back, Kind, Refused};

/// Files that the kubelet's unit takes arguments from.
const FILES: [&str; 3] = [
    "/var/lib/kubelet/kubeadm-flags.env",
    "/etc/default/kubelet",
    "/etc/sysconfig/kubelet",
];

/// A node whose kubelet has quotes in its flags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KubeletUnquote {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl Kind for KubeletUnquote {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let node = super::node(self.node.as_deref(), state)?;
        let prefix = copies(&node);
        let is_own = |path: &&str| FILES.contains(path) || path.contains("/kubelet.service");
        let files = state
            .paths()
            .filter_map(|path| path.strip_prefix(prefix.as_str()));
        let files: Vec<String> = files.filter(is_own).map(str::to_owned).collect();
        let mut all = Applied::default();
        for path in files {
            let before = state.now(&entry(&node, &path)).unwrap_or_default();
            let after = unquoted(&before).map_err(|line| {
                Refused::new(format!("{path} on {node}, line {line}: a quoted value holds a space or a dollar sign, so what it was meant to be is not known"))
            })?;
            if after != before {
                let file = HostFile {
                    node: node.clone(),
                    path,
                    content: Some(after),
                    ..HostFile::default()
                };
                all.absorb(file.apply(state)?);
            }
        }
        let Some(last) = all.actions.pop() else {
            return Err(Refused::new(format!(
                "no collected file of {node} quotes a value of the kubelet's flags"
            )));
        };
        // The unit's own files are read by systemd first, and the kubelet is started once, after the last of them.
        let file = HostFile {
            node: node.clone(),
            restart: Some(UNIT.to_owned()),
            ..HostFile::default()
        };
        let reload = || run(Program::Systemctl).word("daemon-reload");
        let act = match last.act {
            Act::Script(script) => Act::Script(script.run(reload())),
            other => other,
        };
        let back = match last.back {
            Back::Script(script) => Back::Script(script.run(reload())),
            other => other,
        };
        all.actions
            .push(crate::change::Action { act, back, ..last });
        file.restarted(state, &mut all);
        all.title = format!("Take the quotes out of the kubelet's flags on {node}");
        all.simulated = true;
        Ok(all)
    }
}

/// The text with flags as `--name=value` instead of `--name="value"`, where an assignment around them would hand the
/// quotes on; or the number of a line whose value falls apart without them.
fn unquoted(text: &str) -> Result<String, usize> {
    let flag = Regex::new(r#"--[a-z][a-z0-9-]*=((?:\\*["'])+)"#).map_err(|_| 0_usize)?;
    let head = Regex::new(r"^\s*(?:Environment=|ExecStart=|[A-Z_]*ARGS=)").map_err(|_| 0_usize)?;
    let mut lines = Vec::new();
    for (number, line) in (1_usize..).zip(text.lines()) {
        lines.push(if head.is_match(line) {
            line_unquoted(line, &flag).ok_or(number)?
        } else {
            line.to_owned()
        });
    }
    Ok(lines.join("\n") + if text.ends_with('\n') { "\n" } else { "" })
}

/// One line; none where a value holds what would end it without its quotes. systemd takes quotes away once, and once more
/// where it splits a variable, so that those which reach the kubelet may be escaped more than once, or stand in others.
fn line_unquoted(line: &str, flag: &Regex) -> Option<String> {
    let (mut done, mut rest) = (String::new(), line);
    while let Some(found) = flag.captures(rest) {
        let quotes = found.get(1)?;
        let opening = marks(quotes.as_str());
        let closing: String = opening.iter().rev().copied().collect();
        let value = &rest[quotes.end()..];
        let end = value.find(['"', '\'', '\\']).unwrap_or(value.len());
        // An unescaped `"` is one of the assignment's own.
        let inner = !opening.contains(&"\"") && value[end..].starts_with(&closing);
        if !inner {
            done.push_str(&rest[..quotes.end()]);
            rest = value;
            continue;
        }
        let value_alone = &value[..end];
        if value_alone.contains(|c: char| c.is_whitespace() || c == '$') {
            return None;
        }
        done.push_str(&rest[..quotes.start()]);
        done.push_str(value_alone);
        rest = &value[end + closing.len()..];
    }
    Some(done + rest)
}

/// Quotes that follow one another, each with the backslashes before it.
fn marks(text: &str) -> Vec<&str> {
    text.split_inclusive(['"', '\'']).collect()
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"kubelet-unquote": {"node": trial.node}}),
        serde_json::json!({"kubelet-unquote": {"node": trial.bad}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn quotes_of_a_value_go_and_those_of_the_assignment_stay() {
        for (before, after) in [
            (
                r#"Environment="KUBELET_EXTRA_ARGS=--cgroup-driver=\"systemd\" --v=2""#,
                r#"Environment="KUBELET_EXTRA_ARGS=--cgroup-driver=systemd --v=2""#,
            ),
            (
                "KUBELET_EXTRA_ARGS=--container-runtime-endpoint='unix:///run/x.sock'\n",
                "KUBELET_EXTRA_ARGS=--container-runtime-endpoint=unix:///run/x.sock\n",
            ),
            (
                r#"Environment="KUBELET_ARGS=--node-ip='192.0.2.7'""#,
                r#"Environment="KUBELET_ARGS=--node-ip=192.0.2.7""#,
            ),
            (
                r#"KUBELET_KUBEADM_ARGS="--a=1 --b=2""#,
                r#"KUBELET_KUBEADM_ARGS="--a=1 --b=2""#,
            ),
            ("# --a='b'\n", "# --a='b'\n"),
            (
                r#"ExecStart=/usr/bin/kubelet --cgroup-driver=\"systemd\" --v=2"#,
                r#"ExecStart=/usr/bin/kubelet --cgroup-driver=systemd --v=2"#,
            ),
            (
                r#"KUBELET_EXTRA_ARGS="--cgroup-driver=\\\"systemd\\\"""#,
                r#"KUBELET_EXTRA_ARGS="--cgroup-driver=systemd""#,
            ),
            (
                r#"KUBELET_EXTRA_ARGS="--cgroup-driver='\"systemd\"'""#,
                r#"KUBELET_EXTRA_ARGS="--cgroup-driver=systemd""#,
            ),
            (
                r#"KUBELET_EXTRA_ARGS=--a="b" --c=d"#,
                r#"KUBELET_EXTRA_ARGS=--a="b" --c=d"#,
            ),
        ] {
            assert_eq!(unquoted(before).as_deref(), Ok(after));
        }
        assert_eq!(
            unquoted("\nKUBELET_EXTRA_ARGS=--node-labels='a=1 b=2'\n"),
            Err(2)
        );
    }
}
