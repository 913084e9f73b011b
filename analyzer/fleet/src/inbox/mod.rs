//! A desk's inbox: every bundle that arrives is analysed once, and its report is there as a whole or not at all.
//!
//! What is done is what lies in the output folder: `reports/<id>/` gets its name when all of it is written, so a run
//! that is killed leaves a folder `.work/` that the next one clears. A bundle's id is its digest, so the same one under
//! two names is analysed once. What cannot be analysed has a record in `quarantine/`; the input is never changed.

mod files;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::analysed::Origin;
use crate::columns;
use crate::entry::{Entry, Quarantined};
use crate::names;
use crate::store::{Object, Store, StoreError, digest};
use crate::worker::{Answer, Job, Limits, Program, Worker};

use files::{children, write};
pub use files::{files, replace};

/// Digits of a digest that make an id.
const ID: usize = 20;

/// How an inbox works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Workers at once.
    pub jobs: usize,
    /// How workers are started.
    pub program: Program,
    /// What a bundle may cost.
    pub limits: Limits,
    /// Largest bundle, in bytes.
    pub max_size: u64,
    /// A file that has not grown for so long has arrived.
    pub settle: Duration,
    /// What judges. What was refused by another is tried again.
    pub judge: String,
}

/// What one look at the input came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pass {
    /// Reports written.
    pub written: Vec<String>,
    /// Inputs that were put into quarantine, with the reason.
    pub quarantined: BTreeMap<String, String>,
    /// Inputs that are still arriving, with their present size.
    pub arriving: BTreeMap<String, u64>,
    /// Inputs that are the same as another one.
    pub duplicates: BTreeMap<String, String>,
    /// What went wrong on our side; tried again with the next look.
    pub failed: BTreeMap<String, String>,
}

/// Why there is no inbox.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    /// The input cannot be listed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The output cannot be used.
    #[error("{}: {source}", path.display())]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Another process works on it.
    #[error("another inbox writes to {}; give each its own output folder", .0.display())]
    Busy(PathBuf),
}

/// What is known of an input: found again by its mark, so that it is not read anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    mark: String,
    digest: String,
}

/// An inbox, held by one process.
pub struct Inbox {
    out: PathBuf,
    work: TempDir,
    settings: Settings,
    known: BTreeMap<String, Known>,
    looks: HashMap<String, (String, Instant)>,
    _lock: fs::File,
}

fn output(path: &Path) -> impl FnOnce(io::Error) -> InboxError + '_ {
    move |source| InboxError::Output {
        path: path.to_owned(),
        source,
    }
}

