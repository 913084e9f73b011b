//! What is unhealthy, with its last words: the ledger as facts, so that rules can ask about present, failing things.

use super::{Deriver, Known};
use crate::facts::AnyFact;
use crate::ledger::{self, Sources};

/// Joins objects, events, logs and units into the ledger.
pub(super) static DERIVER: Deriver = Deriver {
    id: "failing",
    derive,
};

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let sources = Sources::new(known.facts, known.documents, known.now);
    let entries = ledger::entries(&sources);
    entries.into_iter().map(AnyFact::new).collect()
}
