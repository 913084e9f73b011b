//! Docker's daemon: `daemon.json` joined with dockerd's flags, as dockerd joins them.
//!
//! The rules differ between releases ([`Release`]): each was compared with the program (`tests/daemons_real`). A
//! setting may stand in the file or on the command line, never in both, except runtimes; a key that no release knows
//! is refused; some contradictions are seen by `dockerd --validate`, others only when the daemon comes up.

mod checks;
mod file;
mod flags;
mod keys;
mod loaded;
mod runtimes;
mod start;
#[cfg(test)]
mod tests;
mod url;

pub use keys::{RELEASES, Release};

use super::{Fault, IGNORED, REFUSES, Resolved, UNSURE};
use crate::containerd::{CapturedPath, CapturedTree, Evidence, FileLine};
use file::Entries;
use loaded::{File, Loaded};

const FILE: &str = "/etc/docker/daemon.json";
const SNAP_FILE: &str = "/var/snap/docker/current/config/daemon.json";
const CDI_DIRS: [&str; 2] = ["/etc/cdi", "/var/run/cdi"];

/// What is known about a Docker daemon.
#[derive(Clone, Copy)]
pub struct Docker<'a> {
    /// Host files.
    pub tree: &'a dyn CapturedTree,
    /// The command line of the running daemon, with its place; none where none was seen.
    pub process: Option<(&'a [String], &'a Evidence)>,
    /// Whether the host has the unified cgroup hierarchy; none where that was not captured.
    pub cgroup_v2: Option<bool>,
    /// Its release; none where it is not known, and then all releases are asked.
    pub release: Option<Release>,
}

/// A configuration in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// Runtimes, cgroup driver and faults.
    pub resolved: Resolved,
    /// The release that this is true of.
    pub release: Release,
    /// Mirrors of Docker Hub, in the order they are tried, as they are written.
    pub mirrors: Vec<String>,
    /// Registries and networks that are trusted without a certificate, without their schemes.
    pub insecure_registries: Vec<String>,
    /// Folders of device specifications; empty where devices cannot be asked for.
    pub cdi_spec_dirs: Vec<String>,
    /// The driver of containers' logs.
    pub log_driver: String,
    /// Where images and containers lie.
    pub data_root: String,
}

/// Resolves the configuration; `None` where neither a daemon nor a file was captured.
///
/// Where the release is not known, the newest one's answer is given, and what only others do is said to be unsure.
#[must_use]
pub fn resolve(docker: Docker<'_>) -> Option<Resolved> {
    Some(effective(docker)?.resolved)
}

/// The same with all that is resolved.
#[must_use]
pub fn effective(docker: Docker<'_>) -> Option<Effective> {
    if let Some(release) = docker.release {
        return at(docker, release, true);
    }
    let mut newest = at(docker, Release::V28, true)?;
    let older = [Release::V26, Release::V20];
    let others: Vec<Effective> = older
        .into_iter()
        .filter_map(|one| at(docker, one, true))
        .collect();
    let refuses = |one: &Effective| {
        one.resolved
            .faults
            .iter()
            .find(|fault| fault.kind == REFUSES)
            .cloned()
    };
    if refuses(&newest).is_some() && others.iter().all(|one| refuses(one).is_some()) {
        return Some(newest);
    }
    // Not all releases refuse: which of them runs is not known.
    for fault in newest
        .resolved
        .faults
        .iter_mut()
        .filter(|fault| fault.kind == REFUSES)
    {
        fault.kind = UNSURE;
        fault.detail = format!(
            "Docker 28 refuses to start: {}; older releases start",
            fault.detail
        );
    }
    for other in others {
        let Some(fault) = refuses(&other) else {
            continue;
        };
        newest.resolved.faults.push(Fault {
            kind: UNSURE,
            detail: format!(
                "Docker {} refuses to start: {}",
                other.release.name(),
                fault.detail
            ),
            place: fault.place,
        });
    }
    Some(newest)
}

/// What `dockerd --validate` would say, which is less than what keeps a daemon from coming up; empty where it accepts.
#[must_use]
pub fn validate(docker: Docker<'_>, release: Release) -> Vec<Fault> {
    at(docker, release, false).map_or_else(Vec::new, |one| one.resolved.faults)
}

