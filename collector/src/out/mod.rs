//! The only road into the bundle: an entry is redacted while it streams in, kept within the limits of its source and
//! of the whole bundle, and handed to the one writer when it is finished.

mod entry;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use casefile_bundle::{BundlePath, Entry, EntryMeta, FinishedEntry, Keys};
use tokio::sync::mpsc;

use crate::files::FileLog;
use crate::redact::{Content, Key, clean_name, clean_sentence};

pub use entry::EntryWriter;

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

    /// The path of one of this node's entries: `out.path(Entry::Host, "pci.json")`.
    pub fn path<'a>(
        &'a self,
        entry: fn(&'a str, &'a str) -> Entry<'a>,
        name: &'a str,
    ) -> BundlePath {
        entry(self.node(), name).into()
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
        EntryWriter::open(self, path, content, origin)
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
        entry.keep_newest(keep);
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
            key: Key::from_bytes(&[7; 32]),
            max_size: u64::MAX,
            used: AtomicU64::new(0),
            files: FileLog::default(),
            sender,
        };
        (Out::new(Arc::new(shared), source, max_bytes), receiver)
    }
}
