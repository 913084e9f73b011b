//! The fix of the model incident, as trying it showed.

use crate::model::Verdict;
use crate::model::fix::*;

use super::{NODE, VALUES, strings};

pub(super) fn toolkit_fix() -> Fix {
    let name = |cause: &str, title: &str, verdict| CauseName {
        cause: cause.to_owned(),
        title: title.to_owned(),
        verdict,
    };
    let upgrade = "helm upgrade gpu-operator nvidia/gpu-operator -n gpu-operator --reuse-values -f \"./values.yaml\"";
    Fix {
        outcome: FixOutcome::Gone,
        claim: FixClaim::RemovesTheCause,
        not_shown: Vec::new(),
        costs: Vec::new(),
        why: "the containerd that the kubelet uses defines \"nvidia\"".to_owned(),
        gone: vec![name(
            "toolkit-configures-wrong-containerd",
            "the toolkit configured the wrong containerd",
            Verdict::Confirmed,
        )],
        remains: vec![name(
            "ufw-blocks-pod-traffic",
            "ufw drops the traffic of pods",
            Verdict::Likely,
        )],
        appears: vec![name(
            "containerd-running-with-stale-config",
            "containerd is older than its file",
            Verdict::Possible,
        )],
        opens: strings(&["new connections in on lxc+ and out on eno1"]),
        leaves_closed: Vec::new(),
        assumes: strings(&["the toolkit's pod restarts and writes its runtime"]),
        actions: vec![
            FixAction {
                text: "Upgrade the release with the changed values".to_owned(),
                node: None,
                by_hand: false,
                check: Some("helm status gpu-operator -n gpu-operator".to_owned()),
                checks: Some("the release is still at revision 1".to_owned()),
                dry_run: Some(format!("{upgrade} --dry-run")),
                command: Some(upgrade.to_owned()),
                expect: "the runtime nvidia is defined".to_owned(),
                roll_back: "helm rollback gpu-operator 1 -n gpu-operator".to_owned(),
                interrupts: "The toolkit's pod restarts".to_owned(),
            },
            FixAction {
                text: "Tell the owners of the node".to_owned(),
                node: Some(NODE.to_owned()),
                by_hand: true,
                check: None,
                checks: None,
                dry_run: None,
                command: None,
                expect: String::new(),
                roll_back: "nothing to take back".to_owned(),
                interrupts: String::new(),
            },
        ],
        files: vec![HandedFile {
            name: "values.yaml".to_owned(),
            what: "what changes, and nothing else".to_owned(),
            content: "toolkit:\n  env:\n    - name: CONTAINERD_CONFIG\n".to_owned(),
        }],
        deltas: vec![Delta {
            entry: VALUES.to_owned(),
            diff: format!(
                "--- captured/{VALUES}\n+++ changed/{VALUES}\n@@ -1 +1 @@\n-env: []\n+env:\n"
            ),
        }],
    }
}
