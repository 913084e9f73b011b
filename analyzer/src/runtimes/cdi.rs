//! Device specifications (CDI) as a runtime reads them: which devices exist, and what keeps one from being injected.
//!
//! Rules from the specification and its reference library: only `*.json` and `*.yaml` are read; of two folders the
//! later has the last word; a device that two files of one folder define is in conflict and cannot be injected.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::containerd::{Answer, Captured, CapturedTree};

/// Versions of the specification that have been published.
const VERSIONS: [&str; 10] = [
    "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0", "0.1.0", "0.2.0",
];

/// A line of a captured file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// Host path.
    pub host_path: String,
    /// Path in the bundle.
    pub bundle_path: String,
    /// Line, from 1.
    pub line: u32,
}

/// A device that can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// `vendor/class=name`.
    pub name: String,
    /// Version of its specification.
    pub version: String,
    /// Where it stands.
    pub at: At,
}

/// A program that a specification has run while a container is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Path on the host.
    pub program: String,
    /// `createContainer`, `prestart`, ...
    pub stage: String,
    /// The first line that names it.
    pub at: At,
}

/// What is wrong with the specifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// `not-parsed`, `not-read`, `unknown-version`, `bad-kind`, `no-devices`, `conflict`, `hook-missing` or
    /// `hook-not-executable`.
    pub kind: &'static str,
    /// What is wrong, as a sentence.
    pub detail: String,
    /// Where.
    pub at: At,
}

