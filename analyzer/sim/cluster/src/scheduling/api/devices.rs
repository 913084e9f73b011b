//! What dynamic resource allocation decides by: claims for devices, the devices that drivers publish, and their
//! classes (`resource.k8s.io`, v1beta1 to v1).

use std::collections::BTreeMap;

use super::*;

/// A quantity as it is written: plain, or below `value`. Empty where none stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Amount(pub String);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = serde_json::Value::deserialize(deserializer)?;
        let value = match &written {
            serde_json::Value::Object(own) => own.get("value").unwrap_or(&serde_json::Value::Null),
            plain => plain,
        };
        Ok(Self(match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Number(number) => number.to_string(),
            _ => String::new(),
        }))
    }
}

/// Amounts by name.
pub type Amounts = BTreeMap<String, Amount>;

/// A device that a driver publishes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Device {
    /// Name within its pool.
    pub name: String,
    /// What is said of it (v1beta1).
    basic: Option<DeviceParts>,
    /// What is said of it (from v1beta2 on).
    #[serde(flatten)]
    own: DeviceParts,
}

impl Device {
    /// What is said of it, in whichever version.
    pub fn parts(&self) -> &DeviceParts {
        self.basic.as_ref().unwrap_or(&self.own)
    }
}

objects! {
    /// An attribute of a device: one of these. Lists are alpha in Kubernetes 1.36.
    DeviceAttribute {
        /// Text.
        string: Option<String>,
        /// Whole number.
        int: Option<i64>,
        /// Truth value.
        bool: Option<bool>,
        /// Semantic version.
        version: Option<String>,
        /// Texts.
        strings: Option<Vec<String>>,
        /// Whole numbers.
        ints: Option<Vec<i64>>,
        /// Truth values.
        bools: Option<Vec<bool>>,
        /// Semantic versions.
        versions: Option<Vec<String>>,
    }
    /// Counters by name.
    CounterSet {
        /// Name within its pool.
        name: String,
        /// Counters.
        counters: Amounts,
    }
    /// What a device takes of a set of counters.
    CounterUse {
        /// Set.
        counter_set: String,
        /// Counters.
        counters: Amounts,
    }
    /// What a driver says of a device.
    DeviceParts {
        /// Attributes, with a domain before a slash or without.
        attributes: BTreeMap<String, DeviceAttribute>,
        /// Capacities, with a domain before a slash or without.
        capacity: Amounts,
        /// What it takes of the counters that it shares with others.
        consumes_counters: Vec<CounterUse>,
        /// The node that can use it.
        node_name: String,
        /// The nodes that can use it.
        node_selector: Option<NodeSelector>,
        /// Every node can use it.
        all_nodes: bool,
        /// Taints.
        taints: Vec<Taint>,
        /// Conditions that must come true after it was given.
        binding_conditions: Vec<String>,
        /// Several claims can have it at once.
        allow_multiple_allocations: bool,
    }
    /// What devices of a claim must have in common, or not.
    DeviceConstraint {
        /// Requests that it is about; all if empty.
        requests: Vec<String>,
        /// Attribute that must be the same.
        match_attribute: Option<String>,
        /// Attribute that must differ.
        distinct_attribute: Option<String>,
    }

    /// How a pod names a claim.
    PodClaim {
        /// Name within the pod.
        name: String,
        /// The claim itself.
        resource_claim_name: String,
        /// What its claim is made from.
        resource_claim_template_name: String,
    }
    /// An expression of CEL.
    Cel {
        /// The expression.
        expression: String,
    }
    /// Which devices fit.
    DeviceSelector {
        /// By expression.
        cel: Cel,
    }
    /// What is asked for: from v1beta2 on below `exactly`, before in the request itself; or one of the alternatives.
    ExactRequest {
        /// Name of the alternative.
        name: String,
        /// Class of the devices.
        device_class_name: String,
        /// Which of them.
        selectors: Vec<DeviceSelector>,
        /// `ExactCount` (also if empty) or `All`.
        allocation_mode: String,
        /// How many; 1 if not given.
        count: Option<i64>,
        /// Devices that others use fit as well.
        admin_access: bool,
        /// Taints of devices that do not matter.
        tolerations: Vec<Toleration>,
        /// Shares of devices that are asked for.
        capacity: Option<serde_json::Value>,
    }
    /// One request of a claim.
    DeviceRequest {
        /// Name within the claim.
        name: String,
        /// What is asked for.
        exactly: Option<ExactRequest>,
        /// Alternatives, the best first.
        first_available: Vec<ExactRequest>,
        /// Class of the devices (v1beta1).
        device_class_name: String,
        /// Which of them (v1beta1).
        selectors: Vec<DeviceSelector>,
        /// `ExactCount` or `All` (v1beta1).
        allocation_mode: String,
        /// How many (v1beta1).
        count: Option<i64>,
        /// Devices that others use fit as well (v1beta1).
        admin_access: bool,
        /// Taints of devices that do not matter (v1beta1).
        tolerations: Vec<Toleration>,
        /// Shares of devices that are asked for (v1beta1).
        capacity: Option<serde_json::Value>,
    }
    /// The requests of a claim.
    DeviceRequests {
        /// Requests.
        requests: Vec<DeviceRequest>,
        /// What the devices must have in common.
        constraints: Vec<DeviceConstraint>,
    }
    /// Spec of a claim.
    DeviceClaimSpec {
        /// Devices.
        devices: DeviceRequests,
    }
    /// A device that a claim has.
    AllocatedDevice {
        /// Driver.
        driver: String,
        /// Pool.
        pool: String,
        /// Device.
        device: String,
        /// It takes nothing from others.
        admin_access: bool,
    }
    /// The devices that a claim has.
    AllocatedDevices {
        /// Devices.
        results: Vec<AllocatedDevice>,
    }
    /// What a claim was given.
    Allocation {
        /// Devices.
        devices: AllocatedDevices,
        /// Nodes that can use them; all if none is given.
        node_selector: Option<NodeSelector>,
    }
    /// State of a claim.
    DeviceClaimStatus {
        /// What it was given.
        allocation: Option<Allocation>,
        /// Pods that may use it.
        reserved_for: Vec<Named>,
    }
    /// A ResourceClaim.
    DeviceClaim {
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: DeviceClaimSpec,
        /// Status.
        status: DeviceClaimStatus,
    }
    /// A pool of devices.
    Pool {
        /// Name.
        name: String,
        /// Counts up when the driver publishes the pool anew.
        generation: i64,
        /// How many slices the pool has in this generation; 0 if it is not said.
        resource_slice_count: i64,
    }
    /// Spec of a slice.
    SliceSpec {
        /// Driver.
        driver: String,
        /// Pool.
        pool: Pool,
        /// The node that has the devices.
        node_name: String,
        /// The nodes that can use them.
        node_selector: Option<NodeSelector>,
        /// Every node can use them.
        all_nodes: bool,
        /// Each device says for itself which nodes can use it.
        per_device_node_selection: bool,
        /// Devices.
        devices: Vec<Device>,
        /// Counters that devices of the pool share.
        shared_counters: Vec<CounterSet>,
    }
    /// A ResourceSlice.
    Slice {
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: SliceSpec,
    }
    /// Spec of a class.
    DeviceClassSpec {
        /// Devices that belong to it.
        selectors: Vec<DeviceSelector>,
        /// Resource of containers that stands for its devices.
        extended_resource_name: String,
    }
    /// A DeviceClass.
    DeviceClass {
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: DeviceClassSpec,
    }
}

impl DeviceRequest {
    /// What is asked for, in whichever version; several where one of them suffices, the best first.
    pub fn alternatives(&self) -> Vec<ExactRequest> {
        if !self.first_available.is_empty() {
            return self.first_available.clone();
        }
        let own = self.exactly.clone().unwrap_or_else(|| ExactRequest {
            name: String::new(),
            device_class_name: self.device_class_name.clone(),
            selectors: self.selectors.clone(),
            allocation_mode: self.allocation_mode.clone(),
            count: self.count,
            admin_access: self.admin_access,
            tolerations: self.tolerations.clone(),
            capacity: self.capacity.clone(),
        });
        vec![own]
    }
}
