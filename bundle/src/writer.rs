//! The writer: turns finished entries into a bundle, streaming, with the same bytes for the same input.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use tar::{EntryType, Header as TarHeader};

use crate::hash::{Hasher, sha256_hex};
use crate::manifest::{EntryRecord, FormatVersion, Header, Manifest, ManifestEnd};
use crate::member::{MEMBER_BYTES, Packer, stored};
use crate::path::{BundlePath, PathError};
use crate::seal::{Sum, statement};
use crate::signature::Signed;
use crate::spool::{Content, FinishedEntry, copy_members};
use crate::{HEADER_PATH, MANIFEST_PATH, SIGNATURE_PATH, SUM_PATH};

/// Source id of `casefile.json` in the manifest.
const OWN_SOURCE: &str = "casefile";
const BLOCK: usize = 512;

/// What is known of an entry besides its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryMeta {
    /// Path below the top folder.
    pub path: BundlePath,
    /// Id of the source that made it.
    pub source: String,
    /// Why part of the content is missing.
    pub truncated: Option<String>,
    /// How many secrets of each class were taken out.
    pub redactions: BTreeMap<String, u64>,
    /// The host path, command line or API path it came from.
    pub origin: Option<String>,
}

/// Why an entry could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The path is in the bundle already.
    #[error("{0}: already in the bundle")]
    Duplicate(BundlePath),
    /// The name of the top folder cannot be used.
    #[error("top folder {name:?}")]
    Top {
        /// The refused name.
        name: String,
        /// The rule it breaks.
        #[source]
        source: PathError,
    },
    /// A header or manifest could not be put into JSON.
    #[error("{path}: to JSON")]
    Json {
        /// The entry.
        path: &'static str,
        /// What serde said.
        #[source]
        source: serde_json::Error,
    },
    /// The sink refused the bytes: full disk, closed pipe.
    #[error("write the bundle at byte {offset}")]
    Io {
        /// Bytes written before the failure.
        offset: u64,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A sink whose bytes are hashed on the way.
struct Tee<W> {
    out: W,
    hash: Hasher,
}

impl<W: Write> Write for Tee<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// What signs the statement about a bundle.
pub type Sign<'a> = dyn Fn(String) -> Signed + 'a;

/// Writes a bundle to a sink.
///
/// Small neighbours share a gzip member of up to 1 MiB; a larger entry's content has members of its
/// own. After an error the sink holds a cut bundle; drop the writer.
pub struct Writer<W: Write> {
    out: Tee<W>,
    top: String,
    header: Header,
    packer: Packer,
    pending: Vec<u8>,
    packed: Vec<u8>,
    offset: u64,
    seen: BTreeSet<BundlePath>,
    records: Vec<EntryRecord>,
}

impl<W: Write> Writer<W> {
    /// Starts a bundle and writes `casefile.json` as a member of its own, so that even an early cut
    /// names the node. `top` is the top folder, e.g. `casefile-gpu-1-20261120T101500Z`.
    pub fn new(out: W, top: &str, header: &Header) -> Result<Self, WriteError> {
        let checked = match BundlePath::new(top) {
            Ok(_) if top.contains('/') => Err(PathError::Segment),
            Ok(_) if top.len() > 255 => Err(PathError::TooLong),
            other => other.map(|_| ()),
        };
        checked.map_err(|source| WriteError::Top {
            name: top.to_owned(),
            source,
        })?;
        let mut writer = Self {
            out: Tee {
                out,
                hash: Hasher::default(),
            },
            top: top.to_owned(),
            header: header.clone(),
            packer: Packer::new(),
            pending: Vec::new(),
            packed: Vec::new(),
            offset: 0,
            seen: BTreeSet::new(),
            records: Vec::new(),
        };
        let json = to_json(HEADER_PATH, header)?;
        writer.append_bytes(own_meta(HEADER_PATH), &json)?;
        writer.flush()?;
        Ok(writer)
    }

    /// Appends an entry. A path that is in the bundle already is refused and nothing is written.
    pub fn append(&mut self, meta: EntryMeta, entry: FinishedEntry) -> Result<(), WriteError> {
        let own = [MANIFEST_PATH, SIGNATURE_PATH, SUM_PATH].contains(&meta.path.as_str());
        if self.seen.contains(&meta.path) || own {
            return Err(WriteError::Duplicate(meta.path));
        }
        let bytes = entry.bytes();
        let sha256 = entry.sha256().to_owned();
        let head = self.tar_head(&meta.path, bytes);
        let content = entry.into_content();
        let padding = padding(bytes);
        let needed = match &content {
            Content::Raw(raw) => head.len() + raw.len() + padding,
            Content::Packed { .. } => head.len(),
        };
        if self.pending.len() + needed > MEMBER_BYTES {
            self.flush()?;
        }
        let record = EntryRecord {
            path: meta.path.clone(),
            source: meta.source,
            bytes,
            sha256,
            member_offset: self.offset,
            offset_in_member: self.pending.len() as u64,
            truncated: meta.truncated,
            redactions: meta.redactions,
            origin: meta.origin,
        };
        self.pending.extend_from_slice(&head);
        match content {
            Content::Raw(raw) => self.pending.extend_from_slice(&raw),
            Content::Packed { memory, file } => {
                self.flush()?;
                if let Some(file) = file {
                    let copied = copy_members(file, &mut self.out);
                    self.offset += copied.map_err(|e| self.io(e))?;
                }
                self.put(&memory)?;
            }
        }
        self.pending.resize(self.pending.len() + padding, 0);
        self.seen.insert(meta.path);
        self.records.push(record);
        Ok(())
    }

    /// Appends an entry whose content is in memory.
    pub fn append_bytes(&mut self, meta: EntryMeta, bytes: &[u8]) -> Result<(), WriteError> {
        let entry = FinishedEntry::from_bytes(bytes).map_err(|e| self.io(e))?;
        self.append(meta, entry)
    }

    /// Bytes handed to the sink so far, compressed. Up to 1 MiB of small entries may still wait.
    pub fn bytes_written(&self) -> u64 {
        self.offset
    }

    /// Ends the current member and hands it to the sink, so that a cut after this loses nothing.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.packed.clear();
        let packed = self.packer.pack(&self.pending, &mut self.packed);
        packed.map_err(|e| self.io(e))?;
        self.pending.clear();
        let packed = std::mem::take(&mut self.packed);
        self.put(&packed)?;
        self.packed = packed;
        Ok(())
    }

    /// Writes `manifest.json`, its sum and the tar end blocks, flushes and returns the sink.
    pub fn finish(self, end: ManifestEnd) -> Result<W, WriteError> {
        self.finish_signed(end, None)
    }

    /// As [`Writer::finish`], with a signature instead of the sum where there is somebody to sign.
    pub fn finish_signed(
        mut self,
        end: ManifestEnd,
        sign: Option<&Sign<'_>>,
    ) -> Result<W, WriteError> {
        // What was collected should survive a failure to write the manifest.
        self.flush()?;
        let mut sources = end.sources;
        sources.sort_by(|a, b| a.id.cmp(&b.id));
        let manifest = Manifest {
            format: FormatVersion::CURRENT,
            tool: self.header.tool.clone(),
            node: self.header.node.clone(),
            started: self.header.started,
            finished: end.finished,
            interrupted: end.interrupted,
            sources,
            entries: std::mem::take(&mut self.records),
        };
        let json = to_json(MANIFEST_PATH, &manifest)?;
        let head = self.tar_head(&own_meta(MANIFEST_PATH).path, json.len() as u64);
        self.pending.extend_from_slice(&head);
        let mut rest = json.as_slice();
        while self.pending.len() + rest.len() > MEMBER_BYTES - 2 * BLOCK {
            let most = (MEMBER_BYTES - 2 * BLOCK - self.pending.len()).min(rest.len());
            let cut = memchr::memrchr(b'\n', &rest[..most]).map_or(most, |at| at + 1);
            self.pending.extend_from_slice(&rest[..cut]);
            rest = &rest[cut..];
            self.flush()?;
        }
        self.pending.extend_from_slice(rest);
        let end = self.pending.len() + padding(json.len() as u64);
        self.pending.resize(end, 0);
        self.flush()?;
        self.seal(&sha256_hex(&json), sign)?;
        let flushed = self.out.flush();
        flushed.map_err(|e| self.io(e))?;
        Ok(self.out.out)
    }

    /// Writes the seal about everything so far, and the end of the archive.
    fn seal(&mut self, manifest: &str, sign: Option<&Sign<'_>>) -> Result<(), WriteError> {
        let says =
            |schema: &str| statement(schema, manifest, self.offset, &self.out.hash.clone().hex());
        let (path, json) = match sign {
            Some(sign) => {
                let signed = sign(says(Signed::SCHEMA));
                (SIGNATURE_PATH, to_json(SIGNATURE_PATH, &signed)?)
            }
            None => {
                let sum = Sum {
                    schema: Sum::SCHEMA.to_owned(),
                    statement: says(Sum::SCHEMA),
                };
                (SUM_PATH, to_json(SUM_PATH, &sum)?)
            }
        };
        let mut content = self.tar_head(&own_meta(path).path, json.len() as u64);
        content.extend_from_slice(&json);
        content.resize(content.len() + padding(json.len() as u64) + 2 * BLOCK, 0);
        let mut member = Vec::new();
        let packed = stored(&content, &mut member);
        packed.map_err(|e| self.io(e))?;
        self.put(&member)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let written = self.out.write_all(bytes);
        written.map_err(|e| self.io(e))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    fn io(&self, source: io::Error) -> WriteError {
        let offset = self.offset;
        WriteError::Io { offset, source }
    }

    /// Tar header of an entry, with a GNU long-name entry before it where the name needs one.
    fn tar_head(&self, path: &BundlePath, size: u64) -> Vec<u8> {
        let name = format!("{}/{path}", self.top);
        let mtime = u64::try_from(self.header.started.timestamp()).unwrap_or(0);
        let mut head = Vec::with_capacity(BLOCK);
        let mut header = plain_header(EntryType::Regular, size, mtime);
        // `set_path` would accept a platform's own rules; the bytes are ours to choose.
        let slot = &mut header.as_mut_bytes()[..100];
        if name.len() < slot.len() {
            slot[..name.len()].copy_from_slice(name.as_bytes());
        } else {
            slot.copy_from_slice(&name.as_bytes()[..100]);
            let mut long = plain_header(EntryType::GNULongName, name.len() as u64 + 1, 0);
            long.as_mut_bytes()[..13].copy_from_slice(b"././@LongLink");
            long.set_cksum();
            head.extend_from_slice(long.as_bytes());
            head.extend_from_slice(name.as_bytes());
            head.push(0);
            head.resize(head.len().next_multiple_of(BLOCK), 0);
        }
        header.set_cksum();
        head.extend_from_slice(header.as_bytes());
        head
    }
}

fn own_meta(path: &'static str) -> EntryMeta {
    EntryMeta {
        path: BundlePath::from_parts([path]),
        source: OWN_SOURCE.to_owned(),
        truncated: None,
        redactions: BTreeMap::new(),
        origin: None,
    }
}

fn plain_header(kind: EntryType, size: u64, mtime: u64) -> TarHeader {
    let mut header = TarHeader::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(mtime);
    header.set_size(size);
    header
}

fn padding(bytes: u64) -> usize {
    let over = usize::try_from(bytes % BLOCK as u64).unwrap_or(0);
    (BLOCK - over) % BLOCK
}

fn to_json<T: serde::Serialize>(path: &'static str, value: &T) -> Result<Vec<u8>, WriteError> {
    let mut json =
        serde_json::to_vec_pretty(value).map_err(|source| WriteError::Json { path, source })?;
    json.push(b'\n');
    Ok(json)
}
