//! A shard: a pure function of the inputs, its number and the rules.
//!
//! Inputs fall into a fixed number of buckets by their names; shard I of N does the buckets whose number leaves I when
//! divided by N. A bucket becomes one Parquet file a table, named by content, and then one commit record that names
//! them. So the files are the same whatever the number of shards; a shard that is killed leaves files that no commit
//! names, and the next run writes the same ones again; two runs of the same shard at once write the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::analysed::{Origin, refused};
use crate::columns::{self, ColumnsError};
use crate::fingerprint::hex;
use crate::names;
use crate::rows::Rows;
use crate::schema::{TABLES, VERSION};
use crate::store::{Object, Store, StoreError, digest};
use crate::worker::{Answer, Job, Limits, Program, Worker};

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

/// What a commit record says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Version of the tables' schema.
    pub schema: u32,
    /// Number of buckets of the output.
    pub buckets: u32,
    /// This bucket.
    pub bucket: u32,
    /// Digest of the inputs and of what judged them.
    pub key: String,
    /// What judged.
    pub judge: String,
    /// Bundles in it, the same one under two names counted once.
    pub bundles: u64,
    /// Inputs that are the same as another one.
    pub duplicates: BTreeMap<String, String>,
    /// Inputs that could not be analysed, with the reason.
    pub refused: BTreeMap<String, String>,
    /// Files, by table.
    pub files: BTreeMap<String, String>,
    /// Rows, by table.
    pub rows: BTreeMap<String, u64>,
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
        hash.update(format!("{}\0{}\0{}\0", object.path, object.bytes, object.mark));
    }
    hex(&hash.finalize())
}

/// One bucket while its bundles are analysed.
struct Bucket {
    number: u32,
    key: String,
    objects: Vec<Object>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    done: usize,
    rows: BTreeMap<String, Rows>,
    seen: BTreeMap<String, BTreeSet<String>>,
    refused: BTreeMap<String, String>,
    failed: bool,
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
            commit.key == key && !(settings.retry_failed && !commit.refused.is_empty())
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
        next: AtomicUsize::new(0),
        done: Mutex::new(done),
    };
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.max(1).min(run.jobs.len().max(1)) {
            scope.spawn(|| run.work());
        }
    });
    let mut done = run.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = sweep(to, settings) {
        done.failed.insert("files that no commit names".to_owned(), error.to_string());
    }
    Ok(done)
}

/// All commit records of an output. One that cannot be read counts as not there: its bucket is done again.
///
/// # Errors
/// [`StoreError`] where they cannot be listed.
pub fn commits(to: &Store) -> Result<BTreeMap<u32, Commit>, StoreError> {
    let mut all = BTreeMap::new();
    for object in to.list("commits")? {
        let read = to.get(&object.path)?;
        if let Ok(commit) = serde_json::from_slice::<Commit>(&read) {
            all.insert(commit.bucket, commit);
        }
    }
    Ok(all)
}

/// Takes away files of this shard's buckets that no commit names: of a killed run, or of older inputs.
fn sweep(to: &Store, settings: &Settings) -> Result<(), StoreError> {
    let commits = commits(to)?;
    let named: BTreeSet<&str> = commits
        .values()
        .flat_map(|commit| commit.files.values().map(String::as_str))
        .collect();
    for object in to.list("tables")? {
        let own = names::bucket_of(&object.path)
            .is_some_and(|bucket| bucket % settings.shard.count == settings.shard.index);
        if own && !named.contains(object.path.as_str()) {
            to.delete(&object.path)?;
        }
    }
    Ok(())
}

/// A run in progress.
struct Run<'a> {
    from: &'a Store,
    to: &'a Store,
    settings: &'a Settings,
    note: &'a (dyn Fn(&str) + Sync),
    jobs: Vec<(&'a Bucket, usize)>,
    next: AtomicUsize,
    done: Mutex<Done>,
}

