//! The containerd resolver on the cases that people meet.

use std::collections::BTreeMap;

use super::problem::Effect;
use super::*;

const V2: &str = "version = 2\n";

fn resolved(version: &str, files: &[(&str, &str)]) -> EffectiveConfig {
    let mut tree = MapTree::whole();
    for (path, text) in files {
        tree.add(path, &format!("nodes/n/rootfs{path}"), text);
    }
    resolve(
        &tree,
        RootFile {
            path: files[0].0,
            explicit: true,
        },
        Some(version),
    )
}

const ROOT: &str = "/etc/containerd/config.toml";
const DROP_IN: &str = "/etc/containerd/conf.d/99-nvidia.toml";

fn root_with_import(rest: &str) -> String {
    format!("version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n{rest}")
}

const NVIDIA_V2: &str = "version = 2
[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]
runtime_type = \"io.containerd.runc.v2\"
[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia.options]
BinaryName = \"/usr/bin/nvidia-container-runtime\"
SystemdCgroup = true
";

#[test]
fn a_handler_resolves_to_the_file_and_line_that_define_it() {
    let config = resolved("1.7.12", &[(ROOT, NVIDIA_V2)]);
    let cri = cri_view(&config);
    // With 1.x the table of runtimes forgets the built-in runc, which stays the default: CRI refuses.
    let check = cri.check(&config, "nvidia");
    assert_eq!(check.resolves, Answer::No, "{check:?}");
    assert!(
        check.because.contains("default runtime \"runc\""),
        "{}",
        check.because
    );
    let config = resolved("2.1.0", &[(ROOT, NVIDIA_V2)]);
    let check = cri_view(&config).check(&config, "nvidia");
    assert_eq!(check.resolves, Answer::Yes, "{check:?}");
    assert_eq!(
        check
            .provenance
            .map(|place| (place.bundle_path, place.line)),
        Some((format!("nodes/n/rootfs{ROOT}"), 2))
    );
}

#[test]
fn an_import_replaces_the_cri_section_in_1_7_and_is_merged_in_2() {
    let root = root_with_import(
        "[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"mine\"\n\
         [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n",
    );
    let files = [(ROOT, root.as_str()), (DROP_IN, NVIDIA_V2)];
    let old = resolved("1.7.24", &files);
    assert!(
        old.problems
            .iter()
            .any(|problem| matches!(problem, ConfigProblem::SectionReplaced { lost: 2, .. }))
    );
    assert!(
        cri_view(&old)
            .problems
            .iter()
            .any(|problem| problem.effect() == Effect::CriRefuses)
    );
    let new = resolved("2.1.9", &files);
    let cri = cri_view(&new);
    assert_eq!(
        cri.available,
        Answer::Yes,
        "{:?} {:?}",
        new.problems,
        cri.problems
    );
    assert_eq!(cri.sandbox_image.value, "mine");
    assert_eq!(cri.handlers.keys().collect::<Vec<_>>(), ["nvidia", "runc"]);
}

#[test]
fn a_version_2_drop_in_below_a_version_3_root_loses_its_runtimes_in_2_1() {
    let root = "version = 3\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n\
                [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\nruntime_type = 'io.containerd.runc.v2'\n";
    let config = resolved("2.1.9", &[(ROOT, root), (DROP_IN, NVIDIA_V2)]);
    let check = cri_view(&config).check(&config, "nvidia");
    assert_eq!(check.resolves, Answer::No);
    assert!(
        check
            .because
            .contains("/etc/containerd/conf.d/99-nvidia.toml:3 sets it"),
        "{}",
        check.because
    );
}

#[test]
fn a_version_3_drop_in_keeps_a_version_2_root_from_being_migrated() {
    let root =
        root_with_import("[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"mine\"\n");
    let drop_in = "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]\nruntime_type = 'x'\n";
    let config = resolved("2.1.9", &[(ROOT, root.as_str()), (DROP_IN, drop_in)]);
    assert!(config.problems.iter().any(|problem| matches!(
        problem,
        ConfigProblem::DropInVersionHigher { refused: false, .. }
    )));
    assert!(
        config
            .problems
            .iter()
            .any(|problem| matches!(problem, ConfigProblem::IgnoredTable { .. }))
    );
    assert_ne!(cri_view(&config).sandbox_image.value, "mine");
    let refused = resolved("2.3.1", &[(ROOT, root.as_str()), (DROP_IN, drop_in)]);
    assert_eq!(refused.starts(), Starts::No);
}

#[test]
fn a_type_error_and_a_syntax_error_stop_the_daemon_at_their_line() {
    let typed = resolved(
        "1.7.1",
        &[(ROOT, "version = 2\ndisabled_plugins = \"cri\"\n")],
    );
    assert!(
        matches!(typed.problems.as_slice(), [ConfigProblem::WrongType { place, .. }] if place.line == 2)
    );
    let broken = resolved("2.0.1", &[(ROOT, "version = 3\n[plugins\n")]);
    assert!(
        matches!(broken.problems.as_slice(), [ConfigProblem::NotToml { place, .. }] if place.line == 2)
    );
    assert_eq!((typed.starts(), broken.starts()), (Starts::No, Starts::No));
}

