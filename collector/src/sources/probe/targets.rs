//! Whom a probe asks and connects to: only what this node's own configuration names.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::host::Host;
use crate::sources::processes;

/// Files with `nameserver` lines: what programs use, and what stands behind a stub.
const RESOLV: [&str; 4] = [
    "/etc/resolv.conf",
    "/run/systemd/resolve/resolv.conf",
    "/run/NetworkManager/no-stub-resolv.conf",
    "/etc/k3s-resolv.conf",
];
/// Kubelet configurations, which name the cluster's DNS service.
const KUBELET: [&str; 3] = [
    "/var/lib/kubelet/config.yaml",
    "/var/lib/kubelet/instance-config.yaml",
    "/etc/kubernetes/kubelet/config.json",
];
/// Files whose `http://` and `https://` addresses are worth a connection: API servers, registries, helm repositories.
const NAMED: [&str; 16] = [
    "/etc/kubernetes/kubelet.conf",
    "/etc/kubernetes/bootstrap-kubelet.conf",
    "/var/lib/kubelet/kubeconfig",
    "/var/lib/k0s/kubelet.conf",
    "/var/lib/rancher/*/agent/kubelet.kubeconfig",
    "/var/snap/microk8s/current/credentials/kubelet.config",
    "/etc/containerd/certs.d/*/hosts.toml",
    "/var/lib/rancher/*/agent/etc/containerd/certs.d/*/hosts.toml",
    "/var/snap/k8s/common/etc/containerd/hosts.d/*/hosts.toml",
    "/var/snap/microk8s/current/args/certs.d/*/hosts.toml",
    "/etc/rancher/*/registries.yaml",
    "/etc/docker/daemon.json",
    "/etc/containerd/config.toml",
    "/root/.config/helm/repositories.yaml",
    "/home/*/.config/helm/repositories.yaml",
    "/home/*/snap/helm/common/.config/helm/repositories.yaml",
];
/// The name that every cluster's DNS must know.
const OF_CLUSTER: &str = "kubernetes.default.svc.cluster.local";
/// Limits, so that a strange configuration does not make the node a scanner.
const MAX_RESOLVERS: usize = 8;
const MAX_ENDPOINTS: usize = 24;

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Endpoint {
    /// Name or address.
    pub(super) host: String,
    pub(super) port: u16,
    /// The file that names it.
    pub(super) named_by: String,
}

/// Everything to be probed.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Resolvers, with what names each.
    pub(super) resolvers: BTreeMap<IpAddr, String>,
    cluster_dns: BTreeSet<IpAddr>,
    pub(super) endpoints: Vec<Endpoint>,
}

impl Targets {
    /// Every resolver with every name; the cluster's own name only where it must be known.
    pub(super) fn questions(&self) -> Vec<(IpAddr, String)> {
        let mut names: BTreeSet<&str> =
            self.endpoints.iter().map(|one| one.host.as_str()).collect();
        names.retain(|name| name.parse::<IpAddr>().is_err());
        let mut all = Vec::new();
        for resolver in self.resolvers.keys() {
            all.extend(names.iter().map(|name| (*resolver, (*name).to_owned())));
            if self.cluster_dns.contains(resolver) {
                all.push((*resolver, OF_CLUSTER.to_owned()));
            }
        }
        all
    }
}

/// Files that name targets, for the plan.
pub(super) fn reads() -> impl Iterator<Item = &'static str> {
    RESOLV.into_iter().chain(KUBELET).chain(NAMED)
}

