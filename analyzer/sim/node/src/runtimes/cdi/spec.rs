//! One specification: what the reference library takes, and why it refuses a file whole.

use serde_json::Value;

use super::Library;
use super::shape::{self, field, items, text};

/// A file that is taken.
pub(super) struct Spec {
    pub(super) version: String,
    pub(super) kind: String,
    /// Names of its devices.
    pub(super) devices: Vec<String>,
    /// Stage and program.
    pub(super) hooks: Vec<(String, String)>,
}

/// Why a file is refused: the kind of the fault, a sentence, and the text whose line is meant.
pub(super) struct Refused {
    pub(super) kind: &'static str,
    pub(super) why: String,
    pub(super) about: String,
}

fn refused<T>(kind: &'static str, why: String, about: &str) -> Result<T, Refused> {
    Err(Refused {
        kind,
        why,
        about: about.to_owned(),
    })
}

/// Reads and checks a file's text. Its name does not matter: JSON is read as the YAML that it is.
pub(super) fn read(content: &str, library: Library) -> Result<Spec, Refused> {
    let parsed = serde_saphyr::from_str::<Value>(content);
    let value = match parsed {
        Ok(value) => value,
        Err(error) => {
            let why = error.to_string();
            let first = why.lines().next().unwrap_or_default().to_owned();
            return refused("not-parsed", format!("is no specification: {first}"), "");
        }
    };
    if value.is_null() {
        return refused("not-parsed", "holds no specification".to_owned(), "");
    }
    if let Some(why) = shape::wrong(&value, library) {
        let about = why.split('"').nth(1).unwrap_or_default().to_owned();
        return refused("not-parsed", format!("is no specification: {why}"), &about);
    }
    check(&value, library)
}

fn check(value: &Value, library: Library) -> Result<Spec, Refused> {
    let (version, kind) = (text(value, "cdiVersion"), text(value, "kind"));
    versions(value, &version, &kind, library)?;
    let (vendor, class) = kind.split_once('/').unwrap_or(("", &kind));
    for (what, name) in [("vendor", vendor), ("class", class)] {
        if let Err(why) = label(name) {
            let why = format!("says kind {kind:?}, not vendor/class: its {what} {why}");
            return refused("bad-kind", why, "kind");
        }
    }
    annotations(value)?;
    let whole = field(value, "containerEdits");
    edits(whole, "")?;
    let mut devices: Vec<String> = Vec::new();
    for device in items(value, "devices") {
        let name = text(device, "name");
        if let Err(why) = device_name(&name) {
            return refused(
                "invalid",
                format!("has a device {name:?}, which {why}"),
                &name,
            );
        }
        annotations(device)?;
        let own = field(device, "containerEdits");
        if is_empty(own) {
            let why = format!("has a device {name:?} whose containerEdits are empty");
            return refused("invalid", why, &name);
        }
        edits(own, &name)?;
        if devices.contains(&name) {
            return refused("invalid", format!("defines device {name:?} twice"), &name);
        }
        devices.push(name);
    }
    if devices.is_empty() && library >= Library::V1_0 {
        return refused("no-devices", "defines no device".to_owned(), "devices");
    }
    let mut hooks = Vec::new();
    let own = items(value, "devices")
        .iter()
        .map(|device| field(device, "containerEdits"));
    for hook in std::iter::once(whole)
        .chain(own)
        .flat_map(|edits| items(edits, "hooks"))
    {
        hooks.push((text(hook, "hookName"), text(hook, "path")));
    }
    Ok(Spec {
        version,
        kind,
        devices,
        hooks,
    })
}

/// Known versions; from library 0.6 a leading v is taken, and what is used must have been in that version.
fn versions(value: &Value, version: &str, kind: &str, library: Library) -> Result<(), Refused> {
    const KNOWN: [(&str, Library); 10] = [
        ("0.1.0", Library::V0_5),
        ("0.2.0", Library::V0_5),
        ("0.3.0", Library::V0_5),
        ("0.4.0", Library::V0_5),
        ("0.5.0", Library::V0_5),
        ("0.6.0", Library::V0_8),
        ("0.7.0", Library::V0_8),
        ("0.8.0", Library::V0_8),
        ("1.0.0", Library::V1_0),
        ("1.1.0", Library::V1_1),
    ];
    let bare = if library > Library::V0_5 {
        version.strip_prefix('v').unwrap_or(version)
    } else {
        version
    };
    let Some(at) = KNOWN
        .iter()
        .position(|(one, first)| *one == bare && *first <= library)
    else {
        let why = format!("says cdiVersion {version:?}, which is no version of the specification");
        return refused("unknown-version", why, "cdiVersion");
    };
    let needed = needed(value, kind);
    let least = KNOWN.iter().position(|(one, _)| *one == needed.0);
    if library > Library::V0_5 && least.is_some_and(|least| at < least) {
        let why = format!(
            "says cdiVersion {version:?} and uses {}, which needs {}",
            needed.1, needed.0
        );
        return refused("unknown-version", why, "cdiVersion");
    }
    Ok(())
}

