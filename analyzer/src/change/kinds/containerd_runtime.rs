//! A runtime handler in a containerd's configuration, in the schema of that file.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry;
use super::generated::Generated;
use super::host_file::HostFile;
use super::restart::Restart;
use crate::change::captured::Captured;
use crate::change::shell::{Test, Word};
use crate::change::{Action, Applied, Guard, Kind, Refused};

/// Where K3s and RKE2 look for the programs of runtimes, the first wins.
const SEARCHED: [&str; 5] = [
    "/usr/local/nvidia/toolkit",
    "/usr/sbin",
    "/usr/bin",
    "/usr/local/bin",
    "/usr/local/sbin",
];

/// A handler that a file shall define.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContainerdRuntime {
    /// Node.
    pub node: String,
    /// Root file or drop-in.
    pub path: String,
    /// Handler, e.g. `runc`.
    pub handler: String,
    /// Its program, where it is not the shim's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// Ask for systemd's control groups, whether or not runc in this file does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub systemd_cgroup: bool,
    /// Unit to restart after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for ContainerdRuntime {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let before = state
            .now(&entry(&self.node, &self.path))
            .unwrap_or_default();
        if let Some(generated) = Generated::of(&self.path, &before)
            && let Some(program) = Generated::finds(&self.handler)
        {
            // What the writer itself leaves out comes with another release of it only.
            if self.systemd_cgroup {
                return Err(generated.refused());
            }
            return self.found(state, &generated, &before, program);
        }
        let file = HostFile {
            node: self.node.clone(),
            path: self.path.clone(),
            merge_toml: Some(self.tables(&before)),
            restart: self.restart.clone(),
            ..HostFile::default()
        };
        file.apply(state)
    }
}

impl ContainerdRuntime {
    /// What writes the file defines the handler by itself at its next start, where its program is on the node.
    fn found(
        &self,
        state: &mut Captured,
        generated: &Generated,
        before: &str,
        program: &str,
    ) -> Result<Applied, Refused> {
        let Some(unit) = &self.restart else {
            return Err(generated.refused());
        };
        let captured = entry(&self.node, &self.path);
        state.set(&captured, generated.rendered(before, &self.tables(before))?);
        let restart = Restart {
            node: self.node.clone(),
            unit: unit.clone(),
        };
        let mut applied = match restart.seen(state) {
            Ok(applied) => applied,
            Err(refused) => Applied {
                actions: vec![restart.unseen().ok_or(refused)?],
                simulated: true,
                ..Applied::default()
            },
        };
        for action in &mut applied.actions {
            self.needs(program, action);
            action.text = format!(
                "Restart {unit}, which looks for {program} at its start and defines {} in {}.",
                self.handler, self.path
            );
            action.expect = format!("{} defines the runtime {}.", self.path, self.handler);
        }
        applied.title = format!("Restart {unit} on {}, which finds {program}", self.node);
        applied.changed.push(captured);
        applied.runtime = vec![format!(
            "{} is made anew when {unit} starts on {}, with the runtime {} where {program} is there; only the node shows that",
            self.path, self.node, self.handler
        )];
        Ok(applied)
    }

    fn tables(&self, file: &str) -> String {
        tables(
            file,
            &self.handler,
            self.binary.as_deref(),
            self.systemd_cgroup,
        )
    }

    /// The step is only taken where the program is one that the search finds.
    fn needs(&self, program: &str, action: &mut Action) {
        let places = SEARCHED.map(|folder| Word::text(format!("{folder}/{program}")));
        let mut says = format!("{program} is on {}", self.node);
        let mut tests = vec![Test::AnyThere(places.into())];
        if let Some(guard) = action.guard.take() {
            says = format!("{says}, and {}", guard.says);
            tests.push(guard.test);
        }
        action.guard = Some(Guard {
            test: Test::All(tests),
            says,
        });
    }
}

/// The tables of a handler in the schema of a file; options follow runc's, as the NVIDIA toolkit copies them, unless
/// systemd's control groups are asked for.
pub(super) fn tables(file: &str, handler: &str, binary: Option<&str>, systemd: bool) -> String {
    let document: toml::Table = toml::from_str(file).unwrap_or_default();
    let version = document.get("version").and_then(toml::Value::as_integer);
    let plugin = match version {
        Some(3..) => "plugins.\"io.containerd.cri.v1.runtime\"",
        Some(2) => "plugins.\"io.containerd.grpc.v1.cri\"",
        // An empty file gets a version below; one without a version is of the first schema.
        None if document.is_empty() => "plugins.\"io.containerd.grpc.v1.cri\"",
        _ => "plugins.cri",
    };
    let head = if document.is_empty() {
        "version = 2\n"
    } else {
        ""
    };
    let table = format!("{plugin}.containerd.runtimes.{}", quoted_key(handler));
    let mut options = String::new();
    if let Some(binary) = binary {
        let _ = writeln!(
            options,
            "BinaryName = {}",
            toml::Value::String(binary.to_owned())
        );
    }
    if systemd || systemd_cgroup(&document) {
        options.push_str("SystemdCgroup = true\n");
    }
    if !options.is_empty() {
        options.insert_str(0, &format!("[{table}.options]\n"));
    }
    format!("{head}[{table}]\nruntime_type = \"io.containerd.runc.v2\"\n{options}")
}

/// Whether runc's options in a configuration ask for systemd's control groups.
fn systemd_cgroup(document: &toml::Table) -> bool {
    let plugins = document.get("plugins").and_then(toml::Value::as_table);
    let runtimes = plugins.into_iter().flat_map(|plugins| plugins.values());
    runtimes
        .filter_map(|plugin| {
            let runc = plugin.get("containerd")?.get("runtimes")?.get("runc")?;
            runc.get("options")?.get("SystemdCgroup")?.as_bool()
        })
        .any(|set| set)
}

fn quoted_key(key: &str) -> String {
    let bare = key
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if bare && !key.is_empty() {
        key.to_owned()
    } else {
        toml::Value::String(key.to_owned()).to_string()
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"containerd-runtime": {"node": trial.node, "path": "/etc/containerd/config.toml", "handler": trial.bad, "binary": trial.bad}}),
    ]
}
