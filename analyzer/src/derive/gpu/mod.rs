//! GPUs where only short forms of `nvidia-smi` were had, the story of each GPU's Xid messages, and parts of the driver
//! stack that do not fit.

mod host;
mod inventory;
mod libraries;
mod stack;
mod stories;
mod tenants;

use casefile_bundle::Entry;

use super::{Deriver, Known};
use crate::facts::gpu::Gpu;
use crate::facts::{AnyFact, Fact};
use crate::gpu::smi;
use crate::model::Place;
use crate::parsers::DriverLine;

/// Joins nvidia-smi, the kernel log, versions on the host, images and nodes.
pub(super) static DERIVER: Deriver = Deriver { id: "gpu", derive };

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut nodes = known.nodes();
    // Pasted text names no node.
    let lines = known.facts.table::<DriverLine>();
    if lines.iter().any(|line| line.data.node.is_empty()) {
        nodes.insert(0, String::new());
    }
    let mut facts = Vec::new();
    for node in &nodes {
        let listed = from_short_forms(known, node);
        facts.extend(tenants::facts(known, node, &listed));
        facts.extend(stories::facts(known, node, &listed));
        facts.extend(stack::facts(known, node, &listed));
        facts.extend(libraries::facts(known, node));
        facts.extend(inventory::fact(known, node, &listed).map(AnyFact::new));
        facts.extend(listed.into_iter().map(AnyFact::new));
    }
    facts
}

/// GPUs of a node as the table or `-L` lists them; none where `-q` gave them already.
fn from_short_forms(known: &Known<'_>, node: &str) -> Vec<Fact<Gpu>> {
    if known
        .facts
        .table::<Gpu>()
        .iter()
        .any(|gpu| gpu.data.node == node)
    {
        return Vec::new();
    }
    let names = ["nvidia-smi", "nvidia-smi-L"];
    let mut listed = names.iter().filter_map(|name| {
        let path = Entry::Printed(node, name).path();
        let report = smi::read(known.documents.get(&path)?).ok()?;
        let gpus = report.cards.into_iter().map(|(line, card)| Fact {
            place: Place {
                path: path.as_str().into(),
                line: Some(line),
            },
            text: match card.bus_id.is_empty() {
                true => card.uuid.as_str().into(),
                false => card.bus_id.as_str().into(),
            },
            at: None,
            data: Gpu {
                node: node.to_owned(),
                card,
            },
        });
        let gpus: Vec<Fact<Gpu>> = gpus.collect();
        (!gpus.is_empty()).then_some(gpus)
    });
    listed.next().unwrap_or_default()
}

/// The GPUs of a node, from whichever source.
fn gpus<'a>(known: &'a Known<'_>, node: &str, listed: &'a [Fact<Gpu>]) -> Vec<&'a Fact<Gpu>> {
    let stated = known.facts.table::<Gpu>().iter();
    stated
        .filter(|gpu| gpu.data.node == node)
        .chain(listed)
        .collect()
}