/// All specifications of a runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Specs {
    /// Devices by name.
    pub devices: Vec<Device>,
    /// Programs, each once a file.
    pub hooks: Vec<Hook>,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// Whether all folders were captured in full, so that a device that is not here does not exist.
    pub complete: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    cdi_version: String,
    kind: String,
    devices: Vec<SpecDevice>,
    container_edits: Edits,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SpecDevice {
    name: String,
    container_edits: Edits,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Edits {
    hooks: Vec<SpecHook>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SpecHook {
    hook_name: String,
    path: String,
}

/// Reads the specifications of some folders, the last of which has the last word.
#[must_use]
pub fn read(tree: &dyn CapturedTree, folders: &[String]) -> Specs {
    let mut specs = Specs {
        complete: true,
        ..Specs::default()
    };
    let mut devices: BTreeMap<String, Device> = BTreeMap::new();
    let mut seen = Vec::new();
    for folder in folders {
        // /var/run is /run on every current system; a folder that was read is not read twice.
        let real = crate::containerd::paths::same_run(folder);
        if seen.contains(&real) {
            continue;
        }
        let found = tree.glob(&format!("{folder}/*"));
        specs.complete &= found.complete;
        if found.paths.is_empty() {
            continue;
        }
        seen.push(real);
        let here = folder_of(tree, &found.paths, &mut specs);
        devices.extend(here);
    }
    specs.devices = devices.into_values().collect();
    specs
}

/// The devices of one folder.
fn folder_of(
    tree: &dyn CapturedTree,
    paths: &[String],
    specs: &mut Specs,
) -> BTreeMap<String, Device> {
    let mut devices: BTreeMap<String, Device> = BTreeMap::new();
    let mut conflicts = Vec::new();
    for path in paths {
        let Captured::Content { bundle_path, text } = tree.read(path) else {
            continue;
        };
        let at = |line| At {
            host_path: path.clone(),
            bundle_path: bundle_path.clone(),
            line,
        };
        for device in file(path, &text, &at, specs) {
            if let Some(other) = devices
                .get(&device.name)
                .filter(|one| one.at.host_path != *path)
            {
                let detail = format!(
                    "{} is defined in {} and in {path}: a conflict, so it cannot be injected",
                    device.name, other.at.host_path
                );
                conflicts.push(device.name.clone());
                specs.faults.push(Fault {
                    kind: "conflict",
                    detail,
                    at: device.at.clone(),
                });
            }
            devices.insert(device.name.clone(), device);
        }
    }
    for name in conflicts {
        devices.remove(&name);
    }
    devices
}

fn file(path: &str, text: &str, at: &dyn Fn(u32) -> At, specs: &mut Specs) -> Vec<Device> {
    let mut fault = |kind, detail: String, line| {
        specs.faults.push(Fault {
            kind,
            detail,
            at: at(line),
        });
    };
    let (json, yaml) = (path.ends_with(".json"), path.ends_with(".yaml"));
    if !json && !yaml {
        fault(
            "not-read",
            format!("{path} is neither .json nor .yaml and is not read"),
            1,
        );
        return Vec::new();
    }
    let parsed: Result<Spec, (String, u32)> = if json {
        serde_json::from_str(text).map_err(|error| {
            let line = u32::try_from(error.line()).unwrap_or(1).max(1);
            (error.to_string(), line)
        })
    } else {
        serde_saphyr::from_str(text).map_err(|error| (first_line(&error.to_string()), 1))
    };
    let spec = match parsed {
        Ok(spec) => spec,
        Err((why, line)) => {
            fault(
                "not-parsed",
                format!("{path} is no specification: {why}"),
                line,
            );
            return Vec::new();
        }
    };
    if !VERSIONS.contains(&spec.cdi_version.trim_start_matches('v')) {
        let detail = format!(
            "{path} says cdiVersion {:?}, which is no version",
            spec.cdi_version
        );
        fault("unknown-version", detail, line_of(text, "cdiVersion"));
        return Vec::new();
    }
    if !spec.kind.contains('/') || spec.kind.contains('=') {
        let detail = format!("{path} says kind {:?}, not vendor/class", spec.kind);
        fault("bad-kind", detail, line_of(text, "kind"));
        return Vec::new();
    }
    if spec.devices.is_empty() {
        fault("no-devices", format!("{path} defines no device"), 1);
    }
    hooks(&spec, text, at, &mut specs.hooks);
    let devices = spec.devices.iter().map(|device| Device {
        name: format!("{}={}", spec.kind, device.name),
        version: spec.cdi_version.clone(),
        at: at(line_of_name(text, &device.name)),
    });
    devices.collect()
}

fn hooks(spec: &Spec, text: &str, at: &dyn Fn(u32) -> At, out: &mut Vec<Hook>) {
    let own = spec.devices.iter().map(|device| &device.container_edits);
    let edits = std::iter::once(&spec.container_edits).chain(own);
    let mut here: BTreeMap<&str, &str> = BTreeMap::new();
    for hook in edits.flat_map(|edits| &edits.hooks) {
        here.entry(&hook.path).or_insert(&hook.hook_name);
    }
    for (program, stage) in here {
        out.push(Hook {
            program: program.to_owned(),
            stage: stage.to_owned(),
            at: at(line_of(text, program)),
        });
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn line_of(text: &str, needle: &str) -> u32 {
    let hit = (1u32..)
        .zip(text.lines())
        .find(|(_, line)| line.contains(needle));
    hit.map_or(1, |(number, _)| number)
}

/// The line `name: "0"` or `"name": "0"`.
fn line_of_name(text: &str, name: &str) -> u32 {
    let hit = (1u32..).zip(text.lines()).find(|(_, line)| {
        let line = line.trim_start_matches([' ', '\t', '-', '{']);
        let value = line
            .trim_start_matches('"')
            .strip_prefix("name")
            .map(|rest| rest.trim_start_matches(['"', ':', ' ']));
        value.is_some_and(|value| {
            value.trim_end_matches([',', '"', '\'', '}', ' ']) == name
                || value.trim_matches([',', '"', '\'', ' ']) == name
        })
    });
    hit.map_or(1, |(number, _)| number)
}

/// Faults of hooks, given what is known of a program: whether it exists, and whether it is executable.
pub fn check_hooks(specs: &mut Specs, program: &dyn Fn(&str) -> (Answer, Answer)) {
    for hook in &specs.hooks {
        let (kind, what) = match program(&hook.program) {
            (Answer::No, _) => ("hook-missing", "does not exist on the node"),
            (Answer::Yes, Answer::No) => ("hook-not-executable", "is not executable"),
            _ => continue,
        };
        let detail = format!(
            "{} has {} run at {}, which {what}",
            hook.at.host_path, hook.program, hook.stage
        );
        specs.faults.push(Fault {
            kind,
            detail,
            at: hook.at.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containerd::MapTree;

    const NVIDIA: &str = "---\ncdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n    - name: \"0\"\n      containerEdits:\n        deviceNodes:\n            - path: /dev/nvidia0\n    - name: all\n      containerEdits: {}\ncontainerEdits:\n    hooks:\n        - hookName: createContainer\n          path: /usr/bin/nvidia-cdi-hook\n          args: [nvidia-cdi-hook, update-ldcache]\n";

    fn specs(files: &[(&str, &str)]) -> Specs {
        let mut tree = MapTree::whole();
        for (path, text) in files {
            tree.add(path, &format!("nodes/n/rootfs{path}"), text);
        }
        let folders = ["/etc/cdi", "/var/run/cdi"].map(str::to_owned);
        read(&tree, &folders)
    }

    #[test]
    fn devices_and_hooks_have_names_and_lines() {
        let mut found = specs(&[("/var/run/cdi/nvidia.yaml", NVIDIA)]);
        let names: Vec<(&str, u32)> = found
            .devices
            .iter()
            .map(|one| (one.name.as_str(), one.at.line))
            .collect();
        assert_eq!(names, [("nvidia.com/gpu=0", 5), ("nvidia.com/gpu=all", 9)]);
        assert_eq!(found.hooks[0].at.line, 14);
        assert!(
            found.complete && found.faults.is_empty(),
            "{:?}",
            found.faults
        );
        check_hooks(&mut found, &|_| (Answer::Unknown, Answer::Unknown));
        assert!(
            found.faults.is_empty(),
            "what was not looked at is not missing"
        );
        check_hooks(&mut found, &|_| (Answer::No, Answer::Unknown));
        assert_eq!(found.faults[0].kind, "hook-missing");
        assert!(
            found.faults[0]
                .detail
                .contains("/usr/bin/nvidia-cdi-hook run at createContainer")
        );
    }

    #[test]
    fn two_files_of_one_folder_that_define_a_device_are_in_conflict_and_two_folders_are_not() {
        let twice = specs(&[("/etc/cdi/a.yaml", NVIDIA), ("/etc/cdi/b.yaml", NVIDIA)]);
        assert!(twice.devices.is_empty(), "{:?}", twice.devices);
        assert_eq!(twice.faults.len(), 2);
        assert_eq!(twice.faults[0].kind, "conflict");
        let folders = specs(&[("/etc/cdi/a.yaml", NVIDIA), ("/var/run/cdi/b.yaml", NVIDIA)]);
        assert!(folders.faults.is_empty());
        assert!(
            folders
                .devices
                .iter()
                .all(|one| one.at.host_path == "/var/run/cdi/b.yaml")
        );
    }

    #[test]
    fn a_file_that_the_runtime_does_not_take_is_said() {
        let kinds = |name: &str, text: &str| -> Vec<&'static str> {
            let found = specs(&[(name, text)]);
            assert!(found.devices.is_empty(), "{name}");
            found.faults.iter().map(|fault| fault.kind).collect()
        };
        assert_eq!(kinds("/etc/cdi/nvidia.yml", NVIDIA), ["not-read"]);
        assert_eq!(
            kinds("/etc/cdi/nvidia.json", "{\n\"kind\":"),
            ["not-parsed"]
        );
        assert_eq!(kinds("/etc/cdi/nvidia.yaml", "a: [\n"), ["not-parsed"]);
        assert_eq!(
            kinds("/etc/cdi/nvidia.json", "{\"cdiVersion\":\"9\"}"),
            ["unknown-version"]
        );
        assert_eq!(
            kinds(
                "/etc/cdi/nvidia.json",
                "{\"cdiVersion\":\"0.5.0\",\"kind\":\"gpu\"}"
            ),
            ["bad-kind"]
        );
    }
}
