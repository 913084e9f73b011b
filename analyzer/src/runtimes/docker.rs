//! Docker's daemon: `daemon.json` joined with dockerd's flags, as dockerd joins them.
//!
//! Rules from moby's `daemon/config`: a setting may stand in the file or on the command line, never in both, except
//! runtimes; the file given by a flag must exist; `default-runtime` must be a known runtime.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Fault, REFUSES, Resolved, RuntimeHandler, line_of_key};
use crate::containerd::{Answer, Captured, CapturedTree, Evidence, Place};

const FILE: &str = "/etc/docker/daemon.json";
const SNAP_FILE: &str = "/var/snap/docker/current/config/daemon.json";
/// Runtimes that need no entry.
const BUILT_IN: [&str; 2] = ["runc", "io.containerd.runc.v2"];
/// Flags whose key in the file is another word.
const PLURALS: [(&str, &str); 10] = [
    ("H", "hosts"),
    ("host", "hosts"),
    ("exec-opt", "exec-opts"),
    ("storage-opt", "storage-opts"),
    ("log-opt", "log-opts"),
    ("dns-opt", "dns-opts"),
    ("label", "labels"),
    ("insecure-registry", "insecure-registries"),
    ("registry-mirror", "registry-mirrors"),
    ("default-ulimit", "default-ulimits"),
];

/// What is known about a Docker daemon.
#[derive(Clone, Copy)]
pub struct Docker<'a> {
    /// Host files.
    pub tree: &'a dyn CapturedTree,
    /// The command line of the running daemon, with its place; none where none was seen.
    pub process: Option<(&'a [String], &'a Evidence)>,
    /// Whether the host has the unified cgroup hierarchy; none where that was not captured.
    pub cgroup_v2: Option<bool>,
}

/// Resolves the configuration; `None` where neither a daemon nor a file was captured.
#[must_use]
pub fn resolve(docker: Docker<'_>) -> Option<Resolved> {
    let words = docker.process.map_or(&[][..], |(words, _)| words);
    let flags = flags(words);
    let named = flags.get("config-file").and_then(|values| values.last());
    let snap = words.first().is_some_and(|exe| exe.starts_with("/snap/"));
    let usual = if snap { SNAP_FILE } else { FILE };
    let path = named.map_or(usual, String::as_str);
    let mut resolved = Resolved {
        config: path.to_owned(),
        files: Vec::new(),
        handlers: Vec::new(),
        default_runtime: "runc".to_owned(),
        default_place: None,
        cgroup_driver: String::new(),
        cgroup_place: None,
        faults: Vec::new(),
    };
    let file = match docker.tree.read(path) {
        Captured::Content { bundle_path, text } => {
            resolved.files.push(path.to_owned());
            read(path, &bundle_path, &text, &mut resolved)
        }
        Captured::Absent if named.is_some() => {
            let detail = format!("--config-file names {path}, which does not exist");
            resolved.faults.push(refuses(detail, None));
            None
        }
        _ if docker.process.is_none() => return None,
        _ => None,
    };
    let file = file.unwrap_or_default();
    conflicts(&flags, &file, &mut resolved);
    runtimes(&flags, &file, &mut resolved);
    default_runtime(&flags, &file, &mut resolved);
    cgroup_driver(docker, &flags, &file, &mut resolved);
    Some(resolved)
}

/// The file's settings with what is needed to name their lines.
#[derive(Default)]
struct File {
    entries: Map<String, Value>,
    text: String,
    path: String,
    bundle_path: String,
}

impl File {
    fn place(&self, key: &str) -> Option<Place> {
        (!self.text.is_empty()).then(|| Place {
            host_path: self.path.clone(),
            bundle_path: self.bundle_path.clone(),
            line: line_of_key(&self.text, key),
        })
    }
}

fn refuses(detail: String, place: Option<Place>) -> Fault {
    Fault {
        kind: REFUSES,
        detail,
        place,
    }
}

fn read(path: &str, bundle_path: &str, text: &str, resolved: &mut Resolved) -> Option<File> {
    let trimmed = text.trim_start_matches('\u{feff}').trim();
    if trimmed.is_empty() {
        return None;
    }
    let at = |line: usize| Place {
        host_path: path.to_owned(),
        bundle_path: bundle_path.to_owned(),
        line: u32::try_from(line.max(1)).unwrap_or(u32::MAX),
    };
    match serde_json::from_str::<Map<String, Value>>(text.trim_start_matches('\u{feff}')) {
        Ok(entries) => Some(File {
            entries,
            text: text.to_owned(),
            path: path.to_owned(),
            bundle_path: bundle_path.to_owned(),
        }),
        Err(error) => {
            let detail = format!("{path} is not the JSON of a table: {error}");
            resolved
                .faults
                .push(refuses(detail, Some(at(error.line()))));
            None
        }
    }
}

