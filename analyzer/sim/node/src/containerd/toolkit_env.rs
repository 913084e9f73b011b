//! What the NVIDIA container toolkit was given: variables, arguments, mounts.

use serde::Serialize;

use super::args::option;
use super::instances::Evidence;
use super::paths;

/// The drop-in that GPU Operator 25.10 (toolkit 1.18) and later write by default.
pub const DEFAULT_DROP_IN: &str = "/etc/containerd/conf.d/99-nvidia.toml";

/// An environment variable of the toolkit, from a container or from the chart's `toolkit.env`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvVar {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where it was read.
    pub source: Option<Evidence>,
}

/// What a bundle holds about the toolkit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolkitInput {
    /// The environment of the toolkit's container, as the API server shows it.
    pub container_env: Vec<EnvVar>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Mount path in the container and host path, for `hostPath` volumes.
    pub mounts: Vec<(String, String)>,
    /// The chart's `toolkit.env`, used where no container was captured.
    pub chart_env: Vec<EnvVar>,
    /// The version of the toolkit image, such as `v1.17.5-ubuntu20.04`.
    pub version: Option<String>,
    /// Where the container or the values were read, for settings that nobody made.
    pub source: Option<Evidence>,
}

/// A path the toolkit was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// The path on the host.
    pub path: String,
    /// Whether it was set; false for the chart's default.
    pub set: bool,
    /// The variable that decides.
    pub variable: String,
    /// Where it was read.
    pub source: Option<Evidence>,
}

/// The environment that counts.
pub(super) struct Words<'a> {
    env: &'a [EnvVar],
    args: Vec<String>,
    input: &'a ToolkitInput,
    in_container: bool,
}

impl<'a> Words<'a> {
    pub(super) fn new(input: &'a ToolkitInput) -> Self {
        let in_container = !input.container_env.is_empty() || !input.args.is_empty();
        let env = if in_container {
            &input.container_env
        } else {
            &input.chart_env
        };
        // Releases before 1.17 take the runtime's options as one string.
        let runtime_args = env.iter().find(|var| var.name == "RUNTIME_ARGS");
        let mut args: Vec<String> = runtime_args
            .iter()
            .flat_map(|var| var.value.split_whitespace())
            .map(str::to_owned)
            .collect();
        args.extend(input.args.iter().cloned());
        Self {
            env,
            args,
            input,
            in_container,
        }
    }

    /// The first of the names that is set and not empty: the operator looks in this order.
    pub(super) fn env(&self, names: &[&str]) -> Option<&'a EnvVar> {
        names.iter().find_map(|name| {
            self.env
                .iter()
                .find(|var| var.name == *name && !var.value.is_empty())
        })
    }

    /// A path on the host: container paths are translated through the mounts.
    fn host(&self, path: &str) -> Option<String> {
        let path = paths::clean(path);
        if !self.in_container {
            return Some(path);
        }
        let below = |mount: &str| {
            let mount = paths::clean(mount);
            path.strip_prefix(mount.as_str())
                .filter(|rest| rest.is_empty() || rest.starts_with('/') || mount == "/")
                .map(|rest| (mount.len(), rest.to_owned()))
        };
        let mounts = self
            .input
            .mounts
            .iter()
            .filter_map(|(mount, host)| Some((below(mount)?, host)));
        match mounts.max_by_key(|((length, _), _)| *length) {
            Some(((_, rest), host)) => Some(paths::join(host, &rest)),
            // The operator mounts everything it names below /runtime: a path there is none of the host.
            None if path.starts_with("/runtime/") => None,
            None => Some(path),
        }
    }

    pub(super) fn target(
        &self,
        names: &[&str],
        flag: &str,
        default: Option<&str>,
    ) -> Option<Target> {
        let variable = names.first().copied().unwrap_or_default().to_owned();
        if let Some(given) = option(&self.args, &[flag]) {
            let source = self.input.source.clone();
            return Some(Target {
                path: self.host(&given)?,
                set: true,
                variable: format!("--{flag}"),
                source,
            });
        }
        if let Some(var) = self.env(names) {
            let path = self.host(&var.value)?;
            return Some(Target {
                path,
                set: true,
                variable: var.name.clone(),
                source: var.source.clone(),
            });
        }
        let source = self.input.source.clone();
        default.map(|path| Target {
            path: path.to_owned(),
            set: false,
            variable,
            source,
        })
    }

    pub(super) fn drop_in(&self, version: Option<&str>) -> Option<Target> {
        let host = self.env(&["RUNTIME_DROP_IN_CONFIG_HOST_PATH"]);
        if let Some(var) = host {
            let path = paths::clean(&var.value);
            return Some(Target {
                path,
                set: true,
                variable: var.name.clone(),
                source: var.source.clone(),
            });
        }
        // In a container the operator has spelled every default out; bare values leave it to the release.
        let by_default = !self.in_container
            && version
                .and_then(minor)
                .is_some_and(|minor| minor >= (1, 18));
        self.target(
            &["RUNTIME_DROP_IN_CONFIG"],
            "drop-in-config",
            by_default.then_some(DEFAULT_DROP_IN),
        )
    }
}

/// Major and minor number of an image tag.
fn minor(tag: &str) -> Option<(u32, u32)> {
    let mut parts = tag.trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}
