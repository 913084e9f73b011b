//! Messages of the kubelet's socket of pod resources, `v1`, as far as they are read. Field numbers: kubernetes/kubelet,
//! `pkg/apis/podresources/v1/api.proto`.

use prost::Message;
use serde::Serialize;

/// Declares a message once for both encodings.
macro_rules! message {
    ($(#[$doc:meta])* $name:ident { $($(#[$field:meta])* $field_name:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Message, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct $name { $($(#[$field])* pub(crate) $field_name: $type,)* }
    };
}

message! { /// All pods.
Pods { #[prost(message, repeated, tag = "1")] pod_resources: Vec<Pod>, } }
message! { /// What one pod's containers have.
    Pod {
        #[prost(string, tag = "1")] name: String,
        #[prost(string, tag = "2")] namespace: String,
        #[prost(message, repeated, tag = "3")] containers: Vec<Container>,
} }
message! { /// What one container has.
    Container {
        #[prost(string, tag = "1")] name: String,
        #[prost(message, repeated, tag = "2")] devices: Vec<Devices>,
        #[prost(int64, repeated, tag = "3")] cpu_ids: Vec<i64>,
        #[prost(message, repeated, tag = "5")] dynamic_resources: Vec<Claim>,
} }
message! { /// Devices of one plugin, which are on one node of memory.
    Devices {
        #[prost(string, tag = "1")] resource_name: String,
        #[prost(string, repeated, tag = "2")] device_ids: Vec<String>,
        #[prost(message, optional, tag = "3")] topology: Option<Topology>,
} }
message! { /// Where they are.
Topology { #[prost(message, repeated, tag = "1")] nodes: Vec<Numa>, } }
message! { /// A node of memory.
Numa { #[prost(int64, tag = "1")] id: i64, } }
message! { /// A claim for devices.
    Claim {
        #[prost(string, tag = "2")] claim_name: String,
        #[prost(string, tag = "3")] claim_namespace: String,
        #[prost(message, repeated, tag = "4")] claim_resources: Vec<ClaimDevice>,
} }
message! { /// A device of a claim.
    ClaimDevice {
        #[prost(string, tag = "2")] driver_name: String,
        #[prost(string, tag = "3")] pool_name: String,
        #[prost(string, tag = "4")] device_name: String,
} }
message! { /// What the kubelet has to give.
    Allocatable {
        #[prost(message, repeated, tag = "1")] devices: Vec<Devices>,
        #[prost(int64, repeated, tag = "2")] cpu_ids: Vec<i64>,
} }
