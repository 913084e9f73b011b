//! Instances, kubelet and toolkit on the nodes that people have.

use std::collections::BTreeMap;

use super::*;

const ROOT: &str = "/etc/containerd/config.toml";
const DROP_IN: &str = "/etc/containerd/conf.d/99-nvidia.toml";
const V2: &str = "version = 2\n";
const NVIDIA_V2: &str = "version = 2
[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]
runtime_type = \"io.containerd.runc.v2\"
";

const SNAP: &str = "/var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml";
const SNAP_SOCKET: &str = "/var/lib/k8s-containerd/k8s-containerd/run/containerd/containerd.sock";

fn process(pid: u32, words: &[&str], unit: &str) -> Process {
    Process {
        pid,
        comm: paths::base(words[0]).to_owned(),
        exe: Some(words[0].to_owned()),
        cmdline: words.iter().map(|&word| word.to_owned()).collect(),
        unit: Some(unit.to_owned()),
        source: Some(Evidence {
            path: "nodes/n/processes.json".to_owned(),
            line: pid,
            text: String::new(),
        }),
        ..Process::default()
    }
}

/// The model incident: a snap's containerd beside the packaged one, the toolkit with nothing set.
fn incident() -> (MapTree, Vec<Process>) {
    let mut tree = MapTree::whole();
    tree.add(ROOT, "rootfs/etc/containerd/config.toml", NVIDIA_V2);
    tree.add(SNAP, "rootfs/snap/config.toml", V2);
    tree.add(
        "/var/snap/k8s/common/args/kubelet",
        "rootfs/args/kubelet",
        &format!("--anonymous-auth=false\n--container-runtime-endpoint={SNAP_SOCKET}\n"),
    );
    let processes = vec![
        process(10, &["/usr/bin/containerd"], "containerd.service"),
        process(
            11,
            &[
                "/snap/k8s/1/bin/containerd",
                "--config",
                SNAP,
                "--address",
                SNAP_SOCKET,
                "--root",
                "/var/lib/k8s-containerd/r",
            ],
            "snap.k8s.containerd.service",
        ),
        process(
            12,
            &["/snap/k8s/1/bin/kubelet", "--v=2"],
            "snap.k8s.kubelet.service",
        ),
    ];
    (tree, processes)
}

fn facts<'a>(
    tree: &'a MapTree,
    processes: &'a [Process],
    versions: &'a BTreeMap<String, String>,
) -> NodeFacts<'a> {
    NodeFacts {
        tree,
        processes,
        processes_captured: true,
        versions,
        node_runtime: None,
        cri_socket: None,
    }
}

