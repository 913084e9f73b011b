//! The whole road on real parts: real containerd, ufw, iptables and journal, the replayed API, the
//! collector as it runs in the field, then the analyzer.

use std::path::PathBuf;
use std::process::Command;

use casefile_bundle::Outcome;
use casefile_tests::bins;
use casefile_tests::expected::Expected;
use serde_json::Value;

use crate::support::{diagnose, entry, manifest, on_node, paths, run_in, shared_folder, skip};
use crate::support::{source, told};

const NODE: &str = "nodes/192-18-132-31";

/// Collects on the lab's node in a state; `None` with a line that says why where it cannot be built.
fn collect_in(
    test: &str,
    state: &str,
    name: &str,
    prepare: &str,
) -> Option<(tempfile::TempDir, PathBuf)> {
    let folder = shared_folder();
    let script = format!(
        "{prepare}\nexec casefile-collector collect -o /shared/bundle.tar.gz --since 3650d --progress plain"
    );
    let ended = on_node(test, state, name, folder.path(), &script)?;
    assert!(matches!(ended.code, 0 | 4), "{ended:?}");
    let bundle = folder.path().join("bundle.tar.gz");
    Some((folder, bundle))
}

/// One line of a file with one JSON object a line.
fn object(text: &str, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    let lines = text.lines().map(|line| line.trim_end_matches(','));
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .find(fits)
}

#[test]
fn both_containerd_instances_the_kubelet_and_what_was_logged_are_found_at_their_real_places() {
    let test =
        "both_containerd_instances_the_kubelet_and_what_was_logged_are_found_at_their_real_places";
    let state = "toolkit-wrong-containerd";
    let Some((_folder, bundle)) = collect_in(test, state, "snap-1-before.jsonl.gz", "") else {
        return;
    };
    let manifest = manifest(&bundle);
    for id in [
        "containerd_config",
        "journal",
        "firewall",
        "cluster_objects",
        "helm_releases",
    ] {
        let (outcome, text) = told(source(&manifest, id));
        assert!(
            matches!(outcome, Outcome::Collected | Outcome::Partial),
            "{id}: {outcome:?} {text}"
        );
    }
    let (outcome, text) = told(source(&manifest, "nvidia_smi"));
    assert_eq!(outcome, Outcome::Skipped, "{text}");

    let instances = entry(&bundle, &format!("{NODE}/containerd.json"));
    let snap = "/var/lib/k8s-containerd/k8s-containerd";
    let found = object(&instances, |each| {
        each["socket"] == format!("{snap}/run/containerd/containerd.sock").as_str()
    });
    let found = found.unwrap_or_else(|| panic!("{instances}"));
    assert_eq!(
        found["config_path"],
        format!("{snap}/etc/containerd/config.toml").as_str()
    );
    assert_eq!(found["unit"], "snap.k8s.containerd.service");
    assert!(instances.contains("/etc/containerd/config.toml"));

    let processes = entry(&bundle, &format!("{NODE}/processes.json"));
    let kubelet = object(&processes, |each| each["comm"] == "kubelet").expect("the kubelet");
    assert!(
        kubelet["cmdline"]
            .to_string()
            .contains("--container-runtime-endpoint=")
    );

    let journals = paths(&bundle)
        .into_iter()
        .filter(|path| path.starts_with(&format!("{NODE}/journal/")));
    let logged: String = journals.map(|path| entry(&bundle, &path)).collect();
    assert!(logged.contains("failed to get sandbox runtime: no runtime for"));
    assert!(logged.contains("RunPodSandbox for &PodSandboxMetadata{Name:gpu-textgen"));
}

#[test]
fn the_whole_road_ends_at_the_expected_cause_in_each_state() {
    let test = "the_whole_road_ends_at_the_expected_cause_in_each_state";
    for (state, name) in [
        ("toolkit-wrong-containerd", "snap-1-before.jsonl.gz"),
        ("ufw-blocks-dns", "snap-2-dns.jsonl.gz"),
        ("fixed", "snap-3-after.jsonl.gz"),
    ] {
        let Some((folder, bundle)) = collect_in(test, state, name, "") else {
            return;
        };
        let expected = bins::checkout()
            .join("samples")
            .join(state)
            .join("expected.toml");
        let expected = Expected::load(&expected).unwrap();
        let unpacked = folder.path().join("unpacked");
        std::fs::create_dir(&unpacked).unwrap();
        let tar = [
            "-xzf",
            "bundle.tar.gz",
            "-C",
            "unpacked",
            "--strip-components=1",
        ];
        let status = Command::new("tar")
            .args(tar)
            .current_dir(folder.path())
            .status()
            .unwrap();
        assert!(status.success());
        let differences = expected.differences(&unpacked, &diagnose(&bundle));
        assert!(
            differences.is_empty(),
            "{state}:\n{}",
            differences.join("\n")
        );
        let report = run_in(
            bins::ANALYZER,
            folder.path(),
            &["report", "bundle.tar.gz", "-o", "out"],
        );
        assert_eq!(report.code, 0, "{report:?}");
    }
}

#[test]
fn a_node_with_a_gpu_has_its_nvidia_smi_taken() {
    let test = "a_node_with_a_gpu_has_its_nvidia_smi_taken";
    let capture = bins::checkout().join("../shared/data/nvidia-smi/telegraf/a100-sxm4-v12.xml");
    let Ok(xml) = std::fs::read_to_string(capture) else {
        return skip(test, "../shared/data is absent");
    };
    // A stand-in that prints what a real one printed.
    let prepare = format!(
        "cat > /usr/local/bin/nvidia-smi.xml <<'END'\n{xml}\nEND\n\
         printf '#!/bin/sh\\ncat /usr/local/bin/nvidia-smi.xml\\n' > /usr/local/bin/nvidia-smi\n\
         chmod +x /usr/local/bin/nvidia-smi"
    );
    let Some((_folder, bundle)) = collect_in(test, "fixed", "snap-3-after.jsonl.gz", &prepare)
    else {
        return;
    };
    let found = paths(&bundle).into_iter().any(|path| {
        path.starts_with(&format!("{NODE}/commands/nvidia-smi"))
            && entry(&bundle, &path).contains("A100-SXM4")
    });
    assert!(found, "{:?}", paths(&bundle));
}

#[test]
fn blocked_packets_and_the_rules_that_dropped_them_are_taken() {
    let test = "blocked_packets_and_the_rules_that_dropped_them_are_taken";
    let Some((_folder, bundle)) = collect_in(test, "ufw-blocks-dns", "snap-2-dns.jsonl.gz", "")
    else {
        return;
    };
    let kernel = paths(&bundle)
        .into_iter()
        .find(|path| path.contains("/journal/") && path.contains("kernel"));
    let kernel = entry(&bundle, &kernel.expect("a kernel journal"));
    assert!(
        kernel.contains("[UFW BLOCK] IN=lxc4f39491e6165 OUT=eno1"),
        "{kernel}"
    );
    let commands: String = paths(&bundle)
        .into_iter()
        .filter(|path| path.starts_with(&format!("{NODE}/commands/")) && path.ends_with(".out"))
        .map(|path| entry(&bundle, &path))
        .collect();
    assert!(commands.contains("Default: deny (incoming), allow (outgoing), deny (routed)"));
    assert!(commands.contains(":FORWARD DROP [2:90]"), "{commands}");
}
