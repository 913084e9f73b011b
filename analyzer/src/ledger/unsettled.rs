//! Causes that produce a symptom, for failing things of which no cause is confirmed: in the order of how often each was
//! the cause, with the one command that settles it.
//!
//! `times` is how many of the 115 incidents with a known cause that the rules were measured on had it; 0 is a cause of
//! the catalogue that none of them had.

use crate::facts::failing::Failing;

/// A cause that produces a symptom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Cause id.
    pub cause: &'static str,
    /// How often it was the cause.
    pub times: u32,
    /// The command that settles it; `{namespace}`, `{name}`, `{container}` and `{node}` are the failing thing's.
    pub settle: &'static str,
}

const fn one(cause: &'static str, times: u32, settle: &'static str) -> Candidate {
    Candidate {
        cause,
        times,
        settle,
    }
}

const PREVIOUS: &str = "kubectl logs -n {namespace} {name} -c {container} --previous --tail=50";
const DESCRIBE: &str = "kubectl describe pod -n {namespace} {name}";

/// A container ends and is started again.
const ENDS: &[Candidate] = &[
    one(
        "container-memory-limit-reached",
        1,
        "kubectl get pod -n {namespace} {name} -o jsonpath='{.status.containerStatuses[*].lastState.terminated.reason}'",
    ),
    one(
        "probe-ends-container",
        0,
        "kubectl get events -n {namespace} --field-selector involvedObject.name={name},reason=Unhealthy",
    ),
    one("dependency-refuses-connection", 0, PREVIOUS),
];

/// A container that uses GPUs ends and is started again.
const ENDS_GPU: &[Candidate] = &[
    one(
        "nvidia-runtime-missing-systemdcgroup",
        2,
        "grep -n SystemdCgroup /etc/containerd/config.toml",
    ),
    one(
        "shm-too-small",
        2,
        "kubectl exec -n {namespace} {name} -- df -h /dev/shm",
    ),
    one(
        "runtimeclassname-missing",
        2,
        "kubectl get pod -n {namespace} {name} -o jsonpath='{.spec.runtimeClassName}'",
    ),
    one(
        "driver-too-old-for-cuda",
        1,
        "nvidia-smi --query-gpu=driver_version --format=csv,noheader",
    ),
];

/// An image cannot be pulled.
const IMAGE: &[Candidate] = &[
    one(
        "image-pull-credentials",
        1,
        "kubectl get pod -n {namespace} {name} -o jsonpath='{.spec.imagePullSecrets}'",
    ),
    one("image-digest-removed-upstream", 1, DESCRIBE),
    one(
        "registry-ca-config-ignored",
        1,
        "ls -R /etc/containerd/certs.d",
    ),
    one("image-registry-host-not-found", 0, DESCRIBE),
];

/// An image of the GPU stack cannot be pulled.
const IMAGE_GPU: &[Candidate] = &[
    one("driver-image-not-published", 2, DESCRIBE),
    one(
        "image-pull-credentials",
        1,
        "kubectl get pod -n {namespace} {name} -o jsonpath='{.spec.imagePullSecrets}'",
    ),
];

/// A sandbox or a volume is not made.
const CREATES: &[Candidate] = &[
    one(
        "cni-config-path-mismatch",
        1,
        "ls -l /etc/cni/net.d /opt/cni/bin",
    ),
    one(
        "containerd-dropin-missing-runtime-type",
        1,
        "containerd config dump | grep -n runtime_type",
    ),
    one("nfs-client-missing-on-node", 1, "ls -l /sbin/mount.nfs"),
    one("volume-source-object-missing", 0, DESCRIBE),
];

/// No node takes a pod.
const PENDING: &[Candidate] = &[
    one(
        "untolerated-taint",
        1,
        "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints",
    ),
    one(
        "node-selector-mismatch",
        1,
        "kubectl get pod -n {namespace} {name} -o jsonpath='{.spec.nodeSelector}{.spec.affinity}'",
    ),
    one(
        "max-pods-limit",
        1,
        "kubectl get nodes -o custom-columns=NAME:.metadata.name,PODS:.status.allocatable.pods",
    ),
    one(
        "claim-has-no-storage-class",
        0,
        "kubectl get pvc -n {namespace}",
    ),
];

