//! The links of a node, with their addresses.

use super::{Known, command};
use crate::firewall::link::{Link, links};

/// The links of a node; of two outputs the one that shows kinds and parents.
pub(super) fn read(known: &Known<'_>, node: &str) -> Vec<Link> {
    let detailed = command(known, node, "ip-link")
        .map(links)
        .unwrap_or_default();
    let addressed = command(known, node, "ip-addr")
        .map(links)
        .unwrap_or_default();
    if detailed.is_empty() {
        return addressed;
    }
    let mut all = detailed;
    for link in &mut all {
        if let Some(same) = addressed.iter().find(|other| other.name == link.name) {
            link.addresses.clone_from(&same.addresses);
        }
    }
    all
}
