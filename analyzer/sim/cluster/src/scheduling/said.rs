//! What a scheduler said of a pod beside what is worked out here: where the two name other reasons, the cluster was
//! another when it was said, or something is not known here that the scheduler knows.

use std::collections::BTreeSet;

use super::verdict::{State, Verdict};

/// Whether the scheduler's sentence names the reasons that the verdict has; `None` where that cannot be compared: nothing
/// was said, the verdict is open, or a reason is none of kube-scheduler's own.
///
/// Reasons are compared by what they are about, so that releases with other words agree.
#[must_use]
pub fn agrees(said: &str, verdict: &Verdict) -> Option<bool> {
    let there = reasons(said)?;
    match verdict.state {
        State::Fits => Some(false),
        State::Unschedulable => {
            let here = reasons(&verdict.sentence)?;
            Some(here == there)
        }
        State::Undecided | State::Gated | State::NoNodes => None,
    }
}

/// The reasons of a sentence such as `0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu. preemption: ...`.
fn reasons(sentence: &str) -> Option<BTreeSet<String>> {
    let (_, rest) = sentence.split_once(" nodes are available: ")?;
    let ends = [
        ". preemption",
        ". no new claims",
        ". still not",
        ". not found",
        ". deallocation",
    ];
    let end = ends.iter().filter_map(|end| rest.find(end)).min();
    let own = rest.get(..end.unwrap_or(rest.len()))?.trim_end_matches('.');
    // Taints are written `{key: value}`, and a value may hold anything but a brace.
    let mut depth = 0_usize;
    let parts = own.split(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|part| about(part.trim())).collect()
}

/// What a reason is about; `None` if it is not one of kube-scheduler's.
fn about(reason: &str) -> Option<String> {
    let counted = reason.split_once(' ');
    let text = match counted {
        Some((count, rest)) if count.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => reason,
    };
    if let Some(resource) = text.strip_prefix("Insufficient ") {
        return Some(format!("resource {resource}"));
    }
    const KINDS: [(&str, &str); 17] = [
        ("Too many pods", "pods"),
        ("untolerated taint", "taint"),
        ("had taint", "taint"),
        ("were unschedulable", "cordon"),
        ("free ports", "port"),
        ("PersistentVolume's node affinity", "volume"),
        ("volume node affinity", "volume"),
        ("olume", "volume"),
        ("available disk", "volume"),
        ("pvc(s)", "volume"),
        ("topology spread", "spread"),
        ("pod affinity", "pods beside"),
        ("anti-affinity", "pods beside"),
        ("node affinity", "node affinity"),
        ("node selector", "node affinity"),
        ("[NodeAffinity]", "node affinity"),
        ("prefilter result", "node affinity"),
    ];
    let found = KINDS.iter().find(|(part, _)| text.contains(part));
    let devices = || text.contains("resourceclaim").then(|| "devices".to_owned());
    found.map(|(_, kind)| (*kind).to_owned()).or_else(devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(sentence: &str) -> Vec<String> {
        reasons(sentence).unwrap_or_default().into_iter().collect()
    }

    #[test]
    fn reasons_of_all_releases_are_about_the_same() {
        let old = "0/4 nodes are available: 1 node(s) had taint {a: b, c}, that the pod didn't tolerate, 3 node(s) didn't match Pod's node affinity.";
        assert_eq!(
            reasons(old),
            None,
            "the end of an old sentence on taints is no reason of its own"
        );
        let new = "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.";
        assert_eq!(named(new), ["resource nvidia.com/gpu", "taint"]);
        let named_taint = "0/4 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: a, b}, 3 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod.";
        assert_eq!(named(named_taint), named(new));
        assert_eq!(
            reasons("0/1 nodes are available: 1 node(s) did not pass the licence check."),
            None
        );
        assert_eq!(reasons("waiting for quota"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_sentence_is_too_odd(text in "(0/3 nodes are available: )?[ -~]{0,80}") {
            reasons(&text);
        }
    }
}
