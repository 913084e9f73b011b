//! How a person looks at what a source would have held: for causes that need it and did not get it.

/// A read-only command that shows the heart of a source.
pub(super) fn command(source: &str) -> Option<&'static str> {
    Some(match source {
        "cluster_objects" => "kubectl get pods -A -o wide; kubectl describe node <node>",
        "cluster_events" => "kubectl get events -A --sort-by=.lastTimestamp",
        "cluster_pod_logs" => {
            "kubectl logs -n <namespace> <pod> --all-containers --previous --tail=200"
        }
        "helm_releases" => "helm list -A; helm get values -n <namespace> <release> --all",
        "containerd_config" => {
            "ps -eo args | grep -e '[c]ontainerd' -e '[k]ubelet'; cat <the file after --config>"
        }
        "kubelet_config" => "ps -eo args | grep '[k]ubelet'; cat /var/lib/kubelet/config.yaml",
        "journal" => "journalctl --since -2h -u kubelet -u containerd; journalctl -k --since -2h",
        "firewall" => "iptables-save; ufw status verbose",
        "nvidia_smi" => "nvidia-smi -q",
        "host_info" => "uname -a; cat /etc/os-release; timedatectl; df -h",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::sources::SOURCES;

    #[test]
    fn most_sources_can_be_looked_at_by_hand() {
        let known = SOURCES
            .iter()
            .filter(|source| super::command(source.id).is_some());
        assert!(known.count() >= 10);
    }
}
