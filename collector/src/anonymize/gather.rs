//! The names of a site, learnt before the first entry is written: from the node's own files and from the API server.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::images::is_public;
use super::{Class, Names};
use crate::cluster::ClusterHandle;
use crate::cluster::listing::{self, Flow, Items};
use crate::host::Host;
use crate::out::OutError;

/// What the API server gets for its answers.
const PATIENCE: Duration = Duration::from_secs(20);
/// A shorter name stands in too many words.
const MIN_NAME: usize = 3;

/// Names that every cluster has, or that are words of Kubernetes, Linux and this trade: replacing them would hide what
/// a diagnosis reads, and they tell nothing of a site.
const COMMON: &[&str] = &[
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "gpu-operator",
    "network-operator",
    "nvidia",
    "nvidia-gpu-operator",
    "calico-system",
    "calico-apiserver",
    "tigera-operator",
    "cilium",
    "cert-manager",
    "ingress-nginx",
    "metallb-system",
    "longhorn-system",
    "rook-ceph",
    "istio-system",
    "knative-serving",
    "kubeflow",
    "argocd",
    "argo",
    "flux-system",
    "monitoring",
    "prometheus",
    "grafana",
    "logging",
    "loki",
    "observability",
    "velero",
    "openebs",
    "local-path-storage",
    "cattle-system",
    "fleet-system",
    "kserve",
    "hami-system",
    "volcano-system",
    "node-feature-discovery",
    "harbor",
    "vault",
    "keycloak",
    "minio",
    "redis",
    "postgres",
    "mysql",
    "kafka",
    "rabbitmq",
    "localhost",
    "node",
    "nodes",
    "gpu",
    "pod",
    "pods",
    "host",
    "hosts",
    "server",
    "master",
    "worker",
    "control-plane",
    "cluster",
    "service",
    "services",
    "data",
    "name",
    "names",
    "namespace",
    "test",
    "tests",
    "dev",
    "prod",
    "production",
    "staging",
    "app",
    "apps",
    "web",
    "api",
    "image",
    "images",
    "system",
    "storage",
    "network",
    "user",
    "users",
    "root",
    "admin",
    "ubuntu",
    "debian",
    "centos",
    "core",
    "rocky",
    "fedora",
    "ec2-user",
    "azureuser",
    "vagrant",
    "opc",
    "nobody",
    "ip6-localhost",
    "ip6-loopback",
    "ip6-allnodes",
    "ip6-allrouters",
    "ip6-localnet",
    "ip6-mcastprefix",
    "localhost.localdomain",
    "local",
    "cluster.local",
    "svc",
    "svc.cluster.local",
    "docker",
    "containerd",
    "kubelet",
    "kubernetes",
    "none",
    "true",
    "false",
    "null",
    "state",
    "status",
    "type",
    "kind",
    "spec",
    "metadata",
    "labels",
    "events",
    "event",
    "info",
    "error",
    "warning",
    "time",
    "file",
    "path",
    "unit",
    "command",
    "config",
    "runtime",
    "cuda",
    "driver",
    "toolkit",
    "operator",
    "validator",
    "default-scheduler",
    "runner",
    "build",
    "jobs",
    "job",
    "batch",
];

/// Whether a name is a number or a word that every site has.
pub(super) fn tells_nothing(name: &str) -> bool {
    let number = name.bytes().all(|b| b.is_ascii_digit());
    number || COMMON.contains(&name.to_ascii_lowercase().as_str())
}

/// Learns the names. Never fails: what cannot be learnt stays readable, and the privacy report says so.
pub async fn gather(host: &Host, node: &str, cluster: &ClusterHandle) -> (Names, Option<String>) {
    let mut names = Names::default();
    names.add(Class::Hosts, node);
    let on_node = host.on_thread(from_files).await.unwrap_or_default();
    for (class, list) in on_node.names {
        for name in list {
            names.add(class, &name);
        }
    }
    names.kept.extend(on_node.kept);
    let asked = tokio::time::timeout(PATIENCE, ask(cluster, &mut names)).await;
    let why = asked.unwrap_or_else(|_| Some("the API server did not answer in time".to_owned()));
    (names, why)
}

impl Names {
    /// Adds a name, unless it is one that tells nothing.
    pub fn add(&mut self, class: Class, name: &str) {
        let name = name.trim().trim_matches('.');
        if name.is_empty() || name.parse::<IpAddr>().is_ok() {
            return;
        }
        if name.len() < MIN_NAME {
            // It stays readable, and the privacy report names it.
            self.common.insert(name.to_owned());
            return;
        }
        let lower = name.to_ascii_lowercase();
        if tells_nothing(name) {
            self.common.insert(name.to_owned());
            return;
        }
        self.names.entry(class).or_default().insert(name.to_owned());
        if class == Class::Hosts && lower != name {
            self.names.entry(class).or_default().insert(lower);
        }
    }

