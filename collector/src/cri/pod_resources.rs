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

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).unwrap();
        [&[number << 3 | 2, length], content].concat()
    }

    /// Encoded by hand, from the field numbers of the kubelet's own definition.
    #[test]
    fn an_answer_of_the_kubelet_is_read() {
        let topology = field(3, &field(1, &[1 << 3, 1]));
        let devices = [field(1, b"nvidia.com/gpu"), field(2, b"GPU-1"), topology].concat();
        let container = [field(1, b"main"), field(2, &devices), vec![3 << 3, 7]].concat();
        let pod = [field(1, b"train-0"), field(2, b"ml"), field(3, &container)].concat();
        let pods = Pods::decode(field(1, &pod).as_slice()).unwrap();
        let expected = serde_json::json!([{"name": "train-0", "namespace": "ml", "containers": [{
            "name": "main", "cpuIds": [7], "dynamicResources": [],
            "devices": [{"resourceName": "nvidia.com/gpu", "deviceIds": ["GPU-1"], "topology": {"nodes": [{"id": 1}]}}],
        }]}]);
        assert_eq!(serde_json::to_value(pods.pod_resources).unwrap(), expected);
    }
}
