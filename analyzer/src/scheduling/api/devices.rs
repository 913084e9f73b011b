//! What dynamic resource allocation decides by: claims for devices, the devices that drivers publish, and their
//! classes (`resource.k8s.io`, v1beta1 to v1).

use super::*;

objects! {
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
    /// What is asked for: from v1beta2 on below `exactly`, before in the request itself.
    ExactRequest {
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
    }
    /// The requests of a claim.
    DeviceRequests {
        /// Requests.
        requests: Vec<DeviceRequest>,
        /// What the devices must have in common.
        constraints: Vec<serde_json::Value>,
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
    /// A device that a driver publishes.
    Device {
        /// Name within its pool.
        name: String,
        /// Several claims can have it at once.
        allow_multiple_allocations: bool,
    }
    /// A pool of devices.
    Pool {
        /// Name.
        name: String,
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
    /// What is asked for, in whichever version; none where there are alternatives.
    pub fn exact(&self) -> Option<ExactRequest> {
        if !self.first_available.is_empty() {
            return None;
        }
        Some(self.exactly.clone().unwrap_or_else(|| ExactRequest {
            device_class_name: self.device_class_name.clone(),
            selectors: self.selectors.clone(),
            allocation_mode: self.allocation_mode.clone(),
            count: self.count,
            admin_access: self.admin_access,
        }))
    }
}