/// What this node's configuration names.
pub(super) fn find(host: &Host) -> Targets {
    let mut found = Targets::default();
    for path in RESOLV {
        let text = host.read_text(path).unwrap_or_default();
        let lines = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("nameserver"));
        for address in lines.filter_map(|rest| rest.trim().parse().ok()) {
            found
                .resolvers
                .entry(address)
                .or_insert_with(|| path.to_owned());
        }
    }
    let mut of_cluster: Vec<(IpAddr, String)> = Vec::new();
    for path in KUBELET {
        let text = host.read_text(path).unwrap_or_default();
        of_cluster.extend(
            cluster_dns(&text)
                .into_iter()
                .map(|address| (address, path.to_owned())),
        );
    }
    for process in processes::find(host)
        .iter()
        .filter(|process| process.runs_kubelet())
    {
        let flag = process.flag(&["--cluster-dns"]).unwrap_or_default();
        let by = format!("process {}: --cluster-dns", process.pid);
        of_cluster.extend(
            flag.split(',')
                .filter_map(|text| Some((text.parse().ok()?, by.clone()))),
        );
    }
    for (address, by) in of_cluster {
        found.cluster_dns.insert(address);
        found.resolvers.entry(address).or_insert(by);
    }
    found.resolvers = found.resolvers.into_iter().take(MAX_RESOLVERS).collect();
    let mut seen = BTreeSet::new();
    for path in NAMED.iter().flat_map(|pattern| host.glob(pattern)) {
        let text = host.read_text(&path).unwrap_or_default();
        for (name, port) in servers(&text) {
            if seen.insert((name.clone(), port)) && found.endpoints.len() < MAX_ENDPOINTS {
                found.endpoints.push(Endpoint {
                    host: name,
                    port,
                    named_by: path.clone(),
                });
            }
        }
    }
    found
}

/// The addresses of a kubelet configuration's `clusterDNS` list, as YAML or JSON.
fn cluster_dns(text: &str) -> Vec<IpAddr> {
    let Some((_, rest)) = text.split_once("clusterDNS") else {
        return Vec::new();
    };
    let rest = rest.trim_start_matches(['"', ':', ' ', '\n', '[']);
    rest.split(|c: char| c.is_whitespace() || ",\"'[".contains(c))
        .filter(|word| !word.is_empty() && *word != "-")
        .map_while(|word| word.trim_end_matches(']').parse().ok())
        .collect()
}

/// Host and port of every `http://` and `https://` address. Nothing but these two leaves the text: credentials and
/// paths in it are not looked at.
fn servers(text: &str) -> Vec<(String, u16)> {
    let mut found = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        for (scheme, usual) in [("https://", 443), ("http://", 80)] {
            for part in line.split(scheme).skip(1) {
                let end = part.find(|c: char| c.is_whitespace() || "/\"'],}".contains(c));
                let authority = &part[..end.unwrap_or(part.len())];
                let authority = authority.rsplit('@').next().unwrap_or_default();
                found.extend(server(authority, usual));
            }
        }
    }
    found
}

fn server(authority: &str, usual: u16) -> Option<(String, u16)> {
    // `[2001:db8::1]:6443`; the closing bracket of one without a port was cut off above.
    if let Some(rest) = authority.strip_prefix('[') {
        let host = rest.split(']').next()?;
        return Some((host.to_owned(), usual));
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (authority, usual),
    };
    let plain = host
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    (plain && !host.is_empty()).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_found_without_credentials_and_paths() {
        let text = "server: https://10.0.0.1:6443\nurl: https://user:pass@helm.example/charts\n# https://comment.example\n[host.\"http://mirror.example:5000\"]";
        assert_eq!(
            servers(text),
            [
                ("10.0.0.1".to_owned(), 6443),
                ("helm.example".to_owned(), 443),
                ("mirror.example".to_owned(), 5000)
            ]
        );
    }

    #[test]
    fn the_clusters_dns_is_found_in_yaml_and_json() {
        let wanted: Vec<IpAddr> = vec!["10.152.183.10".parse().unwrap()];
        assert_eq!(
            cluster_dns("clusterDNS:\n- 10.152.183.10\nclusterDomain: cluster.local\n"),
            wanted
        );
        assert_eq!(
            cluster_dns("{\"clusterDNS\": [\"10.152.183.10\"], \"x\": 1}"),
            wanted
        );
        assert!(cluster_dns("kind: KubeletConfiguration").is_empty());
    }

    #[test]
    fn only_what_the_node_names_is_probed() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("etc/resolv.conf", "nameserver 127.0.0.53\n");
        write("run/systemd/resolve/resolv.conf", "nameserver 192.0.2.53\n");
        write(
            "var/lib/kubelet/config.yaml",
            "clusterDNS:\n- 10.152.183.10\n",
        );
        write(
            "etc/containerd/certs.d/docker.io/hosts.toml",
            "server = \"https://registry.example\"\n",
        );
        let found = find(&Host::new(dir.path()));
        assert_eq!(found.resolvers.len(), 3);
        let questions = found.questions();
        assert_eq!(questions.len(), 4, "{questions:?}");
        assert_eq!(
            questions
                .iter()
                .filter(|(_, name)| name == OF_CLUSTER)
                .count(),
            1
        );
    }
}