/// Values by flag; a flag without a value has none.
fn flags(words: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut words = words.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let bare = word.trim_start_matches('-');
        if bare.len() == word.len() || bare.is_empty() {
            continue;
        }
        let (name, value) = match bare.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => {
                let next = words.next_if(|next| !next.starts_with('-'));
                (bare, next.cloned())
            }
        };
        let values = out.entry(name.to_owned()).or_default();
        values.extend(value.map(|text| text.trim_matches(['"', '\'']).to_owned()));
    }
    out
}

fn key_of(flag: &str) -> &str {
    let plural = PLURALS.iter().find(|(name, _)| *name == flag);
    plural.map_or(flag, |(_, key)| key)
}

fn conflicts(flags: &BTreeMap<String, Vec<String>>, file: &File, resolved: &mut Resolved) {
    for (flag, values) in flags {
        let key = key_of(flag);
        if key == "runtimes" || flag == "config-file" {
            continue;
        }
        if let Some(set) = file.entries.get(key) {
            let detail = format!(
                "{key} is specified both as a flag (from flag: {}) and in the configuration file (from file: {set})",
                values.join(", ")
            );
            resolved.faults.push(refuses(detail, file.place(key)));
        }
    }
}

fn runtimes(flags: &BTreeMap<String, Vec<String>>, file: &File, resolved: &mut Resolved) {
    for name in BUILT_IN {
        resolved.handlers.push(RuntimeHandler {
            name: name.to_owned(),
            resolves: Answer::Yes,
            because: format!("runtime {name:?} is built into Docker"),
            place: None,
            program: "runc".to_owned(),
        });
    }
    for entry in flags.get("add-runtime").into_iter().flatten() {
        let (name, program) = entry.split_once('=').unwrap_or((entry, ""));
        resolved.handlers.push(RuntimeHandler {
            name: name.to_owned(),
            resolves: Answer::Yes,
            because: format!("dockerd is started with --add-runtime {entry}"),
            place: None,
            program: program.to_owned(),
        });
    }
    let listed = file.entries.get("runtimes").and_then(Value::as_object);
    for (name, entry) in listed.into_iter().flatten() {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        let (program, kind) = (text("path"), text("runtimeType"));
        let place = file.place(name);
        if BUILT_IN.contains(&name.as_str()) {
            let detail = format!("runtime name {name:?} is reserved");
            resolved.faults.push(refuses(detail, place));
            continue;
        }
        let wrong = match (program.is_empty(), kind.is_empty()) {
            (true, true) => Some("has neither a path nor a runtimeType"),
            (false, false) => Some("has both a path and a runtimeType"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            let detail = format!("runtime {name:?} {wrong}");
            resolved.faults.push(refuses(detail, place.clone()));
        }
        let at = place.as_ref().map(Place::to_string).unwrap_or_default();
        resolved.handlers.push(RuntimeHandler {
            name: name.clone(),
            resolves: if wrong.is_some() {
                Answer::No
            } else {
                Answer::Yes
            },
            because: format!("runtime {name:?} is defined at {at}"),
            place,
            program: program.to_owned(),
        });
    }
}

fn default_runtime(flags: &BTreeMap<String, Vec<String>>, file: &File, resolved: &mut Resolved) {
    let key = "default-runtime";
    let in_file = file.entries.get(key).and_then(Value::as_str);
    let in_flag = flags.get(key).and_then(|values| values.last());
    let Some(name) = in_file.or(in_flag.map(String::as_str)) else {
        return;
    };
    resolved.default_runtime = name.to_owned();
    resolved.default_place = in_file.and_then(|_| file.place(key));
    let shim = name.starts_with("io.containerd.") || name.starts_with('/');
    if !shim && !resolved.handlers.iter().any(|one| one.name == name) {
        let detail = format!("specified default runtime {name:?} does not exist");
        let place = resolved.default_place.clone();
        resolved.faults.push(refuses(detail, place));
    }
}

/// `native.cgroupdriver`, and without it systemd on the unified hierarchy and cgroupfs elsewhere.
fn cgroup_driver(
    docker: Docker<'_>,
    flags: &BTreeMap<String, Vec<String>>,
    file: &File,
    resolved: &mut Resolved,
) {
    const OPTION: &str = "native.cgroupdriver=";
    let listed = file.entries.get("exec-opts").and_then(Value::as_array);
    let in_file = listed.into_iter().flatten().filter_map(Value::as_str);
    let in_flag = flags.get("exec-opt").into_iter().flatten();
    let set = in_flag.map(String::as_str).chain(in_file);
    let drivers: Vec<&str> = set.filter_map(|one| one.strip_prefix(OPTION)).collect();
    if let Some(driver) = drivers.last() {
        (*driver).clone_into(&mut resolved.cgroup_driver);
        resolved.cgroup_place = listed.and_then(|_| file.place("exec-opts"));
        if !matches!(*driver, "systemd" | "cgroupfs" | "") {
            let detail = format!("{OPTION}{driver} names no driver: use systemd or cgroupfs");
            let place = resolved.cgroup_place.clone();
            resolved.faults.push(refuses(detail, place));
        }
    }
    if resolved.cgroup_driver.is_empty() {
        resolved.cgroup_driver = match docker.cgroup_v2 {
            Some(true) => "systemd",
            Some(false) => "cgroupfs",
            None => "",
        }
        .to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containerd::MapTree;

    fn docker(json: &str, command: &str, v2: Option<bool>) -> Resolved {
        let mut tree = MapTree::new();
        if !json.is_empty() {
            tree.add(FILE, "nodes/n/rootfs/etc/docker/daemon.json", json);
        }
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let evidence = Evidence {
            path: "nodes/n/processes.json".to_owned(),
            line: 2,
            text: command.to_owned(),
        };
        let process = (!words.is_empty()).then_some((words.as_slice(), &evidence));
        resolve(Docker {
            tree: &tree,
            process,
            cgroup_v2: v2,
        })
        .expect("a daemon or a file is there")
    }

    const NVIDIA: &str = "{\n  \"default-runtime\": \"nvidia\",\n  \"runtimes\": {\n    \"nvidia\": {\n      \"path\": \"nvidia-container-runtime\"\n    }\n  },\n  \"exec-opts\": [\"native.cgroupdriver=cgroupfs\"]\n}\n";

    #[test]
    fn a_runtime_of_the_file_resolves_with_its_line_and_program() {
        let found = docker(NVIDIA, "/usr/bin/dockerd -H fd://", Some(true));
        assert!(found.starts(), "{:?}", found.faults);
        let nvidia = found.check("Docker", "nvidia");
        assert_eq!(nvidia.resolves, Answer::Yes);
        assert_eq!(nvidia.program, "nvidia-container-runtime");
        assert!(
            nvidia.because.ends_with("/etc/docker/daemon.json:4"),
            "{}",
            nvidia.because
        );
        assert_eq!(found.default_runtime, "nvidia");
        assert_eq!(
            found.cgroup_driver, "cgroupfs",
            "what is set beats the default"
        );
        let kata = found.check("Docker", "kata");
        assert_eq!(kata.resolves, Answer::No);
        assert!(
            kata.because.contains("runc, io.containerd.runc.v2, nvidia"),
            "{}",
            kata.because
        );
    }

    #[test]
    fn a_setting_in_the_file_and_on_the_command_line_keeps_the_daemon_from_starting() {
        let found = docker(
            "{\"hosts\": [\"fd://\"]}",
            "/usr/bin/dockerd -H fd:// --containerd=/run/containerd/containerd.sock",
            None,
        );
        assert!(!found.starts());
        assert!(
            found.faults[0]
                .detail
                .starts_with("hosts is specified both as a flag")
        );
        let asked = found.check("Docker", "runc");
        assert_eq!(asked.resolves, Answer::No);
        assert!(
            asked.because.starts_with("Docker refuses to start"),
            "{}",
            asked.because
        );
        let runtimes = docker(
            "{\"runtimes\": {\"a\": {\"path\": \"/a\"}}}",
            "/usr/bin/dockerd --add-runtime nvidia=/usr/bin/nvidia-container-runtime",
            None,
        );
        assert!(
            runtimes.starts(),
            "runtimes may stand in both: {:?}",
            runtimes.faults
        );
        assert_eq!(runtimes.check("Docker", "nvidia").resolves, Answer::Yes);
        assert_eq!(runtimes.cgroup_driver, "", "not captured is not a default");
    }

    #[test]
    fn what_dockerd_refuses_is_said_with_its_place() {
        for (json, wanted) in [
            ("{\"default-runtime\": \"nvidia\"}", "does not exist"),
            ("{\"runtimes\": {\"runc\": {\"path\": \"/x\"}}}", "reserved"),
            (
                "{\"runtimes\": {\"x\": {}}}",
                "neither a path nor a runtimeType",
            ),
            ("{\n\"debug\": true,\n}", "not the JSON of a table"),
            ("[1]", "not the JSON of a table"),
            (
                "{\"exec-opts\": [\"native.cgroupdriver=system\"]}",
                "names no driver",
            ),
        ] {
            let found = docker(json, "", None);
            assert!(!found.starts(), "{json}");
            assert!(
                found.faults[0].detail.contains(wanted),
                "{json}: {:?}",
                found.faults
            );
            assert!(found.faults[0].place.is_some(), "{json}");
        }
        assert!(docker(" \n", "", None).starts(), "an empty file is no file");
    }
}
