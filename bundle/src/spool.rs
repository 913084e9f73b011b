//! A spool: one entry while a source fills it, in bounded memory.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use age::stream::StreamWriter;

use crate::hash::{Hasher, sha256_hex};
use crate::keys::Keys;
use crate::member::{MEMBER_BYTES, Packer};

/// Content up to this size stays raw and may share a member: it leaves room for its tar headers.
pub(crate) const RAW_BYTES: usize = MEMBER_BYTES - (8 << 10);
/// Compressed bytes kept in memory before they go to a file.
const MEMORY_BYTES: usize = 4 << 20;

/// One entry being produced.
///
/// Content of up to about 1 MiB stays raw. Beyond that, complete gzip members are compressed on the
/// go (each ends at a line end where the content has lines) and kept compressed: in memory up to
/// 4 MiB, then in an unlinked temporary file in the spill folder, which is encrypted where there are keys for it.
pub struct EntrySpool {
    spill_dir: PathBuf,
    keys: Option<Keys>,
    raw: Vec<u8>,
    packer: Option<Packer>,
    packed: Vec<u8>,
    spill: Option<Spill>,
    hasher: Hasher,
    bytes: u64,
}

impl EntrySpool {
    /// An empty spool; `spill_dir` is used only for an entry of many megabytes.
    pub fn new(spill_dir: &Path) -> Self {
        Self::locked(spill_dir, None)
    }

    /// As [`EntrySpool::new`]; with keys nothing readable ever lies in the spill folder.
    pub fn locked(spill_dir: &Path, keys: Option<Keys>) -> Self {
        Self {
            spill_dir: spill_dir.to_owned(),
            keys,
            raw: Vec::new(),
            packer: None,
            packed: Vec::new(),
            spill: None,
            hasher: Hasher::default(),
            bytes: 0,
        }
    }

    /// Bytes written so far, uncompressed.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Ends the entry.
    pub fn finish(mut self) -> io::Result<FinishedEntry> {
        let content = if self.packer.is_none() && self.raw.len() <= RAW_BYTES {
            // It may wait for the writer, and has grown by doubling.
            self.raw.shrink_to_fit();
            Content::Raw(self.raw)
        } else {
            while !self.raw.is_empty() {
                self.pack_one()?;
            }
            Content::Packed {
                memory: self.packed,
                file: self.spill.map(Spill::finish).transpose()?,
            }
        };
        Ok(FinishedEntry {
            content,
            bytes: self.bytes,
            sha256: self.hasher.hex(),
        })
    }

    fn pack_one(&mut self) -> io::Result<()> {
        let most = self.raw.len().min(MEMBER_BYTES);
        let cut = match memchr::memrchr(b'\n', &self.raw[..most]) {
            Some(at) if most < self.raw.len() || most == MEMBER_BYTES => at + 1,
            _ => most,
        };
        let packer = self.packer.get_or_insert_with(Packer::new);
        packer.pack(&self.raw[..cut], &mut self.packed)?;
        self.raw.drain(..cut);
        if self.packed.len() > MEMORY_BYTES {
            let file = match &mut self.spill {
                Some(file) => file,
                none => none.insert(Spill::new(&self.spill_dir, self.keys.clone())?),
            };
            file.write_all(&self.packed)?;
            self.packed.clear();
        }
        Ok(())
    }
}

impl Write for EntrySpool {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let room = MEMBER_BYTES.saturating_sub(self.raw.len());
        let taken = &buf[..buf.len().min(room.max(1))];
        self.raw.extend_from_slice(taken);
        self.hasher.update(taken);
        self.bytes += taken.len() as u64;
        if self.raw.len() >= MEMBER_BYTES {
            self.pack_one()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A spill file that is being written.
enum Spill {
    Plain(File),
    Locked(StreamWriter<File>, Keys),
}

/// A spill file that is complete.
pub(crate) struct Spilled {
    file: File,
    keys: Option<Keys>,
}

impl Spill {
    fn new(dir: &Path, keys: Option<Keys>) -> io::Result<Self> {
        let file = tempfile::tempfile_in(dir)?;
        Ok(match keys {
            Some(keys) => Self::Locked(keys.lock(&[], file)?, keys),
            None => Self::Plain(file),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.write_all(bytes),
            Self::Locked(file, _) => file.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<Spilled> {
        Ok(match self {
            Self::Plain(file) => Spilled { file, keys: None },
            Self::Locked(file, keys) => Spilled {
                file: file.finish()?,
                keys: Some(keys),
            },
        })
    }
}

/// An entry whose content is complete, ready for [`crate::Writer::append`].
pub struct FinishedEntry {
    content: Content,
    bytes: u64,
    sha256: String,
}

/// Content as it waits for the writer.
pub(crate) enum Content {
    /// Uncompressed, fits a member together with its tar header.
    Raw(Vec<u8>),
    /// Whole gzip members: those in the file come before those in memory.
    Packed {
        /// Members not spilled.
        memory: Vec<u8>,
        /// Members spilled.
        file: Option<Spilled>,
    },
}

impl FinishedEntry {
    /// An entry of bytes that are in memory already.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        if bytes.len() <= RAW_BYTES {
            return Ok(Self {
                content: Content::Raw(bytes.to_vec()),
                bytes: bytes.len() as u64,
                sha256: sha256_hex(bytes),
            });
        }
        let mut packer = Packer::new();
        let mut memory = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let most = &rest[..rest.len().min(MEMBER_BYTES)];
            let cut = match memchr::memrchr(b'\n', most) {
                Some(at) if most.len() < rest.len() => at + 1,
                _ => most.len(),
            };
            packer.pack(&rest[..cut], &mut memory)?;
            rest = &rest[cut..];
        }
        Ok(Self {
            content: Content::Packed { memory, file: None },
            bytes: bytes.len() as u64,
            sha256: sha256_hex(bytes),
        })
    }

    /// Size of the content in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The most bytes that the content can take in the bundle: compressed where it is compressed already.
    pub fn stored_at_most(&self) -> u64 {
        match &self.content {
            // What gzip cannot shrink grows by a few bytes a block.
            Content::Raw(raw) => raw.len() as u64 + (raw.len() as u64 >> 10) + 1024,
            Content::Packed { memory, file } => {
                let spilled = file
                    .as_ref()
                    .and_then(|spilled| spilled.file.metadata().ok());
                memory.len() as u64 + spilled.map_or(0, |meta| meta.len())
            }
        }
    }

    /// SHA-256 of the content, 64 lower-case hex digits.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    pub(crate) fn into_content(self) -> Content {
        self.content
    }
}

/// Copies spilled members from the start of their file.
pub(crate) fn copy_members(spilled: Spilled, out: impl Write) -> io::Result<u64> {
    let mut file = spilled.file;
    file.seek(SeekFrom::Start(0))?;
    match spilled.keys {
        Some(keys) => copy(keys.reopen(BufReader::new(file))?, out),
        None => copy(file, out),
    }
}

fn copy(mut file: impl Read, mut out: impl Write) -> io::Result<u64> {
    let mut buffer = vec![0; 256 << 10];
    let mut copied = 0;
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return Ok(copied);
        }
        out.write_all(&buffer[..n])?;
        copied += n as u64;
    }
}
