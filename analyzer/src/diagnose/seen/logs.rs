//! Which logs an input holds, and what kubelets say in them of their nodes.

use std::collections::BTreeSet;

use super::{figures, pods};
use crate::model::Logs;
use crate::parsers::Figure;
use crate::scan::pasted::UNNAMED_NODE;
use crate::scan::{Scanned, node_of};

/// The logs of an input.
pub(super) fn logs(scanned: &Scanned) -> Logs {
    let paths = || scanned.paths.iter().map(String::as_str);
    let nodes: BTreeSet<&str> = paths()
        .filter(|path| is_of_node(path))
        .map(node_of)
        .filter(|node| !node.is_empty() && *node != UNNAMED_NODE)
        .collect();
    let said = |what: &Figure| -> BTreeSet<&str> {
        let all = figures(scanned).filter(|(_, figure)| *figure == what);
        all.map(|(node, _)| node).collect()
    };
    let (ready, not_ready) = (said(&Figure::Ready), said(&Figure::NotReady));
    let pods: BTreeSet<(&str, &str)> = paths().filter_map(pods::of_log).collect();
    Logs {
        ready: ready
            .difference(&not_ready)
            .filter(|node| nodes.contains(*node))
            .count(),
        nodes: nodes.into_iter().map(str::to_owned).collect(),
        pods: pods.len(),
    }
}

/// Whether an entry is a log of the node itself.
fn is_of_node(path: &str) -> bool {
    ["/journal/", "/rootfs/var/log/", "/commands/dmesg"]
        .iter()
        .any(|folder| path.contains(folder))
}
