//! What connection tracking keeps of a packet's connection, as far as it follows from what is known of it.

use super::View;
use super::field::{Counted, Reading, known};
use crate::connection::{Connection, Tracked};
use crate::packet::CtState;

/// The helper of tracking that expected the connection: what begins by itself has none.
pub(super) fn helper<'a>(view: &View<'_>) -> Reading<'a> {
    match view.tracked {
        Tracked::No => Reading::Absent,
        Tracked::Yes(one) if !one.reply && only_new(view) => Reading::Absent,
        _ => Reading::Unknown,
    }
}

/// What the kernel notes of a connection (`enum ip_conntrack_status`): of a first packet only translations, of one that is
/// answered that it is so. Whether it was expected, and is kept, nothing tells.
pub(super) fn status<'a>(view: &View<'_>) -> Reading<'a> {
    const SEEN_REPLY_CONFIRMED: u128 = 0x0a;
    const EXPECTED: u128 = 0x01;
    const ASSURED: u128 = 0x04;
    const SNAT: u128 = 0x10;
    const DNAT: u128 = 0x20;
    /// Which of the translations were asked about.
    const DONE: [u128; 2] = [0x80, 0x100];
    let one = match view.tracked {
        Tracked::No => return Reading::Absent,
        Tracked::Yes(one) => one,
        Tracked::Unknown => return Reading::Doubtful,
    };
    let Some(rewritten) = view.rewritten.filter(|_| !view.resourced) else {
        return Reading::Unknown;
    };
    let answered = view
        .states
        .iter()
        .all(|state| *state == CtState::Established);
    let (known, open): (u128, &[u128]) = match (one.snat, only_new(view), answered) {
        (_, true, _) if !one.reply => (0, &[]),
        (Some(snat), _, true) => {
            let snat = if snat { SNAT } else { 0 };
            (SEEN_REPLY_CONFIRMED | snat, &[EXPECTED, ASSURED])
        }
        _ => return Reading::Unknown,
    };
    let dnat = if rewritten { DNAT } else { 0 };
    let mut all = vec![known | dnat];
    for bit in DONE.iter().chain(open) {
        let with: Vec<u128> = all.iter().map(|bits| bits | bit).collect();
        all.extend(with);
    }
    Reading::Numbers(all)
}

/// Tracking counts a packet before rules see it, and a rule that asks for counts has turned them on: a connection's first
/// packet is all that it has counted.
pub(super) fn counted<'a>(view: &View<'_>, what: Counted, answers: Option<bool>) -> Reading<'a> {
    match view.tracked {
        Tracked::No => Reading::Absent,
        Tracked::Yes(one) if !one.reply && only_new(view) => match (answers, what) {
            (Some(true), _) => known(Some(0)),
            (_, Counted::Packets) => known(Some(1)),
            _ => known(view.packet.length.map(u128::from)),
        },
        _ => Reading::Unknown,
    }
}

fn only_new(view: &View<'_>) -> bool {
    view.states.iter().all(|state| *state == CtState::New)
}

/// A field of the connection; nft's look-up breaks off where there is none.
pub(super) fn tracked<'a>(
    view: &View<'_>,
    read: impl FnOnce(&Connection) -> Option<u128>,
) -> Reading<'a> {
    match view.tracked {
        Tracked::Yes(connection) => known(read(connection)),
        Tracked::No => Reading::Absent,
        Tracked::Unknown => Reading::Doubtful,
    }
}
