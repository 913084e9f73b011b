//! A shard: a pure function of the inputs, its number and the rules.
//!
//! Inputs fall into a fixed number of buckets by their names; shard I of N does the buckets whose number leaves I when
//! divided by N. A bucket becomes one Parquet file a table, named by content, and then one commit record that names
//! them. So the files are the same whatever the number of shards; a shard that is killed leaves files that no commit
//! names, and the next run writes the same ones again; two runs of the same shard at once write the same.

mod bucket;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::commit::commits;
use crate::fingerprint::hex;
use crate::names;
use crate::schema::VERSION;
use crate::store::{Object, Store, StoreError};
use crate::worker::{Limits, Program};

use bucket::{Bucket, Run};

/// Which part of the buckets a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 0.
    pub index: u32,
    /// How many there are.
    pub count: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let parsed = numbers.and_then(|(index, count)| {
            Some((index.trim().parse().ok()?, count.trim().parse().ok()?))
        });
        match parsed {
            Some((index, count)) if index < count => Ok(Self { index, count }),
            _ => Err(format!(
                "`{text}` is no shard; write I/N with I from 0 to N-1, e.g. 0/4"
            )),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// What a run is of.
#[derive(Debug, Clone)]
pub struct Settings {
    /// This process's part.
    pub shard: Shard,
    /// Number of buckets; the same for all shards of an output.
    pub buckets: u32,
    /// Workers at once.
    pub jobs: usize,
    /// How workers are started.
    pub program: Program,
    /// What a bundle may cost.
    pub limits: Limits,
    /// Largest bundle, in bytes.
    pub max_size: u64,
    /// Whether bundles that could not be analysed are tried again.
    pub retry_failed: bool,
    /// What judges: release of the analyzer and digest of the rules. A bucket judged by others is done again.
    pub judge: String,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// Buckets that were there already.
    pub skipped: u32,
    /// Buckets written.
    pub written: u32,
    /// Bundles analysed.
    pub bundles: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bundles that could not be analysed, with the reason.
    pub refused: BTreeMap<String, String>,
    /// What kept buckets from being written; they are done by the next run.
    pub failed: BTreeMap<String, String>,
    /// The most memory of a worker, in bytes.
    pub worker_memory: u64,
}

/// Why a run did nothing.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// A place cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The output was made with another number of buckets.
    #[error(
        "{place} was written with {found} buckets, and this run asks for {asked}: use --buckets {found} or another output"
    )]
    Buckets {
        /// The output.
        place: String,
        /// Its number.
        found: u32,
        /// The number asked for.
        asked: u32,
    },
}

/// The inputs of a place, in order.
///
/// # Errors
/// [`StoreError`].
pub fn inputs(from: &Store) -> Result<Vec<Object>, StoreError> {
    let mut all = from.list("")?;
    all.retain(|object| names::is_bundle(&object.path));
    Ok(all)
}

/// Digest of what a bucket is made of.
fn key(objects: &[Object], judge: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{VERSION}\0{judge}\0"));
    for object in objects {
        hash.update(format!(
            "{}\0{}\0{}\0",
            object.path, object.bytes, object.mark
        ));
    }
    hex(&hash.finalize())
}

/// Does a shard. What goes wrong with one bundle or bucket is in [`Done`], and the rest goes on.
///
/// # Errors
/// [`ShardError`] where inputs or results cannot be listed.
pub fn run(
    from: &Store,
    to: &Store,
    settings: &Settings,
    note: &(dyn Fn(&str) + Sync),
) -> Result<Done, ShardError> {
    let commits = commits(to)?;
    if let Some(other) = commits.values().find(|one| one.buckets != settings.buckets) {
        return Err(ShardError::Buckets {
            place: to.shown().to_owned(),
            found: other.buckets,
            asked: settings.buckets,
        });
    }
    let mut buckets: BTreeMap<u32, Vec<Object>> = BTreeMap::new();
    for object in inputs(from)? {
        let number = names::bucket(&object.path, settings.buckets);
        if number % settings.shard.count == settings.shard.index {
            buckets.entry(number).or_default().push(object);
        }
    }
    let mut done = Done::default();
    let mut open = Vec::new();
    for (number, objects) in buckets {
        let key = key(&objects, &settings.judge);
        let there = commits.get(&number).is_some_and(|commit| {
            commit.key == key && (!settings.retry_failed || commit.refused.is_empty())
        });
        if there {
            done.skipped += 1;
            continue;
        }
        open.push(Bucket {
            number,
            key,
            objects,
            state: Mutex::default(),
        });
    }
    let run = Run {
        from,
        to,
        settings,
        note,
        jobs: open
            .iter()
            .flat_map(|bucket| (0..bucket.objects.len()).map(move |at| (bucket, at)))
            .collect(),
        next: std::sync::atomic::AtomicUsize::new(0),
        done: Mutex::new(done),
    };
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.max(1).min(run.jobs.len().max(1)) {
            scope.spawn(|| run.work());
        }
    });
    let mut done = run
        .done
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = sweep(to, settings) {
        done.failed
            .insert("files that no commit names".to_owned(), error.to_string());
    }
    Ok(done)
}

/// Takes away files of this shard's buckets that no commit names: of a killed run, whole or unfinished, or of older
/// inputs.
fn sweep(to: &Store, settings: &Settings) -> Result<(), StoreError> {
    let commits = commits(to)?;
    let named: BTreeSet<&str> = commits
        .values()
        .flat_map(|commit| commit.files.values().map(String::as_str))
        .collect();
    let own = |bucket: Option<u32>| {
        bucket.is_some_and(|bucket| bucket % settings.shard.count == settings.shard.index)
    };
    for object in to.list("tables")? {
        if own(names::bucket_of(&object.path)) && !named.contains(object.path.as_str()) {
            to.delete(&object.path)?;
        }
    }
    to.sweep_unfinished("tables", |path| own(names::bucket_of(path)))?;
    to.sweep_unfinished("commits", |path| own(names::bucket_of_commit(path)))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_written_as_its_number_of_all() {
        assert_eq!("3/4".parse(), Ok(Shard { index: 3, count: 4 }));
        for wrong in ["4/4", "1", "", "a/2", "-1/2", "0/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_bucket_is_one_shard_s() {
        for count in [1, 2, 3, 7] {
            for bucket in 0..64 {
                let owners = (0..count).filter(|index| bucket % count == *index).count();
                assert_eq!(owners, 1);
            }
        }
    }
}
