//! `ask schedule`: where a pending pod fits and why not elsewhere.

use crate::cli::AskScheduleArgs;
use crate::facts::scheduling::{NodeFit, PodFit};
use crate::scan::Scanned;
use crate::scheduling::api;

pub(super) fn answer(scanned: &Scanned, args: &AskScheduleArgs) -> Result<Vec<String>, String> {
    let name = args.pod.trim_start_matches("pod/");
    let (namespace, name) = name
        .split_once('/')
        .ok_or_else(|| format!("{} is not pod/NAMESPACE/NAME", args.pod))?;
    let mut fits = scanned.facts.table::<PodFit>().iter().map(|fit| &fit.data);
    let Some(fit) = fits.find(|fit| fit.namespace == namespace && fit.name == name) else {
        return not_pending(scanned, namespace, name);
    };
    let mut lines = vec![format!("verdict    {}", fit.state)];
    let said = [
        ("computed", &fit.sentence),
        ("scheduler", &fit.said),
        ("agree", &fit.agrees),
    ];
    let said = said.into_iter().filter(|(_, text)| !text.is_empty());
    lines.extend(said.map(|(what, text)| format!("{what:<10} {text}")));
    if !fit.fitting.is_empty() {
        lines.push(format!("fits on    {}", fit.fitting.join(", ")));
    }
    lines.extend(fit.open.iter().map(|open| format!("open       {open}")));
    let nodes = scanned.facts.table::<NodeFit>().iter().map(|one| &one.data);
    let own = nodes.filter(|one| one.namespace == namespace && one.pod == name);
    let asked = own.filter(|one| args.node.as_ref().is_none_or(|node| *node == one.node));
    lines.extend(asked.map(|one| format!("node {}: {} - {}", one.node, one.says, one.detail)));
    Ok(lines)
}

fn not_pending(scanned: &Scanned, namespace: &str, name: &str) -> Result<Vec<String>, String> {
    let mut pods = scanned
        .facts
        .table::<api::Pod>()
        .iter()
        .map(|pod| &pod.data);
    let pod = pods.find(|pod| pod.metadata.namespace == namespace && pod.metadata.name == name);
    match pod {
        Some(pod) if !pod.spec.node_name.is_empty() => Ok(vec![format!(
            "pod {namespace}/{name} is bound to node {}",
            pod.spec.node_name
        )]),
        Some(_) => Err(format!("pod {namespace}/{name} does not wait for a node")),
        None => Err(format!("pod {namespace}/{name} was not collected")),
    }
}
