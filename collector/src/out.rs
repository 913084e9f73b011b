//! The only road into the bundle: an entry is redacted while it streams in, kept within the limits of its source and
//! of the whole bundle, and handed to the one writer when it is finished.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use casefile_bundle::{BundlePath, EntryMeta, EntrySpool, FinishedEntry, Keys};
use tokio::sync::mpsc;

use crate::files::FileLog;
use crate::redact::{Content, Key, Redactor, clean_name, clean_sentence};

/// An entry ready to be written, as it travels to the writer.
pub struct Done {
    /// Its path, origin and what happened to it on the way.
    pub meta: EntryMeta,
    /// Its bytes.
    pub entry: FinishedEntry,
}

/// Why an entry could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum OutError {
    /// The temporary space beside the output is full or broken.
    #[error("buffering {path}")]
    Spool {
        /// The entry.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The writer has stopped (disk full, or the run is over): nothing more can be taken.
    #[error("the bundle is closed")]
    Closed,
}

/// Whether more of an entry is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Go on.
    More,
    /// A limit is reached: what was written after it is dropped, the entry is marked as cut.
    Full,
}

/// What all sources of one run share.
pub struct Shared {
    /// The node's name in paths.
    pub node: String,
    /// Where big entries are buffered until they are written.
    pub spill_dir: PathBuf,
    /// What those buffers are encrypted with, where the bundle is.
    pub spill_keys: Option<Keys>,
    /// The key of this run's pseudonyms.
    pub key: Key,
    /// The most bytes of content that all sources may add together.
    pub max_size: u64,
    /// What they added so far.
    pub used: AtomicU64,
    /// Host files copied or looked for.
    pub files: FileLog,
    /// To the writer.
    pub sender: mpsc::Sender<Done>,
}

struct Inner {
    shared: Arc<Shared>,
    source: &'static str,
    max_bytes: u64,
    used: AtomicU64,
    notes: Mutex<Vec<String>>,
    left: Mutex<Vec<Done>>,
}

/// One source's way into the bundle.
#[derive(Clone)]
pub struct Out {
    inner: Arc<Inner>,
}

impl Out {
    /// The way in for one source with its byte limit.
    pub fn new(shared: Arc<Shared>, source: &'static str, max_bytes: u64) -> Self {
        Self {
            inner: Arc::new(Inner {
                shared,
                source,
                max_bytes,
                used: AtomicU64::new(0),
                notes: Mutex::new(Vec::new()),
                left: Mutex::new(Vec::new()),
            }),
        }
    }

