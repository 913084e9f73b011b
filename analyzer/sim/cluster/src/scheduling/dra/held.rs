//! What a search has given away so far.

use std::collections::BTreeMap;

use super::demand::Wanted;
use super::matching::tainted;
use super::supply::{Counter, Supply};
use crate::scheduling::api::DeviceConstraint;
use crate::scheduling::quantity::Quantity;

/// Which way of which request of which claim, by number.
pub(super) type At = (usize, usize, usize);

/// Devices given to requests.
pub(super) struct Held<'a> {
    wanted: &'a [Wanted<'a>],
    supply: &'a Supply<'a>,
    given: Vec<(At, usize)>,
    /// Counters that these take, by pool.
    counters: BTreeMap<(usize, Counter<'a>), Quantity>,
}

impl<'a> Held<'a> {
    pub(super) fn none(wanted: &'a [Wanted<'a>], supply: &'a Supply<'a>) -> Self {
        Self {
            wanted,
            supply,
            given: Vec::new(),
            counters: BTreeMap::new(),
        }
    }

    /// How many devices a claim has.
    pub(super) fn of_claim(&self, claim: usize) -> usize {
        self.given
            .iter()
            .filter(|((own, ..), _)| *own == claim)
            .count()
    }

    /// Gives a device to a request, if it is free and nothing speaks against it.
    pub(super) fn give(&mut self, at: At, unit: usize) -> bool {
        let way = &self.wanted[at.0].requests[at.1].ways[at.2];
        let device = &self.supply.units[unit];
        let mut others = self.given.iter().filter(|(_, own)| *own == unit);
        let used = if way.admin {
            others.any(|((claim, ..), _)| *claim == at.0)
        } else {
            let shared = device.parts.allow_multiple_allocations;
            (device.taken && !shared) || others.next().is_some()
        };
        if used || tainted(way, device) || !self.constraints_hold(at, unit) {
            return false;
        }
        self.count(unit, Quantity::plus);
        let pool = &self.supply.pools[device.pool];
        let short = device.takes().any(|(counter, _)| {
            let left = pool.counters.get(&counter).copied().unwrap_or_default();
            self.counters.get(&(device.pool, counter)) > Some(&left)
        });
        if short {
            self.count(unit, Quantity::minus);
            return false;
        }
        self.given.push((at, unit));
        true
    }

    /// Takes back what was given last.
    pub(super) fn take_back(&mut self) {
        if let Some((_, unit)) = self.given.pop() {
            self.count(unit, Quantity::minus);
        }
    }

    fn count(&mut self, unit: usize, how: fn(Quantity, Quantity) -> Quantity) {
        let device = &self.supply.units[unit];
        for (counter, amount) in device.takes() {
            let sum = self.counters.entry((device.pool, counter)).or_default();
            *sum = how(*sum, amount);
        }
    }

    fn constraints_hold(&self, at: At, unit: usize) -> bool {
        let mut constraints = self.wanted[at.0].constraints.iter();
        constraints.all(|constraint| self.holds(constraint, at, unit))
    }

    fn holds(&self, constraint: &DeviceConstraint, at: At, unit: usize) -> bool {
        if !self.is_about(constraint, at) {
            return true;
        }
        let (name, same) = match (&constraint.match_attribute, &constraint.distinct_attribute) {
            (Some(name), _) => (name, true),
            (None, Some(name)) => (name, false),
            (None, None) => return false,
        };
        let Some(own) = self.supply.units[unit].attribute(name) else {
            return false;
        };
        let mut others = self
            .given
            .iter()
            .filter(|(other, _)| other.0 == at.0 && self.is_about(constraint, *other));
        others.all(|(_, other)| (self.supply.units[*other].attribute(name) == Some(own)) == same)
    }

    fn is_about(&self, constraint: &DeviceConstraint, (claim, request, way): At) -> bool {
        let request = &self.wanted[claim].requests[request];
        let full = format!("{}/{}", request.name, request.ways[way].name);
        let names = &constraint.requests;
        names.is_empty() || names.contains(&request.name) || names.contains(&full)
    }
}
