//! The configuration a containerd would run with, as the result of loading it.

use std::collections::BTreeSet;

use serde::Serialize;

pub use super::load::resolve;
use super::problem::{ConfigProblem, Effect};
use super::release::{Containerd, Release};
use super::value::{FileLine, Section, Setting};

/// Where containerd looks without `--config`.
pub const DEFAULT_CONFIG: &str = "/etc/containerd/config.toml";

/// The root file of an instance.
#[derive(Clone, Copy, Debug)]
pub struct RootFile<'a> {
    /// Its host path.
    pub path: &'a str,
    /// Whether `--config` names it. An implicit root file may be absent: built-in defaults apply then.
    pub explicit: bool,
}

/// A file that was read, in the order of reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadedFile {
    /// The host path, as containerd spells it.
    pub host_path: String,
    /// The copy in the bundle.
    pub bundle_path: String,
    /// The schema version it states; 0 where it states none.
    pub schema: i64,
    /// The import that names it; none for the root file.
    pub imported_at: Option<FileLine>,
}

/// An item of a list that containerd joins over files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListItem {
    /// The item in effect.
    pub value: String,
    /// Its line.
    pub place: FileLine,
}

/// A setting that is in a file but not in effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The dotted key.
    pub key: String,
    /// What it said, and where.
    pub setting: Setting,
    /// The line that made it void.
    pub by: FileLine,
    /// Why.
    pub why: &'static str,
}

/// Whether the daemon starts with this configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Starts {
    /// Nothing found that stops it.
    Yes,
    /// It ends with an error.
    No,
    /// A file that decides this was not captured.
    Unknown,
}

/// The configuration in effect. Built-in defaults are not filled in; [`super::cri_view`] does that for the CRI part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EffectiveConfig {
    /// The daemon's version and the rules in use.
    pub containerd: Containerd,
    /// The root file.
    pub root_path: String,
    /// Whether the root file is absent and built-in defaults apply.
    pub built_in: bool,
    /// The files read, in order.
    pub files: Vec<LoadedFile>,
    /// The schema version after merging; decides how plugin tables are named.
    pub schema: i64,
    /// `disabled_plugins` of all files.
    pub disabled_plugins: Vec<ListItem>,
    /// `required_plugins` of all files.
    pub required_plugins: Vec<ListItem>,
    /// `imports` of all files.
    pub imports: Vec<ListItem>,
    /// All other top-level settings (`root`, `state`, `grpc`, …).
    pub top: Section,
    /// The plugin tables, merged and migrated.
    pub plugins: Section,
    /// Settings that are in a file but not in effect.
    pub dropped: Vec<Dropped>,
    /// What is wrong, in the order of loading.
    pub problems: Vec<ConfigProblem>,
}

impl EffectiveConfig {
    /// Whether the daemon starts with this configuration.
    #[must_use]
    pub fn starts(&self) -> Starts {
        let effects: BTreeSet<Effect> = self.problems.iter().map(ConfigProblem::effect).collect();
        if effects.contains(&Effect::RefusesToStart) {
            Starts::No
        } else if effects.contains(&Effect::Uncertain) {
            Starts::Unknown
        } else {
            Starts::Yes
        }
    }

    /// Whether any part that decides the result is missing from the capture.
    #[must_use]
    pub fn uncertain(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.effect() == Effect::Uncertain)
    }

    /// A top-level setting such as `["grpc", "address"]`, wherever this release keeps it.
    #[must_use]
    pub fn top(&self, path: &[&str]) -> Option<&Setting> {
        if path == ["grpc", "address"]
            && let Some(moved) = self
                .plugins
                .setting(&["io.containerd.server.v1.grpc", "address"])
            && self.containerd.release == Release::V2_3
        {
            return Some(moved);
        }
        self.top
            .setting(path)
            .filter(|setting| !setting.value.is_zero())
    }
}
