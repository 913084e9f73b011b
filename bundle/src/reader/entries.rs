//! Single entries of an input: its list, how each begins, and the content of some.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::input::Input;
use super::limits::Limits;
use super::piece::{Deliver, EntryInfo, OwnedPiece, Piece};
use super::problem::OpenError;
use super::top::Around;
use super::{Summary, read_as_named, read_in_order, several};

/// Reads `input` once and gives the pieces of entries that `wanted` names to `each`, in archive order, on the calling thread; of others only the name is read, which every entry is asked for.
pub fn read_chosen<'a>(
    input: impl Into<Input<'a>>,
    limits: &Limits,
    wanted: &mut dyn FnMut(&EntryInfo) -> bool,
    each: &mut dyn FnMut(&Piece<'_>) -> ControlFlow<()>,
) -> Result<Summary, OpenError> {
    struct Chosen<'a> {
        wanted: &'a mut dyn FnMut(&EntryInfo) -> bool,
        each: &'a mut dyn FnMut(&Piece<'_>) -> ControlFlow<()>,
    }
    impl Deliver for Chosen<'_> {
        fn wants(&mut self, entry: &EntryInfo) -> bool {
            (self.wanted)(entry)
        }

        fn deliver(&mut self, piece: OwnedPiece) -> ControlFlow<()> {
            (self.each)(&piece.view())
        }
    }
    read_in_order(input.into(), limits, &mut Chosen { wanted, each })
}

/// The content of one entry, at most `cap` bytes; `None` when there is no such entry.
///
/// `path` is as [`list`] gives it. Reading ends with the entry.
pub fn read_entry<'a>(
    input: impl Into<Input<'a>>,
    limits: &Limits,
    path: &str,
    cap: usize,
) -> Result<Option<Vec<u8>>, OpenError> {
    struct One<'a> {
        path: &'a str,
        cap: usize,
        content: Option<Vec<u8>>,
    }
    impl Deliver for One<'_> {
        fn wants(&mut self, entry: &EntryInfo) -> bool {
            entry.path.as_str() == self.path
        }

        fn deliver(&mut self, piece: OwnedPiece) -> ControlFlow<()> {
            let content = self.content.get_or_insert_default();
            let room = self.cap.saturating_sub(content.len());
            let bytes = piece.bytes();
            content.extend_from_slice(&bytes[..bytes.len().min(room)]);
            if piece.last || content.len() >= self.cap {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        }
    }
    let mut one = One {
        path,
        cap,
        content: None,
    };
    read_in_order(input.into(), limits, &mut one)?;
    Ok(one.content)
}

/// Entries that `wanted` names, in one pass. Those longer than `cap` bytes, and those for which less than that is
/// left of `total` bytes for all, are left out.
pub fn read_entries<'a>(
    input: impl Into<Input<'a>>,
    limits: &Limits,
    wanted: &dyn Fn(&str) -> bool,
    cap: usize,
    total: usize,
) -> Result<BTreeMap<String, Vec<u8>>, OpenError> {
    struct Chosen<'a> {
        wanted: &'a dyn Fn(&str) -> bool,
        cap: usize,
        left: usize,
        read: BTreeMap<String, Vec<u8>>,
        /// Left out, or whole: an archive may hold a path twice, and the first counts.
        closed: BTreeSet<String>,
    }
    impl Deliver for Chosen<'_> {
        fn wants(&mut self, entry: &EntryInfo) -> bool {
            (self.wanted)(entry.path.as_str())
        }

        fn deliver(&mut self, piece: OwnedPiece) -> ControlFlow<()> {
            let path = piece.entry.path.as_str();
            if self.closed.contains(path) {
                return ControlFlow::Continue(());
            }
            let content = self.read.entry(path.to_owned()).or_default();
            let bytes = piece.bytes();
            if content.len() + bytes.len() > self.cap || bytes.len() > self.left {
                self.left += content.len();
                self.read.remove(path);
                self.closed.insert(path.to_owned());
                return ControlFlow::Continue(());
            }
            self.left -= bytes.len();
            content.extend_from_slice(bytes);
            if piece.last {
                self.closed.insert(path.to_owned());
            }
            ControlFlow::Continue(())
        }
    }
    let mut chosen = Chosen {
        wanted,
        cap,
        left: total,
        read: BTreeMap::new(),
        closed: BTreeSet::new(),
    };
    read_in_order(input.into(), limits, &mut chosen)?;
    Ok(chosen.read)
}