#[test]
fn the_model_incident_is_understood_end_to_end() {
    let (tree, processes) = incident();
    let versions = BTreeMap::new();
    let facts = facts(&tree, &processes, &versions);
    let instances = find_instances(&facts);
    assert_eq!(
        instances.iter().map(|i| i.id.as_str()).collect::<Vec<_>>(),
        ["containerd.service", "snap.k8s.containerd.service"]
    );
    let kubelet = kubelet_uses(&facts, &instances);
    assert_eq!(kubelet.instance(), Some("snap.k8s.containerd.service"));
    let KubeletUse::Instance { why, .. } = &kubelet else {
        panic!("{kubelet:?}")
    };
    assert_eq!(
        (why[0].path.as_str(), why[0].line),
        ("rootfs/args/kubelet", 2)
    );
    let configs: BTreeMap<String, EffectiveConfig> = instances
        .iter()
        .map(|i| {
            (
                i.id.clone(),
                resolve(
                    &tree,
                    RootFile {
                        path: &i.config_path,
                        explicit: i.config_explicit,
                    },
                    Some("1.7.27"),
                ),
            )
        })
        .collect();
    let target = toolkit_target(&ToolkitInput::default(), &instances, &kubelet, &configs);
    assert_eq!(target.matches_kubelet, Answer::No);
    assert_eq!(target.instance.as_deref(), Some("containerd.service"));
    assert!(
        target
            .why
            .iter()
            .any(|line| line.contains("CONTAINERD_CONFIG is not set")),
        "{:?}",
        target.why
    );
    let stray = stray_handlers(&instances, &kubelet, &configs);
    assert_eq!(
        stray
            .iter()
            .map(|s| (s.instance.as_str(), s.handler.as_str()))
            .collect::<Vec<_>>(),
        [("containerd.service", "nvidia")]
    );
    let used = &configs["snap.k8s.containerd.service"];
    assert_eq!(cri_view(used).check(used, "nvidia").resolves, Answer::No);
    let env = |name: &str, value: &str| EnvVar {
        name: name.to_owned(),
        value: value.to_owned(),
        source: None,
    };
    let fixed = ToolkitInput {
        chart_env: vec![
            env("CONTAINERD_CONFIG", SNAP),
            env("CONTAINERD_SOCKET", SNAP_SOCKET),
        ],
        ..ToolkitInput::default()
    };
    assert_eq!(
        toolkit_target(&fixed, &instances, &kubelet, &configs).matches_kubelet,
        Answer::Yes
    );
    let half = ToolkitInput {
        chart_env: vec![env("CONTAINERD_CONFIG", SNAP)],
        ..ToolkitInput::default()
    };
    let half = toolkit_target(&half, &instances, &kubelet, &configs);
    assert_eq!(
        (half.config_matches, half.socket_matches),
        (Answer::Yes, Answer::No)
    );
}

#[test]
fn container_paths_of_the_toolkit_are_host_paths_through_its_mounts() {
    let env = |name: &str, value: &str| EnvVar {
        name: name.to_owned(),
        value: value.to_owned(),
        source: None,
    };
    let input = ToolkitInput {
        container_env: vec![
            env("RUNTIME_CONFIG", "/runtime/config-dir/config.toml"),
            env("CONTAINERD_CONFIG", "/runtime/config-dir/config.toml"),
            env("CONTAINERD_SOCKET", "/runtime/sock-dir/containerd.sock"),
            env(
                "RUNTIME_DROP_IN_CONFIG",
                "/runtime/config-dir.d/99-nvidia.toml",
            ),
            env("RUNTIME_DROP_IN_CONFIG_HOST_PATH", DROP_IN),
        ],
        mounts: vec![
            (
                "/runtime/config-dir/".to_owned(),
                "/etc/containerd".to_owned(),
            ),
            (
                "/runtime/config-dir.d/".to_owned(),
                "/etc/containerd/conf.d".to_owned(),
            ),
            ("/host".to_owned(), "/".to_owned()),
        ],
        ..ToolkitInput::default()
    };
    let target = toolkit_target(
        &input,
        &[],
        &KubeletUse::Unknown {
            missing: Vec::new(),
        },
        &BTreeMap::new(),
    );
    assert_eq!(target.config.map(|t| t.path).as_deref(), Some(ROOT));
    assert_eq!(target.drop_in.map(|t| t.path).as_deref(), Some(DROP_IN));
    assert_eq!(
        target.socket, None,
        "no mount says what /runtime/sock-dir is on the host"
    );
}

#[test]
fn docker_private_containerd_is_never_the_kubelets() {
    let tree = MapTree::whole();
    let processes = vec![
        process(
            5,
            &[
                "/usr/bin/containerd",
                "--config",
                "/var/run/docker/containerd/containerd.toml",
            ],
            "docker.service",
        ),
        process(6, &["/usr/bin/containerd"], "containerd.service"),
        process(7, &["/usr/bin/kubelet"], "kubelet.service"),
    ];
    let versions = BTreeMap::new();
    let facts = facts(&tree, &processes, &versions);
    let instances = find_instances(&facts);
    assert_eq!(instances[1].kind, InstanceKind::Docker);
    assert_eq!(
        kubelet_uses(&facts, &instances).instance(),
        Some("containerd.service")
    );
}

