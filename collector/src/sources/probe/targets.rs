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
/// Kubeconfigs of kubelets, which name the API server.
const API: [&str; 6] = [
    "/etc/kubernetes/kubelet.conf",
    "/etc/kubernetes/bootstrap-kubelet.conf",
    "/var/lib/kubelet/kubeconfig",
    "/var/lib/k0s/kubelet.conf",
    "/var/lib/rancher/*/agent/kubelet.kubeconfig",
    "/var/snap/microk8s/current/credentials/kubelet.config",
];
/// Per-registry settings of containerd: the folder is the registry's name, the addresses in it are mirrors.
const HOSTS: [&str; 4] = [
    "/etc/containerd/certs.d/*/hosts.toml",
    "/var/lib/rancher/*/agent/etc/containerd/certs.d/*/hosts.toml",
    "/var/snap/k8s/common/etc/containerd/hosts.d/*/hosts.toml",
    "/var/snap/microk8s/current/args/certs.d/*/hosts.toml",
];
/// Other files whose addresses are registries or mirrors of them.
const REGISTRIES: [&str; 3] = [
    "/etc/rancher/*/registries.yaml",
    "/etc/docker/daemon.json",
    "/etc/containerd/config.toml",
];
/// Helm's own lists of repositories.
const HELM: [&str; 3] = [
    "/root/.config/helm/repositories.yaml",
    "/home/*/.config/helm/repositories.yaml",
    "/home/*/snap/helm/common/.config/helm/repositories.yaml",
];
/// Pods without an API server.
const MANIFESTS: [&str; 1] = ["/etc/kubernetes/manifests/*.yaml"];
/// Names with fixed addresses.
const FIXED: &str = "/etc/hosts";
/// The name that every cluster's DNS must know.
const OF_CLUSTER: &str = "kubernetes.default.svc.cluster.local";
/// Limits, so that a strange configuration does not make the node a scanner.
const MAX_RESOLVERS: usize = 8;
const MAX_ENDPOINTS: usize = 24;

/// What a server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// The API server.
    Api,
    /// The API server's address as a service of the cluster.
    Service,
    /// A registry of images, or a mirror of one.
    Registry,
    /// A repository of helm charts.
    Helm,
}

impl Purpose {
    /// The word in the bundle.
    pub(super) fn word(self) -> &'static str {
        match self {
            Purpose::Api => "api-server",
            Purpose::Service => "api-service",
            Purpose::Registry => "registry",
            Purpose::Helm => "helm-repository",
        }
    }

    /// What is asked for; anything that answers shows that the server is there.
    pub(super) fn path(self) -> &'static str {
        match self {
            Purpose::Api | Purpose::Service => "/readyz",
            Purpose::Registry => "/v2/",
            Purpose::Helm => "/",
        }
    }
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Endpoint {
    /// Name or address.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: bool,
    pub(super) purpose: Purpose,
    /// The file or object that names it.
    pub(super) named_by: String,
}

/// Everything to be probed.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Resolvers, with what names each.
    pub(super) resolvers: BTreeMap<IpAddr, String>,
    cluster_dns: BTreeSet<IpAddr>,
    pub(super) endpoints: Vec<Endpoint>,
    /// Addresses that /etc/hosts gives.
    pub(super) fixed: BTreeMap<String, Vec<IpAddr>>,
    /// How many targets were left out at the limits.
    pub(super) left_out: usize,
}

impl Targets {
    /// Adds a server once, up to the limit.
    pub(super) fn add(&mut self, endpoint: Endpoint) {
        let same = |one: &Endpoint| (&one.host, one.port) == (&endpoint.host, endpoint.port);
        if self.endpoints.iter().any(same) {
            return;
        }
        if self.endpoints.len() < MAX_ENDPOINTS {
            self.endpoints.push(endpoint);
        } else {
            self.left_out += 1;
        }
    }

    /// Adds a resolver once, up to the limit.
    pub(super) fn add_resolver(&mut self, address: IpAddr, named_by: String) {
        if self.resolvers.len() < MAX_RESOLVERS {
            self.resolvers.entry(address).or_insert(named_by);
        } else if !self.resolvers.contains_key(&address) {
            self.left_out += 1;
        }
    }

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
    let named = API
        .into_iter()
        .chain(HOSTS)
        .chain(REGISTRIES)
        .chain(HELM)
        .chain(MANIFESTS);
    RESOLV
        .into_iter()
        .chain(KUBELET)
        .chain(named)
        .chain([FIXED])
}

