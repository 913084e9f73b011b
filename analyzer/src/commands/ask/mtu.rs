//! `ask mtu`: what becomes of a pod's largest packet on each way that can be followed.

use std::collections::BTreeSet;

use crate::cli::AskMtuArgs;
use crate::facts::network::PathMtu;
use crate::scan::Scanned;

pub(super) fn answer(scanned: &Scanned, args: &AskMtuArgs) -> Result<Vec<String>, String> {
    let rows = scanned.facts.table::<PathMtu>().iter().map(|row| &row.data);
    let all: BTreeSet<&str> = rows.clone().map(|row| row.node.as_str()).collect();
    let rows = rows.filter(|row| args.node.as_ref().is_none_or(|node| *node == row.node));
    let mut lines = Vec::new();
    for row in rows {
        let largest = row
            .largest
            .map_or_else(|| "not known".to_owned(), |bytes| format!("{bytes} bytes"));
        lines.push(format!(
            "node {}, {}: {}",
            row.node, row.question, row.verdict
        ));
        lines.push(format!(
            "  offered {} bytes, largest that gets through {largest}",
            row.offered
        ));
        if !row.because.is_empty() {
            lines.push(format!("  because {}", row.because));
        }
        let further = row.walk.iter().filter(|step| **step != row.because);
        lines.extend(further.map(|step| format!("  {step}")));
        lines.extend(row.open.iter().map(|open| format!("  open: {open}")));
    }
    if let (true, Some(node), false) = (lines.is_empty(), &args.node, all.is_empty()) {
        let all: Vec<&str> = all.into_iter().collect();
        return Err(format!(
            "no way of a packet of node {node} could be followed; of {} it can",
            all.join(", ")
        ));
    }
    if lines.is_empty() {
        return Err("no way of a pod's packet could be followed: it takes the links and routes of a node, and a pod on it whose link shows its size (Cilium sets sizes inside of pods)".to_owned());
    }
    Ok(lines)
}
