//! What is claimed of the fixes of samples, beside what a person says of them.

use std::path::{Path, PathBuf};

use super::proofs::Fix;
use super::replay::{Claim, Proof};
use crate::diagnose::Analyzer;
use crate::rules;

/// Sample, cause, and what may be claimed of its fix; nothing where only a person can do it. All samples, and all causes
/// of each that are certain enough for a fix.
const JUDGED: &[(&str, &str, Option<Claim>)] = &[
    // Pods keep the name servers that they started with, until a person makes them anew.
    (
        "dns-loop",
        "dns-loop-systemd-resolved-stub",
        Some(Claim::NeedsARuntimeStep),
    ),
    // A reboot, which no file shows.
    (
        "driver-updated-under-load",
        "driver-library-version-mismatch",
        Some(Claim::NeedsARuntimeStep),
    ),
    // A pod whose probe fails for another reason stays.
    (
        "drop-in-without-runc",
        "containerd-import-overrides-cri-section",
        Some(Claim::RemovesTheCause),
    ),
    // A reset, which a person makes when nothing uses the GPU.
    (
        "ecc-row-remap",
        "gpu-ecc-uncorrectable",
        Some(Claim::NeedsARuntimeStep),
    ),
    // Whether the higher limit suffices is seen by running it.
    (
        "exporter-memory-limit",
        "monitoring-agent-oom-limit",
        Some(Claim::CannotBeShown),
    ),
    // The list without the metrics is no exporter that runs.
    (
        "exporter-profiling-geforce",
        "dcgm-profiling-unsupported-gpu",
        Some(Claim::RemovesTheCause),
    ),
    // A package, whose service answers only when it runs.
    (
        "fabric-manager-older",
        "fabric-manager-version-mismatch",
        Some(Claim::NeedsARuntimeStep),
    ),
    // A container that asks for less may need more.
    (
        "hami-gpumem-taken",
        "hami-gpumem-insufficient",
        Some(Claim::RemovesTheCause),
    ),
    // Two GPUs stay unhealthy, and a pod pending.
    (
        "inotify-instances",
        "inotify-instances-exhausted",
        Some(Claim::RemovesTheCause),
    ),
    // That a setting is set says nothing of the pods that lacked it.
    (
        "ip-forward-off",
        "ip-forward-disabled",
        Some(Claim::RemovesTheCause),
    ),
    // A dead kubelet is healed by its start, which no file shows.
    (
        "kubelet-bound-to-containerd",
        "kubelet-stopped-with-runtime-restart",
        Some(Claim::NeedsARuntimeStep),
    ),
    (
        "mig-monitor-not-granted",
        "mig-monitor-devices-not-granted",
        Some(Claim::RemovesTheCause),
    ),
    // That the job then needs no more is not shown.
    (
        "nccl-shared-memory",
        "shm-too-small",
        Some(Claim::RemovesTheCause),
    ),
    (
        "registry-mirrors-conflict",
        "containerd-registry-config-conflict",
        Some(Claim::RemovesTheCause),
    ),
    // The job asks for fewer GPUs and is still pending in what was captured; somebody loses half of them.
    (
        "request-exceeds-node",
        "gpu-request-exceeds-node",
        Some(Claim::RemovesTheCause),
    ),
    // The pod that waits for the plugin's GPUs is pending as before.
    (
        "rke2-chart-without-class",
        "runtimeclassname-missing",
        Some(Claim::RemovesTheCause),
    ),
    // The tenants agree on their shares.
    (
        "time-slicing-neighbour",
        "gpu-memory-shared-tenant-oom",
        None,
    ),
    // The firewall still drops the pods' traffic after it.
    (
        "toolkit-wrong-containerd",
        "toolkit-configures-wrong-containerd",
        Some(Claim::RemovesTheCause),
    ),
    // The handler is still missing after it.
    (
        "toolkit-wrong-containerd",
        "ufw-blocks-pod-traffic",
        Some(Claim::RemovesTheCause),
    ),
    // The way of the packet is worked out, on a cluster of one node; the pod that failed has ended, and nobody makes it anew.
    (
        "ufw-blocks-dns",
        "ufw-blocks-pod-traffic",
        Some(Claim::RemovesTheCause),
    ),
    // Whether the volume is then attached elsewhere is the driver's work.
    (
        "volume-of-lost-node",
        "stale-volumeattachment",
        Some(Claim::RemovesTheCause),
    ),
];

