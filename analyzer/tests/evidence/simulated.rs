//! Confirmed causes of real captures, each judged by a person: whether it rests on what was worked out (a story of Xids, an
//! inventory, a packet's way, a configuration, a fit of a pod), and what the capture itself says of that.

use std::collections::BTreeSet;

use casefile_analyzer::model::Verdict;

use crate::{analyzer, shared, verdicts};

/// A cause that the analysis of a capture may call so sure and no surer.
struct Judged {
    /// Folder below `../shared/captures`.
    capture: &'static str,
    cause: &'static str,
    most: Verdict,
    /// What was worked out for it; nothing where lines of the capture say it.
    worked_out: Option<&'static str>,
    /// What the capture itself says: it bears the cause out, or the cause is withdrawn to `most`.
    capture_says: &'static str,
}

const JUDGED: &[Judged] = &[
    Judged {
        capture: "nbr-840m-lost",
        cause: "gpu-fallen-off-bus",
        most: Verdict::Confirmed,
        worked_out: Some("the story of its Xids"),
        capture_says: "so: nvidia-smi calls the GPU lost, and lspci reads nothing but ones from it (rev ff)",
    },
    Judged {
        capture: "nbr-850m-no-module",
        cause: "driver-not-installed",
        most: Verdict::Confirmed,
        worked_out: Some("GPUs of the PCI bus against modules"),
        capture_says: "so: lspci names nvidiafb and nouveau as the modules there are, and the desktop's settings say that the driver is not loaded",
    },
    Judged {
        capture: "nbr-fedora-nouveau-1050ti",
        cause: "conflicting-gpu-kernel-driver",
        most: Verdict::Confirmed,
        worked_out: Some("which driver holds which GPU"),
        capture_says: "so: the kernel says that nouveau obtained ownership and that no NVIDIA device was probed",
    },
    Judged {
        capture: "nbr-960m-vbios",
        cause: "gpu-init-failed",
        most: Verdict::Confirmed,
        worked_out: None,
        capture_says: "so: RmInitAdapter failed, and nouveau reads no ROM either",
    },
    Judged {
        capture: "nbr-ls3-gpu2-mismatch",
        cause: "driver-library-version-mismatch",
        most: Verdict::Confirmed,
        worked_out: None,
        capture_says: "so: the kernel and NVML name both versions",
    },
    Judged {
        capture: "nbr-tania-secureboot",
        cause: "secure-boot-blocks-module",
        most: Verdict::Confirmed,
        worked_out: None,
        capture_says: "so: the kernel is locked down and refuses unsigned modules",
    },
    Judged {
        capture: "nbr-ada6000-xid31",
        cause: "application-gpu-fault",
        most: Verdict::Possible,
        worked_out: Some("the story of its Xids"),
        capture_says: "withdrawn: no program is named, and all was over 25 minutes before",
    },
    Judged {
        capture: "nbr-rtx3060ti-xid79-rebooted",
        cause: "gpu-fallen-off-bus",
        most: Verdict::Likely,
        worked_out: Some("the story of its Xids"),
        capture_says: "so: it fell off the bus in four boots; the GPU answers since the last start, so no more than likely",
    },
    Judged {
        capture: "dump-cka-nocni",
        cause: "network-plugin-not-deployed",
        most: Verdict::Confirmed,
        worked_out: Some("the mounts of all workloads and pods"),
        capture_says: "so: the kubelets wait for a network plugin, and kube-proxy is the only DaemonSet",
    },
    Judged {
        capture: "kubelet-alpine-rbac",
        cause: "kubelet-api-forbidden",
        most: Verdict::Confirmed,
        worked_out: None,
        capture_says: "so: every request of the kubelet's user is refused from start to end",
    },
    Judged {
        capture: "nbr-turing1-xid62",
        cause: "application-gpu-fault",
        most: Verdict::Possible,
        worked_out: Some("the story of its Xids"),
        capture_says: "withdrawn: a halt of the GPU's own controller under several programs is no fault of one of them",
    },
    Judged {
        capture: "dump-minikube-utf16",
        cause: "probe-ends-container",
        most: Verdict::Past,
        worked_out: Some("why a container ended"),
        capture_says: "withdrawn: the container is ready since",
    },
];

#[test]
fn a_confirmed_cause_of_a_capture_is_borne_out_by_it_or_withdrawn() {
    let test = "a_confirmed_cause_of_a_capture_is_borne_out_by_it_or_withdrawn";
    let Some(captures) = shared(test, "captures") else {
        return;
    };
    let analyzer = analyzer();
    let mut wrong = Vec::new();
    for capture in JUDGED
        .iter()
        .map(|one| one.capture)
        .collect::<BTreeSet<_>>()
    {
        let folder = captures.join(capture).join("capture");
        if !folder.is_dir() {
            println!("skipped: {test}: {capture} is not there");
            continue;
        }
        let inside = std::fs::read_dir(&folder).unwrap();
        let inside: Vec<_> = inside.map(|entry| entry.unwrap().path()).collect();
        let input = match inside.as_slice() {
            [only] => only,
            _ => &folder,
        };
        let analysis = analyzer.analyze(input).unwrap();
        let found = verdicts(&analysis);
        let own: Vec<&Judged> = JUDGED.iter().filter(|one| one.capture == capture).collect();
        let unjudged = found.iter().filter(|(cause, verdict)| {
            **verdict == Verdict::Confirmed && own.iter().all(|one| one.cause != **cause)
        });
        wrong.extend(unjudged.map(|(cause, _)| format!("{capture}: {cause} was judged by nobody")));
        for one in own {
            let verdict = found.get(one.cause);
            let told = verdict.map_or("not in play", |verdict| verdict.word());
            let by = one.worked_out.unwrap_or("lines of the capture");
            println!(
                "{capture}: {} is {told}, by {by}: {}",
                one.cause, one.capture_says
            );
            let surer = verdict.is_some_and(|verdict| *verdict < one.most);
            let lost = one.most == Verdict::Confirmed && verdict != Some(&Verdict::Confirmed);
            if surer || lost {
                wrong.push(format!(
                    "{capture}: {} is {told}: {}",
                    one.cause, one.capture_says
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
