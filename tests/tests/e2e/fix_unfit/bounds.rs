//! The rows of what a pod runs into, and of what the cluster or a node sets bounds to.

use super::Row;

pub(super) const UNFIT: &[Row] = &[
    (
        "toolkit-wrong-containerd",
        "raised-limit: {pod: gpu-operator/nosuch, resource: memory}",
        "is not in",
    ),
    (
        "toolkit-wrong-containerd",
        "probe-time: {pod: gpu-operator/nosuch, container: a, probe: liveness-probe}",
        "is not in",
    ),
    (
        "toolkit-wrong-containerd",
        "search-dots: {pod: kube-system/nosuch, line: '[INFO] 192.0.2.99:1 - 2 \"A IN a.b.\"'}",
        "0 collected pods have the address",
    ),
    (
        "toolkit-wrong-containerd",
        "image-name: {pod: gpu-operator/nosuch}",
        "is not in",
    ),
    (
        "toolkit-wrong-containerd",
        "claim-size: {pod: gpu-operator/nosuch, container: a, words: No space left on device}",
        "is not in",
    ),
    (
        "toolkit-wrong-containerd",
        "containerd-unimport: {node: 192-18-132-31, path: /etc/containerd/config.toml, folder: /etc/containerd}",
        "lies in /etc/containerd itself",
    ),
    (
        "toolkit-wrong-containerd",
        "cni-folder: {node: 192-18-132-31, path: /etc/containerd/config.toml, plugin: portmap, searched: /opt/cni/bin}",
        "where the network's programs lie is not known",
    ),
    (
        "toolkit-wrong-containerd",
        "limit-range: {namespace: default, sentence: 'nothing in numbers'}",
        "names no bound",
    ),
    (
        "toolkit-wrong-containerd",
        "webhook-policy: {sentence: 'failed calling webhook \"nosuch.example.org\"'}",
        "no collected webhook configuration",
    ),
    (
        "toolkit-wrong-containerd",
        "api-right: {sentence: forbidden}",
        "does not name service account",
    ),
    (
        "toolkit-wrong-containerd",
        "daemonset-node: {namespace: gpu-operator, name: nosuch, node: 192-18-132-31}",
        "holds no DaemonSet gpu-operator/nosuch",
    ),
];
