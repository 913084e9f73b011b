//! What single options must be, each refusal a sentence.

use std::collections::BTreeSet;
use std::path::Path;

use super::UsageError;
use crate::host::Host;
use crate::options::Options;
use crate::plan::not_wanted;
use crate::sources::SOURCES;

pub(super) fn fail<T>(what: impl Into<String>) -> Result<T, UsageError> {
    Err(UsageError(what.into()))
}

pub(super) fn names(flag: &str, given: &[String]) -> Result<BTreeSet<String>, UsageError> {
    for name in given {
        if crate::sources::find(name).is_none() {
            let known: Vec<_> = SOURCES.iter().map(|source| source.id).collect();
            return fail(format!(
                "{flag} {name}: there is no such source; the sources are {}",
                known.join(", ")
            ));
        }
    }
    Ok(given.iter().cloned().collect())
}

/// Something must be left to collect: a bundle of nothing is no answer to contradictory options.
pub(super) fn check_sources(options: &Options) -> Result<(), UsageError> {
    let named = |source: &&&crate::source::Source| {
        options.only.is_empty() || options.only.contains(source.id)
    };
    let mut why = BTreeSet::new();
    for source in SOURCES.iter().filter(named) {
        match not_wanted(source, options) {
            None => return Ok(()),
            Some(reason) => why.insert(format!("{} ({reason})", source.id)),
        };
    }
    let why: Vec<String> = why.into_iter().collect();
    fail(format!("no source is left to collect: {}", why.join(", ")))
}

/// Names of Kubernetes objects: anything else would silently match nothing.
pub(super) fn check_names(flag: &str, given: &[String]) -> Result<(), UsageError> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    let wrong = |name: &&String| name.is_empty() || !name.chars().all(allowed);
    match given.iter().find(wrong) {
        None => Ok(()),
        Some(name) => fail(format!(
            "{flag} {name:?}: no name of Kubernetes (small letters, digits, - and .)"
        )),
    }
}

/// A folder that is to be read as a node's root must look like one.
pub(crate) fn check_root(flag: &str, root: &Path) -> Result<(), UsageError> {
    if !root.is_absolute() && root.components().next().is_none() {
        return fail(format!("{flag} needs a folder"));
    }
    match std::fs::metadata(root) {
        Err(error) => fail(format!("{flag} {}: {error}", root.display())),
        Ok(meta) if !meta.is_dir() => fail(format!("{flag} {} is not a folder", root.display())),
        // The machine itself may be as bare as a scratch container; only a named folder can be wrong.
        Ok(_) if root == Path::new("/") => Ok(()),
        Ok(_)
            if !["etc", "var", "usr", "run"]
                .iter()
                .any(|name| root.join(name).is_dir()) =>
        {
            fail(format!(
                "{flag} {} holds no system: none of etc, var, usr and run is there (is the disk mounted?)",
                root.display()
            ))
        }
        Ok(_) => Ok(()),
    }
}

/// The node's own host name.
pub(super) fn node_name(root: &Path) -> String {
    let live = root == Path::new("/");
    let name = if live {
        rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned()
    } else {
        Host::new(root)
            .read_text("/etc/hostname")
            .unwrap_or_default()
    };
    let safe: String = name
        .trim()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
        .take(100)
        .collect();
    let safe = safe.trim_matches('.').to_owned();
    if safe.is_empty() {
        "unknown-node".to_owned()
    } else {
        safe
    }
}
