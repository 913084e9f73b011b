//! What the rules of a chain, and of those that it calls, may do.

use std::collections::BTreeSet;

use crate::iptables::{Chain, NatTo, Table, Target};

/// Whether a chain or one that it calls has a rule that may rewrite destinations. Front ends such as firewalld's keep whole
/// trees of chains there that only call one another.
pub(super) fn rewrites(table: &Table, start: &Chain) -> bool {
    reaches(table, start, |target| match target {
        Target::Nat(nat) => !matches!(nat.to, NatTo::Source(_)),
        // A target that is not known may be one that rewrites.
        Target::Named(_) => true,
        _ => false,
    })
}

/// Whether a chain that translates may stop a packet as well.
pub(super) fn stops(table: &Table, start: &Chain) -> bool {
    start.policy.as_ref().is_some_and(|policy| !policy.accept)
        || reaches(table, start, |target| {
            matches!(
                target,
                Target::Drop | Target::Reject(_) | Target::Queue(_) | Target::Named(_)
            )
        })
}

/// Whether a rule of a chain, or of one that it calls, has such a target; so it is taken where chains are missing.
pub(super) fn reaches(table: &Table, start: &Chain, wanted: impl Fn(&Target) -> bool) -> bool {
    let mut called: BTreeSet<&str> = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(chain) = waiting.pop() {
        for rule in &chain.rules {
            let mut targets: Vec<&Target> = rule.effects.iter().chain([&rule.target]).collect();
            while let Some(target) = targets.pop() {
                match target {
                    Target::Map(map) => targets.extend(&map.verdicts),
                    Target::Jump(name) | Target::Goto(name) if called.insert(name) => {
                        match table.chains.get(name) {
                            Some(next) => waiting.push(next),
                            None => return true,
                        }
                    }
                    other if wanted(other) => return true,
                    _ => {}
                }
            }
        }
    }
    !table.complete
}