/// No node takes a pod that asks for GPUs.
const PENDING_GPU: &[Candidate] = &[
    one(
        "device-plugin-not-on-node",
        1,
        "kubectl get pods -A -o wide | grep device-plugin",
    ),
    one(
        "gpu-all-allocated",
        1,
        "kubectl describe nodes | grep -A8 'Allocated resources'",
    ),
    one(
        "untolerated-taint",
        1,
        "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints",
    ),
    one(
        "node-selector-mismatch",
        1,
        "kubectl get pod -n {namespace} {name} -o jsonpath='{.spec.nodeSelector}{.spec.affinity}'",
    ),
];

/// A node is not ready.
const NODE: &[Candidate] = &[
    one(
        "containerd-dropin-missing-runc-default",
        2,
        "journalctl -u containerd -n 50 --no-pager",
    ),
    one(
        "cni-config-path-mismatch",
        1,
        "ls -l /etc/cni/net.d /opt/cni/bin",
    ),
    one(
        "kubelet-client-certificate-expired",
        1,
        "openssl x509 -enddate -noout -in /var/lib/kubelet/pki/kubelet-client-current.pem",
    ),
    one("container-runtime-hung", 1, "crictl info"),
];

/// A workload lacks pods.
const WORKLOAD: &[Candidate] = &[
    one(
        "resource-quota-exceeded",
        1,
        "kubectl describe resourcequota -n {namespace}",
    ),
    one(
        "admission-webhook-unreachable",
        0,
        "kubectl get events -n {namespace} --field-selector reason=FailedCreate",
    ),
];

/// The causes that produce what a failing thing shows, the most frequent first.
pub fn candidates(failing: &Failing) -> &'static [Candidate] {
    let state = failing.state.rsplit(':').next().unwrap_or("");
    match (failing.what.as_str(), state, failing.gpu) {
        ("node", "NotReady", _) => NODE,
        ("workload", _, _) => WORKLOAD,
        ("pod", "ImagePullBackOff" | "ErrImagePull", true) => IMAGE_GPU,
        ("pod", "ImagePullBackOff" | "ErrImagePull", false) => IMAGE,
        // It has its node: what keeps pods from one is behind it.
        ("pod", "Pending", _) if !failing.node.is_empty() => CREATES,
        ("pod", "Pending", true) => PENDING_GPU,
        ("pod", "Pending", false) => PENDING,
        ("pod", "ContainerCreating" | "PodInitializing", _) => CREATES,
        ("pod", _, gpu) if failing.ended => {
            if gpu {
                ENDS_GPU
            } else {
                ENDS
            }
        }
        _ => &[],
    }
}

/// The command that settles a candidate, filled in.
pub fn settle(candidate: &Candidate, failing: &Failing) -> String {
    let word = |text: &str, blank: &str| {
        let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if !text.is_empty() && text.chars().all(safe) {
            text.to_owned()
        } else {
            blank.to_owned()
        }
    };
    let container = word(&failing.container, "");
    let command = if container.is_empty() {
        candidate.settle.replace(" -c {container}", "")
    } else {
        candidate.settle.replace("{container}", &container)
    };
    command
        .replace("{namespace}", &word(&failing.namespace, "<namespace>"))
        .replace("{name}", &word(&failing.name, "<name>"))
        .replace("{node}", &word(&failing.node, "<node>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_come_in_the_order_of_how_often_they_were_the_cause() {
        for list in [
            ENDS,
            ENDS_GPU,
            IMAGE,
            CREATES,
            PENDING,
            PENDING_GPU,
            NODE,
            WORKLOAD,
        ] {
            assert!(list.is_sorted_by_key(|one| std::cmp::Reverse(one.times)));
        }
    }

    #[test]
    fn a_pending_pod_with_a_node_is_not_given_causes_that_keep_it_from_one() {
        let mut failing = Failing {
            what: "pod".into(),
            state: "Pending".into(),
            ..Failing::default()
        };
        assert_eq!(candidates(&failing), PENDING);
        failing.node = "n1".into();
        assert_eq!(candidates(&failing), CREATES);
    }

    #[test]
    fn a_name_from_a_bundle_stands_in_a_command_only_as_a_plain_word() {
        let mut failing = Failing {
            what: "pod".into(),
            state: "CrashLoopBackOff".into(),
            ended: true,
            namespace: "shop".into(),
            name: "web-0; reboot".into(),
            ..Failing::default()
        };
        let told = settle(&one("x", 0, PREVIOUS), &failing);
        assert_eq!(told, "kubectl logs -n shop <name> --previous --tail=50");
        failing.name = "web-0".into();
        failing.container = "web".into();
        let told = settle(&one("x", 0, PREVIOUS), &failing);
        assert_eq!(
            told,
            "kubectl logs -n shop web-0 -c web --previous --tail=50"
        );
    }
}