    /// A path below `nodes/<node>/`.
    pub fn node_path<'a>(&'a self, parts: impl IntoIterator<Item = &'a str>) -> BundlePath {
        BundlePath::from_parts(["nodes", self.node()].into_iter().chain(parts))
    }

    /// The node's name in paths.
    pub fn node(&self) -> &str {
        &self.inner.shared.node
    }

    /// Keeps a value of a Secret in memory, so that the leak check finds it wherever else it stands.
    pub fn remember(&self, name: &str, value: &[u8]) {
        crate::leak::remember(&self.inner.shared.key, name, value);
    }

    /// A sentence for people with its secrets replaced.
    pub fn sentence(&self, text: &str) -> String {
        clean_sentence(text, &self.inner.shared.key)
    }

    /// Host files copied or looked for, which `files.json` lists.
    pub fn files(&self) -> &FileLog {
        &self.inner.shared.files
    }

    /// Says in the manifest that a part is missing, or anything else a reader must know about what was taken.
    pub fn note(&self, note: impl Into<String>) {
        let note = clean_sentence(&note.into(), &self.inner.shared.key);
        let mut notes = self
            .inner
            .notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// The notes so far.
    pub fn notes(&self) -> Vec<String> {
        self.inner
            .notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Entries that were open when their source was dropped; the runner hands them on.
    pub fn take_left(&self) -> Vec<Done> {
        std::mem::take(
            &mut self
                .inner
                .left
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Bytes that this source added so far.
    pub fn used(&self) -> u64 {
        self.inner.used.load(Ordering::Relaxed)
    }

    /// Bytes that this source may still add.
    pub fn room(&self) -> u64 {
        let shared = &self.inner.shared;
        let own = self.inner.max_bytes.saturating_sub(self.used());
        own.min(
            shared
                .max_size
                .saturating_sub(shared.used.load(Ordering::Relaxed)),
        )
    }

    /// Opens an entry that is cut at its end when a limit is reached.
    pub fn entry(&self, path: BundlePath, content: Content, origin: Option<String>) -> EntryWriter {
        let key = &self.inner.shared.key;
        let name = clean_name(path.as_str(), key);
        let path = match name == path.as_str() {
            true => path,
            false => BundlePath::from_parts([name]),
        };
        let origin = origin.map(|origin| clean_sentence(&origin, key));
        EntryWriter {
            redactor: Redactor::new(content, key.clone()),
            buffer: Vec::new(),
            tail: None,
            open: Some(Open {
                spool: EntrySpool::locked(
                    &self.inner.shared.spill_dir,
                    self.inner.shared.spill_keys.clone(),
                ),
                meta: EntryMeta {
                    path,
                    source: self.inner.source.to_owned(),
                    truncated: None,
                    redactions: BTreeMap::new(),
                    origin,
                },
            }),
            out: self.clone(),
        }
    }

    /// Opens an entry for a log of which only the newest `keep` bytes (whole lines) are wanted. They are held in
    /// memory until the entry is finished, so `keep` should be a few MiB.
    pub fn tail_entry(
        &self,
        path: BundlePath,
        content: Content,
        origin: Option<String>,
        keep: usize,
    ) -> EntryWriter {
        let mut entry = self.entry(path, content, origin);
        entry.tail = Some(Tail {
            keep,
            lines: std::collections::VecDeque::new(),
            bytes: 0,
            dropped: 0,
        });
        entry
    }

    /// Hands on an entry that is finished already.
    pub async fn send(&self, done: Done) -> Result<(), OutError> {
        self.inner
            .shared
            .sender
            .send(done)
            .await
            .map_err(|_| OutError::Closed)
    }

    /// Writes a whole entry at once.
    pub async fn put(
        &self,
        path: BundlePath,
        content: Content,
        origin: Option<String>,
        bytes: &[u8],
    ) -> Result<(), OutError> {
        let mut entry = self.entry(path, content, origin);
        entry.write(bytes)?;
        entry.finish().await
    }
}

struct Open {
    spool: EntrySpool,
    meta: EntryMeta,
}

/// The newest lines of a log, and how much was dropped before them.
struct Tail {
    keep: usize,
    lines: std::collections::VecDeque<Vec<u8>>,
    bytes: usize,
    dropped: u64,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            self.bytes += line.len();
            match self.lines.back_mut() {
                Some(last) if last.last() != Some(&b'\n') => last.extend_from_slice(line),
                _ => self.lines.push_back(line.to_vec()),
            }
            while self.bytes > self.keep && self.lines.len() > 1 {
                self.drop_oldest();
            }
        }
    }

    /// Makes it fit into what room is left, the newest kept.
    fn keep(&mut self, most: usize) {
        while self.bytes > most && !self.lines.is_empty() {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(old) = self.lines.pop_front() {
            self.bytes -= old.len();
            self.dropped += old.len() as u64;
        }
    }
}

/// One entry that is being filled. Dropped before [`EntryWriter::finish`], it keeps what it has, marked as cut.
pub struct EntryWriter {
    redactor: Redactor,
    buffer: Vec<u8>,
    tail: Option<Tail>,
    open: Option<Open>,
    out: Out,
}

impl EntryWriter {
    /// Adds bytes, in any chunking. [`Room::Full`] says that more is of no use.
    pub fn write(&mut self, bytes: &[u8]) -> Result<Room, OutError> {
        self.redactor.push(bytes, &mut self.buffer);
        self.drain()
    }

    /// Says why this entry does not hold all of its origin.
    pub fn truncated(&mut self, why: impl Into<String>) {
        if let Some(open) = &mut self.open
            && open.meta.truncated.is_none()
        {
            open.meta.truncated = Some(why.into());
        }
    }

    /// Whether a limit has cut it.
    pub fn is_truncated(&self) -> bool {
        self.open
            .as_ref()
            .is_some_and(|open| open.meta.truncated.is_some())
    }

    /// Forgets the entry: nothing of it reaches the bundle.
    pub fn discard(mut self) {
        if let Some(open) = self.open.take() {
            self.out.give_back(open.spool.bytes());
        }
    }

    /// Hands the entry to the writer; waits while the writer is busy.
    pub async fn finish(mut self) -> Result<(), OutError> {
        let Some(done) = self.close()? else {
            return Ok(());
        };
        self.out
            .inner
            .shared
            .sender
            .send(done)
            .await
            .map_err(|_| OutError::Closed)
    }

    /// As [`EntryWriter::finish`], for code that runs on a blocking thread.
    pub fn finish_blocking(mut self) -> Result<(), OutError> {
        let Some(done) = self.close()? else {
            return Ok(());
        };
        self.out
            .inner
            .shared
            .sender
            .blocking_send(done)
            .map_err(|_| OutError::Closed)
    }

    fn close(&mut self) -> Result<Option<Done>, OutError> {
        self.redactor.finish(&mut self.buffer);
        self.drain()?;
        if let Some(mut tail) = self.tail.take() {
            tail.keep(usize::try_from(self.out.room()).unwrap_or(usize::MAX));
            for line in tail.lines {
                self.take(&line)?;
            }
            if tail.dropped > 0 {
                self.truncated(format!(
                    "newest {} bytes kept, {} older dropped",
                    tail.bytes, tail.dropped
                ));
            }
        }
        let Some(Open { spool, mut meta }) = self.open.take() else {
            return Ok(None);
        };
        meta.redactions = self.redactor.counts();
        let path = meta.path.to_string();
        let entry = spool
            .finish()
            .map_err(|source| OutError::Spool { path, source })?;
        Ok(Some(Done { meta, entry }))
    }

    fn drain(&mut self) -> Result<Room, OutError> {
        let bytes = std::mem::take(&mut self.buffer);
        let room = match &mut self.tail {
            Some(tail) => {
                tail.push(&bytes);
                Room::More
            }
            None => self.take(&bytes)?,
        };
        self.buffer = bytes;
        self.buffer.clear();
        Ok(room)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<Room, OutError> {
        let granted = self.out.reserve(bytes.len() as u64);
        let Some(open) = &mut self.open else {
            return Ok(Room::Full);
        };
        let fits = usize::try_from(granted)
            .unwrap_or(bytes.len())
            .min(bytes.len());
        open.spool
            .write_all(&bytes[..fits])
            .map_err(|source| OutError::Spool {
                path: open.meta.path.to_string(),
                source,
            })?;
        if fits == bytes.len() {
            return Ok(Room::More);
        }
        let limit = self.out.limit_in_words();
        self.truncated(format!("{limit}; the beginning was kept"));
        Ok(Room::Full)
    }
}

impl Drop for EntryWriter {
    fn drop(&mut self) {
        if self.open.is_none() {
            return;
        }
        self.truncated("its source was stopped before the end");
        if let Ok(Some(done)) = self.close() {
            self.out
                .inner
                .left
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(done);
        }
    }
}

impl Out {
    /// Takes up to `bytes` of what is left to this source and to the whole bundle; says how much it got.
    fn reserve(&self, bytes: u64) -> u64 {
        let shared = &self.inner.shared;
        let own = grant(&self.inner.used, self.inner.max_bytes, bytes);
        let granted = grant(&shared.used, shared.max_size, own);
        self.inner.used.fetch_sub(own - granted, Ordering::Relaxed);
        granted
    }

    fn give_back(&self, bytes: u64) {
        self.inner.used.fetch_sub(bytes, Ordering::Relaxed);
        self.inner.shared.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn limit_in_words(&self) -> String {
        let own = self.used() >= self.inner.max_bytes;
        let (what, limit) = if own {
            ("byte limit of the source", self.inner.max_bytes)
        } else {
            (
                "byte limit of the bundle (--max-size)",
                self.inner.shared.max_size,
            )
        };
        format!("{what} reached ({limit} bytes)")
    }
}

/// Adds up to `wanted` to a counter without passing its limit; says how much that was.
fn grant(counter: &AtomicU64, limit: u64, wanted: u64) -> u64 {
    let mut granted = 0;
    // The closure always gives a value, so this cannot fail.
    let _ = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
        granted = limit.saturating_sub(used).min(wanted);
        Some(used + granted)
    });
    granted
}

/// A sink that tests read back.
#[cfg(test)]
pub mod testing {
    use super::*;

    /// A way in whose finished entries wait in the returned channel (room for 1,000).
    pub fn sink(source: &'static str, max_bytes: u64) -> (Out, mpsc::Receiver<Done>) {
        let (sender, receiver) = mpsc::channel(1000);
        let shared = Shared {
            node: "node-1".to_owned(),
            spill_dir: std::env::temp_dir(),
            spill_keys: None,
            key: Key::fixed(),
            max_size: u64::MAX,
            used: AtomicU64::new(0),
            files: FileLog::default(),
            sender,
        };
        (Out::new(Arc::new(shared), source, max_bytes), receiver)
    }
}