/// The oldest version that has all that is used, and what needs it.
fn needed(value: &Value, kind: &str) -> (&'static str, &'static str) {
    let devices = items(value, "devices");
    let own = devices.iter().map(|device| field(device, "containerEdits"));
    let all: Vec<&Value> = std::iter::once(field(value, "containerEdits"))
        .chain(own)
        .collect();
    let any = |list: &str, name: &str| {
        let entries = all.iter().flat_map(|edits| items(edits, list));
        entries.into_iter().any(|one| !text(one, name).is_empty())
    };
    let noted = |of: &Value| {
        field(of, "annotations")
            .as_object()
            .is_some_and(|all| !all.is_empty())
    };
    if all
        .iter()
        .any(|edits| !items(edits, "netDevices").is_empty())
    {
        return ("1.1.0", "network devices");
    }
    if all.iter().any(|edits| {
        !field(edits, "intelRdt").is_null() || !items(edits, "additionalGids").is_empty()
    }) {
        return ("0.7.0", "intelRdt or additionalGids");
    }
    if noted(value) || devices.iter().any(noted) {
        return ("0.6.0", "annotations");
    }
    if kind
        .split_once('/')
        .is_some_and(|(_, class)| class.contains('.'))
    {
        return ("0.6.0", "a class with a dot");
    }
    if devices
        .iter()
        .any(|one| text(one, "name").starts_with(|c: char| c.is_ascii_digit()))
    {
        return ("0.5.0", "a device name that starts with a digit");
    }
    if any("deviceNodes", "hostPath") {
        return ("0.5.0", "the host path of a device");
    }
    if any("mounts", "type") {
        return ("0.4.0", "the type of a mount");
    }
    ("0.3.0", "nothing newer")
}

/// A vendor or class: letters, digits and `_-.` inside, a letter first, no punctuation last.
fn label(name: &str) -> Result<(), &'static str> {
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err("does not start with a letter");
    }
    inner(name, "_-.")
}

fn device_name(name: &str) -> Result<(), &'static str> {
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err("does not start with a letter or digit");
    }
    inner(name, "_-.:")
}

fn inner(name: &str, marks: &str) -> Result<(), &'static str> {
    if !name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || marks.contains(c))
    {
        return Err("has a character that names may not have");
    }
    if !name.ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err("does not end with a letter or digit");
    }
    Ok(())
}

/// Keys of annotations are names with an optional prefix, as Kubernetes has them.
fn annotations(of: &Value) -> Result<(), Refused> {
    let keys = field(of, "annotations").as_object().into_iter().flatten();
    for (key, _) in keys {
        let name = key.rsplit_once('/').map_or(key.as_str(), |(_, name)| name);
        let whole = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let edge = |c: char| c.is_ascii_alphanumeric();
        if !name.chars().all(whole)
            || !name.starts_with(edge)
            || !name.ends_with(edge)
            || name.len() > 63
        {
            return refused(
                "invalid",
                format!("has an annotation {key:?}, which is no name"),
                key,
            );
        }
    }
    Ok(())
}

fn is_empty(edits: &Value) -> bool {
    let lists = [
        "env",
        "deviceNodes",
        "hooks",
        "mounts",
        "additionalGids",
        "netDevices",
    ];
    lists.iter().all(|list| items(edits, list).is_empty()) && field(edits, "intelRdt").is_null()
}

const STAGES: [&str; 6] = [
    "prestart",
    "createRuntime",
    "createContainer",
    "startContainer",
    "poststart",
    "poststop",
];

/// What containers get: each entry must be whole.
fn edits(edits: &Value, device: &str) -> Result<(), Refused> {
    let of = if device.is_empty() {
        String::new()
    } else {
        format!(" of device {device:?}")
    };
    let bad = |why: String, about: &str| refused("invalid", format!("{why}{of}"), about);
    let no_name = |one: &str| one.find('=').is_none_or(|at| at == 0);
    let variables = |of: &Value| {
        let all = items(of, "env")
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned);
        all.into_iter().find(|one| no_name(one))
    };
    if let Some(one) = variables(edits) {
        return bad(
            format!("has an environment variable {one:?} without a name or value"),
            &one,
        );
    }
    for node in items(edits, "deviceNodes") {
        let (path, kind) = (text(node, "path"), text(node, "type"));
        if path.is_empty() {
            return bad("has a device node without a path".to_owned(), "deviceNodes");
        }
        if !matches!(kind.as_str(), "" | "b" | "c" | "u" | "p") {
            return bad(format!("has a device node {path} of type {kind:?}"), &path);
        }
        let permissions = text(node, "permissions");
        if permissions.chars().any(|c| !"rwm".contains(c)) {
            return bad(
                format!("has a device node {path} with permissions {permissions:?}"),
                &path,
            );
        }
    }
    for hook in items(edits, "hooks") {
        let (stage, path) = (text(hook, "hookName"), text(hook, "path"));
        if !STAGES.contains(&stage.as_str()) {
            return bad(
                format!("has a hook named {stage:?}, which is no stage"),
                &stage,
            );
        }
        if path.is_empty() {
            return bad(format!("has a {stage} hook without a path"), &stage);
        }
        if let Some(one) = variables(hook) {
            return bad(
                format!("has a {stage} hook with the environment variable {one:?}"),
                &one,
            );
        }
    }
    for mount in items(edits, "mounts") {
        if text(mount, "hostPath").is_empty() || text(mount, "containerPath").is_empty() {
            return bad(
                "has a mount without a path on the host or in the container".to_owned(),
                "mounts",
            );
        }
    }
    Ok(())
}
