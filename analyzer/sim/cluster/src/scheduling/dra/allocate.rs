//! The search for devices on a node.

use std::cell::Cell;

use super::MOST_DEVICES;
use super::demand::{Want, Wanted};
use super::held::{At, Held};
use super::matching::{Match, Matches, tainted};
use super::supply::Supply;
use crate::scheduling::api::Node;

/// Whether a node has the devices.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::scheduling) enum Fit {
    /// It has.
    Yes,
    /// It has not.
    No {
        /// With names and numbers.
        detail: String,
        /// Class of the devices that are missing; empty if they are not of one.
        class: String,
    },
    /// It could not be told.
    Open(String),
}

/// All that a search looks at.
pub(in crate::scheduling) struct Problem<'a> {
    /// What is asked for.
    pub(in crate::scheduling) wanted: &'a [Wanted<'a>],
    /// What there is.
    pub(in crate::scheduling) supply: &'a Supply<'a>,
    /// What fits what.
    pub(in crate::scheduling) matches: &'a Matches,
    /// Steps that searches of this pod may still take.
    pub(in crate::scheduling) steps: &'a Cell<usize>,
}

/// The search took all its steps.
struct Exhausted;

impl Problem<'_> {
    /// Whether a node has the devices for all claims together.
    ///
    /// A device of which it is open whether it fits is left out first, and let in then: only where both lead to the
    /// same is there an answer.
    pub(in crate::scheduling) fn on(&self, node: &Node) -> Fit {
        let usable = |unit: &usize| self.supply.units[*unit].usable(node);
        let here: Vec<usize> = (0..self.supply.units.len()).filter(usable).collect();
        if let Some(error) = self.error(&here) {
            return Fit::Open(error);
        }
        let certain = self.possible(&here, false);
        let Ok(certain) = certain else {
            return Fit::Open("the search for devices takes too many steps".into());
        };
        let unsure = self.unsure(&here);
        if certain && (unsure.is_none() || !self.asks_for_all()) {
            return Fit::Yes;
        }
        if let Some(why) = unsure
            && (self.asks_for_all() || !matches!(self.possible(&here, true), Ok(false)))
        {
            return Fit::Open(why);
        }
        self.no(node, &here)
    }

    fn ways(&self) -> impl Iterator<Item = (At, &Want)> {
        self.wanted.iter().enumerate().flat_map(|(claim, wanted)| {
            let requests = wanted.requests.iter().enumerate();
            requests.flat_map(move |(request, own)| {
                let ways = own.ways.iter().enumerate();
                ways.map(move |(way, want)| ((claim, request, way), want))
            })
        })
    }

    fn asks_for_all(&self) -> bool {
        self.ways().any(|(_, way)| way.count.is_none())
    }

    /// What makes the scheduler stop with an error instead of leaving the node out.
    fn error(&self, here: &[usize]) -> Option<String> {
        for unit in here {
            let pool = &self.supply.pools[self.supply.units[*unit].pool];
            let id = format!("{}/{}", pool.driver, pool.name);
            if let Some(twice) = pool.twice {
                return Some(format!("the pool {id} names the device {twice} twice"));
            }
            if pool.incomplete() && self.asks_for_all() {
                return Some(format!(
                    "a claim asks for all devices, and the pool {id} is being published: {} of {} slices are there",
                    pool.slices.0, pool.slices.1
                ));
            }
        }
        let found = self.found(here, |answer| match answer {
            Match::Error(why) => Some(why.clone()),
            _ => None,
        });
        found.or_else(|| {
            let claims = self.wanted.iter();
            let mut stuck = claims.filter(|claim| !claim.constraints.is_empty());
            let both = stuck.find(|_| self.asks_for_all())?;
            Some(format!(
                "the ResourceClaim {} asks for all devices and sets constraints, which is not evaluated",
                both.claim.metadata.name
            ))
        })
    }

    fn unsure(&self, here: &[usize]) -> Option<String> {
        self.found(here, |answer| match answer {
            Match::Open(why) => Some(why.clone()),
            _ => None,
        })
    }

    fn found(&self, here: &[usize], what: impl Fn(&Match) -> Option<String>) -> Option<String> {
        self.ways().find_map(|((claim, request, way), _)| {
            let mut units = here.iter();
            let why = units.find_map(|unit| what(self.matches.get(claim, request, way, *unit)))?;
            let name = &self.wanted[claim].claim.metadata.name;
            Some(format!("{why} (ResourceClaim {name})"))
        })
    }

    /// Devices that meet a request, where asked with those of which it is open.
    fn candidates(&self, at: At, here: &[usize], open: bool) -> Vec<usize> {
        let way = &self.wanted[at.0].requests[at.1].ways[at.2];
        let fits = |unit: &&usize| {
            let device = &self.supply.units[**unit];
            let answer = self.matches.get(at.0, at.1, at.2, **unit);
            let matching = *answer == Match::Yes || (open && matches!(answer, Match::Open(_)));
            let free = !device.taken || device.parts.allow_multiple_allocations || way.admin;
            let pool = &self.supply.pools[device.pool];
            // All devices are asked for with those that cannot be had.
            matching
                && !pool.incomplete()
                && (way.count.is_none() || (free && !tainted(way, device)))
        };
        here.iter().filter(fits).copied().collect()
    }

    fn possible(&self, here: &[usize], open: bool) -> Result<bool, Exhausted> {
        let mut held = Held::none(self.wanted, self.supply);
        self.request(&mut held, here, open, (0, 0))
    }

    /// Meets a request and all that follow.
    fn request(
        &self,
        held: &mut Held<'_>,
        here: &[usize],
        open: bool,
        (claim, request): (usize, usize),
    ) -> Result<bool, Exhausted> {
        let Some(wanted) = self.wanted.get(claim) else {
            return Ok(true);
        };
        let Some(own) = wanted.requests.get(request) else {
            return self.request(held, here, open, (claim + 1, 0));
        };
        for (number, way) in own.ways.iter().enumerate() {
            let at = (claim, request, number);
            let candidates = self.candidates(at, here, open);
            let count = way.count.unwrap_or(candidates.len());
            if count == 0 || held.of_claim(claim).saturating_add(count) > MOST_DEVICES {
                continue;
            }
            let next = |held: &mut Held<'_>| self.request(held, here, open, (claim, request + 1));
            if self.devices(held, at, &candidates, count, &next)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives so many of the candidates. Their order does not matter to anything that follows, so each set is tried once.
    fn devices(
        &self,
        held: &mut Held<'_>,
        at: At,
        candidates: &[usize],
        count: usize,
        next: &dyn Fn(&mut Held<'_>) -> Result<bool, Exhausted>,
    ) -> Result<bool, Exhausted> {
        if count == 0 {
            return next(held);
        }
        for (number, unit) in candidates.iter().enumerate() {
            if candidates.len() - number < count {
                break;
            }
            let left = self.steps.get().checked_sub(1).ok_or(Exhausted)?;
            self.steps.set(left);
            if !held.give(at, *unit) {
                continue;
            }
            if self.devices(held, at, &candidates[number + 1..], count - 1, next)? {
                return Ok(true);
            }
            held.take_back();
        }
        Ok(false)
    }

    /// Which request is not met, where one is not by itself.
    fn no(&self, node: &Node, here: &[usize]) -> Fit {
        let single = self.ways().find(|(at, way)| {
            let own = &self.wanted[at.0].requests[at.1];
            let count = way.count.unwrap_or(1);
            own.ways.len() == 1 && self.candidates(*at, here, true).len() < count
        });
        let Some((at, way)) = single else {
            let detail = format!(
                "each request of its claims can be met on {}, but not all together: devices are asked for twice, or constraints or shared counters are in the way",
                node.metadata.name
            );
            return Fit::No {
                detail,
                class: String::new(),
            };
        };
        let matching = |unit: &&usize| {
            let answer = self.matches.get(at.0, at.1, at.2, **unit);
            !matches!(answer, Match::No)
        };
        let asked = way
            .count
            .map_or("all".to_owned(), |count| count.to_string());
        let detail = format!(
            "it asks for {asked} devices of class {}; of {} devices that the node could use, {} match and {} of these are free",
            way.class,
            here.len(),
            here.iter().filter(matching).count(),
            self.candidates(at, here, true).len()
        );
        Fit::No {
            detail,
            class: way.class.clone(),
        }
    }
}
