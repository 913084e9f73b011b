//! Changes that do not help, or bring the next cause: each said to be so, and why.

use std::path::Path;

use crate::fix::fix;
use crate::fix_real::state;
use crate::support::{Ended, plant};

pub(crate) fn try_out(input: &Path, cause: &str, text: &str) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("changes.yaml");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let arguments = ["--what-if", file, "--cause", cause];
    fix(input, &folder.path().join("out"), &arguments)
}

/// State, cause, change, and what the analyzer has to say of why it does not help.
const WRONG: &[(&str, &str, &str, &str)] = &[
    (
        "scheduling/node-selector-mismatch#the nodes with GPUs lack",
        "node-selector-mismatch",
        "- label: {kind: Node, name: g1, key: gpu, value: t4}",
        "h100",
    ),
    (
        "scheduling/untolerated-taint#every node that has GPUs",
        "untolerated-taint",
        "- pod-spec: {pod: ml/next, spec: 'tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoExecute}]'}",
        "NoSchedule",
    ),
    (
        "ip-forward-off",
        "ip-forward-disabled",
        "- sysctl: {node: edge-gpu-2, name: net.ipv4.conf.all.rp_filter, value: '0'}",
        "net.ipv4.ip_forward is 0",
    ),
    (
        "inotify-instances",
        "inotify-instances-exhausted",
        "- sysctl: {node: ci-gpu-4, name: fs.inotify.max_user_watches, value: '1048576'}",
        "limit of inotify instances",
    ),
    (
        "runtime/nvidia-runtime-not-configured#the collected configuration",
        "nvidia-runtime-not-configured",
        "- host-file:\n    node: n1\n    path: /etc/containerd/config.toml\n    merge_toml: |\n      [plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.nvidia]\n      runtime_type = \"io.containerd.runc.v2\"",
        "nvidia",
    ),
    (
        "dns-loop",
        "dns-loop-systemd-resolved-stub",
        "- kubelet-config: {set: 'resolvConf: /run/systemd/resolve/stub-resolv.conf'}",
        "resolv",
    ),
    (
        "mig-monitor-not-granted",
        "mig-monitor-devices-not-granted",
        "- pod-spec: {pod: gpu-feature-discovery/gpu-feature-discovery-jx8vt, spec: 'containers: [{env: [{name: NVIDIA_MIG_CONFIG_DEVICES, value: all}]}]'}",
        "NVIDIA_MIG_MONITOR_DEVICES",
    ),
];

#[test]
fn a_change_of_the_wrong_thing_is_shown_not_to_help_and_why() {
    for (name, cause, change, why) in WRONG {
        let folder = tempfile::tempdir().unwrap();
        let input = state(name, folder.path());
        let said = try_out(&input, cause, &format!("changes:\n{change}\n"));
        assert_eq!(said.code, 0, "{cause}: {said:?}");
        assert!(said.out.starts_with("still there: "), "{cause}: {said:?}");
        let told = said.out.lines().nth(2).unwrap_or_default();
        assert!(told.contains(why), "{cause}: {told}");
    }
}

#[test]
fn a_class_with_a_handler_that_the_node_lacks_brings_the_next_cause() {
    let folder = tempfile::tempdir().unwrap();
    let input = state("runtime/runtimeclass-missing#", folder.path());
    // The node's containerd knows the handler nvidia and no other of NVIDIA's.
    let processes = r#"{"processes":[
{"pid":1,"ppid":0,"start":"2026-01-01T00:00:00Z","comm":"containerd","exe":"/usr/bin/containerd","cmdline":["/usr/bin/containerd"],"cgroup":"/system.slice/containerd.service","root":"/"},
{"pid":2,"ppid":1,"start":"2026-01-01T00:00:01Z","comm":"kubelet","exe":"/usr/bin/kubelet","cmdline":["/usr/bin/kubelet","--container-runtime-endpoint=unix:///run/containerd/containerd.sock"],"cgroup":"/system.slice/kubelet.service","root":"/"}
]}
"#;
    let config = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\nruntime_type = \"io.containerd.runc.v2\"\n";
    plant(&input, "nodes/n1/processes.json", processes);
    plant(&input, "nodes/n1/rootfs/etc/containerd/config.toml", config);
    let class = |handler: &str| {
        let manifest = format!(
            "{{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {{name: nvidia}}, handler: {handler}}}"
        );
        let text = format!("changes:\n- kube-object: {{manifest: '{manifest}'}}\n");
        try_out(&input, "runtimeclass-missing", &text)
    };
    let wrong = class("nvidia-cdi");
    assert!(
        wrong.out.contains("new after it: ")
            && wrong.out.contains("(runtimeclass-handler-not-defined)"),
        "{wrong:?}"
    );
    let right = class("nvidia");
    assert!(
        right.out.starts_with("gone: ") && !right.out.contains("new after it: "),
        "{right:?}"
    );
}
