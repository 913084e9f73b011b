//! Whether a node has the devices that claims ask for: dynamic resource allocation.
//!
//! [`supply`] gathers what drivers publish and what of it is taken, [`demand`] reads what the claims of a pod ask
//! for, [`matching`] evaluates selectors, [`allocate`] searches. Follows `k8s.io/dynamic-resource-allocation/structured`:
//! it gives devices to all requests or to none, whatever way of choosing leads there.

pub(super) mod allocate;
pub(super) mod demand;
mod held;
pub(super) mod matching;
pub(super) mod supply;

/// Most devices of a claim (`AllocationResultsMaxSize`).
pub(super) const MOST_DEVICES: usize = 32;
