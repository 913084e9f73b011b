//! What is claimed of the fixes of samples, beside what a person says of them.

use std::path::{Path, PathBuf};

use super::proofs::Fix;
use super::replay::Claim;
use crate::diagnose::Analyzer;
use crate::rules;

/// Sample, cause, and what may be claimed of its fix.
const JUDGED: &[(&str, &str, Claim)] = &[
    // A dead kubelet is healed by its start, which no file shows.
    (
        "kubelet-bound-to-containerd",
        "kubelet-stopped-with-runtime-restart",
        Claim::NeedsARuntimeStep,
    ),
    // The job asks for fewer GPUs and is still pending in what was captured; somebody loses half of them.
    (
        "request-exceeds-node",
        "gpu-request-exceeds-node",
        Claim::RemovesTheCause,
    ),
    // The firewall still drops the pods' traffic after it.
    (
        "toolkit-wrong-containerd",
        "toolkit-configures-wrong-containerd",
        Claim::RemovesTheCause,
    ),
];

fn sample(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join("samples").join(name).join("bundle")
}

fn fixes(analyzer: &Analyzer, name: &str) -> Vec<Fix> {
    let examined = analyzer.examine(&sample(name)).unwrap();
    super::proofs(analyzer, &examined).unwrap()
}

#[test]
fn nothing_is_claimed_that_the_replay_does_not_show() {
    let (set, _) = rules::load(None).unwrap();
    let analyzer = Analyzer::new(set).unwrap();
    for (name, cause, claim) in JUDGED {
        let fixes = fixes(&analyzer, name);
        let own = fixes
            .iter()
            .find(|fix| fix.cause == *cause)
            .and_then(Fix::best);
        let own = own.unwrap_or_else(|| panic!("{name} has no fix of {cause}"));
        assert_eq!(own.claim(), *claim, "{name}");
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
