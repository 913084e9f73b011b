//! Changes that do not help, cannot be read, or fit nothing: each said to be so, and why.

use std::path::Path;

use casefile_analyzer::change::Change;

use crate::fix::{fix, sample};
use crate::fix_real::state;
use crate::support::{Ended, plant};

fn try_out(input: &Path, cause: &str, text: &str) -> Ended {
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

/// State, a change that fits nothing there or says nothing that can be done, and what is to be said.
const UNFIT: &[(&str, &str, &str)] = &[
    (
        "toolkit-wrong-containerd",
        "helm-values: {namespace: gpu-operator, release: none, chart: c, values: 'toolkit: {a: 1}'}",
        "was not collected",
    ),
    (
        "toolkit-wrong-containerd",
        "helm-values: {namespace: gpu-operator, release: gpu-operator-1758912452, chart: c, values: 'nosuch: {a: 1}'}",
        "the chart would ignore it",
    ),
    (
        "toolkit-wrong-containerd",
        "helm-values: {namespace: gpu-operator, release: gpu-operator-1758912452, chart: c, values: 'toolkit: [1'}",
        "the values",
    ),
    (
        "toolkit-wrong-containerd",
        "ufw-route: {node: nosuch, rules: ['allow in on lxc+']}",
        "holds neither",
    ),
    (
        "toolkit-wrong-containerd",
        "ufw-route: {node: 192-18-132-31, rules: ['permit in on lxc+']}",
        "ufw rule",
    ),
    (
        "toolkit-wrong-containerd",
        "host-file: {node: nosuch, path: /etc/x, content: a}",
        "no files of node",
    ),
    (
        "toolkit-wrong-containerd",
        "host-file: {node: 192-18-132-31, path: etc/x, content: a}",
        "no absolute path",
    ),
    (
        "toolkit-wrong-containerd",
        "host-file: {node: 192-18-132-31, path: /etc/containerd/config.toml, merge_toml: 'a = = 1'}",
        "does not parse as TOML",
    ),
    (
        "toolkit-wrong-containerd",
        "sysctl: {node: 192-18-132-31, name: net.ipv4.nosuch, value: '1'}",
        "is in the bundle",
    ),
    (
        "toolkit-wrong-containerd",
        "restart: {node: 192-18-132-31, unit: nosuch.service}",
        "shows no process",
    ),
    (
        "toolkit-wrong-containerd",
        "kube-object: {manifest: 'kind: Pod'}",
        "metadata.name",
    ),
    (
        "toolkit-wrong-containerd",
        "kube-object: {patch: true, manifest: '{apiVersion: v1, kind: Node, metadata: {name: nosuch}}'}",
        "holds no Node nosuch",
    ),
    (
        "toolkit-wrong-containerd",
        "iptables: {rules: ['-A NOSUCH -j ACCEPT']}",
        "no chain NOSUCH",
    ),
    (
        "toolkit-wrong-containerd",
        "iptables: {rules: ['ACCEPT all']}",
        "iptables rule",
    ),
    ("dns-loop", "kubelet-config: {set: 'a: [1'}", "the settings"),
    (
        "dns-loop",
        "kubelet-config: {path: /etc/nosuch.yaml, set: 'a: 1'}",
        "holds none of",
    ),
    (
        "toolkit-wrong-containerd",
        "kubelet-flag: {flag: nosuch-flag}",
        "none to remove",
    ),
    (
        "toolkit-wrong-containerd",
        "unit: {unit: nosuch.service, section: Unit, remove: ['BindsTo=a']}",
        "no collected file of",
    ),
    (
        "toolkit-wrong-containerd",
        "unit: {unit: kubelet.service, section: Unit, add: ['nothing']}",
        "no setting of a unit",
    ),
    (
        "toolkit-wrong-containerd",
        "docker-daemon: {set: 'runtimes: [1'}",
        "the settings",
    ),
    (
        "toolkit-wrong-containerd",
        "pod-spec: {pod: default/nosuch, spec: 'a: 1'}",
        "is not in",
    ),
    (
        "mig-monitor-not-granted",
        "pod-spec: {pod: gpu-feature-discovery/gpu-feature-discovery-jx8vt, container: nosuch, spec: 'containers: [{image: a}]'}",
        "no container",
    ),
    (
        "toolkit-wrong-containerd",
        "toleration: {pod: default/gpu-textgen, key: nosuch}",
        "carries a taint",
    ),
    (
        "toolkit-wrong-containerd",
        "label: {kind: Node, name: nosuch, key: a, value: b}",
        "holds no Node nosuch",
    ),
    (
        "toolkit-wrong-containerd",
        "annotation: {kind: Node, name: nosuch, key: a, value: b}",
        "holds no Node nosuch",
    ),
    (
        "toolkit-wrong-containerd",
        "taint: {node: 192-18-132-31, key: a, effect: Never}",
        "no effect of a taint",
    ),
    (
        "toolkit-wrong-containerd",
        "configmap: {namespace: kube-system, name: nosuch, key: a, replace: b}",
        "nosuch",
    ),
    (
        "dns-loop",
        "configmap: {namespace: kube-system, name: coredns, key: Corefile, find: nowhere, replace: b}",
        "does not hold",
    ),
    (
        "toolkit-wrong-containerd",
        "quota: {object: resourcequota/ml/gpus, sentence: 'no numbers', missing: '1'}",
        "no whole numbers",
    ),
    (
        "volume-of-lost-node",
        "volume-attachment: {volume: nosuch}",
        "attaches nosuch to no node",
    ),
    (
        "toolkit-wrong-containerd",
        "containerd-import: {node: 192-18-132-31, path: /etc/nosuch.toml, drop_in: /etc/containerd/conf.d/a.toml}",
        "is not in the bundle",
    ),
    (
        "toolkit-wrong-containerd",
        "containerd-registry: {}",
        "no collected containerd file",
    ),
    (
        "toolkit-wrong-containerd",
        "containerd-section: {node: 192-18-132-31, path: /etc/nosuch/a.toml}",
        "/etc/nosuch/a.toml",
    ),
    (
        "toolkit-wrong-containerd",
        "containerd-runtime: {node: nosuch, path: /etc/containerd/config.toml, handler: nvidia}",
        "no files of node",
    ),
    (
        "toolkit-wrong-containerd",
        "firewalld: {zone: trusted, interfaces: [cni0]}",
        "no zones of firewalld",
    ),
    (
        "toolkit-wrong-containerd",
        "helm-rollback: {namespace: gpu-operator, release: gpu-operator-1758912452, revision: '7'}",
        "it has no revision 7",
    ),
    (
        "toolkit-wrong-containerd",
        "helm-key: {namespace: gpu-operator, release: gpu-operator-1758912452, chart: c, from: no.such, to: toolkit.env}",
        "sets no no.such",
    ),
    (
        "toolkit-wrong-containerd",
        "nft-rule: {table: inet nosuch, chain: forward, rule: drop}",
        "nft-list-ruleset.out",
    ),
    (
        "toolkit-wrong-containerd",
        "nft-rule: {table: inet filter, chain: forward, rule: 'drop; flush ruleset'}",
        "no rule that is understood here",
    ),
    ("toolkit-wrong-containerd", "swap-off: {}", "names no swap"),
    (
        "toolkit-wrong-containerd",
        "file-owner: {path: /opt/cni, owner: nobody, mode: '755'}",
        "no USER:GROUP",
    ),
    (
        "toolkit-wrong-containerd",
        "link-feature: {link: a-name-that-is-too-long, feature: x}",
        "no interface",
    ),
    (
        "toolkit-wrong-containerd",
        "cdi-spec: {node: nosuch}",
        "no files of node",
    ),
    (
        "toolkit-wrong-containerd",
        "image-removal: {image: '--all'}",
        "no name of an image",
    ),
    (
        "toolkit-wrong-containerd",
        "default-class: {name: nosuch}",
        "no StorageClass nosuch",
    ),
    (
        "toolkit-wrong-containerd",
        "helm-again: {namespace: gpu-operator, release: none}",
        "names no revision",
    ),
    (
        "toolkit-wrong-containerd",
        "registry-folder: {sentence: x509}",
        "names no address of a registry",
    ),
    (
        "toolkit-wrong-containerd",
        "unknown-flag: {sentence: 'no memory'}",
        "only a flag that the kubelet does not know",
    ),
    (
        "toolkit-wrong-containerd",
        "node-ip: {node: nosuch}",
        "the addresses of nosuch are not known",
    ),
    (
        "toolkit-wrong-containerd",
        "docker-directive: {sentence: 'invalid character'}",
        "only a key that stands twice",
    ),
    (
        "toolkit-wrong-containerd",
        "hami-whole: {pod: default/gpu-textgen}",
        "asks for a share of a GPU",
    ),
    (
        "toolkit-wrong-containerd",
        "image-arch: {pod: default/nosuch, container: a}",
        "is not in",
    ),
    (
        "toolkit-wrong-containerd",
        "recreate: {pod: default/gpu-textgen}",
        "as a pod of a Deployment",
    ),
    (
        "toolkit-wrong-containerd",
        "preset-node: {resource: nvidia.com/}",
        "0 collected workloads name their node",
    ),
    (
        "toolkit-wrong-containerd",
        "plugin-folder: {node: nosuch}",
        "shows no kubelet",
    ),
    (
        "toolkit-wrong-containerd",
        "class-copy: {name: fast, of: nosuch}",
        "it holds no class whose storage could be given",
    ),
    (
        "toolkit-wrong-containerd",
        "helm-env: {namespace: gpu-operator, release: gpu-operator-1758912452, chart: c, section: toolkit, remove: [NOSUCH]}",
        "toolkit.env sets no NOSUCH",
    ),
    (
        "toolkit-wrong-containerd",
        "toml-type: {node: 192-18-132-31, sentence: 'imports is a string, containerd expects an array'}",
        "only a number or a truth value",
    ),
    (
        "toolkit-wrong-containerd",
        "toml-type: {node: 192-18-132-31, sentence: 'oom_score is a string, containerd expects an integer'}",
        "which one to change is not known",
    ),
    (
        "toolkit-wrong-containerd",
        "time-service: {node: 192-18-132-31}",
        "shows no time service",
    ),
    (
        "toolkit-wrong-containerd",
        "kubelet-unquote: {}",
        "quotes a value of the kubelet's flags",
    ),
    (
        "toolkit-wrong-containerd",
        "hami-cards: {pod: default/gpu-textgen}",
        "has cards registered with HAMi",
    ),
    (
        "toolkit-wrong-containerd",
        "host-port: {pod: default/gpu-textgen}",
        "asks for no port of its node",
    ),
    (
        "toolkit-wrong-containerd",
        "scratch-volume: {pod: default/gpu-textgen, container: nosuch, words: \"Read-only file system: '/data/a'\"}",
        "has no container \"nosuch\"",
    ),
    (
        "toolkit-wrong-containerd",
        "pod-restart: {pod: default/nosuch}",
        "nobody knows what would make it anew",
    ),
    (
        "toolkit-wrong-containerd",
        "sharing-config: {}",
        "no collected ConfigMap has a sharing field",
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
    (
        "toolkit-wrong-containerd",
        "package: {name: '', version: '1', check: 'true'}",
        "names no package",
    ),
    (
        "toolkit-wrong-containerd",
        "hardware: {part: '', act: Reset, expect: it}",
        "names no part",
    ),
    (
        "toolkit-wrong-containerd",
        "reboot: {expect: ''}",
        "does not say what to see",
    ),
    (
        "toolkit-wrong-containerd",
        "manual: {step: ''}",
        "names no step",
    ),
    (
        "toolkit-wrong-containerd",
        "nosuch-kind: {a: 1}",
        "nosuch-kind",
    ),
];

#[test]
fn a_change_of_each_kind_that_fits_nothing_is_named_with_file_and_line() {
    let mut wrong = Vec::new();
    for (state, change, why) in UNFIT {
        // The third line: the first change fits and does nothing.
        let text = format!("changes:\n- manual: {{step: look, expect: something}}\n- {change}\n");
        let said = try_out(&sample(state), "toolkit-configures-wrong-containerd", &text);
        let at = if change.starts_with("nosuch-kind") {
            "changes.yaml: "
        } else {
            "changes.yaml:3: "
        };
        if said.code != 2 || !said.err.contains(at) || !said.err.contains(why) {
            wrong.push(format!("{change}: {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let has_none = |kind: &&&str| {
        let start = format!("{}: ", kind.replace('_', "-"));
        !UNFIT
            .iter()
            .any(|(_, change, _)| change.starts_with(&start))
    };
    let without: Vec<&&str> = Change::KINDS.iter().filter(has_none).collect();
    assert!(
        without.is_empty(),
        "kinds without a row of UNFIT: {without:?}"
    );
}
