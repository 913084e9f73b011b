//! A runtime handler in a containerd's configuration, in the schema of that file.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry;
use super::host_file::HostFile;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

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
    /// Unit to restart after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for ContainerdRuntime {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let before = state
            .now(&entry(&self.node, &self.path))
            .unwrap_or_default();
        let file = HostFile {
            node: self.node.clone(),
            path: self.path.clone(),
            merge_toml: Some(tables(&before, &self.handler, self.binary.as_deref())),
            restart: self.restart.clone(),
            ..HostFile::default()
        };
        file.apply(state)
    }
}

/// The tables of a handler in the schema of a file; options follow runc's, as the NVIDIA toolkit copies them.
pub(super) fn tables(file: &str, handler: &str, binary: Option<&str>) -> String {
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
    if systemd_cgroup(&document) {
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
