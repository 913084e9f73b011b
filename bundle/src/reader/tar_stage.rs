//! The tar stage: finds the entries in a stream of buffers, whatever their boundaries.

use std::io::Read;
use std::sync::Arc;

use tar::{EntryType, Header};

use super::piece::Buf;
use super::problem::{OpenError, ReadProblem};
use super::sniff::looks_like;
use super::tar_block::{BLOCK, checksum_fits, kind_name, padded, within};
use super::tar_overrides::Overrides;
use super::unpack::{self, Inside};
use super::walk::Walk;
use crate::path::BundlePath;

/// Long names and PAX records beyond this are refused.
const MAX_META: u64 = 1 << 20;

/// A tar parser that is pushed.
pub(crate) struct TarStage {
    state: State,
    block: Vec<u8>,
    /// Bytes fed, lost ones included.
    pos: u64,
    any_header: bool,
    next: Overrides,
    end_seen: bool,
    trailing: bool,
    /// How deep entries lie that are archives themselves; none where they are not opened.
    depth: Option<u8>,
}

/// An entry that is an archive, or compressed.
pub(crate) struct Found {
    path: BundlePath,
    pub(crate) size: u64,
    depth: u8,
}

impl Found {
    /// Its size, as far as a buffer can hold it.
    pub(crate) fn within(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }

    /// Reads it.
    pub(crate) fn read(&self, content: &mut dyn Read, walk: &mut Walk<'_>) {
        let inside = Inside::entry(self.path.clone(), Some(self.size), self.depth);
        unpack::read(content, inside, walk);
    }
}

enum State {
    Header,
    Meta {
        kind: EntryType,
        left: u64,
        size: u64,
        bytes: Vec<u8>,
    },
    /// A file of which nothing was seen yet.
    Begin {
        path: BundlePath,
        size: u64,
    },
    Content {
        left: u64,
        size: u64,
    },
    Skip {
        left: u64,
    },
    SparseMap {
        size: u64,
    },
    Resync,
    End,
}

