//! Pods without what decides nothing: a large cluster has very many, and each would take several kilobytes.

use super::{Condition, Pod, PodVolume};

impl PodVolume {
    /// Whether it can keep a pod from a node.
    pub fn decides(&self) -> bool {
        let disks = [
            &self.gce_persistent_disk,
            &self.aws_elastic_block_store,
            &self.iscsi,
            &self.rbd,
        ];
        self.ephemeral
            || self.persistent_volume_claim.is_some()
            || disks.into_iter().any(Option::is_some)
    }
}

impl Condition {
    /// Whether it says that a change of what a pod asks for waits.
    pub fn is_of_resize(&self) -> bool {
        self.kind == "PodResizePending"
    }
}

impl Pod {
    /// Forgets what decides nothing about it or others: a large cluster has very many pods.
    pub fn slim(&mut self) {
        let (spec, status) = (&mut self.spec, &mut self.status);
        spec.volumes.retain(PodVolume::decides);
        spec.volumes.shrink_to_fit();
        spec.tolerations.shrink_to_fit();
        spec.containers.shrink_to_fit();
        spec.init_containers.shrink_to_fit();
        for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
            container.ports.shrink_to_fit();
        }
        if !spec.node_name.is_empty() {
            status.conditions.retain(Condition::is_of_resize);
        }
        status.conditions.shrink_to_fit();
        for states in [
            &mut status.container_statuses,
            &mut status.init_container_statuses,
        ] {
            states.retain(|one| one.resources.is_some());
            states.shrink_to_fit();
        }
    }
}
