//! Commands for the cluster that they are typed in: rules say `kubectl` and the usual namespaces, and on OpenShift, or where
//! the GPU Operator lives in a namespace of another name, a command would not be found or find nothing.

use std::collections::BTreeSet;

use crate::facts::Facts;
use crate::facts::kube::{Node, Pod};
use crate::facts::text::OpenShiftMark;
use crate::model::{Analysis, Incident, Role};
use crate::rules::template::is_shell_word;

/// Where rules look for the GPU Operator, and where OpenShift's OperatorHub puts it.
const OPERATOR: &str = "gpu-operator";
const OPERATOR_OF_OPENSHIFT: &str = "nvidia-gpu-operator";
/// Parts that only the GPU Operator runs, so that their namespace is its own.
const OPERATED: [&str; 4] = ["gpu-operator", "toolkit", "validator", "mig-manager"];

/// What rules say of the cluster's DNS and of etcd, and what OpenShift calls it: there an operator writes the configuration.
const PARTS_OF_OPENSHIFT: [(&str, &str); 4] = [
    (
        "-n kube-system logs -l component=etcd",
        "-n openshift-etcd logs -l app=etcd -c etcd",
    ),
    (
        "-n kube-system edit configmap coredns",
        "edit dns.operator.openshift.io/default",
    ),
    (
        "-n kube-system rollout restart deployment coredns",
        "-n openshift-dns rollout restart daemonset/dns-default",
    ),
    (
        "k8s-app=kube-dns",
        "dns.operator.openshift.io/daemonset-dns=default",
    ),
];

/// What NodeLocal DNSCache is called by: a pod of Kubernetes' own manifest, or of kubespray, whose ConfigMaps have their names.
const CACHES: [&str; 2] = ["node-local-dns", "nodelocaldns"];
/// The address that it answers at on every node.
const CACHE: &str = "169.254.20.10";

/// What commands are called by here.
struct Platform {
    openshift: bool,
    /// The GPU Operator's namespace, where it is another than rules say.
    operator: Option<String>,
}

/// Puts the cluster's own names in the place of the usual ones.
pub(super) fn name(facts: &Facts, analysis: &mut Analysis) {
    let openshift = is_openshift(facts);
    let platform = Platform {
        openshift,
        operator: operator(facts, openshift),
    };
    for incident in &mut analysis.incidents {
        if let Some(cache) = cache(incident) {
            of_cache(incident, cache);
        }
        if !platform.openshift && platform.operator.is_none() {
            continue;
        }
        let steps = incident.remedy.steps.iter_mut();
        let steps = steps.chain(&mut incident.remedy.verify);
        for command in steps.filter_map(|step| step.command.as_mut()) {
            *command = platform.named(command);
        }
        for observation in &mut incident.observations {
            observation.command = platform.named(&observation.command);
        }
        for text in &mut incident.would_settle {
            *text = platform.named(text);
        }
    }
}

/// The name of the NodeLocal DNSCache that an incident speaks of.
fn cache(incident: &Incident) -> Option<&'static str> {
    let lines = || incident.evidence.iter().filter(|one| one.role == Role::For);
    let named = |name: &&&str| {
        let mut subjects = incident.subjects.iter();
        subjects.any(|one| one.contains(**name))
            || lines().any(|one| one.text.contains(**name) || one.place.path.contains(**name))
    };
    let by_address = || {
        let mut lines = lines();
        lines
            .any(|one| one.text.contains(CACHE))
            .then_some(CACHES[0])
    };
    CACHES.iter().find(named).copied().or_else(by_address)
}

/// The steps about the cluster's DNS as those of the cache, which answers pods in its place and has servers of its own.
fn of_cache(incident: &mut Incident, cache: &str) {
    let steps = incident.remedy.steps.iter_mut();
    for command in steps.filter_map(|step| step.command.as_mut()) {
        *command = command
            .replace("configmap coredns", &format!("configmap {cache}"))
            .replace("k8s-app=kube-dns", "k8s-app=node-local-dns");
    }
}