impl TarStage {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Header,
            block: Vec::with_capacity(BLOCK),
            pos: 0,
            any_header: false,
            next: Overrides::default(),
            end_seen: false,
            trailing: false,
            depth: None,
        }
    }

    /// The same, giving out entries that are archives; they lie as deep as this.
    pub(crate) fn nesting(depth: u8) -> Self {
        let depth = Some(depth);
        Self {
            depth,
            ..Self::new()
        }
    }

    /// Whether the next byte is content of the present entry.
    pub(crate) fn is_within(&self) -> bool {
        matches!(self.state, State::Content { left: 1.., .. })
    }

    /// Whether the archive's end mark was seen.
    pub(crate) fn ended(&self) -> bool {
        self.end_seen
    }

    /// Takes the next bytes of the archive, whose entries are not opened.
    pub(crate) fn feed(&mut self, buf: &Arc<Buf>, walk: &mut Walk<'_>) {
        let mut at = 0;
        while let Some(found) = self.feed_from(buf, &mut at, walk) {
            self.begin(found.path, found.size, walk);
        }
    }

    /// Takes the next bytes of the archive from `at` on, up to the content of an entry that is to be opened: that
    /// is to be read, and then [`Self::passed`].
    pub(crate) fn feed_from(
        &mut self,
        buf: &Arc<Buf>,
        at: &mut usize,
        walk: &mut Walk<'_>,
    ) -> Option<Found> {
        let bytes = buf.bytes();
        while *at < bytes.len() && !walk.stopped() {
            let rest = &bytes[*at..];
            if let State::Begin { path, size } = &self.state {
                let (path, size) = (path.clone(), *size);
                match self.depth {
                    Some(depth) if is_archive(rest, path.as_str(), walk) => {
                        return Some(Found { path, size, depth });
                    }
                    _ => self.begin(path, size, walk),
                }
                continue;
            }
            let taken = self.feed_some(buf, *at, walk);
            *at += taken;
            self.pos += taken as u64;
            self.settle(walk);
        }
        None
    }

    fn feed_some(&mut self, buf: &Arc<Buf>, at: usize, walk: &mut Walk<'_>) -> usize {
        let rest = &buf.bytes()[at..];
        match &mut self.state {
            State::Header | State::Resync | State::SparseMap { .. } => self.feed_block(rest, walk),
            State::Meta { left, bytes, .. } => {
                let n = within(*left, rest.len());
                bytes.extend_from_slice(&rest[..n]);
                *left -= n as u64;
                n
            }
            State::Content { left, .. } => {
                let n = within(*left, rest.len());
                *left -= n as u64;
                walk.content(buf, at..at + n);
                n
            }
            State::Skip { left } => {
                let n = within(*left, rest.len());
                *left -= n as u64;
                n
            }
            State::Begin { .. } => 0,
            State::End => {
                self.trailing |= rest.iter().any(|b| *b != 0);
                rest.len()
            }
        }
    }

    /// Notes that so much of an opened entry was read.
    pub(crate) fn passed(&mut self, bytes: u64, walk: &mut Walk<'_>) {
        if let State::Begin { size, .. } = self.state {
            self.pos += bytes;
            self.state = match size.saturating_sub(bytes) {
                0 => padding(size),
                left => State::Skip {
                    left: left.saturating_add(padded(size) - size),
                },
            };
            self.settle(walk);
        }
    }

    /// Begins a file whose content is handed over as it is.
    fn begin(&mut self, path: BundlePath, size: u64, walk: &mut Walk<'_>) {
        self.state = if walk.begin(path, Some(size)) {
            State::Content { left: size, size }
        } else {
            skip_entry(size)
        };
        self.settle(walk);
    }

    /// Bytes that come next and will be thrown away.
    pub(crate) fn skippable(&self, walk: &Walk<'_>) -> u64 {
        match self.state {
            State::Skip { left } => left,
            State::Content { left, .. } if walk.unwanted() => left,
            _ => 0,
        }
    }

    /// Passes over bytes that were not even inflated, at most [`Self::skippable`] of them.
    pub(crate) fn skip(&mut self, bytes: u64, walk: &mut Walk<'_>) {
        self.pos += bytes;
        if let State::Content { left, .. } | State::Skip { left } = &mut self.state {
            *left = left.saturating_sub(bytes);
        }
        self.settle(walk);
    }

    /// Notes that the file goes on behind the end of the archive.
    pub(crate) fn more_follows(&mut self) {
        self.trailing = true;
    }

    /// Passes over bytes that are lost.
    pub(crate) fn gap(&mut self, lost: u64, at: u64, why: &str, walk: &mut Walk<'_>) {
        self.pos += lost;
        // Something was there, so what follows is not refused for lack of a first header.
        self.any_header = true;
        if self.end_seen {
            return;
        }
        walk.gap(lost, at, why);
        match &mut self.state {
            State::Content { left, .. } | State::Skip { left } if *left >= lost => *left -= lost,
            _ => {
                walk.end(false);
                self.next = Overrides::default();
                self.block.clear();
                self.state = State::Resync;
            }
        }
        self.settle(walk);
    }

    /// Ends the stream; `why` says what ended it if it was not simply the end of the input.
    pub(crate) fn finish(&mut self, why: Option<&str>, walk: &mut Walk<'_>) {
        if let State::Begin { path, size } = &self.state {
            let (path, size) = (path.clone(), *size);
            self.begin(path, size, walk);
        }
        if walk.stopped() {
            walk.end(false);
            return;
        }
        if self.end_seen {
            if self.trailing || why.is_some() {
                walk.problem(ReadProblem::TrailingData);
            }
            return;
        }
        walk.end(false);
        if !self.any_header && why.is_none() {
            self.not_a_tar(walk);
            return;
        }
        walk.cut(self.pos, why.unwrap_or("no end mark"));
    }

    /// Leaves a state of which nothing is left.
    fn settle(&mut self, walk: &mut Walk<'_>) {
        match &mut self.state {
            State::Content { left: 0, size } => {
                let size = *size;
                walk.end(true);
                self.state = padding(size);
            }
            State::Meta {
                left: 0,
                kind,
                size,
                bytes,
            } => {
                let (kind, size, bytes) = (*kind, *size, std::mem::take(bytes));
                self.next.note(kind, &bytes);
                self.state = padding(size);
            }
            State::Skip { left: 0 } => self.state = State::Header,
            // Without a second buffer an entry that is not opened begins with its header.
            State::Begin { path, size } if *size == 0 || self.depth.is_none() => {
                let (path, size) = (path.clone(), *size);
                self.begin(path, size, walk);
            }
            _ => {}
        }
    }

    fn feed_block(&mut self, rest: &[u8], walk: &mut Walk<'_>) -> usize {
        if matches!(self.state, State::Resync)
            && self.block.is_empty()
            && !self.pos.is_multiple_of(BLOCK as u64)
        {
            return within(BLOCK as u64 - self.pos % BLOCK as u64, rest.len());
        }
        let n = (BLOCK - self.block.len()).min(rest.len());
        self.block.extend_from_slice(&rest[..n]);
        if self.block.len() == BLOCK {
            let block = std::mem::take(&mut self.block);
            self.on_block(&block, walk);
            // Not taken as "no header yet" by `finish`.
            if !walk.stopped() {
                self.block = block;
                self.block.clear();
            }
        }
        n
    }

    fn on_block(&mut self, block: &[u8], walk: &mut Walk<'_>) {
        if let State::SparseMap { size } = self.state {
            // GNU sparse maps go on in further blocks; the flag is at byte 504.
            if block.get(504) != Some(&1) {
                self.state = skip_entry(size);
            }
            return;
        }
        if block.iter().all(|b| *b == 0) {
            if !self.any_header {
                self.block.extend_from_slice(block);
                self.not_a_tar(walk);
            } else if !matches!(self.state, State::Resync) {
                self.end_seen = true;
                self.state = State::End;
            }
            return;
        }
        let header = Header::from_byte_slice(block);
        if !checksum_fits(header) {
            if !self.any_header {
                self.block.extend_from_slice(block);
                self.not_a_tar(walk);
            } else if !matches!(self.state, State::Resync) {
                self.bad_header("checksum does not match", walk);
            }
            return;
        }
        self.any_header = true;
        match header.entry_size() {
            Ok(size) => self.on_header(header, size, walk),
            Err(error) => self.bad_header(&error.to_string(), walk),
        }
    }

    fn bad_header(&mut self, why: &str, walk: &mut Walk<'_>) {
        let at = (self.pos / BLOCK as u64) * BLOCK as u64;
        let why = why
            .chars()
            .take(200)
            .flat_map(char::escape_default)
            .collect();
        walk.problem(ReadProblem::BadHeader { at, why });
        self.next = Overrides::default();
        self.state = State::Resync;
    }

    fn not_a_tar(&mut self, walk: &mut Walk<'_>) {
        let path = walk.input.clone();
        let looks_like = looks_like(&self.block);
        walk.refuse(OpenError::NotABundle { path, looks_like });
    }

    fn on_header(&mut self, header: &Header, size: u64, walk: &mut Walk<'_>) {
        let kind = header.entry_type();
        if kind.is_gnu_longname() || kind.is_gnu_longlink() || kind.is_pax_local_extensions() {
            self.state = if size > MAX_META {
                self.bad_header("name or attributes too long", walk);
                State::Skip { left: padded(size) }
            } else {
                State::Meta {
                    kind,
                    left: size,
                    size,
                    bytes: Vec::new(),
                }
            };
            self.settle(walk);
            return;
        }
        if kind.is_pax_global_extensions() {
            self.state = skip_entry(size);
            return;
        }
        let next = std::mem::take(&mut self.next);
        let size = next.size.unwrap_or(size);
        if !walk.count_entry() {
            return;
        }
        let raw = next
            .name
            .unwrap_or_else(|| header.path_bytes().into_owned());
        self.state = self.open_entry(kind, &raw, size, next.sparse, walk);
        if kind.is_gnu_sparse() && header.as_gnu().is_some_and(tar::GnuHeader::is_extended) {
            self.state = State::SparseMap { size };
        }
        self.settle(walk);
    }

    fn open_entry(
        &self,
        kind: EntryType,
        raw: &[u8],
        size: u64,
        sparse: bool,
        walk: &mut Walk<'_>,
    ) -> State {
        let is_file = matches!(kind, EntryType::Regular | EntryType::Continuous);
        // Old tars mark a folder by its name only.
        let is_folder = kind.is_dir() || (is_file && raw.ends_with(b"/"));
        let Some(path) = walk.name(raw, is_folder) else {
            return skip_entry(size);
        };
        if is_folder {
            return skip_entry(size);
        }
        if !is_file || sparse {
            let path = path.to_string();
            let kind_name = if sparse {
                "sparse file"
            } else {
                kind_name(kind)
            };
            walk.problem(ReadProblem::NotRegular {
                path,
                kind: kind_name.to_owned(),
            });
            // A hard link may repeat the size of its target but has no content.
            return skip_entry(if kind.is_hard_link() { 0 } else { size });
        }
        State::Begin { path, size }
    }
}

/// Whether an entry that begins like this is not handed over as it is.
fn is_archive(head: &[u8], path: &str, walk: &Walk<'_>) -> bool {
    walk.nests() && unpack::is_opened(head, path)
}

fn padding(size: u64) -> State {
    match padded(size) - size {
        0 => State::Header,
        left => State::Skip { left },
    }
}

fn skip_entry(size: u64) -> State {
    match padded(size) {
        0 => State::Header,
        left => State::Skip { left },
    }
}
