//! Device specifications (CDI) as a runtime reads them: which devices exist, and what keeps one from being injected.
//!
//! Rules of the reference library, compared with the programs that are built with it (`tests/daemons_real`): only `*.json`
//! and `*.yaml` are read; a file with one wrong field, name or device is left out whole; of two folders the later has the
//! last word; a device that two files of one folder define is in conflict and cannot be injected.

mod shape;
mod spec;

use std::collections::{BTreeMap, BTreeSet};

use crate::containerd::{Answer, CapturedPath, CapturedTree};

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
    /// `not-parsed`, `not-read`, `unknown-version`, `bad-kind`, `invalid`, `no-devices`, `conflict`, `hook-missing` or
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

/// Generations of the reference library, which runtimes are built with; a newer one knows newer versions and fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Library {
    /// 0.5, as in podman 4.3.
    V0_5,
    /// 0.6 to 0.8, as in podman 5.4 and Docker 26.
    V0_8,
    /// 1.0, as in podman 5.8 and Docker 28.
    V1_0,
    /// 1.1, which no program here was compared with.
    V1_1,
}

/// Reads the specifications of some folders, the last of which has the last word, as the newest library does.
#[must_use]
pub fn read(tree: &dyn CapturedTree, folders: &[String]) -> Specs {
    read_as(tree, folders, Library::V1_1)
}

/// The same as a given library does.
#[must_use]
pub fn read_as(tree: &dyn CapturedTree, folders: &[String], library: Library) -> Specs {
    let mut specs = Specs {
        complete: true,
        ..Specs::default()
    };
    let mut reading = Reading::default();
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
        let priority = seen.len();
        seen.push(real);
        for path in &found.paths {
            let CapturedPath::Content { bundle_path, text } = tree.read(path) else {
                continue;
            };
            let file = File {
                path,
                bundle_path: &bundle_path,
                text: &text,
            };
            for device in file.devices(library, &mut specs) {
                reading.add(device, priority, &mut specs.faults);
            }
        }
    }
    specs.devices = reading.devices();
    specs
}

/// Devices by name while folders are read.
#[derive(Default)]
struct Reading {
    devices: BTreeMap<String, (Device, usize)>,
    conflicts: BTreeSet<String>,
}

impl Reading {
    fn add(&mut self, device: Device, priority: usize, faults: &mut Vec<Fault>) {
        match self.devices.get(&device.name) {
            Some((other, same)) if *same == priority => {
                let detail = format!(
                    "{} is defined in {} and in {}: a conflict, so it cannot be injected",
                    device.name, other.at.host_path, device.at.host_path
                );
                self.conflicts.insert(device.name);
                faults.push(Fault {
                    kind: "conflict",
                    detail,
                    at: device.at,
                });
            }
            _ => {
                self.devices.insert(device.name.clone(), (device, priority));
            }
        }
    }

    /// A name that was in conflict is gone, even where a later folder defines it.
    fn devices(self) -> Vec<Device> {
        let kept = self
            .devices
            .into_iter()
            .filter(|(name, _)| !self.conflicts.contains(name));
        kept.map(|(_, (device, _))| device).collect()
    }
}

/// A captured file of a folder.
struct File<'a> {
    path: &'a str,
    bundle_path: &'a str,
    text: &'a str,
}

impl File<'_> {
    fn at(&self, line: u32) -> At {
        At {
            host_path: self.path.to_owned(),
            bundle_path: self.bundle_path.to_owned(),
            line,
        }
    }

    fn devices(&self, library: Library, specs: &mut Specs) -> Vec<Device> {
        let mut fault = |kind, detail: String, line| {
            specs.faults.push(Fault {
                kind,
                detail,
                at: self.at(line),
            });
        };
        let path = self.path;
        if !path.ends_with(".json") && !path.ends_with(".yaml") {
            fault(
                "not-read",
                format!("{path} is neither .json nor .yaml and is not read"),
                1,
            );
            return Vec::new();
        }
        let spec = match spec::read(self.text, library) {
            Ok(spec) => spec,
            Err(refused) => {
                let line = if refused.about.is_empty() {
                    1
                } else {
                    line_of(self.text, &refused.about)
                };
                fault(
                    refused.kind,
                    format!("{path} {}, and is left out whole", refused.why),
                    line,
                );
                return Vec::new();
            }
        };
        if spec.devices.is_empty() {
            fault("no-devices", format!("{path} defines no device"), 1);
        }
        let mut here: BTreeMap<&str, &str> = BTreeMap::new();
        for (stage, program) in &spec.hooks {
            here.entry(program).or_insert(stage);
        }
        specs
            .hooks
            .extend(here.into_iter().map(|(program, stage)| Hook {
                program: program.to_owned(),
                stage: stage.to_owned(),
                at: self.at(line_of(self.text, program)),
            }));
        let devices = spec.devices.iter().map(|name| Device {
            name: format!("{}={name}", spec.kind),
            version: spec.version.clone(),
            at: self.at(line_of_name(self.text, name)),
        });
        devices.collect()
    }
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

    const NVIDIA: &str = "---\ncdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n    - name: \"0\"\n      containerEdits:\n        deviceNodes:\n            - path: /dev/nvidia0\n    - name: all\n      containerEdits:\n        env: [A=b]\ncontainerEdits:\n    hooks:\n        - hookName: createContainer\n          path: /usr/bin/nvidia-cdi-hook\n          args: [nvidia-cdi-hook, update-ldcache]\n";

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
        assert_eq!(found.hooks[0].at.line, 15);
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
        let three = specs(&[
            ("/etc/cdi/a.yaml", NVIDIA),
            ("/etc/cdi/b.yaml", NVIDIA),
            ("/var/run/cdi/c.yaml", NVIDIA),
        ]);
        assert!(
            three.devices.is_empty(),
            "a later folder does not heal a conflict"
        );
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
        let edited = |from: &str, to: &str| kinds("/etc/cdi/n.yaml", &NVIDIA.replace(from, to));
        assert_eq!(
            edited("env: [A=b]", "{}"),
            ["invalid"],
            "one empty device refuses the file"
        );
        assert_eq!(edited("createContainer", "atSomeTime"), ["invalid"]);
        assert_eq!(
            edited("kind: nvidia.com/gpu", "kind: nvidia.com/gpu\nowner: me"),
            ["not-parsed"]
        );
        assert_eq!(
            edited("0.5.0", "0.4.0"),
            ["unknown-version"],
            "a name that starts with a digit needs 0.5.0"
        );
    }
}
