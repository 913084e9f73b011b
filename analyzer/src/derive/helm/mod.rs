//! Helm releases: values that what runs does not show, upgrades that did not end well, values that no template reads.

mod drift;
mod files;
mod upgrade;

use super::{Deriver, Known};
use crate::facts::AnyFact;

/// Joins values files and revisions with the objects of each release.
pub(super) static DERIVER: Deriver = Deriver { id: "helm", derive };

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut facts = drift::facts(known);
    facts.extend(upgrade::upgrades(known));
    facts.extend(upgrade::unread(known));
    facts
}
