//! Whether two bundles belong to one site, and are in order.

use casefile_bundle::Entry;

use crate::change::captured::Captured;
use crate::join::cluster_uid;
use crate::model::Analysis;

/// What speaks against comparing the two.
pub(super) struct Warnings {
    pub(super) sentences: Vec<String>,
    /// False where the two are of different nodes or clusters.
    pub(super) together: bool,
}

pub(super) fn warnings(
    before: &Analysis,
    after: &Analysis,
    old: &mut Captured,
    new: &mut Captured,
) -> Warnings {
    let mut sentences = Vec::new();
    let mut together = true;
    if let (Some(first), Some(second)) = (&before.input.node, &after.input.node)
        && first != second
    {
        together = false;
        sentences.push(format!(
            "the bundles are of different nodes: {first} and {second}"
        ));
    }
    match (cluster(old), cluster(new)) {
        (Some(first), Some(second)) if first != second => {
            together = false;
            sentences.push(format!(
                "the bundles are of different clusters: kube-system has the uid {first} in one and {second} in the other"
            ));
        }
        (None, _) | (_, None) => sentences.push(
            "whether both are of one cluster cannot be told: one of them holds no namespaces"
                .into(),
        ),
        _ => {}
    }
    if let (Some(first), Some(second)) = (before.reference_time, after.reference_time)
        && second < first
    {
        sentences.push(format!(
            "the second bundle is older ({second}) than the first ({first}); are they in the right order?"
        ));
    }
    for (which, input) in [("first", &before.input), ("second", &after.input)] {
        if input.cut_short || input.interrupted.is_some() {
            sentences.push(format!("the {which} bundle is not complete"));
        }
    }
    if let (Some(first), Some(second)) = (boot(old), boot(new))
        && first != second
    {
        sentences.push("the node was booted between the two bundles".into());
    }
    Warnings {
        sentences,
        together,
    }
}

/// The uid of the namespace kube-system, which stands for the cluster.
fn cluster(state: &mut Captured) -> Option<String> {
    cluster_uid(&state.before(&Entry::List("namespaces").path())?)
}

fn boot(state: &mut Captured) -> Option<String> {
    let node = state.only_node()?;
    state.before(&Entry::Rootfs(&node, "proc/sys/kernel/random/boot_id").path())
}
