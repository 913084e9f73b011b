//! Captures of machines, and what is really wrong in each: nothing else may be confirmed or called likely.

use std::path::Path;

use casefile_analyzer::model::Verdict;

use crate::{Files, analyze, analyzer, shared, verdicts};

/// A capture, and what is wrong in it: the cause, how sure the capture makes one, and why it is really so.
struct Capture {
    path: &'static str,
    wrong: &'static [(&'static str, Verdict, &'static str)],
}

const fn well(path: &'static str) -> Capture {
    Capture { path, wrong: &[] }
}

/// Below `../shared/data`. Each was read by a person before it came into this table.
const CAPTURES: &[Capture] = &[
    Capture {
        path: "bundles/rancher-rke2-logs-2025-11-27.tar.gz",
        wrong: &[
            (
                "etcd-slow-disk",
                Verdict::Possible,
                "every pod and node is well, and etcd warns 345 times of requests over 100 ms, up to a second, and of a ReadIndex that took too long",
            ),
            (
                "mtu-mismatch",
                Verdict::Likely,
                "one veth has 1500, the others 1440 and the VXLAN device that it sends over 1450",
            ),
        ],
    },
    well("bundles/troubleshoot-kurl.tar.gz"),
    well("bundles/insights/cluster_hosts.tar.gz"),
    well("bundles/omc-archives/must-gather.tar"),
    well("bundles/omc-archives/must-gather.tar.gz"),
    well("bundles/omc-must-gather"),
    well("bundles/troubleshoot/baseline-preflight-v1beta2.tar.gz"),
    well("bundles/troubleshoot/baseline-supportbundle-2025-10.tar.gz"),
    well("bundles/troubleshoot/k3s-nginx-support-bundle.tar.gz"),
    well("bundles/troubleshoot/missing-version.tar.gz"),
    well("bundles/troubleshoot-extracted-sb"),
    well("containerd-config/bottlerocket"),
    well("containerd-config/containerd-1.6.20-debian-default.toml"),
    well("containerd-config/eks-ami"),
    well("containerd-config/insights"),
    well("firewall/insights"),
    well("firewall/jc"),
    well("gpu-host/gpud"),
    well("gpu-host/insights"),
    well("hostile-text/blns"),
    well("k8s-objects/insights"),
    well("kubelet-config/eks-ami"),
    well("kubelet-config/insights"),
    Capture {
        path: "logs/gpud",
        wrong: &[
            (
                "container-memory-limit-reached",
                Verdict::Likely,
                "oom-kill:constraint=CONSTRAINT_MEMCG of a container's group",
            ),
            (
                "node-out-of-memory",
                Verdict::Likely,
                "Out of memory: Killed process, without a group",
            ),
            (
                "gpu-ecc-uncorrectable",
                Verdict::Confirmed,
                "Xid 48 with 63 and 94 on one GPU in two of the kernel logs",
            ),
            (
                "gpu-row-remap-pending",
                Verdict::Confirmed,
                "Xid 63: a row is marked for remapping, reset the GPU to activate",
            ),
            (
                "gsp-firmware-timeout",
                Verdict::Confirmed,
                "Xid 119 five times in the log that is named after it",
            ),
        ],
    },
    well("logs/insights"),
    well("logs/jc"),
    well("logs/journald-export"),
    well("net-config/corefile"),
    well("net-config/insights"),
    well("net-config/jc"),
    Capture {
        path: "nvidia-smi/gpud",
        wrong: &[
            (
                "gpu-hw-power-brake",
                // Of several outputs in one folder only the first is read as nvidia-smi's; a line of the others has no speaker.
                Verdict::Likely,
                "the H100 machine shows HW Power Brake Slowdown as Active on all eight GPUs",
            ),
            (
                "gpu-row-remap-pending",
                Verdict::Confirmed,
                "the A10 shows Remapped Rows with Pending: Yes",
            ),
        ],
    },
    Capture {
        path: "nvidia-smi/insights",
        wrong: &[(
            "gpu-hw-power-brake",
            Verdict::Likely,
            "the mask of active clock event reasons is 0x84, and 0x80 is the power brake",
        )],
    },
    well("nvidia-smi/telegraf"),
    well("systemctl/insights"),
];

#[test]
fn of_captures_only_what_is_really_wrong_is_confirmed_or_likely() {
    let test = "of_captures_only_what_is_really_wrong_is_confirmed_or_likely";
    let Some(data) = shared(test, "data") else {
        return;
    };
    let analyzer = analyzer();
    let mut differences = Vec::new();
    for capture in CAPTURES {
        let input = data.join(capture.path);
        if !input.exists() {
            println!("{}: skipped, it is not there", capture.path);
            continue;
        }
        let is_text = input.is_file() && input.extension().is_some_and(|ending| ending == "toml");
        let analysis = if is_text {
            let text = std::fs::read(&input).unwrap();
            analyze(&analyzer, &Files::from([("text".to_owned(), text)]))
        } else {
            analyzer.analyze(&input).unwrap()
        };
        let found = verdicts(&analysis);
        let possible = found.values().filter(|one| **one == Verdict::Possible);
        println!("{}: {} possible", capture.path, possible.count());
        for (cause, verdict) in found.iter().filter(|(_, one)| **one <= Verdict::Likely) {
            let known = capture.wrong.iter().find(|(known, _, _)| known == cause);
            match known {
                Some((_, sure, why)) if verdict >= sure => {
                    println!("    {} {cause}, rightly: {why}", verdict.word());
                }
                _ => differences.push(format!("{}: {cause} is {}", capture.path, verdict.word())),
            }
        }
        for (cause, sure, why) in capture.wrong {
            if found.get(*cause).is_none_or(|verdict| verdict > sure) {
                differences.push(format!("{}: {cause} is not found: {why}", capture.path));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_node_that_was_mended_has_no_cause_in_play() {
    let fixed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/fixed/bundle");
    let found = verdicts(&analyzer().analyze(&fixed).unwrap());
    assert!(found.is_empty(), "{found:?}");
}
