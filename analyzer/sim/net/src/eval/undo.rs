//! Translations of a connection, written back in its answers.
//!
//! The kernel asks no rule for this: where a first packet's destination was rewritten on its way in, an answer's
//! source is written back on its way out, and the other way round (`nf_nat_packet` in `net/netfilter/nf_nat_core.c`).

use std::sync::Arc;

use super::explore::Explorer;
use super::hooks::Side;
use super::way::{Met, Undone, Way};

impl<'a> Explorer<'a> {
    /// Writes back what the connection rewrites at this stage.
    pub(super) fn undo(&mut self, way: &mut Way<'a>, side: Side) -> Result<(), String> {
        let Some(connection) = way.packet.connection.as_deref() else {
            return Ok(());
        };
        let served = connection.served.is_some();
        if (way.untracked || self.loose) && !(served && side == Side::Source) {
            return Ok(());
        }
        let inward = side == Side::Destination;
        let (rewritten, original) = if inward {
            (connection.snat, connection.original)
        } else {
            (connection.dnat, connection.original)
        };
        let Some(rewritten) = rewritten else {
            return Err("whether the connection is translated is not known".to_owned());
        };
        if !rewritten {
            return Ok(());
        }
        let mut packet = (*way.packet).clone();
        let what = if inward {
            (packet.dst, packet.dport) = (original.src, original.sport);
            self.route(&mut packet)?;
            Undone::Destination(original.src)
        } else {
            (packet.src, packet.sport) = (original.dst, original.dport);
            Undone::Source(original.dst)
        };
        way.packet = Arc::new(packet);
        self.meet(way, "", Met::Undone(what), None);
        Ok(())
    }
}
