//! Disks that pods name themselves and that only one of them may use (the plugin VolumeRestrictions).

use super::{Predicate, Reason};
use crate::scheduling::api::{Disk, Pod, PodVolume};

/// A disk of the pod that a pod of the node holds in a way that excludes it.
pub(super) fn conflict(pod: &Pod, here: &[&Pod]) -> Option<Reason> {
    pod.spec.volumes.iter().find_map(|volume| {
        let holds = |other: &&&Pod| other.spec.volumes.iter().any(|held| excludes(volume, held));
        let holder = here.iter().find(holds)?;
        let detail = format!(
            "the disk of volume {} is held by {}",
            volume.name,
            holder.id()
        );
        let says = "node(s) had no available disk";
        Some(Reason::new(Predicate::Volume, says, detail).resolvable())
    })
}

/// Two that only read share a disk, except one of EBS.
fn excludes(a: &PodVolume, b: &PodVolume) -> bool {
    type Held = Option<Box<Disk>>;
    let both = |a: &Held, b: &Held, same: fn(&Disk, &Disk) -> bool, shared: bool| {
        let pair = a.as_deref().zip(b.as_deref());
        pair.is_some_and(|(a, b)| same(a, b) && !(shared && a.read_only && b.read_only))
    };
    let gce = |a: &Disk, b: &Disk| a.pd_name == b.pd_name;
    let ebs = |a: &Disk, b: &Disk| a.volume_id == b.volume_id;
    let iscsi = |a: &Disk, b: &Disk| a.iqn == b.iqn;
    both(&a.gce_persistent_disk, &b.gce_persistent_disk, gce, true)
        || both(
            &a.aws_elastic_block_store,
            &b.aws_elastic_block_store,
            ebs,
            false,
        )
        || both(&a.iscsi, &b.iscsi, iscsi, true)
        || both(&a.rbd, &b.rbd, same_image, true)
}

fn same_image(a: &Disk, b: &Disk) -> bool {
    fn pool(disk: &Disk) -> &str {
        if disk.pool.is_empty() {
            "rbd"
        } else {
            &disk.pool
        }
    }
    pool(a) == pool(b)
        && a.image == b.image
        && a.monitors.iter().any(|one| b.monitors.contains(one))
}
