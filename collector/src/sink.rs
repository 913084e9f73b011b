//! Where the bundle's bytes go: a file or standard output, with size and checksum, and with room on the disk that is
//! taken before it is needed, so that a disk that fills up costs entries and never the manifest.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use casefile_bundle::Hasher;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// Room kept for what ends the bundle: small entries that wait for their member (up to 1 MiB), the manifest's notes.
const FOR_END: u64 = (1 << 20) + (256 << 10);
/// And for each entry's line in the manifest, compressed.
const FOR_ENTRY: u64 = 256;
/// Encryption adds one byte to so many: a tag of 16 to 64 KiB.
const BYTES_A_TAG: u64 = 4096;
/// Taken ahead in steps of this, where the disk has it.
const STEP: u64 = 8 << 20;

/// A sink that knows its size and checksum.
pub struct Sink {
    to: To,
    hash: Hasher,
    bytes: u64,
}

enum To {
    File(Arc<File>, PathBuf),
    Stdout(io::Stdout),
}

impl Sink {
    /// Standard output.
    pub fn stdout() -> Self {
        Self::new(To::Stdout(io::stdout()))
    }

    /// An open file in a folder.
    pub fn file(file: File, dir: &Path) -> Self {
        Self::new(To::File(Arc::new(file), dir.to_path_buf()))
    }

    fn new(to: To) -> Self {
        Self {
            to,
            hash: Hasher::default(),
            bytes: 0,
        }
    }

    /// Bytes written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Checksum of what was written, in hexadecimal.
    pub fn sha256(&self) -> String {
        self.hash.clone().hex()
    }

    /// Puts everything on the disk and gives back room that was not needed.
    pub fn settle(&mut self) -> io::Result<()> {
        self.flush()?;
        if let To::File(file, _) = &self.to {
            file.set_len(self.bytes)?;
            file.sync_all()?;
        }
        Ok(())
    }

    /// The disk's room for this sink.
    pub fn room(&self) -> Room {
        let file = match &self.to {
            To::File(file, dir) => Some((Arc::clone(file), dir.clone())),
            To::Stdout(_) => None,
        };
        Room {
            file,
            entries: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.to {
            To::File(file, _) => (&**file).write(bytes)?,
            To::Stdout(stdout) => stdout.write(bytes)?,
        };
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File(file, _) => (&**file).flush(),
            To::Stdout(stdout) => stdout.flush(),
        }
    }
}

/// Room on the disk, taken before it is written to.
pub struct Room {
    file: Option<(Arc<File>, PathBuf)>,
    entries: AtomicU64,
    /// Up to this offset the disk has promised its blocks.
    taken: AtomicU64,
}

impl Room {
    /// Takes room for `bytes` more behind `offset` and for everything that must follow. False when the disk is full.
    /// Standard output always has room.
    pub fn take(&self, offset: u64, bytes: u64) -> bool {
        let Some((file, dir)) = &self.file else {
            return true;
        };
        let entries = self.entries.fetch_add(1, Ordering::Relaxed) + 1;
        let encryption = (offset + bytes) / BYTES_A_TAG;
        let needed = offset + bytes + encryption + FOR_END + entries * FOR_ENTRY;
        if needed <= self.taken.load(Ordering::Relaxed) {
            return true;
        }
        for end in [needed + STEP, needed] {
            match fallocate(file, FallocateFlags::KEEP_SIZE, offset, end - offset) {
                Ok(()) => {
                    self.taken.store(end, Ordering::Relaxed);
                    return true;
                }
                Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => {}
                // This file system makes no promises; what is free now has to do.
                Err(_) => return free_space(dir).is_none_or(|free| free >= needed - offset),
            }
        }
        false
    }
}

/// Free bytes for this user where a folder lies.
pub fn free_space(dir: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(dir).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}
