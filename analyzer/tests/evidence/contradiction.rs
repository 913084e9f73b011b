//! Evidence that speaks against a cause weakens it.

use crate::{Files, Verdicts, analyze, analyzer, verdicts};

fn pasted(texts: &[&str]) -> Files {
    let named = texts.iter().zip(0..);
    named
        .map(|(text, number)| (format!("paste-{number}"), text.as_bytes().to_vec()))
        .collect()
}

/// Cause, what speaks for it, and what speaks against it.
const CONTRADICTED: &[(&str, &str, &str)] = &[
    (
        "containerd-cri-plugin-disabled",
        "[ERROR CRI]: rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService\n\
         $ grep disabled /etc/containerd/config.toml\ndisabled_plugins = [\"cri\"]\n",
        "containerd[900]: level=warning msg=\"failed to load plugin io.containerd.grpc.v1.cri\" error=\"invalid plugin config: `mirrors` cannot be set when `config_path` is provided\"\n",
    ),
    (
        "application-gpu-fault",
        "NVRM: Xid (PCI:0000:3b:00): 31, pid=5521, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS\n\
         RuntimeError: CUDA error: an illegal memory access was encountered\n",
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=5521, name=python, GPU has fallen off the bus.\n",
    ),
    (
        "nvlink-link-fault",
        "NVRM: Xid (PCI:0000:4a:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 2\n",
        "NVRM: GPU at PCI:0000:0f:00: GPU has fallen off the bus.\n",
    ),
    (
        "gpu-init-failed",
        "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0xffff:1220)\n\
         NVRM: GPU 0000:3b:00.0: rm_init_adapter failed, device minor number 0\n",
        "NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n",
    ),
    (
        "hami-not-installed",
        "0/3 nodes are available: 3 Insufficient nvidia.com/gpumem.\n$ kubectl get pods -A | grep vgpu\nNo resources found\n",
        "hami-scheduler-7d9c8b5f6-x2x4v   2/2   Running   0   3d\n",
    ),
];

#[test]
fn contradicting_evidence_weakens_a_cause_whichever_comes_first() {
    let analyzer = analyzer();
    let mut wrong = Vec::new();
    for (cause, for_it, against) in CONTRADICTED {
        let live = |texts: &[&str]| {
            let found: Verdicts = verdicts(&analyze(&analyzer, &pasted(texts)));
            found.get(*cause).copied()
        };
        let Some(alone) = live(&[for_it]) else {
            wrong.push(format!("{cause} is not seen without a contradiction"));
            continue;
        };
        for both in [live(&[for_it, against]), live(&[against, for_it])] {
            if both.is_some_and(|verdict| verdict <= alone) {
                wrong.push(format!(
                    "{cause}: {alone:?} stays {both:?} when contradicted"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
