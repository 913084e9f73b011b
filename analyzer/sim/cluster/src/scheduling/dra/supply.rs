//! Devices that drivers publish, by pool, and what claims have taken of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::scheduling::api::{DeviceAttribute, DeviceClaim, DeviceParts, Node, Slice, SliceSpec};
use crate::scheduling::cel::{Attributes, Value, Version};
use crate::scheduling::quantity::Quantity;
use crate::scheduling::selector::node_matches;

/// A counter by set and name.
pub(in crate::scheduling) type Counter<'a> = (&'a str, &'a str);

/// A device.
pub(in crate::scheduling) struct Unit<'a> {
    pub(super) pool: usize,
    pub(super) name: &'a str,
    pub(super) parts: &'a DeviceParts,
    spec: &'a SliceSpec,
    /// A claim has it.
    pub(super) taken: bool,
}

/// The devices of a driver that are published together.
pub(in crate::scheduling) struct Pool<'a> {
    pub(super) driver: &'a str,
    pub(super) name: &'a str,
    /// Slices of its newest generation that are there, and that there shall be.
    pub(super) slices: (usize, i64),
    /// A device that is there twice.
    pub(super) twice: Option<&'a str>,
    /// What devices that are taken leave of the counters.
    pub(super) counters: BTreeMap<Counter<'a>, Quantity>,
}

/// Everything that drivers publish.
#[derive(Default)]
pub(in crate::scheduling) struct Supply<'a> {
    pub(super) pools: Vec<Pool<'a>>,
    pub(super) units: Vec<Unit<'a>>,
}

impl<'a> Supply<'a> {
    /// Gathers slices by pool, the newest generation of each, and marks what claims have.
    pub(in crate::scheduling) fn of(slices: &[&'a Slice], claims: &[&'a DeviceClaim]) -> Self {
        let taken: BTreeSet<_> = claims.iter().flat_map(|claim| taken(claim)).collect();
        let mut by_pool: BTreeMap<(&str, &str), Vec<&SliceSpec>> = BTreeMap::new();
        for slice in slices {
            let spec = &slice.spec;
            let own = by_pool.entry((&spec.driver, &spec.pool.name)).or_default();
            own.push(spec);
        }
        let mut supply = Self::default();
        for ((driver, name), mut specs) in by_pool {
            let newest = specs.iter().map(|spec| spec.pool.generation).max();
            specs.retain(|spec| Some(spec.pool.generation) == newest);
            supply.add(driver, name, &specs, &taken);
        }
        supply
    }

    fn add(
        &mut self,
        driver: &'a str,
        name: &'a str,
        specs: &[&'a SliceSpec],
        taken: &BTreeSet<(&str, &str, &str)>,
    ) {
        let wanted = specs
            .first()
            .map_or(0, |spec| spec.pool.resource_slice_count);
        let mut pool = Pool {
            driver,
            name,
            slices: (specs.len(), wanted),
            twice: None,
            counters: counters(specs),
        };
        let mut names = BTreeSet::new();
        for spec in specs {
            for device in &spec.devices {
                if !names.insert(device.name.as_str()) {
                    pool.twice = Some(&device.name);
                }
                let unit = Unit {
                    pool: self.pools.len(),
                    name: &device.name,
                    parts: device.parts(),
                    spec,
                    taken: taken.contains(&(driver, name, device.name.as_str())),
                };
                if unit.taken {
                    for (counter, amount) in unit.takes() {
                        let left = pool.counters.entry(counter).or_default();
                        *left = left.minus(amount);
                    }
                }
                self.units.push(unit);
            }
        }
        self.pools.push(pool);
    }

    /// `driver/pool/device`, as the scheduler names a device.
    pub(super) fn name(&self, unit: &Unit<'_>) -> String {
        let pool = &self.pools[unit.pool];
        format!("{}/{}/{}", pool.driver, pool.name, unit.name)
    }
}

impl Pool<'_> {
    /// Whether its driver has not published all slices yet; the scheduler leaves such a pool alone.
    pub(super) fn incomplete(&self) -> bool {
        let there = i64::try_from(self.slices.0).unwrap_or(i64::MAX);
        self.slices.1 > 0 && there != self.slices.1
    }
}

impl<'a> Unit<'a> {
    /// Whether a node can use it.
    pub(super) fn usable(&self, node: &Node) -> bool {
        let (name, all, selector) = if self.spec.per_device_node_selection {
            let own = self.parts;
            (&own.node_name, own.all_nodes, own.node_selector.as_ref())
        } else {
            let slice = self.spec;
            (
                &slice.node_name,
                slice.all_nodes,
                slice.node_selector.as_ref(),
            )
        };
        if !name.is_empty() {
            return *name == node.metadata.name;
        }
        all || selector.is_some_and(|selector| node_matches(selector, node))
    }