    /// Adds a machine's name, and its domain where it has one.
    fn add_host(&mut self, name: &str) {
        self.add(Class::Hosts, name);
        if let Some((short, domain)) = name.split_once('.') {
            self.add(Class::Hosts, short);
            if domain.contains('.') && !domain.ends_with("cluster.local") {
                self.add(Class::Hosts, domain);
            }
        }
    }
}

fn from_files(host: &Host) -> Names {
    let mut names = Names::default();
    let text = |path: &str| host.read_text(path).unwrap_or_default();
    names.add_host(&text("/etc/hostname"));
    for line in text("/etc/hosts").lines() {
        let line = line.split('#').next().unwrap_or_default();
        for name in line.split_whitespace().skip(1) {
            names.add_host(name);
        }
    }
    for path in ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"] {
        for line in text(path).lines() {
            if let Some(domains) = line
                .strip_prefix("search ")
                .or_else(|| line.strip_prefix("domain "))
            {
                for domain in domains
                    .split_whitespace()
                    .filter(|d| d.contains('.') && !d.ends_with("cluster.local"))
                {
                    names.add(Class::Hosts, domain);
                }
            }
        }
    }
    for line in text("/etc/passwd").lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let id: u32 = fields.get(2).and_then(|id| id.parse().ok()).unwrap_or(0);
        if (1000..60_000).contains(&id) {
            names.add(Class::Users, fields[0]);
        }
    }
    for registry in host.names("/etc/containerd/certs.d").unwrap_or_default() {
        if registry != "_default" && !is_public(&registry) {
            names.add(Class::Images, &registry);
        }
    }
    // `<namespace>_<pod>_<uid>`: namespaces of this node's pods, where the API server does not answer.
    for pod in host.names("/var/log/pods").unwrap_or_default() {
        if let Some((namespace, _)) = pod.split_once('_') {
            names.add(Class::Namespaces, namespace);
        }
    }
    names
}

#[derive(Deserialize)]
struct Object {
    metadata: Meta,
    #[serde(default)]
    spec: Spec,
}

#[derive(Deserialize)]
struct Meta {
    name: String,
}

#[derive(Default, Deserialize)]
struct Spec {
    #[serde(default, rename = "clusterIP")]
    cluster_ip: String,
}

/// What a list's items are.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Namespaces,
    Nodes,
    Dns,
}

struct Take<'a> {
    sort: Sort,
    names: &'a mut Names,
}

impl Items for Take<'_> {
    async fn item(&mut self, raw: &[u8]) -> Result<Flow, OutError> {
        let Ok(object) = serde_json::from_slice::<Object>(raw) else {
            return Ok(Flow::More);
        };
        match self.sort {
            Sort::Namespaces => self.names.add(Class::Namespaces, &object.metadata.name),
            Sort::Nodes => self.names.add_host(&object.metadata.name),
            Sort::Dns => self
                .names
                .kept
                .extend(object.spec.cluster_ip.parse::<IpAddr>().ok()),
        }
        Ok(Flow::More)
    }

    /// Names are a set: they may come twice.
    fn restart(&mut self) {}
}

async fn ask(cluster: &ClusterHandle, names: &mut Names) -> Option<String> {
    let cluster = match cluster.connect().await {
        Ok(cluster) => cluster,
        Err(_) => {
            return Some(
                "the API server was not asked: there is none, or no way to log in".to_owned(),
            );
        }
    };
    let cancel = CancellationToken::new();
    let lists = [
        (Sort::Namespaces, "/api/v1/namespaces", ""),
        (Sort::Nodes, "/api/v1/nodes", ""),
        (
            Sort::Dns,
            "/api/v1/namespaces/kube-system/services",
            "labelSelector=k8s-app%3Dkube-dns",
        ),
    ];
    let mut missing = BTreeSet::new();
    for (sort, path, query) in lists {
        let mut take = Take { sort, names };
        match listing::list(&cluster.api, &cancel, path, query, &mut take).await {
            Ok(listed) if listed.error.is_none() => {}
            _ => {
                missing.insert(path);
            }
        }
    }
    let missing: Vec<&str> = missing.into_iter().collect();
    (!missing.is_empty()).then(|| format!("the API server did not list {}", missing.join(", ")))
}