fn sample(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join("samples").join(name).join("bundle")
}

fn samples() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = std::fs::read_dir(root.join("samples")).unwrap();
    let with_bundle = folders
        .map(|one| one.unwrap().path())
        .filter(|one| one.join("bundle").is_dir());
    let mut names: Vec<String> = with_bundle
        .map(|one| one.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn fixes(analyzer: &Analyzer, name: &str) -> Vec<Fix> {
    let examined = analyzer.examine(&sample(name)).unwrap();
    super::proofs(analyzer, &examined).unwrap()
}

#[test]
fn nothing_is_claimed_that_the_replay_does_not_show() {
    let (set, _) = rules::load(None).unwrap();
    let analyzer = Analyzer::new(set).unwrap();
    for name in samples() {
        let fixes = fixes(&analyzer, &name);
        let claims: Vec<_> = fixes
            .iter()
            .map(|fix| {
                (
                    name.as_str(),
                    fix.cause.as_str(),
                    fix.best().map(Proof::claim),
                )
            })
            .collect();
        let judged: Vec<_> = JUDGED.iter().filter(|one| one.0 == name).copied().collect();
        assert_eq!(claims, judged, "{name}");
        let healed = fixes.iter().filter_map(Fix::best);
        let mut healed = healed.filter(|one| one.claim() == Claim::HealsTheWorkload);
        assert!(
            healed.all(|one| one.workload.runs() && one.remains.is_empty()),
            "{name}"
        );
    }
    let gpus = fixes(&analyzer, "request-exceeds-node");
    let cost: Vec<&String> = gpus
        .iter()
        .filter_map(Fix::best)
        .flat_map(|fix| fix.costs())
        .collect();
    assert!(
        cost.iter().any(|one| one.contains("instead of")),
        "{cost:?}"
    );
}

/// A bundle of a sample without one of its entries.
fn without(name: &str, left_out: &str, to: &Path) {
    let from = sample(name);
    let mut folders = vec![from.clone()];
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let inside = path.strip_prefix(&from).unwrap().to_owned();
            if path.is_dir() {
                std::fs::create_dir_all(to.join(&inside)).unwrap();
                folders.push(path);
            } else if inside != Path::new(left_out) {
                std::fs::copy(&path, to.join(&inside)).unwrap();
            }
        }
    }
}

#[test]
fn what_heals_a_cluster_of_one_node_heals_none_whose_nodes_are_not_known() {
    let (set, _) = rules::load(None).unwrap();
    let analyzer = Analyzer::new(set).unwrap();
    let pods = "cluster-resources/pods/default.json";
    for entry in ["", "cluster-resources/nodes.json", pods] {
        let folder = tempfile::tempdir().unwrap();
        without("ufw-blocks-dns", entry, folder.path());
        // As it was while the kubelet still started the pod's container again and again.
        if entry != pods {
            let list = folder.path().join(pods);
            let text = std::fs::read_to_string(&list).unwrap();
            let running = text.replace(r#""phase":"Failed""#, r#""phase":"Running""#);
            assert_ne!(text, running);
            std::fs::write(&list, running).unwrap();
        }
        let examined = analyzer.examine(folder.path()).unwrap();
        let fixes = super::proofs(&analyzer, &examined).unwrap();
        let claims: Vec<_> = fixes
            .iter()
            .filter_map(Fix::best)
            .map(Proof::claim)
            .collect();
        assert_eq!(
            claims.contains(&Claim::HealsTheWorkload),
            entry.is_empty(),
            "{entry}: {claims:?}"
        );
    }
}
