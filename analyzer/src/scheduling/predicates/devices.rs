//! Claims for devices: dynamic resource allocation.
//!
//! Words and order are those of the scheduler's plugin `dynamicresources`. Expressions of CEL are not evaluated,
//! but for the driver that a class names: what is counted is at least what could fit, so a node is left out only
//! where it certainly has too few devices.

use std::collections::{BTreeMap, BTreeSet};

use super::{Predicate, Reason};
use crate::scheduling::api::{
    Allocation, DeviceClaim, DeviceClass, DeviceSelector, Node, Pod, Slice,
};
use crate::scheduling::cluster::Cluster;
use crate::scheduling::selector::node_matches;

/// A device by driver, pool and name.
type Name<'a> = (&'a str, &'a str, &'a str);

/// What a pod's claims ask for, worked out once.
#[derive(Default)]
pub(super) struct State<'a> {
    /// Claims that have their devices.
    given: Vec<(&'a DeviceClaim, &'a Allocation)>,
    /// Devices asked for by class, with the driver of the class where it names one.
    asked: BTreeMap<&'a str, (Option<&'a str>, i64)>,
    slices: Vec<&'a Slice>,
    taken: BTreeSet<Name<'a>>,
    rejected: Option<Reason>,
}

impl<'a> State<'a> {
    pub(super) fn of(pod: &'a Pod, cluster: &Cluster<'a>, open: &mut Vec<String>) -> Self {
        let mut state = Self::default();
        if pod.spec.resource_claims.is_empty() {
            return state;
        }
        let inputs = &cluster.inputs;
        let (Some(claims), Some(slices), Some(classes)) = (
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
        state.slices.clone_from(slices);
        state.taken = claims.iter().flat_map(|claim| taken(claim)).collect();
        for wanted in &pod.spec.resource_claims {
            let made = pod.status.resource_claim_statuses.iter();
            let made = made.filter(|one| one.name == wanted.name);
            let name = std::iter::once(wanted)
                .chain(made)
                .map(|one| one.resource_claim_name.as_str())
                .find(|name| !name.is_empty());
            let Some(name) = name else {
                let template = &wanted.resource_claim_template_name;
                open.push(format!(
                    "no ResourceClaim has been made for {} from the template {template}",
                    wanted.name
                ));
                continue;
            };
            let namespace = &pod.metadata.namespace;
            let found = claims
                .iter()
                .find(|one| one.metadata.name == name && one.metadata.namespace == *namespace);
            match found {
                Some(claim) => state.take_up(claim, classes, open),
                None => open.push(format!(
                    "the ResourceClaim {namespace}/{name} does not exist"
                )),
            }
        }
        state
    }

    /// A reason that rejects the pod before any node is looked at.
    pub(super) fn rejected(&self) -> Option<Reason> {
        self.rejected.clone()
    }

    fn take_up(
        &mut self,
        claim: &'a DeviceClaim,
        classes: &[&'a DeviceClass],
        open: &mut Vec<String>,
    ) {
        if let Some(allocation) = &claim.status.allocation {
            self.given.push((claim, allocation));
            return;
        }
        let name = &claim.metadata.name;
        let mut unread = !claim.spec.devices.constraints.is_empty();
        for request in &claim.spec.devices.requests {
            let Some(exact) = request.exact() else {
                unread = true;
                continue;
            };
            let wanted = &exact.device_class_name;
            let Some(class) = classes.iter().find(|one| one.metadata.name == *wanted) else {
                let says = format!(
                    "request {}: device class {wanted} does not exist",
                    request.name
                );
                let detail = format!("the ResourceClaim {name} names the DeviceClass {wanted}");
                let reason = Reason::new(Predicate::Device, says, detail);
                self.rejected.get_or_insert(reason);
                continue;
            };
            let driver = driver(&class.spec.selectors);
            let all = exact.allocation_mode == "All";
            unread |= all || !exact.selectors.is_empty() || driver.is_none();
            if !all && !exact.admin_access {
                let entry = self
                    .asked
                    .entry(&class.metadata.name)
                    .or_insert((driver, 0));
                entry.1 = entry.1.saturating_add(exact.count.unwrap_or(1));
            }
        }
        if unread {
            open.push(format!(
                "the selectors, constraints or alternatives of the ResourceClaim {name} are not evaluated"
            ));
        }
    }

    pub(super) fn filter(&self, node: &Node) -> Option<Reason> {
        let elsewhere = self.given.iter().find(|(_, allocation)| {
            let selector = allocation.node_selector.as_ref();
            selector.is_some_and(|selector| !node_matches(selector, node))
        });
        // The scheduler asks its allocator first and speaks of that if it fails.
        let short = self.asked.iter().find_map(|(class, (driver, asked))| {
            let (have, free) = self.devices(node, *driver);
            (*asked > free).then(|| {
                let detail = format!(
                    "it asks for {asked} devices of class {class}; of {have} devices that the node could use, {free} are free"
                );
                Reason {
                    about: (*class).to_owned(),
                    ..Reason::new(Predicate::Device, "cannot allocate all claims", detail)
                }
            })
        });
        short.or_else(|| {
            let (claim, _) = elsewhere?;
            let says = "resourceclaim not available on the node";
            let detail = format!(
                "the devices of the ResourceClaim {} are on other nodes",
                claim.metadata.name
            );
            Some(Reason::new(Predicate::Device, says, detail))
        })
    }

    /// Devices of a driver that a node could use, and how many of them are free.
    fn devices(&self, node: &Node, driver: Option<&str>) -> (i64, i64) {
        let name = &node.metadata.name;
        let here = self.slices.iter().map(|slice| &slice.spec).filter(|spec| {
            let by_label = spec.node_selector.as_ref();
            let usable = spec.node_name == *name
                || spec.all_nodes
                || spec.per_device_node_selection
                || by_label.is_some_and(|selector| node_matches(selector, node));
            usable && driver.is_none_or(|driver| driver == spec.driver)
        });
        let mut counts = (0, 0);
        for spec in here {
            for device in &spec.devices {
                let name = (
                    spec.driver.as_str(),
                    spec.pool.name.as_str(),
                    device.name.as_str(),
                );
                let free = device.allow_multiple_allocations || !self.taken.contains(&name);
                counts = (counts.0 + 1, counts.1 + i64::from(free));
            }
        }
        counts
    }
}

/// The devices that a claim keeps from others.
fn taken(claim: &DeviceClaim) -> impl Iterator<Item = Name<'_>> {
    let allocations = claim.status.allocation.iter();
    let devices = allocations.flat_map(|one| &one.devices.results);
    devices
        .filter(|device| !device.admin_access)
        .map(|one| (one.driver.as_str(), one.pool.as_str(), one.device.as_str()))
}

/// The driver that a class asks for, where that is all it asks for: `device.driver == "gpu.nvidia.com"`.
fn driver(selectors: &[DeviceSelector]) -> Option<&str> {
    let [one] = selectors else { return None };
    let (field, value) = one.cel.expression.split_once("==")?;
    let quoted = value.trim();
    let inner = ['"', '\'']
        .iter()
        .find_map(|quote| quoted.strip_prefix(*quote)?.strip_suffix(*quote))?;
    let plain = inner
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    (field.trim() == "device.driver" && plain).then_some(inner)
}
