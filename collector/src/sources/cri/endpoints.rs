//! The CRI sockets of a node: those of its containerd instances, those that the kubelet names, and the usual places.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::host::Host;
use crate::sources::containerd_config::instances;
use crate::sources::processes::{self, Process};

/// Where other runtimes listen, and containerd where it is known by nothing but its socket.
const KNOWN: [(&str, &str); 7] = [
    ("crio", "/run/crio/crio.sock"),
    ("cri-dockerd", "/run/cri-dockerd.sock"),
    ("containerd", "/run/containerd/containerd.sock"),
    ("k3s", "/run/k3s/containerd/containerd.sock"),
    ("k0s", "/run/k0s/containerd.sock"),
    ("microk8s", "/var/snap/microk8s/common/run/containerd.sock"),
    ("k8s-snap", "/var/snap/k8s/common/run/containerd.sock"),
];
/// Files in which the endpoint stands as `key: value`.
const FILES: [(&str, &str, bool); 3] = [
    (
        "/var/lib/kubelet/config.yaml",
        "containerRuntimeEndpoint",
        true,
    ),
    (
        "/var/lib/kubelet/instance-config.yaml",
        "containerRuntimeEndpoint",
        true,
    ),
    ("/etc/crictl.yaml", "runtime-endpoint", false),
];

/// One socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Short and unique: the containerd instance's id where it is one.
    pub(super) id: String,
    /// Its path on the host.
    pub(super) socket: String,
    /// Whether a kubelet is told to use it.
    pub(super) kubelet: bool,
    /// The process that serves it, where that is known.
    pub(super) pid: Option<u32>,
    /// What names it.
    pub(super) evidence: Vec<String>,
}

/// All of them, each once, in a stable order.
pub(super) fn find(host: &Host) -> Vec<Endpoint> {
    let processes = processes::find(host);
    let mut all = Sockets::default();
    for instance in instances::find(host, &processes) {
        let Some(socket) = instance.socket else {
            continue;
        };
        if instance.pid.is_some() || host.exists(&socket) {
            let evidence = format!("containerd instance {}", instance.id);
            all.add(host, &instance.id, &socket, instance.pid, false, evidence);
        }
    }
    for process in processes.iter().filter(|process| process.runs_kubelet()) {
        if let Some(socket) = named_by(process) {
            let evidence = format!("process {}: --container-runtime-endpoint", process.pid);
            all.add(host, "kubelet-endpoint", &socket, None, true, evidence);
        }
    }
    for (path, key, kubelet) in FILES {
        let text = host.read_text(path).unwrap_or_default();
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        if let Some(socket) = value.and_then(socket_of) {
            all.add(
                host,
                "configured",
                &socket,
                None,
                kubelet,
                format!("{path}: {key}"),
            );
        }
    }
    for (id, socket) in KNOWN {
        if host.exists(socket) {
            all.add(host, id, socket, None, false, format!("{socket} exists"));
        }
    }
    all.named_apart()
}

fn named_by(kubelet: &Process) -> Option<String> {
    socket_of(&kubelet.flag(&["--container-runtime-endpoint"])?)
}

/// The path of `unix:///run/x.sock`, `"unix:/run/x.sock"` or `/run/x.sock`.
fn socket_of(value: &str) -> Option<String> {
    let value = value.trim().trim_matches(['"', '\'']);
    let path = value
        .strip_prefix("unix://")
        .or_else(|| value.strip_prefix("unix:"))
        .unwrap_or(value);
    path.starts_with('/').then(|| path.to_owned())
}

#[derive(Default)]
struct Sockets {
    found: Vec<(Option<PathBuf>, Endpoint)>,
}

impl Sockets {
    fn add(
        &mut self,
        host: &Host,
        id: &str,
        socket: &str,
        pid: Option<u32>,
        kubelet: bool,
        evidence: String,
    ) {
        let real = host.resolve(socket).ok();
        let same = self
            .found
            .iter_mut()
            .find(|(path, known)| known.socket == socket || (real.is_some() && *path == real));
        if let Some((_, known)) = same {
            known.kubelet |= kubelet;
            known.pid = known.pid.or(pid);
            if !known.evidence.contains(&evidence) {
                known.evidence.push(evidence);
            }
            return;
        }
        let endpoint = Endpoint {
            id: id.to_owned(),
            socket: socket.to_owned(),
            kubelet,
            pid,
            evidence: vec![evidence],
        };
        self.found.push((real, endpoint));
    }

    fn named_apart(self) -> Vec<Endpoint> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let endpoints = self.found.into_iter().map(|(_, mut endpoint)| {
            let count = seen.entry(endpoint.id.clone()).or_default();
            *count += 1;
            if *count > 1 {
                endpoint.id = format!("{}-{count}", endpoint.id);
            }
            endpoint
        });
        endpoints.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_in_every_notation() {
        for value in ["unix:///run/x.sock", " \"unix:/run/x.sock\"", "/run/x.sock"] {
            assert_eq!(socket_of(value).as_deref(), Some("/run/x.sock"), "{value}");
        }
        assert_eq!(socket_of("npipe:////./pipe/x"), None);
    }

    #[test]
    fn one_socket_under_two_names_is_asked_once_and_the_kubelets_choice_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("run/crio/crio.sock", "");
        write(
            "var/lib/kubelet/config.yaml",
            "kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///var/run/crio/crio.sock\n",
        );
        std::os::unix::fs::symlink("/run", dir.path().join("var/run")).unwrap();
        let found = find(&Host::new(dir.path()));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].kubelet && found[0].evidence.len() == 2,
            "{found:?}"
        );
    }
}
