//! How far a log reaches: when each of its speakers said its first and its last line. What was said only while its
//! speaker started, and not again for as long, is no trouble of the present.

use crate::facts::failing::{LogSpan, Moment};
use crate::flat::Flat;
use crate::lines::Origin;

/// Lines at each end of a piece that are looked at.
const LINES: usize = 64;
/// Bytes at each end of a piece that are read for it.
const BYTES: usize = 32 << 10;
/// Speakers that are kept of one end.
const SPEAKERS: usize = 16;

/// The first moments of the speakers of a piece, and where it ends its entry, the last.
#[derive(Debug, Default)]
pub(super) struct Ends {
    first: Flat<String, Moment>,
    last: Flat<String, Moment>,
}

/// Reads both ends of a piece of a log that holds no sections of several. Of one that does not begin its entry one moment
/// is enough: it counts only where nothing before it has any.
pub(super) fn of_piece(
    origin: &Origin<'_>,
    bytes: &[u8],
    (is_first, is_last): (bool, bool),
) -> Ends {
    let head = &bytes[..bytes.len().min(BYTES)];
    let mut ends = Ends::default();
    // All lines of a container's log are its pod's.
    let is_of_one = origin.speaker.starts_with("pod/");
    for raw in head.split(|byte| *byte == b'\n').take(LINES) {
        keep(origin, raw, &mut ends.first);
        if (is_of_one || !is_first) && !ends.first.is_empty() {
            break;
        }
    }
    if is_last {
        let tail = &bytes[bytes.len().saturating_sub(BYTES)..];
        for raw in tail.rsplit(|byte| *byte == b'\n').take(LINES) {
            keep(origin, raw, &mut ends.last);
            if is_of_one && !ends.last.is_empty() {
                break;
            }
        }
    }
    ends
}

/// Keeps the moment of a line if its speaker has none yet.
fn keep(origin: &Origin<'_>, raw: &[u8], moments: &mut Flat<String, Moment>) {
    if raw.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    let line = origin.decode(raw, 0);
    let moment = Moment {
        at: line.at.map(|at| at.timestamp()),
        clock: line.clock.map(i64::from),
        klog: line.klog.map(i64::from),
    };
    let known = moment.at.or(moment.clock).or(moment.klog).is_some();
    let has_room = moments.len() < SPEAKERS;
    if known && has_room && !moments.contains_key(line.speaker.as_ref()) {
        moments.insert(line.speaker.to_string(), moment);
    }
}

impl Ends {
    /// Adds the next piece of the same entry.
    pub(super) fn add(&mut self, piece: Ends) {
        if self.first.is_empty() {
            self.first = piece.first;
        }
        if !piece.last.is_empty() {
            self.last = piece.last;
        }
    }

    /// What it says of an entry; none where no speaker is known at both ends.
    pub(super) fn span(self, lines: u32) -> Option<LogSpan> {
        let both = self.last.keys().any(|one| self.first.contains_key(one));
        both.then_some(LogSpan {
            first: self.first,
            last: self.last,
            lines,
        })
    }
}
