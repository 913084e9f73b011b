//! One entry on its way: redacted while it is written, cut where a limit is reached, buffered until it is finished.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::sync::PoisonError;

use casefile_bundle::{BundlePath, EntryMeta, EntrySpool};

use super::{Done, Out, OutError, Room};
use crate::redact::{Content, Redactor};

struct Open {
    spool: EntrySpool,
    meta: EntryMeta,
}

/// The newest lines of a log, and how much was dropped before them.
struct Tail {
    keep: usize,
    lines: VecDeque<Vec<u8>>,
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
    /// An entry that is cut at its end when a limit is reached.
    pub(super) fn open(
        out: &Out,
        path: BundlePath,
        content: Content,
        origin: Option<String>,
    ) -> Self {
        let shared = &out.inner.shared;
        Self {
            redactor: Redactor::new(content, shared.key.clone()),
            buffer: Vec::new(),
            tail: None,
            open: Some(Open {
                spool: EntrySpool::locked(&shared.spill_dir, shared.spill_keys.clone()),
                meta: EntryMeta {
                    path,
                    source: out.inner.source.to_owned(),
                    truncated: None,
                    redactions: BTreeMap::new(),
                    origin,
                },
            }),
            out: out.clone(),
        }
    }

    /// From now on only the newest `bytes` of it are kept.
    pub(super) fn keep_newest(&mut self, bytes: usize) {
        self.tail = Some(Tail {
            keep: bytes,
            lines: VecDeque::new(),
            bytes: 0,
            dropped: 0,
        });
    }

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
