//! A run in progress: bundles of several buckets at once, and each bucket's files when its last bundle is done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

use super::{Done, Settings, lock};
use crate::analysed::{Origin, refused};
use crate::columns::{self, ColumnsError};
use crate::commit::Commit;
use crate::fingerprint::hex;
use crate::names;
use crate::rows::Rows;
use crate::schema::{TABLES, VERSION};
use crate::store::{Object, Store, StoreError, digest};
use crate::worker::{Answer, Job, Worker};

/// One bucket while its bundles are analysed.
pub(super) struct Bucket {
    pub(super) number: u32,
    pub(super) key: String,
    pub(super) objects: Vec<Object>,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    done: usize,
    rows: BTreeMap<String, Rows>,
    seen: BTreeMap<String, BTreeSet<String>>,
    refused: BTreeMap<String, String>,
    failed: bool,
}

/// A run in progress.
pub(super) struct Run<'a> {
    pub(super) from: &'a Store,
    pub(super) to: &'a Store,
    pub(super) settings: &'a Settings,
    pub(super) note: &'a (dyn Fn(&str) + Sync),
    pub(super) jobs: Vec<(&'a Bucket, usize)>,
    pub(super) next: AtomicUsize,
    pub(super) done: Mutex<Done>,
}

impl Run<'_> {
    pub(super) fn work(&self) {
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
        let answered = !matches!(answer, Answer::Failed(_));
        let mut state = lock(&bucket.state);
        match answer {
            Answer::Analysed(analysed) => {
                let first = state.seen.entry(origin.digest.clone()).or_default();
                first.insert(origin.input.clone());
                // Of the same bundle under two names the first name counts, in whatever order they were read.
                let named_first = first.first() == Some(&origin.input);
                if named_first {
                    state
                        .rows
                        .insert(origin.digest.clone(), analysed.rows(&origin));
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
        if answered {
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
