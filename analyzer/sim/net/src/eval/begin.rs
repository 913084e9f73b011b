//! Where an exploration begins: what is known of the packet and of its connection.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Rules;
use super::explore::{Explorer, MAX_RULES};
use super::hooks::Path;
use super::stage::Stage;
use super::way::Way;
use crate::connection::Connection;
use crate::packet::{CtState, Packet};

impl<'a> Explorer<'a> {
    pub(super) fn new(
        rules: &'a Rules<'a>,
        packet: &Packet,
        states: &'a BTreeSet<CtState>,
    ) -> Explorer<'a> {
        // The first packet of a connection carries no connection mark yet.
        let fresh = states.iter().all(|state| *state == CtState::New);
        Explorer::along(
            Path::new(rules, packet),
            Stage::first(packet),
            rules,
            packet,
            states,
            fresh,
        )
    }

    /// Follows a packet that leaves through the chains that may rewrite its source.
    pub(super) fn of_sources(
        rules: &'a Rules<'a>,
        packet: &Packet,
        states: &'a BTreeSet<CtState>,
    ) -> Explorer<'a> {
        let path = Path::of_sources(rules);
        Explorer::along(path, Stage::Postrouting, rules, packet, states, true)
    }

    fn along(
        path: Path<'a>,
        stage: Stage,
        rules: &'a Rules<'a>,
        packet: &Packet,
        states: &'a BTreeSet<CtState>,
        fresh: bool,
    ) -> Explorer<'a> {
        let unchanged = (fresh && !packet.past_prerouting) || path.keeps_destinations();
        let mut packet = packet.clone();
        if fresh && !packet.past_prerouting && packet.connection.is_none() {
            packet.connection = Some(Box::new(Connection::begun_by(&packet)));
        }
        let answered = packet.connection.as_deref().filter(|one| one.reply);
        let (connmark, rewritten) = match answered {
            Some(connection) => {
                let by_rules = connection.served.is_none();
                (
                    connection.mark,
                    connection.dnat.map(|dnat| dnat && by_rules),
                )
            }
            None => (fresh.then_some(0), unchanged.then_some(false)),
        };
        let start = Way {
            stage,
            hook: 0,
            frames: Vec::new(),
            mark: packet.mark,
            asked_with: None,
            connmark,
            untracked: false,
            served: false,
            natted: false,
            resourced: None,
            fills: Vec::new(),
            source: None,
            rewritten,
            decider: None,
            last: None,
            doubts: 0,
            doubt: None,
            packet: Arc::new(packet),
        };
        let placeless = [CtState::Invalid, CtState::Untracked];
        Explorer {
            rules,
            leaves_by: start.packet.out_iface.clone(),
            states,
            untracked: BTreeSet::from([CtState::Untracked]),
            not_yet: BTreeSet::from([CtState::Invalid]),
            perhaps: states.iter().copied().chain([CtState::Invalid]).collect(),
            loose: states.iter().all(|state| placeless.contains(state)),
            path,
            entries: Vec::new(),
            waiting: vec![start],
            seen: BTreeSet::new(),
            ends: Vec::new(),
            budget: MAX_RULES,
            assumptions: BTreeSet::new(),
        }
    }
}