/// Names that some release takes as a key of the file: its settings, and its flags.
pub fn names() -> impl Iterator<Item = &'static str> {
    let keys = RELEASES.into_iter().flat_map(keys::of);
    keys.flat_map(|key| [key.field, key.flag])
        .filter(|name| !name.is_empty())
}

fn at(docker: Docker<'_>, release: Release, started: bool) -> Option<Effective> {
    let words = docker.process.map_or(&[][..], |(words, _)| words);
    let flags = flags::parse(words, release);
    let named = flags.get("config-file").and_then(|values| values.last());
    let snap = words.first().is_some_and(|exe| exe.starts_with("/snap/"));
    let usual = if snap { SNAP_FILE } else { FILE };
    let path = named.map_or(usual, String::as_str);
    let mut faults = Vec::new();
    let mut file = File::default();
    match docker.tree.read(path) {
        CapturedPath::Content { bundle_path, text } => {
            file = File {
                text,
                path: path.to_owned(),
                bundle_path,
            };
        }
        CapturedPath::Absent if docker.tree.loops(path) => {
            faults.push(refuses(
                format!("{path}: too many levels of symbolic links"),
                None,
            ));
        }
        CapturedPath::Absent if named.is_some() => {
            let detail = format!("--config-file names {path}, which does not exist");
            faults.push(refuses(detail, None));
        }
        _ if docker.process.is_none() => return None,
        CapturedPath::NotCaptured => faults.push(Fault {
            kind: UNSURE,
            detail: format!("{path} was not captured, and what it sets is not known"),
            place: None,
        }),
        CapturedPath::Absent => {}
    }
    let entries = entries(&file, release, &mut faults);
    let config = Loaded {
        release,
        entries: &entries,
        flags: &flags,
        file: &file,
    };
    judge(&config, started, &mut faults);
    Some(in_effect(docker, &config, path, faults))
}

fn refuses(detail: String, place: Option<FileLine>) -> Fault {
    Fault {
        kind: REFUSES,
        detail,
        place,
    }
}

fn entries(file: &File, release: Release, faults: &mut Vec<Fault>) -> Entries {
    if file.path.is_empty() {
        return Entries::default();
    }
    match file::parse(&file.text, release) {
        Ok(entries) => entries,
        Err((why, line)) => {
            let detail = format!("{} is not the JSON of a table: {why}", file.path);
            faults.push(refuses(detail, Some(file.at(line))));
            Entries::default()
        }
    }
}

/// In dockerd's order: keys that it does not know, settings that stand twice, types, values, and what stops it later.
fn judge(config: &Loaded<'_>, started: bool, faults: &mut Vec<Fault>) {
    if faults.iter().any(|fault| fault.kind == REFUSES) {
        return;
    }
    unknown(config, faults);
    conflicts(config, faults);
    types(config, faults);
    let mut wrong = checks::values(config);
    if started {
        wrong.extend(start::faults(config));
    }
    for (key, detail) in wrong {
        let line = if key == runtimes::STOCK {
            key
        } else {
            known_as(config, key)
        };
        faults.push(refuses(detail, config.place(line)));
    }
}

/// The key that stands in the file; the first line otherwise.
fn known_as<'a>(config: &Loaded<'_>, key: &'a str) -> &'a str {
    match key {
        "icc" if config.entries.get("icc").is_none() => "iptables",
        key => key,
    }
}

fn unknown(config: &Loaded<'_>, faults: &mut Vec<Fault>) {
    for (key, _) in config.entries.settings(config.release) {
        if !file::is_known(key, config.release) {
            let detail = format!("{key} doesn't match any configuration option of this release");
            faults.push(refuses(detail, config.place(key)));
        }
    }
    let top = config
        .entries
        .0
        .iter()
        .filter(|(_, value)| !value.is_object());
    for (key, _) in top {
        let known = file::is_known(key, config.release);
        if known && file::field(key, config.release).is_none() {
            let instead =
                keys::of(config.release).find(|one| one.flag == key && !one.field.is_empty());
            let detail = match instead {
                Some(one) => format!(
                    "{key} is the name of a flag and is ignored in the file: the key is {}",
                    one.field
                ),
                None => format!("{key} is accepted here and ignored"),
            };
            faults.push(Fault {
                kind: IGNORED,
                detail,
                place: config.place(key),
            });
        }
    }
}

