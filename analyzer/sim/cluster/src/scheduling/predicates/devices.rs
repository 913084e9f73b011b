//! Claims for devices: dynamic resource allocation.
//!
//! Words and order are those of the scheduler's plugin `dynamicresources`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::{Predicate, Reason};
use crate::scheduling::api::{Allocation, DeviceClaim, Node, Pod};
use crate::scheduling::cluster::{Cluster, Inputs};
use crate::scheduling::dra::allocate::{Fit, Problem};
use crate::scheduling::dra::demand::{self, Refusal, Wanted};
use crate::scheduling::dra::matching::Matches;
use crate::scheduling::dra::supply::Supply;
use crate::scheduling::selector::node_matches;

/// Most pods that may use one claim (`ResourceClaimReservedForMaxSize`).
const MOST_USERS: usize = 256;
/// Steps that the searches for one pod may take on all nodes together.
const STEPS: usize = 200_000;
const ELSEWHERE: &str = "resourceclaim not available on the node";

/// What a pod's claims ask for, worked out once.
#[derive(Default)]
pub(super) struct State<'a> {
    /// Claims that have their devices.
    given: Vec<(&'a DeviceClaim, &'a Allocation)>,
    wanted: Vec<Wanted<'a>>,
    supply: Supply<'a>,
    matches: Option<Matches>,
    steps: Cell<usize>,
    rejected: Option<Reason>,
    /// A node has what is asked for, certainly.
    certain: Cell<bool>,
    /// What could not be told of nodes.
    open: RefCell<BTreeSet<String>>,
}

impl<'a> State<'a> {
    pub(super) fn of(pod: &'a Pod, cluster: &Cluster<'a>, open: &mut Vec<String>) -> Self {
        let mut state = Self::default();
        if pod.spec.resource_claims.is_empty() {
            return state;
        }
        let inputs = &cluster.inputs;
        let (Some(claims), Some(slices), Some(_)) = (
            &inputs.device_claims,
            &inputs.slices,
            &inputs.device_classes,
        ) else {
            let lists = "ResourceClaims, ResourceSlices or DeviceClasses were not collected";
            open.push(format!(
                "it asks for devices through ResourceClaims, and {lists}"
            ));
            return state;
        };
        for claim in claims_of(pod, claims, open) {
            state.take_up(claim, pod, inputs, open);
        }
        state.supply = Supply::of(slices, claims);
        state.matches = Some(Matches::of(&state.wanted, &state.supply));
        state.steps = Cell::new(STEPS);
        state
    }

    /// A reason that rejects the pod before any node is looked at.
    pub(super) fn rejected(&self) -> Option<Reason> {
        self.rejected.clone()
    }

    /// What could not be told of nodes. Nothing where one node has the devices for certain.
    pub(super) fn open(&self) -> Vec<String> {
        if self.certain.get() {
            return Vec::new();
        }
        self.open.borrow().iter().cloned().collect()
    }

    fn take_up(
        &mut self,
        claim: &'a DeviceClaim,
        pod: &Pod,
        inputs: &Inputs<'a>,
        open: &mut Vec<String>,
    ) {
        let name = &claim.metadata.name;
        if let Some(allocation) = &claim.status.allocation {
            let users = &claim.status.reserved_for;
            let own = users.iter().any(|user| user.name == pod.metadata.name);
            if users.len() >= MOST_USERS && !own {
                let detail = format!("the ResourceClaim {name} has {} users", users.len());
                let reason = Reason::new(Predicate::Device, "resourceclaim in use", detail);
                self.rejected.get_or_insert(reason);
            }
            self.given.push((claim, allocation));
            return;
        }
        let classes = inputs.device_classes.as_deref().unwrap_or_default();
        match demand::read(claim, classes, self.wanted.len()) {
            Ok(wanted) => self.wanted.push(wanted),
            Err(Refusal::Open(why)) => open.push(why),
            Err(Refusal::NoClass { says, class }) => {
                let detail = format!("the ResourceClaim {name} names the DeviceClass {class}");
                let reason = Reason::new(Predicate::Device, says, detail);
                self.rejected.get_or_insert(reason);
            }
        }
    }

    pub(super) fn filter(&self, node: &Node) -> Option<Reason> {
        let matches = self.matches.as_ref()?;
        let problem = Problem {
            wanted: &self.wanted,
            supply: &self.supply,
            matches,
            steps: &self.steps,
        };
        // The scheduler asks its allocator first and speaks of that if it fails.
        let fit = if self.wanted.is_empty() {
            Fit::Yes
        } else {
            problem.on(node)
        };
        match fit {
            Fit::No { detail, class } => {
                return Some(Reason {
                    about: class,
                    ..Reason::new(Predicate::Device, "cannot allocate all claims", detail)
                });
            }
            Fit::Open(why) => {
                if let Some(reason) = self.elsewhere(node) {
                    return Some(reason);
                }
                self.open.borrow_mut().insert(why);
                return None;
            }
            Fit::Yes => {}
        }
        let elsewhere = self.elsewhere(node);
        self.certain.set(self.certain.get() || elsewhere.is_none());
        elsewhere
    }

    fn elsewhere(&self, node: &Node) -> Option<Reason> {
        let (claim, _) = self.given.iter().find(|(_, allocation)| {
            let selector = allocation.node_selector.as_ref();
            selector.is_some_and(|selector| !node_matches(selector, node))
        })?;
        let detail = format!(
            "the devices of the ResourceClaim {} are on other nodes",
            claim.metadata.name
        );
        Some(Reason::new(Predicate::Device, ELSEWHERE, detail))
    }
}

/// The claims that a pod names or that were made for it.
fn claims_of<'a>(
    pod: &'a Pod,
    claims: &[&'a DeviceClaim],
    open: &mut Vec<String>,
) -> Vec<&'a DeviceClaim> {
    let mut own = Vec::new();
    for wanted in &pod.spec.resource_claims {
        let made = pod.status.resource_claim_statuses.iter();
        let mut made = made.filter(|one| one.name == wanted.name).peekable();
        let decided = made.peek().is_some();
        let name = std::iter::once(wanted)
            .chain(made)
            .map(|one| one.resource_claim_name.as_str())
            .find(|name| !name.is_empty());
        let Some(name) = name else {
            // Its controller says so where none is needed.
            if !decided {
                let template = &wanted.resource_claim_template_name;
                open.push(format!(
                    "no ResourceClaim has been made for {} from the template {template}",
                    wanted.name
                ));
            }
            continue;
        };
        let namespace = &pod.metadata.namespace;
        let found = claims
            .iter()
            .find(|one| one.metadata.name == name && one.metadata.namespace == *namespace);
        match found {
            Some(claim) => own.push(*claim),
            None => open.push(format!(
                "the ResourceClaim {namespace}/{name} does not exist"
            )),
        }
    }
    own
}

/// Whether the scheduler takes devices from a claim that nobody uses, so that it can be met elsewhere.
pub(in crate::scheduling) fn gives_up_a_claim(
    pod: &Pod,
    cluster: &Cluster<'_>,
    reasons: &[&Reason],
) -> bool {
    if !reasons.iter().any(|one| one.says == ELSEWHERE) {
        return false;
    }
    let claims = cluster.inputs.device_claims.as_deref().unwrap_or_default();
    let own = claims_of(pod, claims, &mut Vec::new());
    own.iter().any(|claim| {
        let users = &claim.status.reserved_for;
        let others = users.iter().any(|user| user.name != pod.metadata.name);
        claim.status.allocation.is_some() && users.len() <= 1 && !others
    })
}
