//! Whether a packet that leaves the host keeps its source: SNAT and masquerading.
//!
//! This stops no packet, so it is no part of the verdict; without it, though, answers may never find back.

use std::collections::BTreeSet;

use super::explore::Explorer;
use super::hooks::rewrites_local_sources;
use super::stage::Stage;
use super::way::{Fate, Way};
use super::{DecidedBy, Rules};
use crate::iptables::{NewSource, Origin};
use crate::packet::{CtState, Packet};

/// What becomes of a packet's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceNat {
    /// No captured rule rewrites it.
    Kept,
    /// A rule rewrites it.
    Rewritten {
        /// The rule as written.
        text: String,
        /// Where it stands.
        origin: Origin,
        /// What it becomes.
        to: NewSource,
    },
    /// The captures do not tell.
    Unknown {
        /// What is missing, as a sentence fragment.
        why: String,
    },
}

impl<'a> Explorer<'a> {
    /// Whether the packet's source is another behind the chains that rewrite sources, or may be.
    pub(super) fn resourced(&self, way: &Way<'a>) -> bool {
        let connection = way.packet.connection.as_deref();
        if way.untracked || self.loose || connection.is_some_and(|one| one.reply) {
            return false;
        }
        if !self.begins() {
            return connection.is_none_or(|one| one.snat != Some(false));
        }
        if way.stage == Stage::Input {
            return rewrites_local_sources(self.rules());
        }
        let mut packet = (*way.packet).clone();
        packet.mark = way.mark;
        source_nat(self.rules(), &packet) != SourceNat::Kept
    }
}

/// Follows the first packet of a connection through the chains that rewrite sources. The packet is
/// taken as it leaves, with its rewritten destination and its mark.
pub fn source_nat(rules: &Rules<'_>, packet: &Packet) -> SourceNat {
    if !packet.possible_states().contains(&CtState::New) {
        let why = "a connection keeps the source that it began with".to_owned();
        return SourceNat::Unknown { why };
    }
    if let Some(set) = rules.saved.iter().find(|set| set.cut) {
        let why = format!("{} is cut off", set.path);
        return SourceNat::Unknown { why };
    }
    let states = BTreeSet::from([CtState::New]);
    let mut explorer = Explorer::of_sources(rules, packet, &states);
    explorer.run();
    let unknown = explorer.ends.iter().find_map(|end| match &end.fate {
        Fate::Unknown(why) => Some(why.clone()),
        _ => None,
    });
    let found: BTreeSet<Option<DecidedBy>> = explorer
        .ends
        .iter()
        .map(|end| explorer.rewriter(end))
        .collect();
    let mut found = found.into_iter();
    match (unknown, found.next(), found.next()) {
        (Some(why), ..) => SourceNat::Unknown { why },
        (None, Some(Some(DecidedBy::Rule { text, origin, .. })), None) => {
            let to = explorer
                .ends
                .iter()
                .find_map(|end| explorer.new_source(end));
            match to {
                Some(to) => SourceNat::Rewritten { text, origin, to },
                None => SourceNat::Kept,
            }
        }
        (None, Some(None), None) => SourceNat::Kept,
        (None, first, second) => {
            let rules = [first, second].into_iter().flatten().flatten();
            let which: Vec<String> = rules.map(|rule| rule.to_string()).collect();
            let why = format!("it depends on whether {} applies", which.join(" or "));
            SourceNat::Unknown { why }
        }
    }
}
