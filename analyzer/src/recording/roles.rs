//! What an entry of a capture is to an API server.

use casefile_bundle::entry;
use casefile_serve::{LogFile, Run};

use crate::layouts::{Capture, Part, Plan, Target};

/// Takes a text apart.
pub(super) type Split = fn(&Capture, path: &str, text: &str) -> Vec<Part>;

/// What an entry is.
pub(super) enum Role {
    /// A list of objects, by the path that it has in a bundle of ours.
    Objects { path: String, yaml: bool },
    /// A container's log.
    Log(LogFile),
    /// A file of a node, by the path that the node's log endpoint gives it.
    NodeFile(String, String),
    /// What `/version` answered.
    Version,
    /// Which kinds were collected, and how.
    Index,
    /// A file of a helm release: namespace, release, file.
    Helm(String, String, String),
    /// A text that is several entries of ours.
    Split(Box<Capture>, Split),
    /// Text of unknown origin, which may hold objects.
    Loose,
    /// Nothing to an API server.
    Nothing,
}

/// The role of an entry; `ours` if the capture is a bundle of ours.
pub(super) fn role(plan: &Plan, ours: bool, path: &str) -> Role {
    match plan.target(path) {
        Some((_, Target::As(ours))) => of_ours(ours),
        Some((_, Target::Yaml(ours))) => Role::Objects {
            path: ours.clone(),
            yaml: true,
        },
        Some((capture, Target::Split(split))) => Role::Split(Box::new(capture.clone()), *split),
        Some((_, Target::Double)) => Role::Nothing,
        Some((_, Target::Loose | Target::Unknown)) => loose(path),
        None => match of_ours(path) {
            Role::Nothing if !ours => loose(path),
            role => role,
        },
    }
}

/// Files that may hold objects, by their names.
fn loose(path: &str) -> Role {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "json" | "yaml" | "yml" | "txt" | "out" => Role::Loose,
        _ => Role::Nothing,
    }
}

/// The role of an entry by the path that it has in a bundle of ours.
pub(super) fn of_ours(path: &str) -> Role {
    if let Some(rest) = path.strip_prefix(entry::POD_LOGS) {
        return log(rest).map_or(Role::Nothing, Role::Log);
    }
    if path.starts_with(entry::OBJECTS) && path.ends_with(".json") {
        return Role::Objects {
            path: path.to_owned(),
            yaml: false,
        };
    }
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["cluster-info", "cluster_version.json"] => Role::Version,
        ["cluster-info", "resources.json"] => Role::Index,
        ["helm", namespace, release, file] => Role::Helm(
            (*namespace).to_owned(),
            (*release).to_owned(),
            (*file).to_owned(),
        ),
        ["nodes", node, "rootfs", "var", "log", rest @ ..] if !rest.is_empty() => {
            Role::NodeFile((*node).to_owned(), rest.join("/"))
        }
        ["nodes", node, rest @ ..] if !rest.is_empty() => {
            Role::NodeFile((*node).to_owned(), rest.join("/"))
        }
        _ => Role::Nothing,
    }
}

/// `NAMESPACE/POD/CONTAINER.log`, `-previous.log`.
fn log(rest: &str) -> Option<LogFile> {
    let mut parts = rest.split('/');
    let (namespace, pod, file) = (parts.next()?, parts.next()?, parts.next()?);
    let stem = file.strip_suffix(".log")?;
    if parts.next().is_some() || stem.ends_with("-restart") {
        return None;
    }
    let (container, run) = match stem.strip_suffix("-previous") {
        Some(container) => (container, Run::Previous),
        None => (stem, Run::Current),
    };
    Some(LogFile {
        namespace: namespace.to_owned(),
        pod: pod.to_owned(),
        container: container.to_owned(),
        run,
        entry: String::new(),
    })
}

/// The kind that a path is of: `pods`, `gpushares.hami.io`.
pub(super) fn resource(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(entry::OBJECTS)?;
    let rest = rest.strip_prefix("custom-resources/").unwrap_or(rest);
    let first = rest.split('/').next()?;
    Some(first.strip_suffix(".json").unwrap_or(first))
}

/// The namespace that a path is of.
pub(super) fn namespace(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(entry::OBJECTS)?;
    let rest = rest.strip_prefix("custom-resources/").unwrap_or(rest);
    let (_, file) = rest.split_once('/')?;
    file.strip_suffix(".json")?.split('.').next()
}