/// All entries in path order. Content is passed over, so damage inside it goes unnoticed.
pub fn list<'a>(
    input: impl Into<Input<'a>>,
    limits: &Limits,
) -> Result<(Summary, Vec<EntryInfo>), OpenError> {
    struct Names(Vec<EntryInfo>);
    impl Deliver for Names {
        fn wants(&mut self, entry: &EntryInfo) -> bool {
            self.0.push(entry.clone());
            false
        }

        fn deliver(&mut self, _piece: OwnedPiece) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }
    let input = input.into();
    let read = || {
        let mut names = Names(Vec::new());
        let summary = read_in_order(input, limits, &mut names)?;
        Ok((summary, names.0))
    };
    let (summary, mut names) = several::settled(input.path(), read)?;
    names.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((summary, names))
}

/// How an entry begins and ends.
pub struct Surveyed {
    /// The entry; a size that nothing declares is counted.
    pub entry: EntryInfo,
    /// Its first bytes.
    pub head: Vec<u8>,
    /// Its last bytes, where it came in several pieces.
    pub tail: Vec<u8>,
}

/// Bytes that are kept of the end of an entry.
const TAIL: usize = 256;

/// All entries in path order, each with how it begins: at most `head` bytes, and `heads` bytes of all together.
///
/// Reading ends with the header of a bundle of ours, which says what the bundle is.
pub fn survey<'a>(
    input: impl Into<Input<'a>>,
    limits: &Limits,
    head: usize,
    heads: usize,
) -> Result<Vec<Surveyed>, OpenError> {
    struct Heads {
        found: Vec<Surveyed>,
        /// Nothing declares the size of the present entry: it is counted.
        is_counted: bool,
        head: usize,
        left: usize,
    }
    impl Deliver for Heads {
        fn wants(&mut self, entry: &EntryInfo) -> bool {
            self.is_counted = entry.size.is_none();
            self.found.push(Surveyed {
                entry: entry.clone(),
                head: Vec::new(),
                tail: Vec::new(),
            });
            true
        }

        fn reads_again(&self) -> bool {
            true
        }

        fn deliver(&mut self, piece: OwnedPiece) -> ControlFlow<()> {
            if piece.entry.path.as_str() == crate::HEADER_PATH {
                return ControlFlow::Break(());
            }
            let Some(found) = self.found.last_mut() else {
                return ControlFlow::Continue(());
            };
            let bytes = piece.bytes();
            if self.is_counted {
                let before = found.entry.size.unwrap_or(0);
                found.entry.size = Some(before.saturating_add(bytes.len() as u64));
            }
            if piece.seq > 0 {
                let shown = &bytes[bytes.len().saturating_sub(TAIL)..];
                let kept = (found.tail.len() + shown.len()).saturating_sub(TAIL);
                found.tail.drain(..kept.min(found.tail.len()));
                found.tail.extend_from_slice(shown);
                return ControlFlow::Continue(());
            }
            let taken = bytes.len().min(self.head).min(self.left);
            found.head.extend_from_slice(&bytes[..taken]);
            self.left -= taken;
            ControlFlow::Continue(())
        }
    }
    let input = input.into();
    let new = || Heads {
        found: Vec::new(),
        is_counted: false,
        head,
        left: heads,
    };
    let read = || {
        let mut all = new();
        if read_as_named(input, limits, &mut all)? {
            let around = Around::of(all.found.iter().map(|one| one.entry.path.as_str()));
            several::note_around(input.path(), &around);
            let mut is_ours = false;
            for Surveyed { entry, .. } in &mut all.found {
                entry.path = entry.path.clone().below(&around);
                is_ours |= entry.path.as_str() == crate::HEADER_PATH;
            }
            // What is in a bundle of ours, and how far it is read, its header tells.
            if is_ours && !around.is_empty() {
                all = new();
                read_in_order(input, limits, &mut all)?;
            }
        }
        Ok(all.found)
    };
    let mut found = several::settled(input.path(), read)?;
    found.sort_by(|a, b| a.entry.path.cmp(&b.entry.path));
    Ok(found)
}
