//! Which devices meet which requests, whatever is taken.

use std::cell::Cell;

use super::demand::{Want, Wanted};
use super::supply::{Supply, Unit};
use crate::scheduling::cel::{Stop, Value};
use crate::scheduling::selector::tolerates;

/// Evaluations of expressions for a pod. A thousand nodes of eight GPUs take sixteen thousand.
const EVALUATIONS: usize = 100_000;

/// Whether a device meets a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Match {
    Yes,
    No,
    /// It could not be told.
    Open(String),
    /// The scheduler stops with an error when it looks.
    Error(String),
}

/// For each claim, request and way the answer for each device.
pub(in crate::scheduling) struct Matches(Vec<Vec<Vec<Vec<Match>>>>);

impl Matches {
    /// Evaluates the selectors of all requests for all devices.
    pub(in crate::scheduling) fn of(wanted: &[Wanted<'_>], supply: &Supply<'_>) -> Self {
        let left = Cell::new(EVALUATIONS);
        let values: Vec<Result<Value, String>> = supply.units.iter().map(Unit::value).collect();
        let way = |way: &Want| {
            let units = supply.units.iter().zip(&values);
            units
                .map(|(unit, value)| selected(way, unit, value, supply, &left))
                .collect::<Vec<Match>>()
        };
        let claims = wanted.iter().map(|claim| {
            let requests = claim.requests.iter();
            requests
                .map(|request| request.ways.iter().map(way).collect())
                .collect()
        });
        Self(claims.collect())
    }

    pub(super) fn get(&self, claim: usize, request: usize, way: usize, unit: usize) -> &Match {
        &self.0[claim][request][way][unit]
    }
}

fn selected(
    way: &Want,
    unit: &Unit<'_>,
    value: &Result<Value, String>,
    supply: &Supply<'_>,
    left: &Cell<usize>,
) -> Match {
    for selector in &way.selectors {
        let Some(fewer) = left.get().checked_sub(1) else {
            return Match::Open("there are too many devices and selectors to evaluate".into());
        };
        left.set(fewer);
        let program = match selector {
            Ok(program) => program,
            Err(why) => return Match::Open(format!("a selector is not evaluated: {why}")),
        };
        let value = match value {
            Ok(value) => value,
            Err(why) => return Match::Open(why.clone()),
        };
        match program.matches(value) {
            Ok(true) => {}
            Ok(false) => return Match::No,
            Err(Stop::Open(why)) => {
                return Match::Open(format!("a selector is not evaluated: {why}"));
            }
            Err(Stop::Error(why)) => {
                let device = supply.name(unit);
                return Match::Error(format!(
                    "the scheduler stops with an error at a selector on device {device}: CEL runtime error: {why}"
                ));
            }
        }
    }
    let shared = unit.parts.allow_multiple_allocations && unit.taken;
    if way.shares || shared || !unit.parts.binding_conditions.is_empty() {
        return Match::Open(
            "shares of devices and conditions for binding are not evaluated".into(),
        );
    }
    Match::Yes
}

/// Whether a taint keeps a device from a request.
pub(super) fn tainted(way: &Want, unit: &Unit<'_>) -> bool {
    unit.parts.taints.iter().any(|taint| {
        matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute")
            && !way.tolerations.iter().any(|one| tolerates(one, taint))
    })
}
