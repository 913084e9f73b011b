//! The list of all sources. Adding one is a file beside this one, its `mod` line, its line in [`SOURCES`], and an entry in
//! `bundle/src/sources.rs`.

pub mod certificates;
pub mod cluster_events;
pub mod cluster_node_logs;
pub mod cluster_objects;
pub mod cluster_pod_logs;
pub mod container_runtimes;
pub mod containerd_config;
pub mod cri;
pub mod etcd;
pub mod firewall;
pub mod hardware;
pub mod helm_releases;
pub mod host_info;
pub mod infiniband;
pub mod journal;
pub mod kubelet_config;
pub mod network;
pub mod node_proxy;
pub mod nvidia_driver;
pub mod nvidia_fabric;
pub mod nvidia_smi;
pub mod nvml;
pub mod other_gpus;
pub mod packages;
pub mod pod_resources;
pub mod probe;
pub mod processes;
pub mod tasks;

use crate::options::Options;
use crate::source::Source;

/// Every source, in the order of their ids.
pub static SOURCES: &[&Source] = &[
    &certificates::SOURCE,
    &cluster_events::SOURCE,
    &cluster_node_logs::SOURCE,
    &cluster_objects::SOURCE,
    &cluster_pod_logs::SOURCE,
    &container_runtimes::SOURCE,
    &containerd_config::SOURCE,
    &cri::SOURCE,
    &etcd::SOURCE,
    &firewall::SOURCE,
    &hardware::SOURCE,
    &helm_releases::SOURCE,
    &host_info::SOURCE,
    &infiniband::SOURCE,
    &journal::SOURCE,
    &kubelet_config::SOURCE,
    &network::SOURCE,
    &node_proxy::SOURCE,
    &nvidia_driver::SOURCE,
    &nvidia_fabric::SOURCE,
    &nvidia_smi::SOURCE,
    &other_gpus::SOURCE,
    &packages::SOURCE,
    &pod_resources::SOURCE,
    &probe::SOURCE,
    &tasks::SOURCE,
];

/// A source that runs only where the user asks for it.
pub struct OptIn {
    /// The source.
    pub source: &'static Source,
    /// Whether the options ask for it.
    pub asked: fn(&Options) -> bool,
    /// How to ask for it.
    pub by: &'static str,
}

/// The sources that are off by default.
pub static OPT_IN: &[OptIn] = &[
    OptIn {
        source: &cluster_node_logs::SOURCE,
        asked: |options| !options.node_logs.is_empty(),
        by: "--node-logs NODE",
    },
    OptIn {
        source: &probe::SOURCE,
        asked: |options| options.probe || options.only.contains(probe::SOURCE.id),
        by: "--probe",
    },
];

/// The source of this id.
pub fn find(id: &str) -> Option<&'static Source> {
    SOURCES.iter().copied().find(|source| source.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_of_the_common_list_is_collected_here() {
        for about in casefile_bundle::sources::SOURCES {
            assert!(
                find(about.id).is_some(),
                "{0} stands in bundle/src/sources.rs: write sources/{0}.rs, its `mod` line and its line in SOURCES",
                about.id
            );
        }
    }

    #[test]
    fn ids_are_unique_sorted_and_fit_for_the_command_line() {
        let ids: Vec<_> = SOURCES.iter().map(|source| source.id).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(ids, sorted);
        for id in ids {
            assert!(
                id.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
                "{id}"
            );
        }
    }
}
