//! A piece: a stretch of one entry's content, cut at line ends, without copying where possible.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, PoisonError};

use crate::path::BundlePath;

/// Longest piece put together from several buffers, and so the longest line that stays whole there.
const PIECE_BYTES: usize = 1 << 20;

/// An entry as a sink sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryInfo {
    /// Place in the archive, counted from 0.
    pub index: u32,
    /// Path below the top folder.
    pub path: BundlePath,
    /// Declared size in bytes; never trust it for an allocation.
    pub size: Option<u64>,
}

/// A stretch of one entry.
///
/// For text it holds whole lines, except that a line longer than a piece (1 MiB) is split and
/// flagged. An empty entry has one empty piece.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The entry it belongs to.
    pub entry: &'a EntryInfo,
    /// Place in the entry, counted from 0.
    pub seq: u32,
    /// Whether it is the entry's last.
    pub last: bool,
    /// The content.
    pub bytes: &'a [u8],
    /// Whether it begins at the beginning of a line.
    pub starts_line: bool,
    /// Whether it ends at the end of a line, or of the entry.
    pub ends_line: bool,
}

/// Takes pieces as they come.
pub trait PieceSink: Sync {
    /// What is kept of a piece.
    type Out: Send;
    /// Called from several threads, for the pieces of one entry in any order and at the same time.
    fn piece(&self, piece: &Piece<'_>) -> Option<Self::Out>;
}

type FreeList = Arc<Mutex<Vec<Vec<u8>>>>;

/// Buffers of one size that are used again instead of being freed.
#[derive(Clone)]
pub(crate) struct BufPool {
    free: FreeList,
    size: usize,
    head: usize,
}

/// Room before the content of a block, for the beginning of a line that the block before it ends with.
const HEAD: usize = 16 << 10;

impl BufPool {
    pub(crate) fn new(size: usize) -> Self {
        let free = FreeList::default();
        Self {
            free,
            size,
            head: 0,
        }
    }

    /// Of blocks that follow one another.
    pub(crate) fn of_blocks(size: usize) -> Self {
        Self {
            head: HEAD,
            ..Self::new(size)
        }
    }

    pub(crate) fn take(&self) -> Buf {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let data = free.pop();
        drop(free);
        Buf {
            data: data.unwrap_or_else(|| vec![0; self.head + self.size]),
            from: self.head,
            len: 0,
            lead: 0,
            home: Some(Arc::clone(&self.free)),
        }
    }
}

/// A buffer of which `len` bytes are content, from a place on.
pub(crate) struct Buf {
    data: Vec<u8>,
    from: usize,
    len: usize,
    /// Bytes right before the content that were read before it, and belong to the same line.
    lead: usize,
    home: Option<FreeList>,
}

impl Buf {
    fn own(data: Vec<u8>) -> Self {
        let len = data.len();
        Self {
            data,
            from: 0,
            len,
            lead: 0,
            home: None,
        }
    }

    /// The whole buffer, to be filled.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        &mut self.data[self.from..]
    }

    pub(crate) fn set_len(&mut self, len: usize) {
        self.len = len.min(self.data.len() - self.from);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.range(self.from..self.from + self.len)
    }

    fn range(&self, range: Range<usize>) -> &[u8] {
        self.data.get(range).unwrap_or_default()
    }

    /// Puts the beginning of a line before the content; false where there is no room for it.
    fn set_lead(&mut self, begins: &[u8]) -> bool {
        let at = self.from.checked_sub(begins.len());
        let room = at.and_then(|at| self.data.get_mut(at..self.from));
        let Some(room) = room else { return false };
        room.copy_from_slice(begins);
        self.lead = begins.len();
        true
    }
}

impl Drop for Buf {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            let data = std::mem::take(&mut self.data);
            home.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(data);
        }
    }
}

/// A piece that owns its share of a buffer, so that it can go to another thread.
pub(crate) struct OwnedPiece {
    pub(crate) entry: Arc<EntryInfo>,
    pub(crate) seq: u32,
    pub(crate) last: bool,
    buf: Arc<Buf>,
    range: Range<usize>,
    starts_line: bool,
    ends_line: bool,
}

impl OwnedPiece {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buf.range(self.range.clone())
    }

    pub(crate) fn view(&self) -> Piece<'_> {
        Piece {
            entry: &self.entry,
            seq: self.seq,
            last: self.last,
            bytes: self.bytes(),
            starts_line: self.starts_line,
            ends_line: self.ends_line,
        }
    }
}

