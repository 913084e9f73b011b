//! Pods as the API server writes them, as far as a diagnosis reads them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::Value;

use super::components::env_matters;
use super::pod_state::ContainerStatus;
use crate::scheduling::api::Labels;

/// The metadata of any object, as far as a diagnosis reads it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Meta {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) uid: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) creation_timestamp: Option<String>,
    pub(super) deletion_timestamp: Option<String>,
    pub(super) owner_references: Vec<Owner>,
}

/// An owner reference.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Owner {
    pub(super) kind: String,
    pub(super) name: String,
}

/// A container of a pod template.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContainerSpec {
    pub(super) name: String,
    pub(super) image: String,
    /// Of its variables the ones that a diagnosis reads: there may be very many others.
    #[serde(deserialize_with = "variables")]
    pub(super) env: Vec<EnvVar>,
    pub(super) resources: Resources,
    #[serde(rename = "volumeMounts")]
    pub(super) volume_mounts: Vec<VolumeMount>,
}

/// Where a volume is mounted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct VolumeMount {
    pub(super) name: String,
    pub(super) mount_path: String,
}

/// An environment variable with a literal value.
#[derive(Debug)]
pub(super) struct EnvVar {
    pub(super) name: String,
    pub(super) value: Option<String>,
}

/// The same as it stands there.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Variable<'v> {
    #[serde(borrow)]
    name: Cow<'v, str>,
    #[serde(borrow)]
    value: Option<Text<'v>>,
}

/// A text that is borrowed where nothing in it is escaped.
#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

/// Reads variables and keeps those that matter.
fn variables<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<EnvVar>, D::Error> {
    struct Kept;
    impl<'de> Visitor<'de> for Kept {
        type Value = Vec<EnvVar>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list of environment variables")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Self::Value, A::Error> {
            let mut kept = Vec::new();
            while let Some(one) = all.next_element::<Variable<'_>>()? {
                if env_matters(&one.name) {
                    kept.push(EnvVar {
                        name: one.name.into_owned(),
                        value: one.value.map(|text| text.0.into_owned()),
                    });
                }
            }
            Ok(kept)
        }
    }
    deserializer.deserialize_seq(Kept)
}

/// Resource limits.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Resources {
    pub(super) limits: BTreeMap<String, Value>,
}

/// A volume that may be a host path.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Volume {
    pub(super) name: String,
    pub(super) host_path: Option<HostPath>,
    pub(super) empty_dir: Option<EmptyDir>,
}

/// A folder that lives as long as the pod.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct EmptyDir {
    pub(super) size_limit: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct HostPath {
    pub(super) path: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Spec {
    pub(super) node_name: String,
    pub(super) runtime_class_name: Option<String>,
    pub(super) host_network: bool,
    pub(super) containers: Vec<ContainerSpec>,
    pub(super) init_containers: Vec<ContainerSpec>,
    pub(super) node_selector: Labels,
    pub(super) volumes: Vec<Volume>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Condition {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) reason: Option<String>,
    pub(super) message: Option<String>,
    pub(super) last_transition_time: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Status {
    pub(super) phase: String,
    pub(super) reason: Option<String>,
    pub(super) message: Option<String>,
    #[serde(rename = "podIP")]
    pub(super) pod_ip: Option<String>,
    #[serde(rename = "podIPs")]
    pub(super) pod_ips: Vec<PodIp>,
    pub(super) conditions: Vec<Condition>,
    pub(super) container_statuses: Vec<ContainerStatus>,
    pub(super) init_container_statuses: Vec<ContainerStatus>,
}

/// One of a pod's addresses.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PodIp {
    pub(super) ip: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Object {
    pub(super) metadata: Meta,
    pub(super) spec: Spec,
    pub(super) status: Status,
}
