//! Messages of the Container Runtime Interface, `runtime.v1` (`runtime.v1alpha2` has the same numbers), as far as
//! they are read. Field numbers: kubernetes/cri-api, `pkg/apis/runtime/v1/api.proto`. In JSON they look as
//! `crictl -o json` writes them: lower camel case, 64-bit numbers as strings, states by name.

use std::collections::BTreeMap;

use prost::Message;
use serde::{Serialize, Serializer};

fn text<S: Serializer>(number: &impl ToString, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&number.to_string())
}

fn sandbox_state<S: Serializer>(state: &i32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(match state {
        0 => "SANDBOX_READY",
        1 => "SANDBOX_NOTREADY",
        _ => "UNRECOGNIZED",
    })
}

fn container_state<S: Serializer>(state: &i32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(match state {
        0 => "CONTAINER_CREATED",
        1 => "CONTAINER_RUNNING",
        2 => "CONTAINER_EXITED",
        3 => "CONTAINER_UNKNOWN",
        _ => "UNRECOGNIZED",
    })
}

fn propagation<S: Serializer>(mode: &i32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(match mode {
        0 => "PROPAGATION_PRIVATE",
        1 => "PROPAGATION_HOST_TO_CONTAINER",
        2 => "PROPAGATION_BIDIRECTIONAL",
        _ => "UNRECOGNIZED",
    })
}

fn cgroup_driver<S: Serializer>(driver: &i32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(match driver {
        0 => "SYSTEMD",
        1 => "CGROUPFS",
        _ => "UNRECOGNIZED",
    })
}

/// `CONTAINER_RUNNING`
pub(crate) const RUNNING: i32 = 1;

