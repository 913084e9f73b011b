//! Archives that hold several folders side by side. An archive is read as a stream, so the first folder looks like the one that
//! everything lies in until another one comes. What one reading has shown, the next one of the same file knows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Files that are remembered.
const MOST: usize = 64;

/// What tells that a path still leads to the same file.
pub(super) type Stamp = (u64, Option<SystemTime>);

/// What readings of one file have shown.
struct Shown {
    stamp: Stamp,
    /// The archives in it by the prefix of their entries; the input itself has none.
    several: BTreeSet<String>,
    /// The folders that all of it lies in.
    around: Option<String>,
    /// When it was asked for last.
    used: u64,
}

#[derive(Default)]
struct Known {
    files: BTreeMap<PathBuf, Shown>,
    /// How often anything was asked for.
    asked: u64,
}

impl Known {
    /// Forgets the file that was not asked for the longest: others are being read.
    fn forget_one(&mut self) {
        let oldest = self.files.iter().min_by_key(|(_, shown)| shown.used);
        if let Some(input) = oldest.map(|(input, _)| input.clone()) {
            self.files.remove(&input);
        }
    }
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

fn all() -> MutexGuard<'static, Known> {
    let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.asked += 1;
    all
}

/// The stamp of what lies there now.
pub(super) fn stamp(input: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(input).ok()?;
    Some((data.len(), data.modified().ok()))
}

/// Takes something of what is known of this very file, if anything is.
fn of<T>(input: &Path, take: impl FnOnce(&Shown) -> T) -> Option<T> {
    let mut all = all();
    let asked = all.asked;
    let shown = all.files.get_mut(input)?;
    shown.used = asked;
    (stamp(input) == Some(shown.stamp)).then(|| take(shown))
}

/// Adds to what is known of it.
fn add(input: &Path, change: impl FnOnce(&mut Shown)) {
    let Some(stamp) = stamp(input) else {
        return;
    };
    let mut all = all();
    let used = all.asked;
    let new = || Shown {
        stamp,
        several: BTreeSet::new(),
        around: None,
        used,
    };
    if all.files.len() >= MOST && !all.files.contains_key(input) {
        all.forget_one();
    }
    let shown = all.files.entry(input.to_owned()).or_insert_with(new);
    if shown.stamp != stamp {
        *shown = new();
    }
    shown.used = used;
    change(shown);
}

/// The archives in this input whose first folder keeps its name.
pub(super) fn known(input: &Path) -> BTreeSet<String> {
    of(input, |shown| shown.several.clone()).unwrap_or_default()
}

/// Remembers more of them.
pub(super) fn note(input: &Path, more: BTreeSet<String>) {
    add(input, |shown| {
        // With other names other folders may lie around them.
        shown.around = None;
        shown.several.extend(more);
    });
}

/// The folders below the top that all of this input lies in; none where that is not known yet.
pub(super) fn around(input: &Path) -> Option<String> {
    of(input, |shown| shown.around.clone())?
}

/// Remembers them.
pub(super) fn note_around(input: &Path, around: &str) {
    add(input, |shown| shown.around = Some(around.to_owned()));
}

/// Reads, and tells whether the names that were given stay: the reading has shown nothing that changes them.
pub(super) fn watched<T, E>(
    input: &Path,
    read: impl FnOnce() -> Result<T, E>,
) -> Result<(T, bool), E> {
    let before = known(input);
    let found = read()?;
    Ok((found, known(input) == before))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_files_the_one_that_is_being_read_is_not_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, name).expect("written");
            path
        };
        let own = file("a.tar.gz");
        note(&own, BTreeSet::from([String::new()]));
        for number in 0..2 * MOST {
            note_around(&file(&format!("b{number}.tar.gz")), "");
            assert!(known(&own).contains(""), "after {number} others");
        }
    }
}
