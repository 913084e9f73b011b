//! Words and habits that kube-scheduler changed, and the release from which it has the newer ones.
//!
//! Those of v1.20 are compared with the real program (`tests/scheduler_real`); the steps between are dated by
//! the pull requests that made them.

use crate::scheduling::cluster::Release;

const fn minor(minor: u32) -> Release {
    patch(minor, 0)
}

const fn patch(minor: u32, patch: u32) -> Release {
    Release { minor, patch }
}

/// The scheduler no longer names the taint (kubernetes/kubernetes#134740, taken back to v1.34.2).
const TAINT_UNNAMED: Release = Release {
    minor: 34,
    patch: 2,
};
/// Taints in fewer words (kubernetes/kubernetes#109119).
const TAINT_SHORT: Release = minor(24);
/// The selector is named beside the affinity (kubernetes/kubernetes#97521).
const SELECTOR_NAMED: Release = minor(21);
/// Affinity to pods is no longer said twice.
const AFFINITY_ONCE: Release = minor(23);
/// The affinity that is said first ends in "rules".
const AFFINITY_RULES: Release = minor(21);
/// What preemption found is part of the sentence (kubernetes/kubernetes#107775).
const PREEMPTION: Release = minor(24);
/// What rejects a pod before nodes are looked at is said once and not counted by nodes.
const REJECTED_ONCE: Release = minor(26);
/// A resource of which the pod asks for nothing does not matter (kubernetes/kubernetes#116408).
const ZERO_SKIPPED: Release = minor(27);
/// A volume's node affinity in the words of a pod's (kubernetes/kubernetes#129887).
const VOLUME_AFFINITY: Release = minor(35);
/// A claim whose volume does not exist is a matter of nodes (kubernetes/kubernetes#105196).
const VOLUME_GONE: Release = minor(23);
/// The plugin for zones looks a claim's volume up before nodes are looked at, and rejects the pod where there is none
/// (`plugins/volumezone`, `PreFilter`: not in v1.26, in v1.27).
const VOLUME_LOOKED_UP: Release = minor(27);
/// A claim that only one pod may use, in words that name the node's part (kubernetes/kubernetes#129145).
const CLAIM_IN_USE: Release = minor(33);
/// Plugins narrow the nodes down before they are filtered (kubernetes/kubernetes#108648).
const NARROWED: Release = minor(24);
/// Nodes left out so are no candidates for preemption any more (kubernetes/kubernetes#119779), in the first release of each
/// minor version that has it; in later ones all do.
const NARROWED_LOST: [Release; 4] = [patch(27, 14), patch(28, 10), patch(29, 5), patch(30, 0)];
/// Nor is anything said of them again (kubernetes/kubernetes#125197), in the order of the list above.
const NARROWED_UNSAID: [Release; 4] = [patch(27, 15), patch(28, 11), patch(29, 6), patch(30, 2)];
/// The plugin that left them out is named (`SetAbsentNodesStatus`: not in v1.31, in v1.32).
const NARROWED_BY: Release = minor(32);
/// Pods that would not fit an empty node make preemption unhelpful (`plugins/noderesources`: not in v1.33, in v1.34).
const RESOURCE_LOST: Release = minor(34);
/// The plugin for device claims, which speaks first of preemption, knows nothing of a pod that was rejected before its
/// turn, and says so.
const REJECTED_UNKNOWN: Release = minor(34);

pub(super) fn taint(release: Release, key: &str, value: &str) -> String {
    if release >= TAINT_UNNAMED {
        "node(s) had untolerated taint(s)".to_owned()
    } else if release >= TAINT_SHORT {
        format!("node(s) had untolerated taint {{{key}: {value}}}")
    } else {
        format!("node(s) had taint {{{key}: {value}}}, that the pod didn't tolerate")
    }
}

pub(super) fn node_affinity(release: Release) -> &'static str {
    if release >= SELECTOR_NAMED {
        "node(s) didn't match Pod's node affinity/selector"
    } else {
        "node(s) didn't match Pod's node affinity"
    }
}

/// What older schedulers say of any affinity to pods before they say which.
pub(super) fn pod_affinity_first(release: Release) -> Option<&'static str> {
    if release >= AFFINITY_ONCE {
        None
    } else if release >= AFFINITY_RULES {
        Some("node(s) didn't match pod affinity/anti-affinity rules")
    } else {
        Some("node(s) didn't match pod affinity/anti-affinity")
    }
}

pub(super) fn volume_affinity(release: Release) -> &'static str {
    if release >= VOLUME_AFFINITY {
        "node(s) didn't match PersistentVolume's node affinity"
    } else {
        "node(s) had volume node affinity conflict"
    }
}

pub(super) fn volume_gone(release: Release) -> &'static str {
    if release >= VOLUME_GONE {
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    } else {
        "pvc(s) bound to non-existent pv(s)"
    }
}

/// What rejects a pod whose claim is bound to a volume that does not exist; nothing where each node is asked.
pub(super) fn volume_not_found(release: Release, volume: &str) -> Option<String> {
    (release >= VOLUME_LOOKED_UP).then(|| format!("persistentvolume \"{volume}\" not found"))
}

pub(super) fn claim_in_use(release: Release) -> &'static str {
    if release >= CLAIM_IN_USE {
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
    } else {
        "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    }
}

/// Whether a pod that names its nodes by `metadata.name` is not filtered on others at all.
pub(super) fn narrows(release: Release) -> bool {
    release >= NARROWED
}

/// What is said of nodes that were left out before filtering; nothing by some releases.
pub(super) fn narrowed(release: Release) -> &'static str {
    let mut said = NARROWED_LOST.iter().zip(NARROWED_UNSAID);
    if release >= NARROWED_BY {
        "node(s) didn't satisfy plugin(s) [NodeAffinity]"
    } else if said.any(|(from, until)| *from <= release && release < until) {
        "node is filtered out by the prefilter result"
    } else {
        ""
    }
}

/// Whether preemption passes over nodes that were left out before filtering.
pub(super) fn narrowed_lost(release: Release) -> bool {
    let mut lost = NARROWED_LOST.iter();
    lost.any(|from| *from <= release && release.minor == from.minor) || release >= minor(31)
}

/// Whether preemption passes over a node that offers less than the pod asks for.
pub(super) fn resource_lost(release: Release) -> bool {
    release >= RESOURCE_LOST
}

/// What is said of preemption for a pod whose volumes were refused before any node was looked at.
pub(in crate::scheduling) fn rejected_by_volumes(release: Release) -> Option<&'static str> {
    (release >= REJECTED_UNKNOWN).then_some("not found")
}

/// Whether the sentence says what preemption found.
pub(in crate::scheduling) fn tells_preemption(release: Release) -> bool {
    release >= PREEMPTION
}

/// Whether the sentence that tells of preemption ends in two dots: seen of v1.28.2 (kubernetes/kubernetes#121760), known
/// when v1.27 was out (#117588), mended in v1.30 (#123302). Whether v1.25 and v1.26 said so is not known.
pub(in crate::scheduling) fn doubles_dot(release: Release) -> bool {
    minor(27) <= release && release < minor(30)
}

/// Whether a reason that rejects the pod as a whole is said with the number of nodes.
pub(in crate::scheduling) fn counts_rejection(release: Release) -> bool {
    release < REJECTED_ONCE
}

/// Whether a pod that asks for anything is kept from nodes whose pods take more than there is, of whatever resource.
pub(super) fn looks_at_zero(release: Release) -> bool {
    release < ZERO_SKIPPED
}
