//! Archives that hold several folders side by side. An archive is read as a stream, so the first folder looks like the one that
//! everything lies in until another one comes. What one reading has shown, the next one of the same file knows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Files that are remembered.
const MOST: usize = 64;

/// What tells that a path still leads to the same file.
type Stamp = (u64, Option<SystemTime>);

/// By path, the archives in it by the prefix of their entries; the input itself has none.
type Known = BTreeMap<PathBuf, (Stamp, BTreeSet<String>)>;

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

fn all() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn stamp(input: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(input).ok()?;
    Some((data.len(), data.modified().ok()))
}

/// The archives in this input whose first folder keeps its name.
pub(super) fn known(input: &Path) -> BTreeSet<String> {
    let all = all();
    let found = all
        .get(input)
        .filter(|(then, _)| stamp(input) == Some(*then));
    found.map_or_else(BTreeSet::new, |(_, prefixes)| prefixes.clone())
}

/// Remembers more of them.
pub(super) fn note(input: &Path, more: BTreeSet<String>) {
    let Some(stamp) = stamp(input) else {
        return;
    };
    let mut all = all();
    if all.len() >= MOST && !all.contains_key(input) {
        all.pop_first();
    }
    let entry = all
        .entry(input.to_owned())
        .or_insert((stamp, BTreeSet::new()));
    if entry.0 != stamp {
        *entry = (stamp, BTreeSet::new());
    }
    entry.1.extend(more);
}

/// Reads again as long as a reading shows that names were given without a folder that is one of several. What lies inside has
/// other names then, so that each depth may take one reading more.
pub(super) fn settled<T, E>(input: &Path, mut read: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    const DEEPEST: usize = 9;
    let mut before = known(input);
    let mut found = read()?;
    for _ in 0..DEEPEST {
        let now = known(input);
        if now == before {
            break;
        }
        before = now;
        found = read()?;
    }
    Ok(found)
}