impl Inbox {
    /// Opens the output folder, makes it where it is not there, and clears what a killed run left.
    ///
    /// # Errors
    /// [`InboxError`]: no folder, or another process has it.
    pub fn open(out: &Path, settings: Settings) -> Result<Self, InboxError> {
        for folder in ["reports", "quarantine"] {
            let path = out.join(folder);
            fs::create_dir_all(&path).map_err(output(&path))?;
        }
        let path = out.join(".lock");
        let lock = fs::File::create(&path).map_err(output(&path))?;
        if lock.try_lock().is_err() {
            return Err(InboxError::Busy(out.to_owned()));
        }
        let work = out.join(".work");
        // A worker of a killed run may be at its last bundle still: what it writes is not mixed with ours, and what
        // cannot be cleared now is cleared after the next look.
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work).map_err(output(&work))?;
        let own = tempfile::Builder::new().prefix("run-").tempdir_in(&work);
        let work = own.map_err(output(&work))?;
        // Only a cache: without it inputs are read once more.
        let known = fs::read(out.join("inputs.json")).ok();
        let known = known.and_then(|text| serde_json::from_slice(&text).ok());
        Ok(Self {
            out: out.to_owned(),
            work,
            settings,
            known: known.unwrap_or_default(),
            looks: HashMap::new(),
            _lock: lock,
        })
    }

    /// Looks at the input once and analyses what has arrived. What goes wrong with one bundle is in [`Pass`].
    ///
    /// # Errors
    /// [`InboxError`] where the input cannot be listed.
    pub fn look(&mut self, from: &Store, note: &(dyn Fn(&str) + Sync)) -> Result<Pass, InboxError> {
        let mut all = from.list("")?;
        all.retain(|object| names::is_bundle(&object.path) && !self.is_own(from, &object.path));
        let mut pass = Pass::default();
        let mut open: BTreeMap<String, (Object, String)> = BTreeMap::new();
        for object in all {
            if !self.has_arrived(from, &object) {
                pass.arriving.insert(object.path.clone(), object.bytes);
                continue;
            }
            match self.digest_of(from, &object) {
                Ok(digest) => self.sort(object, digest, &mut open, &mut pass),
                Err(error) => {
                    note(&format!("{}: {error}", object.path));
                    pass.failed.insert(object.path, error);
                }
            }
        }
        self.remember();
        let open: Vec<_> = open.into_values().collect();
        self.analyse(from, &open, &mut pass, note);
        self.clear();
        Ok(pass)
    }

    /// Takes away what workers of killed runs wrote after this one began.
    fn clear(&self) {
        for other in children(&self.out.join(".work")).unwrap_or_default() {
            if other != self.work.path() {
                let _ = fs::remove_dir_all(other);
            }
        }
    }

    /// The output may lie below the input.
    fn is_own(&self, from: &Store, path: &str) -> bool {
        let own = fs::canonicalize(&self.out).ok();
        match (from.folder(), own) {
            (Some(folder), Some(own)) => folder.join(path).starts_with(own),
            _ => false,
        }
    }

    /// Objects of a store are there as a whole; a file grows until its upload ends.
    fn has_arrived(&mut self, from: &Store, object: &Object) -> bool {
        let Some(folder) = from.folder() else {
            return true;
        };
        let settle = self.settings.settle;
        let now = Instant::now();
        let look = self.looks.entry(object.path.clone());
        let look = look.or_insert_with(|| (object.mark.clone(), now));
        if look.0 != object.mark {
            *look = (object.mark.clone(), now);
        }
        let still = now.duration_since(look.1) >= settle;
        let age = fs::metadata(folder.join(&object.path))
            .and_then(|found| found.modified())
            .ok()
            .and_then(|at| at.elapsed().ok());
        still || age.is_some_and(|age| age >= settle)
    }

    fn digest_of(&mut self, from: &Store, object: &Object) -> Result<String, String> {
        if let Some(known) = self.known.get(&object.path)
            && known.mark == object.mark
        {
            return Ok(known.digest.clone());
        }
        let found = if object.bytes > self.settings.max_size {
            // It is not read, so its name and size stand for its bytes.
            columns::name(format!("{}\0{}", object.path, object.bytes).as_bytes())
        } else {
            match from.folder() {
                Some(folder) => {
                    digest(&folder.join(&object.path))
                        .map_err(|error| error.to_string())?
                        .0
                }
                None => {
                    let copy = self.work.path().join("digest");
                    let found = from.fetch(object, &copy, self.settings.max_size);
                    let _ = fs::remove_file(&copy);
                    found.map_err(|error| error.to_string())?
                }
            }
        };
        let known = Known {
            mark: object.mark.clone(),
            digest: found.clone(),
        };
        self.known.insert(object.path.clone(), known);
        Ok(found)
    }

    /// Puts an input with those to analyse, unless its bytes were seen before.
    fn sort(
        &self,
        object: Object,
        digest: String,
        open: &mut BTreeMap<String, (Object, String)>,
        pass: &mut Pass,
    ) {
        let id = id(&digest).to_owned();
        if let Some((first, _)) = open.get(&id) {
            pass.duplicates.insert(object.path, first.path.clone());
            return;
        }
        if let Ok(entry) = Entry::read(&self.report(&id)) {
            if entry.input != object.path {
                pass.duplicates.insert(object.path, entry.input);
            }
            return;
        }
        if let Ok(known) = Quarantined::read(&self.quarantine(&id))
            && known.judge == self.settings.judge
        {
            if known.input != object.path {
                pass.duplicates.insert(object.path, known.input);
            }
            return;
        }
        open.insert(id, (object, digest));
    }

    fn report(&self, id: &str) -> PathBuf {
        self.out.join("reports").join(id)
    }

    fn quarantine(&self, id: &str) -> PathBuf {
        self.out.join("quarantine").join(format!("{id}.json"))
    }

    fn remember(&self) {
        // A cache that cannot be written costs time only.
        if let Ok(text) = serde_json::to_vec_pretty(&self.known) {
            let _ = replace(&self.out.join("inputs.json"), &text);
        }
    }

    fn analyse(
        &self,
        from: &Store,
        open: &[(Object, String)],
        pass: &mut Pass,
        note: &(dyn Fn(&str) + Sync),
    ) {
        let next = Mutex::new(open.iter());
        let shared = Mutex::new(std::mem::take(pass));
        let jobs = self.settings.jobs.clamp(1, open.len().max(1));
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    let mut worker =
                        Worker::new(self.settings.program.clone(), self.settings.limits);
                    loop {
                        let one = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((object, digest)) = one else { return };
                        let done = self.bundle(from, &mut worker, object, digest);
                        let mut pass = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        match done {
                            Ok(None) => pass.written.push(id(digest).to_owned()),
                            Ok(Some(why)) => {
                                note(&format!("{}: {why}; quarantined", object.path));
                                pass.quarantined.insert(object.path.clone(), why);
                            }
                            Err(why) => {
                                note(&format!("{}: {why}; tried again later", object.path));
                                pass.failed.insert(object.path.clone(), why);
                            }
                        }
                    }
                });
            }
        });
        *pass = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        pass.written.sort();
    }

    /// Analyses one bundle: nothing where its report is written, the reason where it is quarantined. Half a report
    /// and a copy of the bundle are gone afterwards, so that they do not keep a disk full.
    fn bundle(
        &self,
        from: &Store,
        worker: &mut Worker,
        object: &Object,
        digest: &str,
    ) -> Result<Option<String>, String> {
        let id = id(digest);
        let work = self.work.path().join(id);
        let copy = self.work.path().join(format!("{id}.copy"));
        let answer = self.ask(from, worker, object, (&work, &copy));
        let _ = fs::remove_dir_all(&copy);
        let done = answer.and_then(|answer| self.keep(answer, object, digest, &work));
        let _ = fs::remove_dir_all(&work);
        done
    }

    /// Has the analyzer read a bundle, where it lies or a copy under its own name, and write its reports into a folder.
    fn ask(
        &self,
        from: &Store,
        worker: &mut Worker,
        object: &Object,
        (work, copy): (&Path, &Path),
    ) -> Result<Answer, String> {
        let text = |error: io::Error| error.to_string();
        fs::create_dir_all(work).map_err(text)?;
        if object.bytes > self.settings.max_size {
            return Ok(Answer::Refused(format!(
                "larger than {} bytes; raise --max-size to read it",
                self.settings.max_size
            )));
        }
        let path = match from.folder() {
            Some(folder) => folder.join(&object.path),
            None => {
                fs::create_dir_all(copy).map_err(text)?;
                let name = object.path.rsplit('/').next().unwrap_or("bundle");
                let path = copy.join(name);
                from.fetch(object, &path, self.settings.max_size)
                    .map_err(|error| error.to_string())?;
                path
            }
        };
        Ok(worker.analyse(&Job {
            path,
            name: object.path.clone(),
            reports: Some(work.to_owned()),
        }))
    }

    /// Gives a finished report its name, or writes down why there is none.
    fn keep(
        &self,
        answer: Answer,
        object: &Object,
        digest: &str,
        work: &Path,
    ) -> Result<Option<String>, String> {
        let id = id(digest);
        let text = |error: io::Error| error.to_string();
        let origin = Origin {
            digest: digest.to_owned(),
            input: object.path.clone(),
            bytes: object.bytes,
        };
        match answer {
            Answer::Analysed(analysed) => {
                write(work, &analysed, &origin, id).map_err(text)?;
                fs::rename(work, self.report(id)).map_err(text)?;
                let _ = fs::remove_file(self.quarantine(id));
                Ok(None)
            }
            Answer::Refused(why) => {
                let record = Quarantined {
                    id: id.to_owned(),
                    input: object.path.clone(),
                    bytes: object.bytes,
                    reason: why.clone(),
                    judge: self.settings.judge.clone(),
                };
                let json = serde_json::to_vec_pretty(&record).map_err(|error| error.to_string())?;
                replace(&self.quarantine(id), &json).map_err(text)?;
                Ok(Some(why))
            }
            Answer::Failed(why) => Err(why),
        }
    }

    /// Every report that is there, the newest first.
    ///
    /// # Errors
    /// [`InboxError::Output`]. A folder without an entry is passed over.
    pub fn entries(&self) -> Result<Vec<Entry>, InboxError> {
        let mut entries: Vec<Entry> = Vec::new();
        for path in children(&self.out.join("reports"))? {
            entries.extend(Entry::read(&path));
        }
        entries.sort_by(|a, b| (&b.when, &a.id).cmp(&(&a.when, &b.id)));
        Ok(entries)
    }

    /// Everything in quarantine, by name.
    ///
    /// # Errors
    /// [`InboxError::Output`].
    pub fn quarantined(&self) -> Result<Vec<Quarantined>, InboxError> {
        let mut all = Vec::new();
        for path in children(&self.out.join("quarantine"))? {
            all.extend(Quarantined::read(&path));
        }
        all.sort_by(|a: &Quarantined, b| a.input.cmp(&b.input));
        Ok(all)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.out
    }
}

fn id(digest: &str) -> &str {
    digest.get(..ID).unwrap_or(digest)
}
