//! The containerd resolver on the cases that people meet.

use super::problem::Effect;
use super::*;

pub(super) fn resolved(version: &str, files: &[(&str, &str)]) -> EffectiveConfig {
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

pub(super) const ROOT: &str = "/etc/containerd/config.toml";
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
fn releases_differ_in_relative_patterns_byte_order_marks_and_the_built_in_runc() {
    let root = "version = 2\nimports = [\"conf.d/*.toml\"]\n";
    let files = [(ROOT, root), (DROP_IN, NVIDIA_V2)];
    let reads = |version: &str| resolved(version, &files).files.len();
    assert_eq!(["1.7.12", "1.7.14", "2.1.9"].map(reads), [1, 2, 2]);
    assert_eq!(resolved("1.7.12", &files).starts(), Starts::Unknown);

    let marked = format!("\u{feff}{NVIDIA_V2}");
    let starts = |version: &str| resolved(version, &[(ROOT, marked.as_str())]).starts();
    assert_eq!(starts("2.1.9"), Starts::No);

    let root = root_with_import("");
    let files = [(ROOT, root.as_str()), (DROP_IN, NVIDIA_V2)];
    let has_runc = |version: &str| {
        let cri = cri_view(&resolved(version, &files));
        (cri.handlers.contains_key("runc"), cri.available)
    };
    assert_eq!(has_runc("1.4.13"), (true, Answer::Yes));
    assert_eq!(has_runc("1.6.20"), (false, Answer::No));
    assert_eq!(has_runc("2.1.9"), (true, Answer::Yes));
}

#[test]
fn without_a_release_a_newer_version_is_no_refusal() {
    let root = root_with_import("");
    let drop_in = "version = 3\n";
    let mut tree = MapTree::whole();
    tree.add(ROOT, "r", &root);
    tree.add(DROP_IN, "d", drop_in);
    let root = RootFile {
        path: ROOT,
        explicit: true,
    };
    assert_eq!(resolve(&tree, root, None).starts(), Starts::Unknown);
    assert_eq!(resolve(&tree, root, Some("1.7.24")).starts(), Starts::No);
    assert_eq!(resolve(&tree, root, Some("2.1.9")).starts(), Starts::Yes);
}

#[test]
fn an_unread_table_is_a_fault_only_where_something_is_lost() {
    let effects = |version: &str, text: &str| -> Vec<Effect> {
        let config = resolved(version, &[(ROOT, text)]);
        config.problems.iter().map(ConfigProblem::effect).collect()
    };
    // `disable_cgroup` is gone in 2.0, and false was what it is without it.
    let gone = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\ndisable_cgroup = false\n";
    assert_eq!(effects("2.1.9", gone), [Effect::Harmless]);
    assert_eq!(effects("1.7.24", gone), []);
    let runc = "version = 3\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n\
                runtime_type = \"io.containerd.runc.v2\"\n";
    assert_eq!(effects("2.1.9", runc), [Effect::Harmless]);
    let systemd = format!(
        "{runc}[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\nSystemdCgroup = true\n"
    );
    assert_eq!(effects("2.1.9", &systemd), [Effect::Ignored]);
    let config = resolved("2.1.9", &[(ROOT, systemd.as_str())]);
    assert!(
        config.problems[0]
            .to_string()
            .contains("SystemdCgroup of runtime handler runc"),
        "{}",
        config.problems[0]
    );
    // A file that states no version is read as version 1, where the table's name is another.
    let unversioned = NVIDIA_V2.replace("version = 2\n", "");
    assert_eq!(effects("1.7.24", &unversioned), [Effect::Ignored]);
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
        .join("../../../../shared/data/containerd-config");
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
}
