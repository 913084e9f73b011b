//! CRI-O: `crio.conf`, then the files of `crio.conf.d` in the order of their names.
//!
//! Rules from cri-o's `pkg/config`: a later file replaces a setting, and of the table of runtimes it replaces whole
//! entries and keeps the others; a file that does not parse keeps the daemon from starting; a handler whose program
//! is missing is dropped with a warning, unless it is the default.

use super::{Fault, REFUSES, Resolved, RuntimeHandler};
use crate::containerd::{Answer, Captured, CapturedTree, Place, Section, Setting, parse};

const FILE: &str = "/etc/crio/crio.conf";
const DROPINS: &str = "/etc/crio/crio.conf.d/*";

/// Built-in values, which depend on the release.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// The default handler and the only one that needs no table.
    pub runtime: &'static str,
}

impl BuiltIn {
    /// By version, such as `1.30.4`; crun took over from runc in 1.31.
    #[must_use]
    pub fn of(version: Option<&str>) -> Self {
        let mut numbers = version.unwrap_or("1.31").split('.');
        let mut next = || numbers.next().and_then(|text| text.parse::<u32>().ok());
        let newer = (next().unwrap_or(1), next().unwrap_or(31)) >= (1, 31);
        Self {
            runtime: if newer { "crun" } else { "runc" },
        }
    }
}

struct Read {
    path: String,
    section: Section,
}

/// Resolves the configuration; `None` where no file of CRI-O was captured.
#[must_use]
pub fn resolve(tree: &dyn CapturedTree, version: Option<&str>) -> Option<Resolved> {
    let mut paths = vec![FILE.to_owned()];
    paths.extend(tree.glob(DROPINS).paths);
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        let Captured::Content { bundle_path, text } = tree.read(&path) else {
            continue;
        };
        match parse::parse(&text, &path, &bundle_path) {
            Ok(section) => files.push(Read { path, section }),
            Err(error) => faults.push(Fault {
                kind: REFUSES,
                detail: format!("{} is not TOML: {}", error.place, error.message),
                place: Some(error.place),
            }),
        }
    }
    if files.is_empty() && faults.is_empty() {
        return None;
    }
    let built_in = BuiltIn::of(version);
    let default = last(&files, &["crio", "runtime", "default_runtime"]);
    let cgroups = last(&files, &["crio", "runtime", "cgroup_manager"]);
    let mut resolved = Resolved {
        config: FILE.to_owned(),
        files: files.iter().map(|file| file.path.clone()).collect(),
        handlers: handlers(&files, built_in),
        default_runtime: text(default, built_in.runtime),
        default_place: default.map(|setting| setting.place.clone()),
        cgroup_driver: text(cgroups, "systemd"),
        cgroup_place: cgroups.map(|setting| setting.place.clone()),
        faults,
    };
    check_types(&files, &mut resolved);
    check_default(&mut resolved);
    Some(resolved)
}

/// The last file that sets a key.
fn last<'a>(files: &'a [Read], path: &[&str]) -> Option<&'a Setting> {
    let set = files.iter().rev();
    set.filter_map(|file| file.section.setting(path)).next()
}

fn text(setting: Option<&Setting>, default: &str) -> String {
    let set = setting.and_then(|setting| setting.value.as_str());
    set.filter(|text| !text.is_empty())
        .unwrap_or(default)
        .to_owned()
}