/// Declares a message once for both encodings.
macro_rules! message {
    ($(#[$doc:meta])* $name:ident { $($(#[$field:meta])* $field_name:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Message, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct $name { $($(#[$field])* pub(crate) $field_name: $type,)* }
    };
}

message! { /// Requests without a filter.
Everything {} }
message! { /// What the kubelet says it speaks.
VersionRequest { #[prost(string, tag = "1")] version: String, } }
message! { /// Who answers.
    VersionResponse {
        #[prost(string, tag = "1")] version: String,
        #[prost(string, tag = "2")] runtime_name: String,
        #[prost(string, tag = "3")] runtime_version: String,
        #[prost(string, tag = "4")] runtime_api_version: String,
} }
message! { /// Whether the effective configuration is wanted.
StatusRequest { #[prost(bool, tag = "1")] verbose: bool, } }
message! { /// Conditions, and the configuration as JSON texts by name.
    StatusResponse {
        #[prost(message, optional, tag = "1")] status: Option<RuntimeStatus>,
        #[serde(skip)] #[prost(btree_map = "string, string", tag = "2")] info: BTreeMap<String, String>,
        #[prost(message, repeated, tag = "3")] runtime_handlers: Vec<RuntimeHandler>,
} }
message! { /// All conditions.
RuntimeStatus { #[prost(message, repeated, tag = "1")] conditions: Vec<RuntimeCondition>, } }
message! { /// `RuntimeReady`, `NetworkReady`, ...
    RuntimeCondition {
        #[prost(string, tag = "1")] r#type: String,
        #[prost(bool, tag = "2")] status: bool,
        #[prost(string, tag = "3")] reason: String,
        #[prost(string, tag = "4")] message: String,
} }
message! { /// A handler that a RuntimeClass can name; the empty name is the default.
    RuntimeHandler {
        #[prost(string, tag = "1")] name: String,
        #[prost(message, optional, tag = "2")] features: Option<HandlerFeatures>,
} }
message! { /// What a handler can do.
    HandlerFeatures {
        #[prost(bool, tag = "1")] recursive_read_only_mounts: bool,
        #[prost(bool, tag = "2")] user_namespaces: bool,
} }
message! { /// What the runtime tells the kubelet to use.
RuntimeConfigResponse { #[prost(message, optional, tag = "1")] linux: Option<LinuxConfig>, } }
message! { /// The Linux part.
LinuxConfig { #[serde(serialize_with = "cgroup_driver")] #[prost(int32, tag = "1")] cgroup_driver: i32, } }
message! { /// All sandboxes.
Sandboxes { #[prost(message, repeated, tag = "1")] items: Vec<Sandbox>, } }
message! { /// One pod's sandbox.
    Sandbox {
        #[prost(string, tag = "1")] id: String,
        #[prost(message, optional, tag = "2")] metadata: Option<SandboxMetadata>,
        #[serde(serialize_with = "sandbox_state")] #[prost(int32, tag = "3")] state: i32,
        #[serde(serialize_with = "text")] #[prost(int64, tag = "4")] created_at: i64,
        #[prost(btree_map = "string, string", tag = "5")] labels: BTreeMap<String, String>,
        #[prost(btree_map = "string, string", tag = "6")] annotations: BTreeMap<String, String>,
        #[prost(string, tag = "7")] runtime_handler: String,
} }
message! { /// Which pod.
    SandboxMetadata {
        #[prost(string, tag = "1")] name: String,
        #[prost(string, tag = "2")] uid: String,
        #[prost(string, tag = "3")] namespace: String,
        #[prost(uint32, tag = "4")] attempt: u32,
} }
message! { /// All containers.
Containers { #[prost(message, repeated, tag = "1")] containers: Vec<Container>, } }
message! { /// One container.
    Container {
        #[prost(string, tag = "1")] id: String,
        #[prost(string, tag = "2")] pod_sandbox_id: String,
        #[prost(message, optional, tag = "3")] metadata: Option<ContainerMetadata>,
        #[prost(message, optional, tag = "4")] image: Option<ImageSpec>,
        #[prost(string, tag = "5")] image_ref: String,
        #[serde(serialize_with = "container_state")] #[prost(int32, tag = "6")] state: i32,
        #[serde(serialize_with = "text")] #[prost(int64, tag = "7")] created_at: i64,
        #[prost(btree_map = "string, string", tag = "8")] labels: BTreeMap<String, String>,
        #[prost(btree_map = "string, string", tag = "9")] annotations: BTreeMap<String, String>,
} }
message! { /// Name and how often it was started.
    ContainerMetadata {
        #[prost(string, tag = "1")] name: String,
        #[prost(uint32, tag = "2")] attempt: u32,
} }
message! { /// An image as it was asked for.
    ImageSpec {
        #[prost(string, tag = "1")] image: String,
        #[prost(btree_map = "string, string", tag = "2")] annotations: BTreeMap<String, String>,
        #[prost(string, tag = "18")] user_specified_image: String,
        #[prost(string, tag = "19")] runtime_handler: String,
} }
message! { /// Which container, and whether its specification is wanted.
    ContainerStatusRequest {
        #[prost(string, tag = "1")] container_id: String,
        #[prost(bool, tag = "2")] verbose: bool,
} }
message! { /// One container, and the specification as JSON texts by name.
    ContainerStatusResponse {
        #[prost(message, optional, tag = "1")] status: Option<ContainerStatus>,
        #[serde(skip)] #[prost(btree_map = "string, string", tag = "2")] info: BTreeMap<String, String>,
} }
message! { /// How a container fares or ended.
    ContainerStatus {
        #[prost(string, tag = "1")] id: String,
        #[prost(message, optional, tag = "2")] metadata: Option<ContainerMetadata>,
        #[serde(serialize_with = "container_state")] #[prost(int32, tag = "3")] state: i32,
        #[serde(serialize_with = "text")] #[prost(int64, tag = "4")] created_at: i64,
        #[serde(serialize_with = "text")] #[prost(int64, tag = "5")] started_at: i64,
        #[serde(serialize_with = "text")] #[prost(int64, tag = "6")] finished_at: i64,
        #[prost(int32, tag = "7")] exit_code: i32,
        #[prost(message, optional, tag = "8")] image: Option<ImageSpec>,
        #[prost(string, tag = "9")] image_ref: String,
        #[prost(string, tag = "10")] reason: String,
        #[prost(string, tag = "11")] message: String,
        #[prost(btree_map = "string, string", tag = "12")] labels: BTreeMap<String, String>,
        #[prost(btree_map = "string, string", tag = "13")] annotations: BTreeMap<String, String>,
        #[prost(message, repeated, tag = "14")] mounts: Vec<Mount>,
        #[prost(string, tag = "15")] log_path: String,
} }
message! { /// A mount of a container.
    Mount {
        #[prost(string, tag = "1")] container_path: String,
        #[prost(string, tag = "2")] host_path: String,
        #[prost(bool, tag = "3")] readonly: bool,
        #[prost(bool, tag = "4")] selinux_relabel: bool,
        #[serde(serialize_with = "propagation")] #[prost(int32, tag = "5")] propagation: i32,
} }
message! { /// All images.
Images { #[prost(message, repeated, tag = "1")] images: Vec<Image>, } }
message! { /// One image.
    Image {
        #[prost(string, tag = "1")] id: String,
        #[prost(string, repeated, tag = "2")] repo_tags: Vec<String>,
        #[prost(string, repeated, tag = "3")] repo_digests: Vec<String>,
        #[serde(serialize_with = "text")] #[prost(uint64, tag = "4")] size: u64,
        #[prost(string, tag = "6")] username: String,
        #[prost(bool, tag = "8")] pinned: bool,
} }
message! { /// Room taken by images.
ImageFsInfo { #[prost(message, repeated, tag = "1")] image_filesystems: Vec<FilesystemUsage>, } }
message! { /// Room taken below one folder.
    FilesystemUsage {
        #[serde(serialize_with = "text")] #[prost(int64, tag = "1")] timestamp: i64,
        #[prost(message, optional, tag = "2")] fs_id: Option<FilesystemId>,
        #[prost(message, optional, tag = "3")] used_bytes: Option<Number>,
        #[prost(message, optional, tag = "4")] inodes_used: Option<Number>,
} }
message! { /// The folder.
FilesystemId { #[prost(string, tag = "1")] mountpoint: String, } }
message! { /// A number that may be unknown.
Number { #[serde(serialize_with = "text")] #[prost(uint64, tag = "1")] value: u64, } }
message! { /// Use of resources.
ContainerStatsList { #[prost(message, repeated, tag = "1")] stats: Vec<ContainerStats>, } }
message! { /// One container's use.
    ContainerStats {
        #[prost(message, optional, tag = "1")] attributes: Option<ContainerAttributes>,
        #[prost(message, optional, tag = "2")] cpu: Option<CpuUsage>,
        #[prost(message, optional, tag = "3")] memory: Option<MemoryUsage>,
        #[prost(message, optional, tag = "4")] writable_layer: Option<FilesystemUsage>,
} }
message! { /// Which container.
    ContainerAttributes {
        #[prost(string, tag = "1")] id: String,
        #[prost(message, optional, tag = "2")] metadata: Option<ContainerMetadata>,
        #[prost(btree_map = "string, string", tag = "3")] labels: BTreeMap<String, String>,
} }
message! { /// Processor time.
    CpuUsage {
        #[serde(serialize_with = "text")] #[prost(int64, tag = "1")] timestamp: i64,
        #[prost(message, optional, tag = "2")] usage_core_nano_seconds: Option<Number>,
        #[prost(message, optional, tag = "3")] usage_nano_cores: Option<Number>,
} }
message! { /// Memory.
    MemoryUsage {
        #[serde(serialize_with = "text")] #[prost(int64, tag = "1")] timestamp: i64,
        #[prost(message, optional, tag = "2")] working_set_bytes: Option<Number>,
        #[prost(message, optional, tag = "3")] available_bytes: Option<Number>,
        #[prost(message, optional, tag = "4")] usage_bytes: Option<Number>,
        #[prost(message, optional, tag = "5")] rss_bytes: Option<Number>,
} }

message! { /// containerd's plugins.
Plugins { #[prost(message, repeated, tag = "1")] plugins: Vec<Plugin>, } }
message! { /// One plugin; `initErr` where it did not load. From containerd's `introspection.proto`.
    Plugin {
        #[prost(string, tag = "1")] r#type: String,
        #[prost(string, tag = "2")] id: String,
        #[prost(btree_map = "string, string", tag = "5")] exports: BTreeMap<String, String>,
        #[prost(string, repeated, tag = "6")] capabilities: Vec<String>,
        #[prost(message, optional, tag = "7")] init_err: Option<PluginError>,
} }
message! { /// Why a plugin did not load.
    PluginError {
        #[prost(int32, tag = "1")] code: i32,
        #[prost(string, tag = "2")] message: String,
} }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_looks_as_crictl_writes_it() {
        let container = Container {
            id: "c1".to_owned(),
            pod_sandbox_id: "s1".to_owned(),
            metadata: Some(ContainerMetadata {
                name: "app".to_owned(),
                attempt: 3,
            }),
            state: 2,
            created_at: 1_700_000_000_000_000_000,
            ..Container::default()
        };
        // A field of a newer interface (imageId, 10) must not disturb.
        let mut bytes = container.encode_to_vec();
        bytes.extend([0x52, 1, b'x']);
        let read = Container::decode(&bytes[..]).expect("decodes");
        assert_eq!(read, container);
        let json = serde_json::to_value(&read).expect("is JSON");
        assert_eq!(json["podSandboxId"], "s1");
        assert_eq!(json["state"], "CONTAINER_EXITED");
        assert_eq!(json["createdAt"], "1700000000000000000");
        assert_eq!(json["metadata"]["attempt"], 3);
    }
}
