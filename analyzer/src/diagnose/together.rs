//! What a joined analysis says of its input: which bundles it was, of which nodes.

use crate::join::Member;
use crate::model::{Input, JoinedBundle};

/// Names listed before the rest is counted.
const NAMED: usize = 4;

/// Names all bundles in the place of the first.
pub(super) fn describe(input: &mut Input, members: &[Member]) {
    input.bundles = members
        .iter()
        .map(|one| JoinedBundle {
            node: one.node.clone(),
            name: one.name.clone(),
            finished: one
                .summary
                .manifest
                .as_ref()
                .map(|manifest| manifest.finished),
            cut_short: one.summary.cut_short,
        })
        .collect();
    input.bundles.sort_by(|a, b| a.node.cmp(&b.node));
    let names: Vec<&str> = input.bundles.iter().map(|one| one.name.as_str()).collect();
    let named = names
        .iter()
        .take(NAMED)
        .copied()
        .collect::<Vec<_>>()
        .join(" + ");
    input.name = match names.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    };
}