/// Whether a text, a node or a namespace shows OpenShift.
pub(super) fn is_openshift(facts: &Facts) -> bool {
    let mut pods = facts.table::<Pod>().iter();
    let mut nodes = facts.table::<Node>().iter();
    !facts.table::<OpenShiftMark>().is_empty()
        || pods.any(|pod| pod.data.namespace.starts_with("openshift-"))
        || nodes.any(|node| {
            let mut labels = node.data.labels.keys();
            labels.any(|label| label.starts_with("node.openshift.io/"))
        })
}

/// The one namespace of the GPU Operator's parts, where it is not the usual one.
fn operator(facts: &Facts, openshift: bool) -> Option<String> {
    let pods = facts.table::<Pod>().iter().map(|pod| &pod.data);
    let parts = pods.filter(|pod| OPERATED.contains(&pod.component.as_str()));
    let own: BTreeSet<&str> = parts
        .map(|pod| pod.namespace.as_str())
        .filter(|namespace| is_shell_word(namespace))
        .collect();
    let mut own = own.into_iter();
    let namespace = match (own.next(), own.next()) {
        (Some(only), None) => only,
        (None, _) if openshift => OPERATOR_OF_OPENSHIFT,
        _ => return None,
    };
    (namespace != OPERATOR).then(|| namespace.to_owned())
}

impl Platform {
    fn named(&self, command: &str) -> String {
        let mut text = command.to_owned();
        if let Some(own) = &self.operator {
            text = instead(
                &text,
                &["-n ", "--namespace ", "--namespace="],
                OPERATOR,
                own,
            );
        }
        if self.openshift {
            text = self.of_openshift(&text);
        }
        text
    }

    fn of_openshift(&self, command: &str) -> String {
        let mut text = command.to_owned();
        let about_dns = text.contains("k8s-app=kube-dns");
        for (usual, own) in PARTS_OF_OPENSHIFT {
            text = text.replace(usual, own);
        }
        if about_dns {
            text = instead(&text, &["-n "], "kube-system", "openshift-dns");
        }
        instead(&text, &[""], "kubectl", "oc")
    }
}

/// A command with another word wherever this one stands behind one of these, as a word of its own.
fn instead(command: &str, behind: &[&str], word: &str, other: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_./=".contains(c);
    let mut out = String::with_capacity(command.len());
    let mut rest = command;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        out.push_str(before);
        let apart = !after.starts_with(is_part)
            && behind.iter().any(|head| match head.is_empty() {
                true => !out.ends_with(is_part),
                false => out.ends_with(head),
            });
        out.push_str(if apart { other } else { word });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_clusters_own_namespaces_and_program() {
        let openshift = Platform {
            openshift: true,
            operator: Some(OPERATOR_OF_OPENSHIFT.to_owned()),
        };
        for (command, expected) in [
            (
                "kubectl -n gpu-operator logs ds/x | grep kubectl.kubernetes.io",
                "oc -n nvidia-gpu-operator logs ds/x | grep kubectl.kubernetes.io",
            ),
            (
                "kubectl -n kube-system logs -l k8s-app=kube-dns --tail=50",
                "oc -n openshift-dns logs -l dns.operator.openshift.io/daemonset-dns=default --tail=50",
            ),
            (
                "kubectl -n kube-system edit configmap coredns",
                "oc edit dns.operator.openshift.io/default",
            ),
            (
                "helm upgrade gpu-operator nvidia/gpu-operator -n gpu-operator",
                "helm upgrade gpu-operator nvidia/gpu-operator -n nvidia-gpu-operator",
            ),
            ("journalctl -u kubelet", "journalctl -u kubelet"),
        ] {
            assert_eq!(openshift.named(command), expected);
        }
        let elsewhere = Platform {
            openshift: false,
            operator: Some("gpus".to_owned()),
        };
        assert_eq!(
            elsewhere.named("kubectl get pods -n gpu-operator; kubectl -n gpu-operator-x get ds"),
            "kubectl get pods -n gpus; kubectl -n gpu-operator-x get ds"
        );
    }
}
