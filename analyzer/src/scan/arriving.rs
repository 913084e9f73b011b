//! Lists in YAML, read by the thread that brings the last of their pieces: at the end of the reading one thread would have to
//! read them all.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use casefile_bundle::{BundlePath, Piece};

use super::bounds;
use super::guarded;
use super::kube_list::{self, Bounded};
use super::out::{Given, Out};
use super::sayings::Saying;
use super::sink::{SPLIT_LIMIT, Sink};
use super::spill::Kept;
use crate::model::{Place, Problem};
use crate::parsers::Parsed;

/// A larger list, in bytes, is read when all else was: of these one is in memory at a time.
const AT_ONCE: u64 = 8 << 20;

/// What a list gave, in stretches, each with the line at which it begins.
struct Stretches(Vec<(u32, Bounded)>);

impl From<Parsed> for Stretches {
    fn from(parsed: Parsed) -> Self {
        Self(vec![(1, parsed.into())])
    }
}

/// Lists of which some pieces have come, by their paths in the input.
#[derive(Default)]
pub(super) struct Arriving(Mutex<BTreeMap<BundlePath, List>>);

#[derive(Default)]
struct List {
    pieces: BTreeMap<u32, Kept>,
    /// How many pieces it has, once the last has come.
    count: Option<usize>,
}

impl Arriving {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<BundlePath, List>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a piece of a list; gives all of them in their order once they are there.
    fn piece(&self, piece: &Piece<'_>, kept: Kept) -> Option<Vec<Kept>> {
        let mut lists = self.lock();
        let list = lists.entry(piece.entry.path.clone()).or_default();
        list.pieces.insert(piece.seq, kept);
        if piece.last {
            list.count = Some(piece.seq as usize + 1);
        }
        if list.count != Some(list.pieces.len()) {
            return None;
        }
        let list = lists.remove(&piece.entry.path)?;
        Some(list.pieces.into_values().collect())
    }

    /// The pieces of lists that did not come to their end.
    pub(super) fn cut(&self) -> Vec<(BundlePath, u32, Given)> {
        let lists = std::mem::take(&mut *self.lock()).into_iter();
        let pieces = lists.flat_map(|(path, list)| {
            let pieces = list.pieces.into_iter();
            pieces.map(move |(seq, kept)| (path.clone(), seq, Out::keeping(kept).into()))
        });
        pieces.collect()
    }
}

impl Sink<'_> {
    /// A piece of a list in YAML that we hold as JSON by this path.
    pub(super) fn yaml(&self, piece: &Piece<'_>, ours: &str) -> Option<Out> {
        if piece.seq == 0 && piece.last {
            return Some(self.yaml_list(ours, piece.bytes.to_vec()));
        }
        let mut out = Out::default();
        self.keep(piece, SPLIT_LIMIT, &mut out);
        if piece.entry.size.is_none_or(|size| size > AT_ONCE) {
            return Some(out);
        }
        let pieces = self.settling.lists.piece(piece, out.kept)?;
        let mut text = Vec::with_capacity(pieces.iter().map(Kept::len).sum());
        let mut is_lost = false;
        for kept in pieces {
            is_lost |= !self.spill.take(kept, &mut text);
        }
        let mut out = self.yaml_list(ours, text);
        let lost = is_lost.then(|| Problem {
            place: place(ours, None),
            text: bounds::LOST.to_owned(),
        });
        out.parsed.problems.extend(lost);
        Some(out)
    }

    /// What a list in YAML gave. Where too many objects are in memory it waits for the end of the reading.
    fn yaml_list(&self, ours: &str, text: Vec<u8>) -> Out {
        if self.spill.is_crowded() {
            return Out::keeping(self.spill.keep(&text));
        }
        let (text, fault) = bounds::text(text, |line| place(ours, line));
        let Stretches(stretches) = guarded("yaml", ours, || {
            Stretches(kube_list::yaml_stretches(self.router, ours, &text))
        });
        let mut out = Out {
            stretches: stretches.into_iter().map(|one| self.stretch(one)).collect(),
            ..Out::default()
        };
        out.parsed.problems.extend(fault);
        out
    }

    fn stretch(&self, (begins, bounded): (u32, Bounded)) -> Out {
        let Bounded {
            mut parsed, cost, ..
        } = bounded;
        self.spill.count(cost);
        let said = std::mem::take(&mut parsed.said).into_iter();
        let sayings = said.filter_map(|said| Saying::of(self.patterns, said));
        Out {
            said: sayings.collect(),
            parsed,
            cost,
            begins: Some(begins),
            list: Some((false, true)),
            ..Out::default()
        }
    }
}

fn place(path: &str, line: Option<u32>) -> Place {
    Place {
        path: path.into(),
        line,
    }
}

#[cfg(test)]
mod tests {
    use casefile_bundle::EntryInfo;

    use super::*;

    #[test]
    fn a_list_is_there_once_all_its_pieces_are_in_whatever_order_they_come() {
        let entry = EntryInfo {
            index: 0,
            path: BundlePath::new("pods.yaml").unwrap(),
            size: Some(4),
        };
        let piece = |seq: u32| Piece {
            entry: &entry,
            seq,
            last: seq == 3,
            bytes: b"",
            starts_line: true,
            ends_line: true,
        };
        let kept = |seq: u32| Kept::Here(vec![seq.to_le_bytes()[0]]);
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
            let arriving = Arriving::default();
            let (last, others) = order.split_last().unwrap();
            for seq in others {
                assert!(arriving.piece(&piece(*seq), kept(*seq)).is_none());
            }
            let all = arriving.piece(&piece(*last), kept(*last)).unwrap();
            let bytes: Vec<u8> = all.iter().flat_map(here).copied().collect();
            assert_eq!(bytes, [0, 1, 2, 3]);
            assert!(arriving.cut().is_empty());
        }
        let arriving = Arriving::default();
        assert!(arriving.piece(&piece(3), kept(3)).is_none());
        assert!(arriving.piece(&piece(1), kept(1)).is_none());
        let cut: Vec<u32> = arriving.cut().iter().map(|(_, seq, _)| *seq).collect();
        assert_eq!(cut, [1, 3]);
    }

    fn here(kept: &Kept) -> &[u8] {
        match kept {
            Kept::Here(bytes) => bytes,
            _ => &[],
        }
    }
}
