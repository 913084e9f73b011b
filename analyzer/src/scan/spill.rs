//! Texts that wait for the end of the reading: a few in memory, the others in a temporary file.
//!
//! A small archive can hold very many entries that are read as a whole; together they must not fill the memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::budget::Budget;

/// Bytes that wait in the file; what comes behind them is lost, and named.
const IN_FILE: u64 = 4 << 30;

/// A text that waits.
#[derive(Default)]
pub(super) enum Kept {
    /// None is kept.
    #[default]
    Nothing,
    /// In memory.
    Here(Vec<u8>),
    /// In the file: where, and how many bytes.
    There(u64, usize),
    /// There was no room for it.
    Lost,
}

impl Kept {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Kept::Nothing)
    }

    /// How many bytes it gives back.
    pub(super) fn len(&self) -> usize {
        match self {
            Kept::Here(bytes) => bytes.len(),
            Kept::There(_, length) => *length,
            Kept::Nothing | Kept::Lost => 0,
        }
    }
}

/// Where texts wait.
#[derive(Default)]
pub(super) struct Spill {
    budget: Budget,
    in_memory: AtomicUsize,
    facts: AtomicUsize,
    file: Mutex<(Option<File>, u64)>,
}

impl Spill {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// What may be kept.
    pub(super) fn budget(&self) -> Budget {
        self.budget
    }

    /// Counts facts of lists.
    pub(super) fn count(&self, facts: usize) {
        self.facts.fetch_add(facts, Ordering::Relaxed);
    }

    /// Whether so many facts of lists are in memory that further lists should wait. Those are read one after the other, in
    /// the order of their paths, so that it does not depend on the threads which are left out.
    pub(super) fn is_crowded(&self) -> bool {
        self.facts.load(Ordering::Relaxed) > self.budget.facts()
    }

    /// Keeps a text.
    pub(super) fn keep(&self, bytes: &[u8]) -> Kept {
        if bytes.is_empty() {
            return Kept::Nothing;
        }
        let before = self.in_memory.fetch_add(bytes.len(), Ordering::Relaxed);
        if before.saturating_add(bytes.len()) <= self.budget.waiting() {
            return Kept::Here(bytes.to_vec());
        }
        self.in_memory.fetch_sub(bytes.len(), Ordering::Relaxed);
        self.write(bytes).unwrap_or(Kept::Lost)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<Kept> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = &mut *file;
        let at = *end;
        let after = at.saturating_add(bytes.len() as u64);
        if after > IN_FILE {
            return Ok(Kept::Lost);
        }
        let file = match file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)?;
        *end = after;
        Ok(Kept::There(at, bytes.len()))
    }

    /// Appends a kept text to another; false where it is lost.
    pub(super) fn take(&self, kept: Kept, into: &mut Vec<u8>) -> bool {
        match kept {
            Kept::Nothing => true,
            Kept::Here(bytes) => {
                self.in_memory.fetch_sub(bytes.len(), Ordering::Relaxed);
                into.extend_from_slice(&bytes);
                true
            }
            Kept::There(at, length) => self.read(at, length, into).is_ok(),
            Kept::Lost => false,
        }
    }

    fn read(&self, at: u64, length: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file.0.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.seek(SeekFrom::Start(at))?;
        into.reserve(length);
        let read = file.take(length as u64).read_to_end(into)?;
        (read == length)
            .then_some(())
            .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_into_memory_comes_back_from_the_file() {
        let spill = Spill::default();
        let texts: Vec<Vec<u8>> = (0..5u8)
            .map(|byte| vec![byte; Budget::default().waiting() / 3])
            .collect();
        let kept: Vec<Kept> = texts.iter().map(|text| spill.keep(text)).collect();
        assert!(matches!(kept.first(), Some(Kept::Here(_))));
        assert!(matches!(kept.last(), Some(Kept::There(..))));
        for (kept, text) in kept.into_iter().zip(&texts) {
            let mut read = Vec::new();
            assert!(spill.take(kept, &mut read) && read == *text);
        }
        assert!(spill.keep(b"").is_empty());
    }
}