impl Run<'_> {
    fn work(&self) {
        let mut worker = Worker::new(self.settings.program.clone(), self.settings.limits);
        while let Some((bucket, at)) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            self.bundle(&mut worker, bucket, &bucket.objects[*at]);
        }
        let mut done = lock(&self.done);
        done.worker_memory = done.worker_memory.max(worker.most_memory());
    }

    fn bundle(&self, worker: &mut Worker, bucket: &Bucket, object: &Object) {
        let (origin, answer) = match self.analyse(worker, object) {
            Ok(both) => both,
            Err(StoreError::TooLarge { .. }) => {
                // Not read, so there is no digest of its bytes; what it is known by stands for it.
                let about = format!("{}\0{}", object.path, object.bytes);
                let why = format!(
                    "larger than {} bytes; raise --max-size to read it",
                    self.settings.max_size
                );
                (
                    self.origin(object, hex(&Sha256::digest(about))),
                    Answer::Refused(why),
                )
            }
            Err(error) => (
                self.origin(object, String::new()),
                Answer::Failed(error.to_string()),
            ),
        };
        let mut state = lock(&bucket.state);
        match answer {
            Answer::Analysed(analysed) => {
                let first = state.seen.entry(origin.digest.clone()).or_default();
                first.insert(origin.input.clone());
                // Of the same bundle under two names the first name counts, in whatever order they were read.
                let named_first = first.first() == Some(&origin.input);
                if named_first {
                    state.rows.insert(origin.digest.clone(), analysed.rows(&origin));
                }
            }
            Answer::Refused(why) => {
                (self.note)(&format!("{}: {why}", object.path));
                let first = state.seen.entry(origin.digest.clone()).or_default();
                first.insert(origin.input.clone());
                if first.first() == Some(&origin.input) {
                    let rows = refused(&origin, &why, &self.settings.judge);
                    state.rows.insert(origin.digest.clone(), rows);
                }
                state.refused.insert(object.path.clone(), why);
            }
            Answer::Failed(why) => {
                (self.note)(&format!("{}: {why}", object.path));
                state.failed = true;
                lock(&self.done).failed.insert(object.path.clone(), why);
            }
        }
        state.done += 1;
        let last = state.done == bucket.objects.len();
        {
            let mut done = lock(&self.done);
            done.bundles += 1;
            done.bytes += object.bytes;
        }
        if last && !state.failed {
            let state = std::mem::take(&mut *state);
            self.finish(bucket, state);
        }
    }

    fn origin(&self, object: &Object, digest: String) -> Origin {
        Origin {
            digest,
            input: object.path.clone(),
            bytes: object.bytes,
        }
    }

    /// Reads a bundle where it lies, or a copy that is gone afterwards.
    fn analyse(
        &self,
        worker: &mut Worker,
        object: &Object,
    ) -> Result<(Origin, Answer), StoreError> {
        let local = |path: &std::path::Path, source| StoreError::Local {
            path: path.to_owned(),
            source,
        };
        let temp = std::env::temp_dir();
        let (path, digest, _copy) = match self.from.folder() {
            Some(folder) => {
                if object.bytes > self.settings.max_size {
                    return Err(StoreError::TooLarge {
                        object: object.path.clone(),
                        limit: self.settings.max_size,
                    });
                }
                let path = folder.join(&object.path);
                let (digest, _) = digest(&path).map_err(|source| local(&path, source))?;
                (path, digest, None)
            }
            None => {
                let folder = tempfile::tempdir().map_err(|source| local(&temp, source))?;
                let name = object.path.rsplit('/').next().unwrap_or("bundle");
                let path = folder.path().join(name);
                let digest = self.from.fetch(object, &path, self.settings.max_size)?;
                (path, digest, Some(folder))
            }
        };
        let job = Job {
            path,
            name: object.path.clone(),
            reports: None,
        };
        let answer = worker.analyse(&job);
        Ok((self.origin(object, digest), answer))
    }

    /// Writes a bucket's files, then the record that makes them count.
    fn finish(&self, bucket: &Bucket, state: State) {
        match self.write(bucket, state) {
            Ok(commit) => {
                let mut done = lock(&self.done);
                done.written += 1;
                done.refused.extend(commit.refused);
            }
            Err(error) => {
                let what = format!("bucket {}", bucket.number);
                (self.note)(&format!("{what}: {error}"));
                lock(&self.done).failed.insert(what, error.to_string());
            }
        }
    }

    fn write(&self, bucket: &Bucket, state: State) -> Result<Commit, WriteError> {
        let mut commit = Commit {
            schema: VERSION,
            buckets: self.settings.buckets,
            bucket: bucket.number,
            key: bucket.key.clone(),
            judge: self.settings.judge.clone(),
            bundles: state.rows.len() as u64,
            refused: state.refused,
            ..Commit::default()
        };
        for names in state.seen.values() {
            let mut names = names.iter();
            if let Some(first) = names.next() {
                let others = names.map(|name| (name.clone(), first.clone()));
                commit.duplicates.extend(others);
            }
        }
        let mut rows = Rows::default();
        for own in state.rows.into_values() {
            rows.append(own);
        }
        rows.sort();
        for table in TABLES {
            let count = rows.of(table).len();
            if count == 0 {
                continue;
            }
            let content = columns::write(table, &rows)?;
            let path = names::file(table.name, bucket.number, &columns::name(&content));
            self.to.put(&path, content)?;
            commit.rows.insert(table.name.to_owned(), count as u64);
            commit.files.insert(table.name.to_owned(), path);
        }
        let record = serde_json::to_vec_pretty(&commit)?;
        self.to.put(&names::commit(bucket.number), record)?;
        Ok(commit)
    }
}

#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    #[error("the commit record: {0}")]
    Record(#[from] serde_json::Error),
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
