//! Facts about objects beside pods and nodes: configurations, attachments, webhooks, and what they do
//! to the rest.

use serde::Serialize;

use super::{FactType, Field, fact};
use crate::scheduling::api::LabelSelector;

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

fact! {
    /// A ConfigMap. Its values are not kept: they may be large, and secret.
    #[derive(Debug, Clone, Default, Serialize)]
    "configmap" = pub struct ConfigMap {
        /// Namespace.
        pub namespace: String,
        /// Name.
        pub name: String,
        /// Names of its entries.
        pub keys: Vec<String>,
    }
    subject = |fact| format!("configmap/{}/{}", fact.namespace, fact.name);
}

fact! {
    /// What kubeadm was told of the cluster's network: its ClusterConfiguration, as a file or in the ConfigMap that it keeps.
    #[derive(Debug, Clone, Default, Serialize)]
    "kubeadm-network" = pub struct KubeadmNetwork {
        /// `networking.podSubnet`, one of each family.
        pub pods: Vec<String>,
        /// `networking.serviceSubnet`, one of each family.
        pub services: Vec<String>,
        /// The address of `controlPlaneEndpoint`, without its port; empty where none or a name is given.
        pub server: String,
    }
    subject = |_fact| "cluster".to_owned();
}

/// A VolumeAttachment: that a volume is, or shall be, attached to a node.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Attachment {
    /// Name.
    pub name: String,
    /// PersistentVolume.
    pub volume: String,
    /// Node.
    pub node: String,
    /// The attacher says that it is attached.
    pub attached: bool,
    /// It is being deleted.
    pub deleting: bool,
    /// `present`, `not-ready`, `gone`; empty where the nodes were not listed.
    pub node_state: String,
}

/// What a deriver adds to [`Attachment`]: rules read this one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AttachedVolume(pub Attachment);

impl FactType for Attachment {
    const KIND: &'static str = "volume-attachment-object";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

impl FactType for AttachedVolume {
    const KIND: &'static str = "volume-attachment";
    const FIELDS: &'static [Field] = &[
        field("name", "name"),
        field("volume", "PersistentVolume"),
        field("node", "node that it is attached to"),
        field("attached", "the attacher says that it is attached"),
        field("deleting", "it is being deleted"),
        field(
            "node_state",
            "present, not-ready or gone; empty if the nodes were not listed",
        ),
    ];
    fn subject(&self) -> String {
        self.0.subject()
    }
}

/// One webhook of a mutating or validating configuration.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Webhook {
    /// Name of the configuration.
    pub config: String,
    /// Name of the webhook.
    pub name: String,
    /// `Fail` or `Ignore`.
    pub failure_policy: String,
    /// `namespace/name` of the service that is called; empty for a URL.
    pub service: String,
    /// Namespaces whose objects it gets; all if absent.
    #[serde(skip)]
    pub namespace_selector: Option<LabelSelector>,
    /// Objects that it gets; all if absent.
    #[serde(skip)]
    pub object_selector: Option<LabelSelector>,
}

impl FactType for Webhook {
    const KIND: &'static str = "webhook";
    const FIELDS: &'static [Field] = &[
        field("config", "name of the webhook configuration"),
        field("name", "name of the webhook"),
        field("failure_policy", "Fail or Ignore"),
        field(
            "service",
            "namespace/name of the service that is called; empty for a URL",
        ),
    ];
    fn subject(&self) -> String {
        format!("webhookconfiguration/{}", self.config)
    }
}

fact! {
    /// A pod that asks for HAMi's resources and that HAMi's webhook is not given.
    #[derive(Debug, Clone, Default, Serialize)]
    "webhook-skip" = pub struct WebhookSkip {
        /// Namespace of the pod.
        pub namespace: String,
        /// Pod.
        pub pod: String,
        /// Webhook.
        pub webhook: String,
        /// Whose labels exclude it: `namespace` or `pod`.
        pub by: String,
        /// Scheduler that the pod names.
        pub scheduler: String,
    }
    subject = |fact| format!("pod/{}/{}", fact.namespace, fact.pod);
}

fact! {
    /// A configuration that a node's label asks the device plugin for and that no ConfigMap holds.
    #[derive(Debug, Clone, Default, Serialize)]
    "plugin-config-missing" = pub struct PluginConfigMissing {
        /// Node.
        pub node: String,
        /// Configuration that its label names.
        pub config: String,
        /// ConfigMaps that were searched.
        pub searched: usize,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Nodes wait for a pod network, and nothing that was collected brings one.
    #[derive(Debug, Clone, Default, Serialize)]
    "network-plugin-missing" = pub struct NetworkPluginMissing {
        /// Node.
        pub node: String,
        /// Its kubelet's words.
        pub not_ready: String,
        /// DaemonSets and pods whose mounts were looked through.
        pub searched: usize,
        /// DaemonSets were collected, which tell of a plugin before it has pods.
        pub listed: bool,
    }
    subject = |fact| format!("node/{}", fact.node);
}

/// What a [`ClusterMark`] is, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    /// The uid of the namespace kube-system.
    Uid,
    /// The name that a provider gave to the cluster.
    Name,
    /// The address of the API server.
    Server,
    /// The names of the nodes, the control plane among them.
    Nodes,
}

impl MarkKind {
    /// In words, for a sentence that names a value.
    pub fn words(self) -> &'static str {
        match self {
            Self::Uid => "kube-system with the uid",
            Self::Name => "the name",
            Self::Server => "the API server",
            Self::Nodes => "the nodes",
        }
    }
}

/// Something in loose text that tells which cluster it is of.
#[derive(Debug, Clone, Serialize)]
pub struct ClusterMark {
    /// What.
    pub kind: MarkKind,
    /// The value, or the names of the nodes.
    pub values: Vec<String>,
}

/// Loose text says that Docker Compose runs what it is about.
#[derive(Debug, Clone, Serialize)]
pub struct ComposeMark;

impl FactType for ComposeMark {
    const KIND: &'static str = "compose-mark";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        String::new()
    }
}

/// A machine that loose text names as the one that it is of.
#[derive(Debug, Clone, Serialize)]
pub struct MachineMark {
    /// Its name.
    pub host: String,
    /// What names it.
    pub by: NamedBy,
}

/// What names a machine in loose text, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum NamedBy {
    /// The head of a log line.
    Head,
    /// A line that says something of a node.
    Line,
    /// A prompt: somebody typed there, maybe about another machine.
    Prompt,
}

impl FactType for MachineMark {
    const KIND: &'static str = "machine-mark";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.host)
    }
}

impl FactType for ClusterMark {
    const KIND: &'static str = "cluster-mark";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        String::new()
    }
}
