//! A card and what is held of it.

use serde::{Deserialize, Serialize};

/// A card as HAMi's device plugin registers it, with what pods hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "lowercase")]
pub struct Card {
    /// UUID; of a MIG instance with its position in brackets.
    #[serde(alias = "ID")]
    pub id: String,
    /// Index on the node.
    pub index: u64,
    /// How many containers may share it (device-split-count).
    pub count: i64,
    /// Memory in MiB, with memory scaling already applied.
    pub devmem: i64,
    /// Cores in percent, with core scaling already applied.
    pub devcore: i64,
    /// Type, e.g. `NVIDIA-NVIDIA A100-SXM4-80GB`.
    #[serde(rename = "type")]
    pub kind: String,
    /// NUMA node.
    pub numa: i64,
    /// `hami-core`, `mig`, `mps`; empty from older plugins.
    pub mode: String,
    /// Healthy; the JSON form leaves out `false`.
    pub health: bool,
    /// Containers that hold a share.
    #[serde(skip)]
    pub used: i64,
    /// Memory held, in MiB.
    #[serde(skip)]
    pub used_memory: i64,
    /// Cores held, in percent.
    #[serde(skip)]
    pub used_cores: i64,
    /// Pods that hold a share.
    #[serde(skip)]
    pub holders: Vec<String>,
}

/// A container's share of a card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Share {
    /// UUID of the card.
    pub uuid: String,
    /// Memory in MiB.
    pub memory: i64,
    /// Cores in percent.
    pub cores: i64,
}

impl Card {
    /// Whether a UUID names this card or an instance of it.
    pub fn is(&self, uuid: &str) -> bool {
        let whole = uuid.split('[').next().unwrap_or(uuid);
        whole == self.id
    }

    /// Counts a share as held.
    pub fn take(&mut self, share: &Share, holder: &str) {
        self.used = self.used.saturating_add(1);
        self.used_memory = self.used_memory.saturating_add(share.memory);
        self.used_cores = self.used_cores.saturating_add(share.cores);
        if !self.holders.iter().any(|one| one == holder) {
            self.holders.push(holder.to_owned());
        }
    }

    /// Memory left, in MiB.
    pub fn free_memory(&self) -> i64 {
        self.devmem.saturating_sub(self.used_memory)
    }

    /// Cores left, in percent.
    pub fn free_cores(&self) -> i64 {
        self.devcore.saturating_sub(self.used_cores)
    }
}
