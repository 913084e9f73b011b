//! What the claims of a pod ask for.

use super::MOST_DEVICES;
use crate::scheduling::api::{DeviceClaim, DeviceClass, DeviceConstraint, Toleration};
use crate::scheduling::cel::Program;

/// Most claims of a pod that are looked at.
const MOST_CLAIMS: usize = 16;
/// Most requests of a claim (`DeviceRequestsMaxSize`), and alternatives of a request.
const MOST_REQUESTS: usize = 32;

/// One way to meet a request.
#[derive(Debug)]
pub(in crate::scheduling) struct Want {
    /// Alternative; empty where there is but one.
    pub(super) name: String,
    pub(super) class: String,
    /// How many; all that match where it is `None`.
    pub(super) count: Option<usize>,
    pub(super) admin: bool,
    /// Shares of a device are asked for.
    pub(super) shares: bool,
    pub(super) tolerations: Vec<Toleration>,
    /// Selectors of the class and of the request; the text is why one was not read.
    pub(super) selectors: Vec<Result<Program, String>>,
}

/// A request: one of its ways has to be met.
#[derive(Debug)]
pub(in crate::scheduling) struct Request {
    pub(super) name: String,
    pub(super) ways: Vec<Want>,
}

/// A claim that has no devices yet.
#[derive(Debug)]
pub(in crate::scheduling) struct Wanted<'a> {
    pub(super) claim: &'a DeviceClaim,
    pub(super) requests: Vec<Request>,
    pub(super) constraints: &'a [DeviceConstraint],
}

/// Why a claim asks for nothing that could be looked for.
pub(in crate::scheduling) enum Refusal {
    /// A class that does not exist: in the scheduler's words.
    NoClass {
        /// What it says.
        says: String,
        /// Class.
        class: String,
    },
    /// It is not evaluated, or the scheduler stops with an error.
    Open(String),
}

/// Reads what a claim asks for.
pub(in crate::scheduling) fn read<'a>(
    claim: &'a DeviceClaim,
    classes: &[&DeviceClass],
    before: usize,
) -> Result<Wanted<'a>, Refusal> {
    let devices = &claim.spec.devices;
    let name = &claim.metadata.name;
    let most = devices.requests.len().max(devices.constraints.len());
    if before >= MOST_CLAIMS || most > MOST_REQUESTS {
        let why = format!("the ResourceClaim {name} is one of too many, or has too many requests");
        return Err(Refusal::Open(why));
    }
    let mut requests = Vec::new();
    for request in &devices.requests {
        let mut ways = Vec::new();
        for one in request.alternatives().into_iter().take(MOST_REQUESTS) {
            ways.push(want(&request.name, name, one, classes)?);
        }
        requests.push(Request {
            name: request.name.clone(),
            ways,
        });
    }
    let fewest = |request: &Request| request.ways.iter().map(|way| way.count.unwrap_or(1)).min();
    let least: usize = requests.iter().filter_map(fewest).sum();
    if least > MOST_DEVICES {
        return Err(Refusal::Open(format!(
            "the scheduler stops with an error: claim {name}: number of requested devices {least} exceeds the claim limit of {MOST_DEVICES}"
        )));
    }
    let known =
        |one: &&DeviceConstraint| one.match_attribute.is_some() != one.distinct_attribute.is_some();
    if devices.constraints.iter().filter(known).count() < devices.constraints.len() {
        let why = format!("a constraint of the ResourceClaim {name} is not evaluated");
        return Err(Refusal::Open(why));
    }
    Ok(Wanted {
        claim,
        requests,
        constraints: &devices.constraints,
    })
}

fn want(
    request: &str,
    claim: &str,
    own: crate::scheduling::api::ExactRequest,
    classes: &[&DeviceClass],
) -> Result<Want, Refusal> {
    let class = own.device_class_name;
    let Some(found) = classes.iter().find(|one| one.metadata.name == class) else {
        let full = if own.name.is_empty() {
            request.to_owned()
        } else {
            format!("{request}/{}", own.name)
        };
        let says = format!("request {full}: device class {class} does not exist");
        return Err(Refusal::NoClass { says, class });
    };
    let count = match (own.allocation_mode.as_str(), own.count.unwrap_or(1)) {
        ("All", _) => None,
        ("" | "ExactCount", count @ 1..) => Some(usize::try_from(count).unwrap_or(usize::MAX / 64)),
        (mode, count) => {
            return Err(Refusal::Open(format!(
                "the request {request} of the ResourceClaim {claim} asks for {count} devices in the mode {mode:?}, which is not evaluated"
            )));
        }
    };
    let selectors = found.spec.selectors.iter().chain(&own.selectors);
    Ok(Want {
        name: own.name,
        class,
        count: count.map(|count| count.min(usize::MAX / 64)),
        admin: own.admin_access,
        shares: own.capacity.is_some(),
        tolerations: own.tolerations,
        selectors: selectors
            .map(|one| Program::read(&one.cel.expression))
            .collect(),
    })
}