#[test]
fn the_cri_plugin_is_off_where_the_packaged_docker_config_says_so() {
    for version in ["1.6.20", "1.7.24", "2.1.9"] {
        let config = resolved(version, &[(ROOT, "disabled_plugins = [\"cri\"]\n")]);
        let cri = cri_view(&config);
        assert_eq!(cri.available, Answer::No, "{version}");
        assert!(
            cri.problems
                .iter()
                .any(|problem| problem.effect() == Effect::CriDisabled),
            "{version}"
        );
    }
}

#[test]
fn what_was_not_captured_makes_an_answer_unknown() {
    let mut tree = MapTree::new();
    tree.add(ROOT, "r", &root_with_import(""));
    let config = resolve(
        &tree,
        RootFile {
            path: ROOT,
            explicit: true,
        },
        Some("2.1.9"),
    );
    assert_eq!(config.starts(), Starts::Unknown);
    assert_eq!(
        cri_view(&config).check(&config, "nvidia").resolves,
        Answer::Unknown
    );
}

#[test]
fn an_absent_default_file_means_built_in_settings() {
    let config = resolve(
        &MapTree::whole(),
        RootFile {
            path: ROOT,
            explicit: false,
        },
        Some("1.7.0"),
    );
    assert!(config.built_in);
    let cri = cri_view(&config);
    assert_eq!(cri.check(&config, "").resolves, Answer::Yes);
    assert_eq!(cri.check(&config, "nvidia").resolves, Answer::No);
}

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

#[test]
fn cyclic_imports_end() {
    let a = "version = 2\nimports = [\"/b.toml\", \"/a.toml\", \"*.toml\"]\n";
    let b = "version = 2\nimports = [\"a.toml\", \"./b.toml\", \"/c/../a.toml\"]\n";
    for version in ["1.7.24", "2.1.9", "2.3.0"] {
        let config = resolved(version, &[("/a.toml", a), ("/b.toml", b)]);
        assert_eq!(config.files.len(), 2, "{version}");
        assert_eq!(
            config.starts(),
            Starts::Yes,
            "{version} {:?}",
            config.problems
        );
    }
}

#[test]
fn real_configurations_resolve_without_complaint() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/data/containerd-config");
    if !dir.is_dir() {
        println!("skipped: {} is absent", dir.display());
        return;
    }
    let mut pending = vec![dir];
    let (mut clean, mut templates) = (0, 0);
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(&at)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if entry.is_dir() {
                pending.push(entry);
                continue;
            }
            let name = entry.file_name().unwrap().to_str().unwrap().to_owned();
            if !name.contains("containerd")
                || name.ends_with(".json")
                || name.contains("service")
                || name.contains("soci")
                || name.ends_with(".conf")
            {
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&entry).unwrap()).into_owned();
            for version in ["1.6.20", "1.7.24", "2.1.9", "2.3.5"] {
                let config = resolved(version, &[(ROOT, &text)]);
                let malformed = config
                    .problems
                    .iter()
                    .any(|problem| matches!(problem, ConfigProblem::NotToml { .. }));
                if malformed {
                    // Templates and Bottlerocket's head of extensions are no TOML, for containerd neither.
                    assert!(
                        text.contains("{{") || text.contains("+++"),
                        "{name}: {:?}",
                        config.problems
                    );
                    templates += 1;
                    continue;
                }
                let fits = config
                    .containerd
                    .release
                    .max_schema()
                    .is_none_or(|max| config.schema <= max);
                assert!(
                    !fits || config.starts() == Starts::Yes,
                    "{name} {version}: {:?}",
                    config.problems
                );
                clean += 1;
            }
        }
    }
    println!("{clean} resolutions without complaint, {templates} of templates");
    assert!(clean > 0);
}

proptest::proptest! {
    #[test]
    fn no_configuration_makes_the_resolver_panic(
        root in "(version = [0-4]\n|imports = \\[\"[a-c*/\\[.]{1,8}\"\\]\n|\\[plugins\\.(cri|\"io.containerd.grpc.v1.cri\"|'io.containerd.cri.v1.runtime')(\\.containerd(\\.runtimes(\\.nvidia)?)?)?\\]\n|[a-z_]{1,8} = (1|\"x\"|true|\\[\\]|\\{\\})\n|runtimes = 3\n|cni = \"x\"\n){0,12}",
        other in "\\PC*",
        version in proptest::sample::select(vec!["1.6.0", "1.7.0", "2.0.0", "2.3.0", "?"]),
    ) {
        let config = resolved(version, &[("/a/root.toml", &root), ("/a/b", &other), ("/a/c", &root)]);
        let cri = cri_view(&config);
        for name in ["", "nvidia", "runc"] {
            let _ = cri.check(&config, name);
        }
        let again = resolved(version, &[("/a/root.toml", &root), ("/a/b", &other), ("/a/c", &root)]);
        proptest::prop_assert_eq!(config, again);
    }

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