    /// What it takes of its pool's counters.
    pub(super) fn takes(&self) -> impl Iterator<Item = (Counter<'a>, Quantity)> + use<'a> {
        self.parts.consumes_counters.iter().flat_map(|used| {
            let all = used.counters.iter();
            all.map(|(name, amount)| {
                let amount = Quantity::parse(&amount.0).unwrap_or_default();
                ((used.counter_set.as_str(), name.as_str()), amount)
            })
        })
    }

    /// The device as an expression sees it.
    ///
    /// # Errors
    /// An attribute or capacity whose value is not read.
    pub(super) fn value(&self) -> Result<Value, String> {
        let driver = self.spec.driver.as_str();
        let mut attributes: BTreeMap<String, Attributes> = BTreeMap::new();
        for (name, attribute) in &self.parts.attributes {
            let value = attribute_value(attribute).ok_or_else(|| not_read(self.name, name))?;
            let (domain, name) = qualified(name, driver);
            let own = attributes.entry(domain.to_owned()).or_default();
            own.insert(name.to_owned(), value);
        }
        let mut capacity: BTreeMap<String, Attributes> = BTreeMap::new();
        for (name, amount) in &self.parts.capacity {
            let value = Quantity::parse(&amount.0).ok_or_else(|| not_read(self.name, name))?;
            let (domain, name) = qualified(name, driver);
            let own = capacity.entry(domain.to_owned()).or_default();
            own.insert(name.to_owned(), Value::Quantity(value));
        }
        let shared = self.parts.allow_multiple_allocations;
        Ok(Value::device(driver, shared, attributes, capacity))
    }

    /// An attribute by its full name; without a domain where that is the driver's.
    pub(super) fn attribute(&self, full: &str) -> Option<&'a DeviceAttribute> {
        let attributes = &self.parts.attributes;
        attributes.get(full).or_else(|| {
            let (domain, name) = full.split_once('/')?;
            (domain == self.spec.driver).then(|| attributes.get(name))?
        })
    }
}

fn not_read(device: &str, name: &str) -> String {
    format!("the value of {name} of the device {device} is not read")
}

/// Domain and name; without a domain it is the driver's.
fn qualified<'a>(name: &'a str, driver: &'a str) -> (&'a str, &'a str) {
    name.split_once('/').unwrap_or((driver, name))
}

fn attribute_value(attribute: &DeviceAttribute) -> Option<Value> {
    let version = |text: &String| Version::parse(text).ok().map(Value::Version);
    let list = |items: Option<Vec<Value>>| items.map(Value::list);
    let texts = attribute.strings.as_ref();
    let texts = texts.map(|all| all.iter().cloned().map(Value::Text).collect());
    let ints = attribute.ints.as_ref();
    let ints = ints.map(|all| all.iter().copied().map(Value::Int).collect());
    let bools = attribute.bools.as_ref();
    let bools = bools.map(|all| all.iter().copied().map(Value::Bool).collect());
    let versions = attribute.versions.as_ref();
    let versions = versions.and_then(|all| all.iter().map(version).collect());
    attribute
        .int
        .map(Value::Int)
        .or(attribute.bool.map(Value::Bool))
        .or_else(|| attribute.string.clone().map(Value::Text))
        .or_else(|| attribute.version.as_ref().and_then(version))
        .or_else(|| {
            list(ints)
                .or(list(bools))
                .or(list(texts))
                .or(list(versions))
        })
}

fn counters<'a>(specs: &[&'a SliceSpec]) -> BTreeMap<Counter<'a>, Quantity> {
    let sets = specs.iter().flat_map(|spec| &spec.shared_counters);
    let all = sets.flat_map(|set| {
        let own = set.counters.iter();
        own.map(|(name, amount)| {
            let amount = Quantity::parse(&amount.0).unwrap_or_default();
            ((set.name.as_str(), name.as_str()), amount)
        })
    });
    all.collect()
}

/// The devices that a claim keeps from others.
fn taken(claim: &DeviceClaim) -> impl Iterator<Item = (&str, &str, &str)> {
    let allocations = claim.status.allocation.iter();
    let devices = allocations.flat_map(|one| &one.devices.results);
    devices
        .filter(|device| !device.admin_access)
        .map(|one| (one.driver.as_str(), one.pool.as_str(), one.device.as_str()))
}
