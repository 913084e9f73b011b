//! What stands beside containerd's own configuration: Docker and CRI-O, registries, device specifications (CDI),
//! the programs that handlers name, and cgroup drivers. Pure: captured files in, explained answers out.

pub mod cdi;
pub mod cgroups;
pub mod crio;
pub mod docker;
pub mod programs;
pub mod registry;

use serde::Serialize;

use crate::containerd::{Answer, FileLine};

/// A handler of a runtime, and whether it can be asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuntimeHandler {
    /// Its name.
    pub name: String,
    /// Whether the runtime has it.
    pub resolves: Answer,
    /// Why, with file and line.
    pub because: String,
    /// The line that decides; none for what is built in or absent.
    pub place: Option<FileLine>,
    /// The program it starts, a path or a name on the path; empty where it names none.
    pub program: String,
}

/// What is wrong with a runtime's configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// `refuses-to-start`, `not-known` or `ignored`.
    pub kind: &'static str,
    /// What is wrong, as a sentence.
    pub detail: String,
    /// Where it stands.
    pub place: Option<FileLine>,
}

/// A runtime's configuration as it would be in effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resolved {
    /// Its main file, as a host path.
    pub config: String,
    /// Files that were read, in order.
    pub files: Vec<String>,
    /// Handlers by name.
    pub handlers: Vec<RuntimeHandler>,
    /// The handler of pods that ask for none.
    pub default_runtime: String,
    /// The line that sets it; none where it is built in.
    pub default_place: Option<FileLine>,
    /// `systemd`, `cgroupfs` or empty where it cannot be known.
    pub cgroup_driver: String,
    /// The line that sets it; none where it is built in.
    pub cgroup_place: Option<FileLine>,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

impl Resolved {
    /// Whether the runtime starts with this configuration.
    #[must_use]
    pub fn starts(&self) -> bool {
        !self.faults.iter().any(|fault| fault.kind == REFUSES)
    }

    /// Whether a handler can be asked for; the empty name asks for the default.
    #[must_use]
    pub fn check(&self, runtime: &str, name: &str) -> RuntimeHandler {
        let asked = if name.is_empty() {
            self.default_runtime.as_str()
        } else {
            name
        };
        let absent = |because: String, place: Option<&FileLine>| RuntimeHandler {
            name: asked.to_owned(),
            resolves: Answer::No,
            because,
            place: place.cloned(),
            program: String::new(),
        };
        if let Some(fault) = self.faults.iter().find(|fault| fault.kind == REFUSES) {
            let because = format!("{runtime} refuses to start: {}", fault.detail);
            return absent(because, fault.place.as_ref());
        }
        let unsure = self.faults.iter().find(|fault| fault.kind == UNSURE);
        let found = self.handlers.iter().find(|handler| handler.name == asked);
        if let Some(fault) = unsure {
            return RuntimeHandler {
                resolves: Answer::Unknown,
                because: fault.detail.clone(),
                program: found.map_or_else(String::new, |one| one.program.clone()),
                ..absent(String::new(), fault.place.as_ref())
            };
        }
        if let Some(found) = found {
            return found.clone();
        }
        let defined: Vec<&str> = self.handlers.iter().map(|one| one.name.as_str()).collect();
        let files = if self.files.is_empty() {
            "no file".to_owned()
        } else {
            self.files.join(", ")
        };
        absent(
            format!(
                "no runtime {asked:?} in {files}; {runtime} has {}",
                defined.join(", ")
            ),
            None,
        )
    }
}

/// The kind of a fault that keeps the runtime from starting.
pub const REFUSES: &str = "refuses-to-start";
/// The kind of a fault that leaves open what the runtime does: a file that was not captured, a release that is not known.
pub const UNSURE: &str = "not-known";
/// The kind of a fault that changes nothing: a key that is accepted and never read.
pub const IGNORED: &str = "ignored";

/// The line of the first occurrence of a quoted key, for formats that are parsed without spans.
pub(crate) fn line_of_key(text: &str, key: &str) -> u32 {
    let quoted = format!("\"{key}\"");
    let names = |line: &str| {
        line.match_indices(&quoted).any(|(at, _)| {
            let rest = line.get(at + quoted.len()..).unwrap_or_default();
            rest.trim_start().starts_with(':')
        })
    };
    let hit = (1u32..).zip(text.lines()).find(|(_, line)| names(line));
    hit.map_or(1, |(number, _)| number)
}
