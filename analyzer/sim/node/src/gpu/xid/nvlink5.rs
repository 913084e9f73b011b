//! Xid 144 to 150, the errors of NVLink 5: what the unit, the first number (IntrInfo) and the second (error status) of a
//! message ask for. Source: the sheet "Xid 144-150 Decode" of NVIDIA's catalogue
//! (<https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html>).
//!
//! The driver writes IntrInfo in two layouts: before R575 the unit stands in bits 9 to 5 and the Xid's class in bits 4 to
//! 0, since R575 the unit in bits 6 to 0. The bits of a unit differ between the two, so a message shows its layout itself.

use super::catalogue::Action;

/// What the catalogue says to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decoded {
    /// At once; `None` is the catalogue's IGNORE.
    pub(super) action: Action,
    /// To find out why.
    pub(super) then: Action,
}

/// The bits of IntrInfo that name a unit, in both layouts, and what its error statuses ask for.
struct Unit {
    xid: u32,
    /// Bits 9 to 0 before R575.
    old: u32,
    /// Bits 6 to 0 since R575.
    new: u32,
    statuses: &'static [Statuses],
}

/// Error statuses with one answer. No status stands for any.
type Statuses = (&'static [u32], Action, Action);

use Action as A;

const RESET: (Action, Action) = (A::ResetGpu, A::ContactVendor);

#[rustfmt::skip]
const UNITS: &[Unit] = &[
    // SAW_MVB
    Unit { xid: 144, old: 0b00_0010_0001, new: 1, statuses: &[
        (&[0x2, 0x10], RESET.0, RESET.1), (&[0x1, 0x8], A::None, A::ContactVendor), (&[0x4, 0x20], A::None, A::None),
    ] },
    // RLW_CTRL
    Unit { xid: 145, old: 0b00_0110_0010, new: 3, statuses: &[(&[0x8000_0000], A::None, A::ContactVendor)] },
    // RLW_REMAP
    Unit { xid: 145, old: 0b00_1000_0010, new: 4, statuses: &[
        (&[0x1, 0x2], A::AsRecoveryAction, A::ContactVendor), (&[0x4, 0x8, 0x10, 0x20], A::AsRecoveryAction, A::CheckLinkDown),
        (&[0x40, 0x80], RESET.0, RESET.1), (&[0x100, 0x200], A::None, A::None), (&[0x8000_0000], A::None, A::ContactVendor),
    ] },
    // RLW_RSPCOL
    Unit { xid: 145, old: 0b00_1010_0010, new: 5, statuses: &[
        (&[0x1], A::None, A::None), (&[0x2], RESET.0, RESET.1), (&[0x8000_0000], A::None, A::ContactVendor),
    ] },
    // RLW_RXPIPE; statuses 1, 2 and 4 can be promoted, see `promoted`.
    Unit { xid: 145, old: 0b00_1100_0010, new: 6, statuses: &[
        (&[0x1, 0x2, 0x4, 0x8, 0x8000_0000], A::None, A::ContactVendor),
    ] },
    // RLW_SRC_TRACK
    Unit { xid: 145, old: 0b00_1110_0010, new: 7, statuses: &[
        (&[0x1, 0x10, 0x20], RESET.0, RESET.1), (&[0x2], A::None, A::None), (&[0x4, 0x8], A::AsRecoveryAction, A::None),
        (&[0x8000_0000], A::None, A::ContactVendor),
    ] },
    // RLW_TAGSTATE
    Unit { xid: 145, old: 0b01_0000_0010, new: 8, statuses: &[
        (&[0x1, 0x1_0000], A::None, A::None), (&[0x2, 0x2_0000, 0x10_0000], RESET.0, RESET.1),
        (&[0x8000_0000], A::None, A::ContactVendor),
    ] },
    // TLW_CTRL; TLW_RX and TLW_TX, each in one unit before R575 and in two since
    Unit { xid: 146, old: 0b01_0010_0011, new: 9, statuses: TLW },
    Unit { xid: 146, old: 0b01_0100_0011, new: 10, statuses: TLW },
    Unit { xid: 146, old: 0b01_0100_0011, new: 11, statuses: TLW },
    Unit { xid: 146, old: 0b01_0110_0011, new: 12, statuses: TLW },
    Unit { xid: 146, old: 0b01_0110_0011, new: 13, statuses: TLW },
    // TREX
    Unit { xid: 147, old: 0b01_1000_0100, new: 14, statuses: &[(&[0x1, 0x8000_0000], A::None, A::ContactVendor)] },
    // NVLPW
    Unit { xid: 148, old: 0b00_0000_0101, new: 15, statuses: &[(&[0x8000_0000], A::None, A::ContactVendor)] },
    // NETIR_INT
    Unit { xid: 149, old: 0b00_0000_0110, new: 24, statuses: &[(&[], A::ResetGpu, A::OtherErrorsFirst)] },
    // NETIR_BER_EVENT
    Unit { xid: 149, old: 0b10_0010_0110, new: 19, statuses: &[(&[0, 1, 2, 3], A::None, A::CheckLink)] },
    // NETIR_MFDE_EVENT
    Unit { xid: 149, old: 0b10_0100_0110, new: 20, statuses: &[
        (&[0x1, 0x4, 0x5, 0x7], RESET.0, RESET.1), (&[0x3], A::None, A::None),
    ] },
    // MSE
    Unit { xid: 150, old: 0, new: 0, statuses: &[(&[0, 0xffff_ffff], RESET.0, RESET.1)] },
];

#[rustfmt::skip]
const TLW: &[Statuses] = &[
    (&[0x1], A::None, A::None), (&[0x2, 0x8000_0000], A::None, A::ContactVendor), (&[0x4], RESET.0, RESET.1),
];

/// NETIR_LINK_EVT, since R575 NETIR_LINK_DOWN: bits 25 to 20 say why the link went down.
const LINK_DOWN: (u32, u32) = (0b01_1100_0110, 17);

/// Why a link went down, what to do at once and then.
#[rustfmt::skip]
const REASONS: &[(&[u32], Action, Action)] = &[
    (&[0b00_0000], A::ResetGpu, A::OtherErrorsFirst),
    (&[0b00_0001], A::ResetGpu, A::ContactVendor),
    (&[0b00_0010, 0b00_0100, 0b00_1010, 0b10_1010, 0b10_1011, 0b01_0000, 0b01_0010], A::ResetGpu, A::CheckLink),
    (&[0b00_1111, 0b01_0001, 0b01_0110], A::ResetGpu, A::InvestigateSoftware),
    (&[0b01_0101, 0b10_0000, 0b10_0001, 0b10_0010, 0b10_0011, 0b10_0100, 0b10_0101], A::ResetGpu, A::CheckPeer),
    (&[0b10_0110], A::None, A::InvestigateSoftware),
    (&[0b10_1000], A::None, A::OtherErrorsFirst),
];

/// Decodes a message by its code and the first two numbers in its brackets; none where the sheet has no row for it.
pub(super) fn decode(xid: u32, intr_info: u32, status: u32) -> Option<Decoded> {
    let reason = intr_info >> 20 & 0x3f;
    let (old, new) = (intr_info & 0x3ff, intr_info & 0x7f);
    if xid == 149 && (old == LINK_DOWN.0 || new == LINK_DOWN.1) {
        let (_, action, then) = REASONS.iter().find(|(all, ..)| all.contains(&reason))?;
        return Some(Decoded {
            action: *action,
            then: *then,
        });
    }
    if reason != 0 {
        return None;
    }
    let unit = |unit: &&Unit| unit.xid == xid && (unit.old == old || unit.new == new);
    let unit = UNITS.iter().find(unit)?;
    if promoted(xid, intr_info) && matches!(status, 0x1 | 0x2 | 0x4) {
        return Some(Decoded {
            action: RESET.0,
            then: RESET.1,
        });
    }
    let row = unit
        .statuses
        .iter()
        .find(|(all, ..)| all.is_empty() || all.contains(&status))?;
    Some(Decoded {
        action: row.1,
        then: row.2,
    })
}

/// Whether the driver made a fatal error of one of RLW_RXPIPE: bit 10 before R575, bit 7 since.
fn promoted(xid: u32, intr_info: u32) -> bool {
    let old = intr_info & 0x7ff == 0b100_1100_0010;
    let new = intr_info & 0xff == 0b1000_0110;
    xid == 145 && (old || new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(xid: u32, intr_info: u32, status: u32) -> Option<Action> {
        decode(xid, intr_info, status).map(|one| one.action)
    }

    #[test]
    fn the_sub_code_decides_in_both_layouts() {
        // RLW_RXPIPE of a driver before R575: a warning to ignore.
        assert_eq!(action(145, 0x0409_a0c2, 0x8), Some(Action::None));
        // The same unit, promoted to a fatal error, in both layouts.
        assert_eq!(action(145, 0x0400_04c2, 0x1), Some(Action::ResetGpu));
        assert_eq!(action(145, 0x0400_0086, 0x1), Some(Action::ResetGpu));
        assert_eq!(action(145, 0x0400_0006, 0x1), Some(Action::None));
        // RLW_SRC_TRACK: a reset, and as Xid 154 says.
        assert_eq!(action(145, 0b00_1110_0010, 0x10), Some(Action::ResetGpu));
        assert_eq!(action(145, 7, 0x4), Some(Action::AsRecoveryAction));
        // NETIR_LINK_EVT: the peer went down, and a link that was put to sleep.
        let peer = decode(149, 0x0250_01c6, 0).unwrap();
        assert_eq!(
            (peer.action, peer.then),
            (Action::ResetGpu, Action::CheckPeer)
        );
        assert_eq!(action(149, 0b10_0110 << 20 | 0x1c6, 0), Some(Action::None));
        assert_eq!(action(149, 0x1c6, 0x7), Some(Action::ResetGpu));
        assert_eq!(action(150, 0, 0), Some(Action::ResetGpu));
    }

    #[test]
    fn what_the_sheet_has_no_row_for_is_not_decoded() {
        assert_eq!(
            action(145, 0x0409_a0c2, 0),
            None,
            "an error status of no row"
        );
        assert_eq!(
            action(145, 0b1 << 20 | 0x0c2, 0x8),
            None,
            "bits that must be 0"
        );
        assert_eq!(action(144, 0x0c2, 0x8), None, "a unit of another Xid");
        assert_eq!(action(79, 1, 2), None);
    }

    proptest::proptest! {
        #[test]
        fn no_numbers_are_too_odd(xid in 140_u32..155, intr_info: u32, status: u32) {
            let decoded = decode(xid, intr_info, status);
            proptest::prop_assert!(decoded.is_none() || (144..=150).contains(&xid));
        }
    }
}
