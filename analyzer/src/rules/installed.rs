//! What the installer of the driver logged, where the driver was loaded since.

use super::weigh::Over;
use crate::facts::gpu::GpuInventory;
use crate::facts::{Fact, Facts};
use crate::scan::patterns::Hit;

/// The installer writes its log anew at each run and quotes the kernel in it, also while the former driver's libraries
/// are still there.
const LOG: &str = "nvidia-installer.log";

/// Drivers that answer.
pub(super) struct Loaded<'a>(Vec<&'a Fact<GpuInventory>>);

impl<'a> Loaded<'a> {
    pub(super) fn of(facts: &'a Facts) -> Self {
        let inventories = facts.table::<GpuInventory>().iter();
        Self(inventories.filter(|one| one.data.listed > 0).collect())
    }

    /// What ended a trouble of the installer: nvidia-smi lists GPUs of that machine.
    pub(super) fn over(&self, hit: &Hit) -> Option<Over> {
        let path = hit.last_place.path.as_str();
        if !path.ends_with(LOG) {
            return None;
        }
        let node = crate::scan::node_of(path);
        let own = |one: &&&Fact<GpuInventory>| one.data.node.is_empty() || one.data.node == node;
        self.0.iter().find(own).map(|one| Over {
            says: format!(
                "it stands in the log of an installation, and the driver was loaded since: {}",
                one.data.says
            ),
            place: Some(one.place.clone()),
        })
    }
}