/// What this node's configuration names.
pub(super) fn find(host: &Host) -> Targets {
    let mut found = Targets::default();
    resolvers(host, &mut found);
    for (patterns, purpose) in [
        (&API[..], Purpose::Api),
        (&HELM[..], Purpose::Helm),
        (&HOSTS[..], Purpose::Registry),
        (&REGISTRIES[..], Purpose::Registry),
    ] {
        for path in patterns.iter().flat_map(|pattern| host.glob(pattern)) {
            let text = host.read_text(&path).unwrap_or_default();
            for (name, port, tls) in servers(&text) {
                found.add(Endpoint {
                    host: name,
                    port,
                    tls,
                    purpose,
                    named_by: path.clone(),
                });
            }
            let folder = path
                .strip_suffix("/hosts.toml")
                .and_then(|rest| rest.rsplit('/').next());
            let images = images(&text)
                .into_iter()
                .filter_map(|image| of_image(image, &path));
            let all: Vec<Endpoint> = folder
                .and_then(|name| registry(name, &path))
                .into_iter()
                .chain(images)
                .collect();
            all.into_iter().for_each(|one| found.add(one));
        }
    }
    for path in MANIFESTS.iter().flat_map(|pattern| host.glob(pattern)) {
        let text = host.read_text(&path).unwrap_or_default();
        for endpoint in images(&text)
            .into_iter()
            .filter_map(|image| of_image(image, &path))
        {
            found.add(endpoint);
        }
    }
    found.fixed = fixed(&host.read_text(FIXED).unwrap_or_default());
    found
}

fn resolvers(host: &Host, found: &mut Targets) {
    for path in RESOLV {
        let text = host.read_text(path).unwrap_or_default();
        let lines = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("nameserver"));
        for address in lines.filter_map(|rest| rest.trim().parse().ok()) {
            found.add_resolver(address, path.to_owned());
        }
    }
    let mut of_cluster: Vec<(IpAddr, String)> = Vec::new();
    for path in KUBELET {
        let text = host.read_text(path).unwrap_or_default();
        let named = cluster_dns(&text).into_iter();
        of_cluster.extend(named.map(|address| (address, path.to_owned())));
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
        found.add_resolver(address, by);
    }
}

/// Names of a hosts file with their addresses.
fn fixed(text: &str) -> BTreeMap<String, Vec<IpAddr>> {
    let mut found: BTreeMap<String, Vec<IpAddr>> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line
            .split('#')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        let Some(address) = words.next().and_then(|word| word.parse().ok()) else {
            continue;
        };
        for name in words {
            found.entry(name.to_owned()).or_default().push(address);
        }
    }
    found
}

/// Images that a configuration or manifest names: `image: x`, `sandbox_image = "x"`, `sandbox = "x"`.
fn images(text: &str) -> Vec<&str> {
    let keys = ["image:", "- image:", "sandbox_image =", "sandbox ="];
    let lines = text.lines().map(str::trim);
    let values = lines.filter_map(|line| keys.iter().find_map(|key| line.strip_prefix(key)));
    values
        .map(|value| value.trim().trim_matches(['"', '\'']))
        .filter(|value| !value.is_empty() && !value.contains(char::is_whitespace))
        .collect()
}

/// The registry of an image name; one without a registry is Docker Hub's.
pub(super) fn of_image(image: &str, named_by: &str) -> Option<Endpoint> {
    let first = image.split_once('/').map(|(first, _)| first);
    let has_host = |first: &&str| first.contains(['.', ':']) || *first == "localhost";
    registry(first.filter(has_host).unwrap_or("docker.io"), named_by)
}

fn registry(name: &str, named_by: &str) -> Option<Endpoint> {
    // What containerd and Docker connect to for this name.
    let name = if name == "docker.io" {
        "registry-1.docker.io"
    } else {
        name
    };
    let (host, port) = server(name, 443)?;
    Some(Endpoint {
        host,
        port,
        tls: true,
        purpose: Purpose::Registry,
        named_by: named_by.to_owned(),
    })
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

/// Host, port and whether TLS is spoken, of every `http://` and `https://` address. Nothing but these two leaves the text: credentials and
/// paths in it are not looked at.
pub(super) fn servers(text: &str) -> Vec<(String, u16, bool)> {
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
                let found_here = server(authority, usual);
                found.extend(found_here.map(|(host, port)| (host, port, usual == 443)));
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
                ("10.0.0.1".to_owned(), 6443, true),
                ("helm.example".to_owned(), 443, true),
                ("mirror.example".to_owned(), 5000, false)
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
    fn an_images_registry_is_found_with_and_without_a_host_in_its_name() {
        let host = |image: &str| of_image(image, "x").map(|one| (one.host, one.port));
        let at = |host: &str, port| Some((host.to_owned(), port));
        assert_eq!(host("nvcr.io/nvidia/driver:570"), at("nvcr.io", 443));
        assert_eq!(
            host("reg.example:5000/a@sha256:00"),
            at("reg.example", 5000)
        );
        assert_eq!(
            host("library/busybox:1.36"),
            at("registry-1.docker.io", 443)
        );
        assert_eq!(host("busybox"), at("registry-1.docker.io", 443));
        let manifest = "  - image: registry.k8s.io/etcd:3.5\n    imagePullPolicy: Always\nsandbox_image = \"registry.k8s.io/pause:3.8\"\n";
        assert_eq!(
            images(manifest),
            ["registry.k8s.io/etcd:3.5", "registry.k8s.io/pause:3.8"]
        );
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
        // Three resolvers, the mirror and the registry it stands for, and the cluster's own name.
        assert_eq!(questions.len(), 7, "{questions:?}");
        assert_eq!(
            questions
                .iter()
                .filter(|(_, name)| name == OF_CLUSTER)
                .count(),
            1
        );
    }
}
