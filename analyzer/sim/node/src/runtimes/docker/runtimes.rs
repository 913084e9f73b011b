//! Docker's table of runtimes: what it has built in, what files and flags add, and what it refuses.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Loaded;
use super::checks::Wrong;
use super::keys::Release;
use crate::containerd::{Answer, FileLine};
use crate::runtimes::RuntimeHandler;

pub(super) const STOCK: &str = "runc";
const SHIM_2: &str = "io.containerd.runc.v2";
/// The shim of the first generation, which 23 has no more.
const SHIM_1: &str = "io.containerd.runtime.v1.linux";

/// Runtimes that need no entry.
fn built_in(release: Release) -> &'static [&'static str] {
    match release {
        Release::V20 => &[STOCK, SHIM_2, SHIM_1],
        _ => &[STOCK, SHIM_2],
    }
}

/// An entry of the file or a flag.
#[derive(Clone, Debug, Default)]
struct Entry {
    path: String,
    kind: String,
    has_args: bool,
    has_options: bool,
    place: Option<FileLine>,
    flag: bool,
}

fn of_file(config: &Loaded<'_>) -> BTreeMap<String, Entry> {
    let listed = config.entries.get("runtimes");
    let listed = listed.as_ref().and_then(Value::as_object);
    let entries = listed.into_iter().flatten().map(|(name, value)| {
        // Go takes a field's name in any case.
        let field = |wanted: &str| {
            let inside = value.as_object()?.iter();
            let mut hits = inside.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
            hits.next_back().map(|(_, value)| value)
        };
        let text = |wanted| {
            field(wanted)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let old = config.release == Release::V20;
        let entry = Entry {
            path: text("path"),
            kind: if old {
                String::new()
            } else {
                text("runtimeType")
            },
            has_args: field("runtimeArgs")
                .and_then(Value::as_array)
                .is_some_and(|all| !all.is_empty()),
            has_options: !old
                && field("options")
                    .and_then(Value::as_object)
                    .is_some_and(|all| !all.is_empty()),
            place: config.place(name),
            flag: false,
        };
        (name.clone(), entry)
    });
    entries.collect()
}

/// Those of the file, and of the flags what the file has not.
fn merged(config: &Loaded<'_>) -> BTreeMap<String, Entry> {
    let mut all = of_file(config);
    for entry in config.flags.get("runtimes").into_iter().flatten() {
        let (name, path) = entry.split_once('=').unwrap_or((entry, ""));
        let added = Entry {
            path: path.trim().to_owned(),
            flag: true,
            ..Entry::default()
        };
        all.entry(name.trim().to_lowercase()).or_insert(added);
    }
    all
}

/// 20.10 checks the file by itself before it looks at flags: a default that only a flag defines is refused.
pub(super) fn in_the_first_check(config: &Loaded<'_>, out: &mut Wrong) {
    let own = of_file(config);
    reserved(&own, out);
    let known = |name: &str, all: &BTreeMap<String, Entry>| {
        built_in(Release::V20).contains(&name) || all.contains_key(name)
    };
    if let Some(name) = config
        .entries
        .text("default-runtime")
        .filter(|name| !known(name, &own))
    {
        let aside = if known(&name, &merged(config)) {
            " in the file, which is checked before the flags"
        } else {
            ""
        };
        out.push(missing(&name, aside));
    } else if !known(&default(config), &merged(config)) {
        out.push(missing(&default(config), ""));
    }
}

fn reserved(all: &BTreeMap<String, Entry>, out: &mut Wrong) {
    if all.contains_key(STOCK) {
        out.push((STOCK, format!("runtime name {STOCK:?} is reserved")));
    }
}

fn missing(name: &str, aside: &str) -> (&'static str, String) {
    let why = format!("specified default runtime {name:?} does not exist{aside}");
    ("default-runtime", why)
}

/// The runtime of containers that ask for none.
pub(super) fn default(config: &Loaded<'_>) -> String {
    config
        .text("default-runtime")
        .unwrap_or_else(|| STOCK.to_owned())
}

/// What 23 and later check when they start.
pub(super) fn at_start(config: &Loaded<'_>, out: &mut Wrong) {
    let all = merged(config);
    reserved(&all, out);
    let name = default(config);
    let known = built_in(config.release).contains(&name.as_str()) || all.contains_key(&name);
    if !known && !is_shim(&name) {
        out.push(missing(&name, ""));
    }
    for (name, entry) in &all {
        if let Some(why) = contradiction(entry) {
            out.push(("runtimes", format!("runtime {name:?}: {why}")));
        }
    }
}

fn contradiction(entry: &Entry) -> Option<&'static str> {
    match (entry.path.is_empty(), entry.kind.is_empty()) {
        (true, true) => Some("either a runtimeType or a path must be configured"),
        (false, false) => Some("cannot configure both path and runtimeType"),
        (false, true) if entry.has_options => Some("options cannot be used with a path runtime"),
        (true, false) if entry.has_args => Some("args cannot be used with a runtimeType runtime"),
        _ => None,
    }
}

/// A name that is handed to containerd as it is: `PREFIX.NAME.VERSION`, never a path.
pub(super) fn is_shim(name: &str) -> bool {
    !name.contains('/')
        && name
            .split_once('.')
            .is_some_and(|(prefix, _)| !prefix.is_empty())
}

/// All runtimes that can be asked for by name.
pub(super) fn handlers(config: &Loaded<'_>) -> Vec<RuntimeHandler> {
    let built_in = built_in(config.release);
    let mut out: Vec<RuntimeHandler> = built_in.iter().map(|name| stock(name)).collect();
    for (name, entry) in merged(config) {
        let own = built_in.contains(&name.as_str());
        // 20.10 writes its own over entries of these names; later ones take the entry.
        if own && (config.release == Release::V20 || name == STOCK) {
            continue;
        }
        out.retain(|one| one.name != name);
        out.push(handler(config, name, &entry));
    }
    out
}

fn stock(name: &str) -> RuntimeHandler {
    RuntimeHandler {
        name: name.to_owned(),
        resolves: Answer::Yes,
        because: format!("runtime {name:?} is built into Docker"),
        place: None,
        program: STOCK.to_owned(),
    }
}

fn handler(config: &Loaded<'_>, name: String, entry: &Entry) -> RuntimeHandler {
    let wrong = contradiction(entry);
    // 20.10 takes an entry without a path, and fails when a container is made.
    let old = config.release == Release::V20;
    let at = entry
        .place
        .as_ref()
        .map(FileLine::to_string)
        .unwrap_or_default();
    let because = match (entry.flag, wrong) {
        (true, _) => format!(
            "dockerd is started with --add-runtime {name}={}",
            entry.path
        ),
        (_, Some(wrong)) => format!("runtime {name:?} at {at}: {wrong}"),
        _ => format!("runtime {name:?} is defined at {at}"),
    };
    RuntimeHandler {
        resolves: match wrong {
            Some(_) => Answer::No,
            None if old && entry.path.is_empty() => Answer::No,
            None => Answer::Yes,
        },
        because,
        place: entry.place.clone(),
        program: entry.path.clone(),
        name,
    }
}