fn handlers(files: &[Read], built_in: BuiltIn) -> Vec<RuntimeHandler> {
    let mut out = vec![RuntimeHandler {
        name: built_in.runtime.to_owned(),
        resolves: Answer::Yes,
        because: format!("handler {:?} is built into this release", built_in.runtime),
        place: None,
        program: built_in.runtime.to_owned(),
    }];
    for file in files {
        let listed = file.section.section(&["crio", "runtime", "runtimes"]);
        for (name, node) in listed.into_iter().flat_map(|section| &section.entries) {
            let Some(section) = node.section() else {
                continue;
            };
            out.retain(|one| one.name != *name);
            out.push(handler(name, section));
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

fn handler(name: &str, section: &Section) -> RuntimeHandler {
    let path = text(section.setting(&["runtime_path"]), name);
    RuntimeHandler {
        name: name.to_owned(),
        resolves: Answer::Yes,
        because: format!("handler {name:?} is defined at {}", section.place),
        place: Some(section.place.clone()),
        program: path,
    }
}

/// Settings that are read here and have another type than CRI-O wants: it does not start.
fn check_types(files: &[Read], resolved: &mut Resolved) {
    for file in files {
        for key in ["default_runtime", "cgroup_manager"] {
            let set = file.section.setting(&["crio", "runtime", key]);
            if let Some(setting) = set.filter(|setting| setting.value.as_str().is_none()) {
                resolved.faults.push(Fault {
                    kind: REFUSES,
                    detail: format!(
                        "{key} at {} is {}, not a string",
                        setting.place,
                        setting.value.type_name()
                    ),
                    place: Some(setting.place.clone()),
                });
            }
        }
    }
    if !matches!(resolved.cgroup_driver.as_str(), "systemd" | "cgroupfs") {
        resolved.faults.push(Fault {
            kind: REFUSES,
            detail: format!(
                "cgroup_manager {:?} is neither systemd nor cgroupfs",
                resolved.cgroup_driver
            ),
            place: resolved.cgroup_place.clone(),
        });
    }
}

fn check_default(resolved: &mut Resolved) {
    let name = &resolved.default_runtime;
    if !resolved.handlers.iter().any(|one| one.name == *name) {
        let detail =
            format!("default_runtime is {name:?}, but no runtime entry of that name was found");
        resolved.faults.push(Fault {
            kind: REFUSES,
            detail,
            place: resolved.default_place.clone(),
        });
    }
}

/// Drops the handlers whose program is known to be missing, as CRI-O does when it starts.
pub fn drop_missing(resolved: &mut Resolved, missing: &dyn Fn(&str) -> bool) {
    let default = resolved.default_runtime.clone();
    for handler in &mut resolved.handlers {
        if handler.resolves != Answer::Yes || !missing(&handler.program) {
            continue;
        }
        let at = handler.place.as_ref().map(Place::to_string);
        let at = at.unwrap_or_else(|| "built in".to_owned());
        let gone = format!("its program {} does not exist", handler.program);
        handler.resolves = Answer::No;
        handler.because = format!("CRI-O drops handler {:?} ({at}): {gone}", handler.name);
        if handler.name == default {
            resolved.faults.push(Fault {
                kind: REFUSES,
                detail: format!("the default handler {default:?} ({at}) is unusable: {gone}"),
                place: handler.place.clone(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containerd::MapTree;

    fn crio(files: &[(&str, &str)], version: &str) -> Resolved {
        let mut tree = MapTree::new();
        for (path, text) in files {
            tree.add(path, &format!("nodes/n/rootfs{path}"), text);
        }
        resolve(&tree, Some(version)).expect("a file is there")
    }

    const MAIN: &str = "[crio.runtime]\ncgroup_manager = \"cgroupfs\"\n[crio.runtime.runtimes.nvidia]\nruntime_path = \"/old\"\nruntime_type = \"oci\"\n[crio.runtime.runtimes.kata]\nruntime_path = \"/kata\"\n";

    #[test]
    fn a_later_file_replaces_one_entry_and_keeps_the_others() {
        let found = crio(
            &[
                (FILE, MAIN),
                (
                    "/etc/crio/crio.conf.d/10-crun.conf",
                    "[crio.runtime]\ndefault_runtime = \"nvidia\"\n",
                ),
                (
                    "/etc/crio/crio.conf.d/99-nvidia.conf",
                    "[crio.runtime.runtimes.nvidia]\nruntime_path = \"/usr/bin/nvidia-container-runtime\"\n",
                ),
            ],
            "1.30.4",
        );
        assert!(found.starts(), "{:?}", found.faults);
        let nvidia = found.check("CRI-O", "");
        assert_eq!(nvidia.program, "/usr/bin/nvidia-container-runtime");
        assert!(
            nvidia.because.ends_with("99-nvidia.conf:1"),
            "{}",
            nvidia.because
        );
        assert_eq!(found.check("CRI-O", "kata").resolves, Answer::Yes);
        assert_eq!(
            found.check("CRI-O", "runc").resolves,
            Answer::Yes,
            "built in before 1.31"
        );
        assert_eq!(found.check("CRI-O", "crun").resolves, Answer::No);
        assert_eq!(found.cgroup_driver, "cgroupfs");
    }

    #[test]
    fn a_handler_without_its_program_is_dropped_and_the_default_stops_the_daemon() {
        let mut found = crio(&[(FILE, MAIN)], "1.33.0");
        drop_missing(&mut found, &|program| program == "/old");
        let nvidia = found.check("CRI-O", "nvidia");
        assert_eq!(nvidia.resolves, Answer::No);
        assert!(
            nvidia.because.contains("/old does not exist"),
            "{}",
            nvidia.because
        );
        assert!(found.starts());
        drop_missing(&mut found, &|program| program == "crun");
        assert!(!found.starts(), "crun is the default of this release");
    }

    #[test]
    fn what_crio_refuses_is_said_with_its_place() {
        for (text, wanted) in [
            ("[crio.runtime\n", "is not TOML"),
            (
                "[crio.runtime]\ndefault_runtime = \"nvidia\"\n",
                "no runtime entry",
            ),
            ("[crio.runtime]\ncgroup_manager = 3\n", "not a string"),
            (
                "[crio.runtime]\ncgroup_manager = \"system\"\n",
                "neither systemd nor cgroupfs",
            ),
        ] {
            let found = crio(&[(FILE, text)], "1.33.0");
            assert!(!found.starts(), "{text}");
            assert!(
                found.faults[0].detail.contains(wanted),
                "{text}: {:?}",
                found.faults
            );
            assert_eq!(found.check("CRI-O", "crun").resolves, Answer::No);
        }
    }
}
