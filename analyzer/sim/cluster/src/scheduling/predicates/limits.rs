//! How many volumes a CSI driver attaches to a node (the plugin NodeVolumeLimits).

use std::collections::BTreeSet;

use super::{Predicate, Reason};
use crate::scheduling::api::{Node, Pod};
use crate::scheduling::cluster::Cluster;

/// What a pod's claims attach: driver and volume. A claim that is not bound yet counts by the provisioner of its class.
pub(super) fn attached(pod: &Pod, cluster: &Cluster<'_>) -> Vec<(String, String)> {
    let namespace = &pod.metadata.namespace;
    let claims = cluster.inputs.claims.iter().flatten();
    let volumes = cluster.inputs.volumes.iter().flatten();
    let classes = cluster.inputs.classes.iter().flatten();
    let of_claim = |name: String| {
        let own =
            |meta: &crate::scheduling::api::Meta| meta.namespace == *namespace && meta.name == name;
        let claim = claims.clone().find(|claim| own(&claim.metadata))?;
        let bound = &claim.spec.volume_name;
        if bound.is_empty() {
            let class = claim.spec.storage_class_name.as_deref()?;
            let class = classes.clone().find(|one| one.metadata.name == class)?;
            // Drivers that are part of Kubernetes have limits of their own, which are no CSINode's.
            let csi = !class.provisioner.starts_with("kubernetes.io/");
            return csi.then(|| (class.provisioner.clone(), format!("{namespace}/{name}")));
        }
        let volume = volumes.clone().find(|one| one.metadata.name == *bound)?;
        let csi = volume.spec.csi.as_ref()?;
        Some((csi.driver.clone(), csi.volume_handle.clone()))
    };
    let all: BTreeSet<(String, String)> = pod.claims().filter_map(of_claim).collect();
    all.into_iter().collect()
}

/// The driver of which the pod needs more volumes than the node can attach beside those of its pods.
pub(super) fn exceeded(
    wanted: &[(String, String)],
    node: &Node,
    here: &[&Pod],
    cluster: &Cluster<'_>,
) -> Option<Reason> {
    if wanted.is_empty() {
        return None;
    }
    let csi_nodes = cluster.inputs.csi_nodes.iter().flatten();
    let mut csi_nodes = csi_nodes.filter(|one| one.metadata.name == node.metadata.name);
    let drivers = &csi_nodes.next()?.spec.drivers;
    let mut held: BTreeSet<(String, String)> = BTreeSet::new();
    for pod in here {
        held.extend(attached(pod, cluster));
    }
    drivers.iter().find_map(|driver| {
        let most = driver.allocatable.as_ref()?.count?;
        let of_driver = |one: &&(String, String)| one.0 == driver.name;
        let more = wanted.iter().filter(of_driver);
        let more = more.filter(|one| !held.contains(one)).count();
        let now = held.iter().filter(of_driver).count();
        let sum = i64::try_from(now + more).unwrap_or(i64::MAX);
        (more > 0 && sum > most).then(|| {
            let detail = format!(
                "{} attaches {most} volumes to the node, {now} are attached and the pod needs {more} more",
                driver.name
            );
            let says = "node(s) exceed max volume count";
            Reason::new(Predicate::Volume, says, detail).resolvable()
        })
    })
}