fn conflicts(config: &Loaded<'_>, faults: &mut Vec<Fault>) {
    let settings = config.entries.settings(config.release);
    for (name, values) in config.flags {
        if name == "runtimes" {
            continue;
        }
        if let Some((key, set)) = settings.iter().find(|(key, _)| key == name) {
            let detail = format!(
                "{key} is specified both as a flag (from flag: {}) and in the configuration file (from file: {set})",
                values.join(", ")
            );
            faults.push(refuses(detail, config.place(key)));
        }
    }
    let both = ["host-gateway-ip", "host-gateway-ips"];
    if config.release == Release::V28
        && both
            .iter()
            .all(|one| settings.iter().any(|(key, _)| key == one))
    {
        let detail =
            "host-gateway-ip and host-gateway-ips must not both be specified in the config file"
                .to_owned();
        faults.push(refuses(detail, config.place(both[0])));
    }
}

fn types(config: &Loaded<'_>, faults: &mut Vec<Fault>) {
    for (name, value) in &config.entries.0 {
        let key = keys::of(config.release)
            .find(|key| key.field.eq_ignore_ascii_case(name) && !name.is_empty());
        let groups = name == "proxies";
        let wrong = match (key, value) {
            (Some(key), _) => file::wrong_type(value, key.kind, config.release),
            (None, serde_json::Value::Object(inside))
                if groups && config.release > Release::V20 =>
            {
                inside
                    .values()
                    .find_map(|one| file::wrong_type(one, keys::Kind::Text, config.release))
            }
            _ => None,
        };
        if let Some(why) = wrong {
            faults.push(refuses(format!("{name}: {why}"), config.place(name)));
        }
    }
}

fn in_effect(docker: Docker<'_>, config: &Loaded<'_>, path: &str, faults: Vec<Fault>) -> Effective {
    let driver = start::driver(config);
    let own = |key: &str| config.entries.get(key).and_then(|_| config.place(key));
    let resolved = Resolved {
        config: path.to_owned(),
        files: if config.file.path.is_empty() {
            Vec::new()
        } else {
            vec![path.to_owned()]
        },
        handlers: runtimes::handlers(config),
        default_runtime: runtimes::default(config),
        default_place: own("default-runtime"),
        cgroup_place: driver.as_ref().and_then(|_| own("exec-opts")),
        cgroup_driver: driver.unwrap_or_else(|| {
            // Without a setting systemd on the unified hierarchy and cgroupfs elsewhere.
            let usual = docker
                .cgroup_v2
                .map(|unified| if unified { "systemd" } else { "cgroupfs" });
            usual.unwrap_or_default().to_owned()
        }),
        faults,
    };
    let insecure = config.list("insecure-registries");
    Effective {
        resolved,
        release: config.release,
        mirrors: config.list("registry-mirrors"),
        insecure_registries: insecure
            .iter()
            .filter_map(|name| url::insecure(name).ok())
            .collect(),
        cdi_spec_dirs: cdi_spec_dirs(config),
        log_driver: config
            .text("log-driver")
            .unwrap_or_else(|| "json-file".to_owned()),
        data_root: config
            .text("data-root")
            .unwrap_or_else(|| "/var/lib/docker".to_owned()),
    }
}

/// Devices can be asked for from 25 where the feature is on, from 28 where it is not off.
fn cdi_spec_dirs(config: &Loaded<'_>) -> Vec<String> {
    let on = match config.release {
        Release::V20 => false,
        Release::V26 => config.feature("cdi") == Some(true),
        Release::V28 => config.feature("cdi") != Some(false),
    };
    let set = config.list("cdi-spec-dirs");
    match (on, set.as_slice()) {
        (false, _) => Vec::new(),
        (true, []) => CDI_DIRS.map(str::to_owned).to_vec(),
        (true, [only]) if only.is_empty() => Vec::new(),
        (true, _) => set,
    }
}
