//! CRI-O: `crio.conf`, then the files of `crio.conf.d` in the order of their names.
//!
//! Rules from cri-o's `pkg/config`, read there and not compared with the program: all files below `crio.conf.d` are
//! read, whatever their names and however deep; a later file replaces a setting, and of the table of runtimes it
//! replaces whole entries and keeps the others; keys that nobody knows are ignored; a file that does not parse or has a
//! value of another type keeps the daemon from starting; a handler that contradicts itself or whose program is missing
//! is dropped with a warning, unless it is the default.

#[cfg(test)]
mod tests;

use super::{Fault, REFUSES, Resolved, RuntimeHandler};
use crate::containerd::{Answer, CapturedPath, CapturedTree, FileLine, Section, Setting, parse};

const FILE: &str = "/etc/crio/crio.conf";
const DROPINS: &str = "/etc/crio/crio.conf.d";
/// How deep folders may lie in one another, and how many files are read.
const MAX_DEPTH: usize = 8;
const MAX_FILES: usize = 1000;

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
    below(tree, DROPINS, MAX_DEPTH, &mut paths);
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        let CapturedPath::Content { bundle_path, text } = tree.read(&path) else {
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
        handlers: Vec::new(),
        default_runtime: text(default, built_in.runtime),
        default_place: default.map(|setting| setting.place.clone()),
        // One that is set to nothing is refused.
        cgroup_driver: cgroups
            .and_then(|setting| setting.value.as_str())
            .unwrap_or("systemd")
            .to_owned(),
        cgroup_place: cgroups.map(|setting| setting.place.clone()),
        faults,
    };
    resolved.handlers = handlers(&files, built_in, &resolved.default_runtime);
    check_types(&files, &mut resolved);
    check_default(&mut resolved);
    Some(resolved)
}

/// All files below a folder, each folder at the place of its name.
fn below(tree: &dyn CapturedTree, folder: &str, depth: usize, out: &mut Vec<String>) {
    for path in tree.glob(&format!("{folder}/*")).paths {
        if out.len() >= MAX_FILES {
            return;
        }
        if matches!(tree.read(&path), CapturedPath::Content { .. }) {
            out.push(path);
        } else if depth > 0 && tree.canonical(&path) == path {
            // A link to a folder is not followed.
            below(tree, &path, depth - 1, out);
        }
    }
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

fn handlers(files: &[Read], built_in: BuiltIn, default: &str) -> Vec<RuntimeHandler> {
    let mut out = vec![RuntimeHandler {
        name: built_in.runtime.to_owned(),
        resolves: Answer::Yes,
        because: format!("handler {:?} is built into this release", built_in.runtime),
        place: None,
        program: built_in.runtime.to_owned(),
    }];
    let mut inherits: Vec<String> = Vec::new();
    for file in files {
        let listed = file.section.section(&["crio", "runtime", "runtimes"]);
        for (name, node) in listed.into_iter().flat_map(|section| &section.entries) {
            let Some(section) = node.section() else {
                continue;
            };
            out.retain(|one| one.name != *name);
            inherits.retain(|one| one != name);
            let inherit = section.setting(&["inherit_default_runtime"]);
            if inherit.and_then(|setting| setting.value.as_bool()) == Some(true) {
                inherits.push(name.clone());
            }
            out.push(handler(name, section));
        }
    }
    let of_default = out.iter().find(|one| one.name == default);
    if let Some(program) = of_default.map(|one| one.program.clone()) {
        for one in out.iter_mut().filter(|one| inherits.contains(&one.name)) {
            one.program.clone_from(&program);
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

fn handler(name: &str, section: &Section) -> RuntimeHandler {
    let path = text(section.setting(&["runtime_path"]), name);
    let wrong = contradiction(section, &path);
    let place = &section.place;
    RuntimeHandler {
        name: name.to_owned(),
        resolves: if wrong.is_some() {
            Answer::No
        } else {
            Answer::Yes
        },
        because: match wrong {
            Some(why) => format!("CRI-O drops handler {name:?} ({place}): {why}"),
            None => format!("handler {name:?} is defined at {place}"),
        },
        place: Some(place.clone()),
        program: path,
    }
}

/// Why a handler is dropped whatever the host has.
fn contradiction(section: &Section, path: &str) -> Option<String> {
    let word = |key: &str| text(section.setting(&[key]), "");
    let on = |key: &str| section.setting(&[key]).and_then(|one| one.value.as_bool()) == Some(true);
    let kind = word("runtime_type");
    if !matches!(kind.as_str(), "" | "oci" | "vm" | "pod") {
        return Some(format!(
            "its runtime_type {kind:?} is none of oci, vm and pod"
        ));
    }
    let base = path.rsplit('/').next().unwrap_or_default();
    let shim = base
        .find("containerd-shim-")
        .and_then(|at| base.get(at + 16..));
    let named = shim.and_then(|rest| rest.rsplit_once('-'));
    if kind == "vm"
        && named.is_none_or(|(name, version)| name.is_empty() || !version.starts_with('v'))
    {
        return Some(format!(
            "the program {path} of a vm is not named containerd-shim-NAME-vN"
        ));
    }
    if kind != "vm" && !word("runtime_config_path").is_empty() {
        return Some("runtime_config_path can only be used with runtime_type vm".to_owned());
    }
    if on("no_sync_log") && !matches!(kind.as_str(), "" | "oci") {
        return Some(format!(
            "no_sync_log is only allowed with runtime_type oci, not {kind}"
        ));
    }
    if on("stream_websockets") && kind != "pod" {
        return Some("stream_websockets is only supported with runtime_type pod".to_owned());
    }
    let affinity = word("exec_cpu_affinity");
    if !matches!(affinity.as_str(), "" | "first") {
        return Some(format!("its exec_cpu_affinity {affinity:?} is not first"));
    }
    None
}

/// Settings that are read here and have another type than CRI-O wants: it does not start.
fn check_types(files: &[Read], resolved: &mut Resolved) {
    for file in files {
        for key in ["default_runtime", "cgroup_manager"] {
            let set = file.section.setting(&["crio", "runtime", key]);
            resolved
                .faults
                .extend(set.and_then(|setting| not_a_text(key, setting)));
        }
        let listed = file.section.section(&["crio", "runtime", "runtimes"]);
        let handlers = listed
            .into_iter()
            .flat_map(|section| section.entries.values());
        for section in handlers.filter_map(|node| node.section()) {
            for key in [
                "runtime_path",
                "runtime_type",
                "runtime_root",
                "runtime_config_path",
            ] {
                let set = section.setting(&[key]);
                resolved
                    .faults
                    .extend(set.and_then(|setting| not_a_text(key, setting)));
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

fn not_a_text(key: &str, setting: &Setting) -> Option<Fault> {
    setting.value.as_str().is_none().then(|| Fault {
        kind: REFUSES,
        detail: format!(
            "{key} at {} is {}, not a string",
            setting.place,
            setting.value.type_name()
        ),
        place: Some(setting.place.clone()),
    })
}

fn check_default(resolved: &mut Resolved) {
    let name = &resolved.default_runtime;
    let own = resolved.handlers.iter().find(|one| one.name == *name);
    if let Some(dropped) = own.filter(|one| one.resolves == Answer::No) {
        resolved.faults.push(Fault {
            kind: REFUSES,
            detail: format!(
                "the default handler {name:?} is unusable: {}",
                dropped.because
            ),
            place: dropped.place.clone(),
        });
        return;
    }
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
        let at = handler.place.as_ref().map(FileLine::to_string);
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