/// Takes the pieces of all entries in order, on the reading thread.
pub(crate) trait Deliver {
    /// Told of each entry; false when its content is not wanted, which makes it cheap to pass over.
    fn wants(&mut self, entry: &EntryInfo) -> bool {
        let _ = entry;
        true
    }

    /// Whether no other entry is of interest; asked after each name.
    fn is_done(&self) -> bool {
        false
    }

    /// Whether the input will be read once more, so that what takes long to decode is worth keeping.
    fn reads_again(&self) -> bool {
        false
    }

    /// `Break` ends the reading: nothing more is wanted.
    fn deliver(&mut self, piece: OwnedPiece) -> ControlFlow<()>;
}

/// Cuts one entry's content into pieces.
///
/// One piece is always held back, so that the last one can be marked.
pub(crate) struct Cutter {
    entry: Arc<EntryInfo>,
    seq: u32,
    carry: Vec<u8>,
    at_line_start: bool,
    held: Option<OwnedPiece>,
}

impl Cutter {
    pub(crate) fn new(entry: Arc<EntryInfo>) -> Self {
        Self {
            entry,
            seq: 0,
            carry: Vec::new(),
            at_line_start: true,
            held: None,
        }
    }

    pub(crate) fn entry(&self) -> &Arc<EntryInfo> {
        &self.entry
    }

    /// Moves the beginning of a line to the block that it goes on in, before its content.
    pub(crate) fn lead(&mut self, buf: &mut Buf) {
        if !self.carry.is_empty() && buf.set_lead(&self.carry) {
            self.carry.clear();
        }
    }

    /// Takes more content; `out` gets the pieces that are complete.
    pub(crate) fn content(
        &mut self,
        buf: &Arc<Buf>,
        range: Range<usize>,
        out: &mut Vec<OwnedPiece>,
    ) {
        // What leads on to the block's first byte is this entry's.
        let lead = if range.start == 0 { buf.lead } else { 0 };
        let (mut start, end) = (buf.from + range.start - lead, buf.from + range.end);
        if !self.carry.is_empty() {
            let fresh = buf.range(start..end);
            let line_end = memchr::memchr(b'\n', fresh).map_or(fresh.len(), |at| at + 1);
            let taken = line_end.min(PIECE_BYTES.saturating_sub(self.carry.len()));
            self.carry.extend_from_slice(&fresh[..taken]);
            start += taken;
            if self.carry.ends_with(b"\n") || self.carry.len() >= PIECE_BYTES {
                self.emit_carry(out);
            }
        }
        let fresh = buf.range(start..end);
        if let Some(at) = memchr::memrchr(b'\n', fresh) {
            self.emit(Arc::clone(buf), start..start + at + 1, out);
            start += at + 1;
        }
        let rest = buf.range(start..end);
        self.carry.extend_from_slice(rest);
        if self.carry.len() >= PIECE_BYTES {
            self.emit_carry(out);
        }
    }

    /// Ends a line that will never be completed: bytes behind it are lost.
    pub(crate) fn gap(&mut self, out: &mut Vec<OwnedPiece>) {
        self.emit_carry(out);
        self.at_line_start = false;
    }

    /// Ends the entry and gives its last piece.
    pub(crate) fn end(mut self, out: &mut Vec<OwnedPiece>) {
        if !self.carry.is_empty() || self.held.is_none() {
            let rest = std::mem::take(&mut self.carry);
            let range = 0..rest.len();
            self.emit(Arc::new(Buf::own(rest)), range, out);
        }
        if let Some(mut piece) = self.held.take() {
            piece.last = true;
            piece.ends_line = true;
            out.push(piece);
        }
    }

    fn emit_carry(&mut self, out: &mut Vec<OwnedPiece>) {
        if !self.carry.is_empty() {
            let carry = std::mem::take(&mut self.carry);
            let range = 0..carry.len();
            self.emit(Arc::new(Buf::own(carry)), range, out);
        }
    }

    fn emit(&mut self, buf: Arc<Buf>, range: Range<usize>, out: &mut Vec<OwnedPiece>) {
        let ends_line = buf.range(range.clone()).ends_with(b"\n");
        let piece = OwnedPiece {
            entry: Arc::clone(&self.entry),
            seq: self.seq,
            last: false,
            buf,
            range,
            starts_line: self.at_line_start,
            ends_line,
        };
        self.seq = self.seq.saturating_add(1);
        self.at_line_start = ends_line;
        out.extend(self.held.replace(piece));
    }
}
