//! A change of each kind that cannot be read or fits nothing: named with its file and line, and why.

mod bounds;

use casefile_analyzer::change::Change;

use crate::fix::sample;
use crate::fix_wrong::try_out;

/// State, a change and what is to be said.
type Row = (&'static str, &'static str, &'static str);

/// State, a change that fits nothing there or says nothing that can be done, and what is to be said.
const UNFIT: &[Row] = &[
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
    for (state, change, why) in UNFIT.iter().chain(bounds::UNFIT) {
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
        let mut all = UNFIT.iter().chain(bounds::UNFIT);
        !all.any(|(_, change, _)| change.starts_with(&start))
    };
    let without: Vec<&&str> = Change::KINDS.iter().filter(has_none).collect();
    assert!(
        without.is_empty(),
        "kinds without a row of UNFIT: {without:?}"
    );
}