#[test]
fn a_kubelet_on_another_socket_is_named_as_such() {
    let tree = MapTree::whole();
    let versions = BTreeMap::new();
    let with = |endpoint: &str| {
        let flag = format!("--container-runtime-endpoint={endpoint}");
        let processes = vec![
            process(6, &["/usr/bin/containerd"], "containerd.service"),
            process(7, &["/usr/bin/kubelet", &flag], "kubelet.service"),
        ];
        let facts = facts(&tree, &processes, &versions);
        kubelet_uses(&facts, &find_instances(&facts))
    };
    assert!(matches!(
        with("unix:///run/crio/crio.sock"),
        KubeletUse::OtherRuntime { .. }
    ));
    assert!(matches!(
        with("unix:///run/elsewhere.sock"),
        KubeletUse::NoSuchInstance { .. }
    ));
    assert_eq!(
        with("unix:///var/run/containerd/containerd.sock").instance(),
        Some("containerd.service")
    );
}

#[test]
fn k3s_and_the_kubelet_configuration_are_read() {
    let config = "/var/lib/rancher/k3s/agent/etc/containerd/config.toml";
    let mut tree = MapTree::whole();
    tree.add(
        config,
        "rootfs/k3s.toml",
        "version = 3\n[grpc]\naddress = \"/run/k3s/containerd/containerd.sock\"\n",
    );
    let processes = vec![process(
        3,
        &[
            "/var/lib/rancher/k3s/data/current/bin/containerd",
            "-c",
            config,
        ],
        "k3s.service",
    )];
    let versions = BTreeMap::new();
    let k3s = facts(&tree, &processes, &versions);
    assert_eq!(
        kubelet_uses(&k3s, &find_instances(&k3s)).instance(),
        Some("k3s.service")
    );

    let mut tree = MapTree::whole();
    tree.add(ROOT, "r", V2);
    tree.add(
        "/var/lib/kubelet/config.yaml",
        "k.yaml",
        "kind: X\ncontainerRuntimeEndpoint: \"unix:///run/containerd/containerd.sock\"\n",
    );
    let none = Vec::new();
    let kubeadm = NodeFacts {
        processes_captured: false,
        ..facts(&tree, &none, &versions)
    };
    let used = kubelet_uses(&kubeadm, &find_instances(&kubeadm));
    let KubeletUse::Instance { why, id, .. } = used else {
        panic!("{used:?}")
    };
    assert_eq!((id.as_str(), why[0].line), ("containerd.service", 2));
}

#[test]
fn nothing_captured_is_an_honest_unknown() {
    let tree = MapTree::new();
    let (none, versions) = (Vec::new(), BTreeMap::new());
    let facts = NodeFacts {
        processes_captured: false,
        ..facts(&tree, &none, &versions)
    };
    let KubeletUse::Unknown { missing } = kubelet_uses(&facts, &find_instances(&facts)) else {
        panic!("known?")
    };
    assert!(
        missing
            .iter()
            .any(|line| line.contains("processes were not captured"))
    );
}

proptest::proptest! {
    #[test]
    fn no_process_or_kubelet_text_makes_the_search_panic(words in proptest::collection::vec("\\PC{0,12}|--config|-c=|--address=x", 0..6), text in "\\PC*") {
        let mut tree = MapTree::new();
        tree.add("/var/snap/k8s/common/args/kubelet", "a", &text);
        tree.add("/var/snap/k8s/common/args/containerd", "b", &text);
        tree.add("/var/lib/kubelet/config.yaml", "c", &text);
        let processes = [
            Process { comm: "containerd".to_owned(), cmdline: words.clone(), ..Process::default() },
            Process { comm: "kubelet".to_owned(), cmdline: words, ..Process::default() },
        ];
        let versions = BTreeMap::new();
        let facts = facts(&tree, &processes, &versions);
        let _ = kubelet_uses(&facts, &find_instances(&facts));
    }
}
