//! ConfigMaps, VolumeAttachments and webhook configurations.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::pods::fact;
use super::{Item, Parsed, Parser, Read};
use crate::facts::cluster::{Attachment, ConfigMap, KubeadmNetwork, Webhook};
use crate::facts::{AnyFact, Fact};
use crate::model::Place;
use crate::scheduling::api::{LabelSelector, Meta};

/// Reads the three kinds.
pub(super) static PARSER: Parser = Parser {
    id: "cluster-parts",
    reads: &[
        Entry::ListIn("configmaps", ANY),
        Entry::List("volumeattachments"),
        Entry::List("mutatingwebhookconfigurations"),
        Entry::List("validatingwebhookconfigurations"),
    ],
    read: Read::Items(parse),
};

fn parse(item: &Item<'_>) -> Parsed {
    let kind = item.plural();
    let read = match kind {
        "configmaps" => config_map(item),
        "volumeattachments" => attachment(item),
        _ => webhooks(item),
    };
    read.unwrap_or_else(|error| {
        Parsed::problem(item.place.clone(), format!("{kind} not read: {error}"))
    })
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ConfigMapObject {
    metadata: Meta,
    data: Option<BTreeMap<String, IgnoredAny>>,
    binary_data: Option<BTreeMap<String, IgnoredAny>>,
}

fn config_map(item: &Item<'_>) -> serde_json::Result<Parsed> {
    let object: ConfigMapObject = serde_json::from_slice(item.json)?;
    let network = kubeadm_network(item, &object.metadata);
    let keys = [object.data, object.binary_data].into_iter().flatten();
    let map = ConfigMap {
        keys: keys.flat_map(BTreeMap::into_keys).collect(),
        namespace: object.metadata.namespace,
        name: object.metadata.name,
    };
    let text = format!("\"name\":\"{}\"", map.name);
    let mut facts = vec![fact(map, item, text).into()];
    facts.extend(network);
    Ok(Parsed {
        facts,
        ..Parsed::default()
    })
}

/// The ranges in the ConfigMap that kubeadm keeps its configuration in.
fn kubeadm_network(item: &Item<'_>, meta: &Meta) -> Option<AnyFact> {
    /// Where kubeadm keeps it; `kubeadm config print` and its documentation name it.
    const NAME: &str = "kubeadm-config";
    #[derive(Deserialize)]
    struct Kept {
        data: KeptData,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct KeptData {
        cluster_configuration: String,
    }
    if meta.name != NAME {
        return None;
    }
    let kept: Kept = serde_json::from_slice(item.json).ok()?;
    let configuration = crate::helm::yaml::read(&kept.data.cluster_configuration)?;
    kubeadm(&configuration, item.place.clone())
}

/// The ranges in kubeadm's ClusterConfiguration.
pub(crate) fn kubeadm(configuration: &Value, place: Place) -> Option<AnyFact> {
    let networking = configuration.get("networking")?;
    let ranges = |key: &str| {
        let text = networking.get(key).and_then(Value::as_str).unwrap_or("");
        let each = text.split(',').map(str::trim).filter(|one| !one.is_empty());
        each.map(str::to_owned).collect::<Vec<_>>()
    };
    let endpoint = configuration.get("controlPlaneEndpoint");
    let network = KubeadmNetwork {
        pods: ranges("podSubnet"),
        services: ranges("serviceSubnet"),
        server: endpoint
            .and_then(Value::as_str)
            .map(address)
            .unwrap_or_default(),
    };
    let text = format!("podSubnet: {}", network.pods.join(","));
    let fact = Fact {
        data: network,
        place,
        text: text.into(),
        at: None,
    };
    Some(fact.into())
}

/// The address of `ADDRESS:PORT`; empty for a name.
fn address(endpoint: &str) -> String {
    let with_port = endpoint.parse::<SocketAddr>().map(|found| found.ip());
    let found = with_port.or_else(|_| endpoint.parse::<IpAddr>());
    found.map_or_else(|_| String::new(), |found| found.to_string())
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AttachmentObject {
    metadata: Meta,
    spec: AttachmentSpec,
    status: AttachmentStatus,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AttachmentSpec {
    node_name: String,
    source: AttachmentSource,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AttachmentSource {
    persistent_volume_name: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AttachmentStatus {
    attached: bool,
}

fn attachment(item: &Item<'_>) -> serde_json::Result<Parsed> {
    let object: AttachmentObject = serde_json::from_slice(item.json)?;
    let attachment = Attachment {
        volume: object
            .spec
            .source
            .persistent_volume_name
            .unwrap_or_default(),
        node: object.spec.node_name,
        attached: object.status.attached,
        deleting: object.metadata.deletion_timestamp.is_some(),
        name: object.metadata.name,
        node_state: String::new(),
    };
    let text = format!("\"nodeName\":\"{}\"", attachment.node);
    Ok(Parsed {
        facts: vec![fact(attachment, item, text).into()],
        ..Parsed::default()
    })
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WebhookConfiguration {
    metadata: Meta,
    webhooks: Option<Vec<WebhookEntry>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WebhookEntry {
    name: String,
    failure_policy: String,
    namespace_selector: Option<LabelSelector>,
    object_selector: Option<LabelSelector>,
    client_config: ClientConfig,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClientConfig {
    service: Option<Service>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Service {
    namespace: String,
    name: String,
}

fn webhooks(item: &Item<'_>) -> serde_json::Result<Parsed> {
    let object: WebhookConfiguration = serde_json::from_slice(item.json)?;
    let config = object.metadata.name;
    let facts = object
        .webhooks
        .unwrap_or_default()
        .into_iter()
        .map(|entry| {
            let text = format!("\"name\":\"{}\"", entry.name);
            let service = entry.client_config.service;
            let webhook = Webhook {
                config: config.clone(),
                name: entry.name,
                failure_policy: entry.failure_policy,
                service: service
                    .map(|service| format!("{}/{}", service.namespace, service.name))
                    .unwrap_or_default(),
                namespace_selector: entry.namespace_selector,
                object_selector: entry.object_selector,
            };
            fact(webhook, item, text).into()
        });
    Ok(Parsed {
        facts: facts.collect(),
        ..Parsed::default()
    })
}
