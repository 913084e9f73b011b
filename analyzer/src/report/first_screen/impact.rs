//! Who is affected: counts and failing workloads, as short phrases.

use chrono::{DateTime, Utc};

use super::named;
use crate::model::state::NodeState;
use crate::model::{Analysis, Impact, ImpactedWorkload, Incident, Verdict};
use crate::report::blocks::Rich;
use crate::report::words;

/// Workloads that the first screen names.
const NAMED: usize = 3;

/// Counts that are printed together, a part and its whole: of nodes and GPUs, and of pods.
const NODES_AND_GPUS: [(&str, &str); 2] = [
    ("gpu_nodes_affected", "gpu_nodes"),
    ("gpus_allocatable", "gpus"),
];
const PODS: (&str, &str) = ("pods_unhealthy", "pods");

/// The failing workloads that a cause explains; those of unrelated causes are not its own.
pub(crate) fn workloads_of<'a>(
    incident: &Incident,
    analysis: &'a Analysis,
) -> Vec<&'a ImpactedWorkload> {
    let mut causes = analysis.differential.iter();
    let waits = causes.any(|one| one.cause == incident.cause && one.family == "scheduling");
    let workloads = analysis.impact.workloads.iter();
    workloads
        .filter(|workload| incident.subjects.contains(&workload.subject))
        // One that ran has found its node since.
        .filter(|workload| !waits || workload.restarts == 0)
        .collect()
}

/// `2 pods are failing (longest for 3 h 32 min)`.
pub(crate) fn failing(workloads: &[&ImpactedWorkload], now: Option<DateTime<Utc>>) -> String {
    let number = workloads.len() as u64;
    let are = |states: &[&str]| {
        let mut all = workloads.iter();
        all.all(|workload| states.contains(&workload.state.as_str()))
    };
    let state = match (are(&["Pending", "ContainerCreating"]), are(&["Running"])) {
        (true, _) => "waiting to start",
        (_, true) => "not ready",
        _ => "failing",
    };
    let mut text = format!(
        "{} {} {state}",
        words::count(number, "pod"),
        words::are(number)
    );
    let since = workloads.iter().filter_map(|workload| workload.since).min();
    if let (Some(since), Some(now)) = (since, now)
        && now >= since
    {
        let longest = if number == 1 { "" } else { "longest " };
        text = format!("{text} ({longest}for {})", words::span(now - since));
    }
    text
}

/// The failing workloads of the first cause.
pub(crate) fn hit(analysis: &Analysis) -> Vec<&ImpactedWorkload> {
    let first = analysis.incidents.first();
    if first.is_none_or(|first| first.verdict == Verdict::Possible) {
        let mut all: Vec<&ImpactedWorkload> = Vec::new();
        // Two files of one input may tell of a pod at two moments; the later one is read last.
        for one in &analysis.impact.workloads {
            match all.iter_mut().find(|known| known.subject == one.subject) {
                Some(known) => *known = one,
                None => all.push(one),
            }
        }
        // The one that the title names is read first.
        let named = analysis.unexplained.first().map(|one| &one.subject);
        all.sort_by_key(|one| Some(&one.subject) != named);
        return all;
    }
    let own = first.map_or_else(Vec::new, |first| workloads_of(first, analysis));
    if !own.is_empty() {
        return own;
    }
    // A cause whose pods are not known by name leaves only what fails and is not listed as unexplained.
    let all = analysis.impact.workloads.iter();
    // A pod that its line does not name may be any of those.
    let is_unnamed = |subject: &String| words::is_unnamed(subject);
    let is_open = first
        .is_some_and(|first| !first.subjects.is_empty() && first.subjects.iter().all(is_unnamed));
    all.filter(|one| is_open || !is_unexplained(one, analysis))
        .collect()
}

/// The row `Affected` of the first screen.
pub(super) fn affected(analysis: &Analysis) -> Rich {
    let first = analysis.incidents.first();
    // Where the title says that no failure was found, a sign of one hits nobody.
    let is_blind =
        words::is_blind(analysis) && analysis.unexplained.is_empty() && !words::is_calm(analysis);
    let shown = &hit(analysis);
    // A node that is down says why its pods are, and is read even where their names are cut.
    let mut text = not_ready(analysis);
    if !shown.is_empty() {
        text = text.text(format!("{}: ", failing(shown, analysis.reference_time)));
        text = names(text, shown);
        let others = analysis.impact.workloads.len() - shown.len();
        let is_sure = first.is_some_and(|first| first.verdict != Verdict::Possible);
        if others > 0 && is_sure {
            let others = others as u64;
            text = text.text(format!(
                "; {} for other reasons",
                words::count_more(others, "pod")
            ));
        }
        text = text.text(". ");
    } else if let Some(first) = first.filter(|first| {
        // A cause that is only possible affects nobody for sure; of lines alone their subject is all that is known.
        (first.verdict != Verdict::Possible || is_blind) && !first.subjects.is_empty()
    }) {
        let down = text.plain();
        let is_down = |subject: &str| {
            let node = subject.strip_prefix("node/");
            node.is_some_and(|node| down.contains(node))
        };
        let subjects = first.subjects.iter();
        let subjects =
            subjects.filter(|subject| !is_named_with_another(subject, first) && !is_down(subject));
        for (index, subject) in subjects.take(NAMED).enumerate() {
            text = text.text(if index == 0 { "" } else { ", " });
            // A bare name says nothing of what it names.
            let kind = subject.split('/').next().unwrap_or_default();
            text = text.text(match (kind, index) {
                ("node", 0) => "Node ",
                ("node", _) => "node ",
                ("pod", 0) if !words::is_unnamed(subject) => "Pod ",
                _ => "",
            });
            text = text.code(words::subject(subject));
        }
        text = text.text(". ");
    }
    // A cause that is only possible names no node for sure either.
    let is_sure = first.is_some_and(|first| first.verdict != Verdict::Possible);
    let is_down = nodes(analysis).any(|node| node.ready == Some(false));
    if is_sure || is_down || !shown.is_empty() {
        text = on_nodes(analysis, text, shown);
    }
    if is_sure || (is_blind && first.is_some()) {
        text = named::by_its_text(analysis, text);
    }
    if text.is_empty() {
        text = match is_sure {
            // That nothing else was seen to fail is no word on what the cause hits.
            true => Rich::from("Not known: no pod and no node is tied to it."),
            false => nobody(analysis),
        };
    }
    match gpus(analysis) {
        None => text,
        Some(gpus) => text.text(format!(" {gpus}.")).trimmed(),
    }
}

/// Whether a subject is a node whose name another subject has in its own: `GPU 0000:04:00 on gpu-1`.
fn is_named_with_another(subject: &str, incident: &Incident) -> bool {
    let Some(node) = subject.strip_prefix("node/") else {
        return false;
    };
    let ends = format!(" on {node}");
    let mut all = incident.subjects.iter();
    all.any(|other| words::subject(other).ends_with(&ends))
}

/// Families of causes that keep GPUs from work whatever Kubernetes counts.
const BREAKS_GPUS: [&str; 3] = ["driver", "gpu-hardware", "fabric"];

/// Families of causes that have nothing to do with how many GPUs are offered.
const NO_GPUS: [&str; 5] = ["network", "dns", "image", "storage", "workload"];

/// Whether a cause is about GPUs themselves, so that one that its lines name is hit.
pub(super) fn is_of_gpus(incident: &Incident, analysis: &Analysis) -> bool {
    let mut known = analysis.differential.iter();
    let own = known.find(|one| one.cause == incident.cause);
    let family = own.map_or("", |one| one.family.as_str());
    BREAKS_GPUS.contains(&family) || family == "gpu-sharing"
}

/// What is left of the GPUs, where the cause has to do with them.
pub(crate) fn gpus(analysis: &Analysis) -> Option<String> {
    let first = analysis.incidents.first()?;
    let get = |key: &str| analysis.impact.counts.get(key).copied();
    let free = get("gpus_allocatable")?;
    let family = |cause: &str| {
        let mut known = analysis.differential.iter();
        known
            .find(|one| one.cause == cause)
            .map(|one| one.family.as_str())
    };
    let one_node = get("gpu_nodes") == Some(1);
    let all = get("gpus").filter(|_| one_node);
    let count = words::count(all.unwrap_or(free), "GPU");
    let down = nodes(analysis).any(|node| node.ready == Some(false) && node.gpu);
    if down && free > 0 {
        return Some(format!("{count}, none usable while the node is NotReady"));
    }
    let is_sure = first.verdict != Verdict::Possible;
    let breaks = family(&first.cause).is_some_and(|family| BREAKS_GPUS.contains(&family));
    match all {
        _ if breaks && is_sure && free > 0 => Some(format!(
            "Kubernetes still offers {}, so new pods can start there and fail",
            words::count(free, "GPU")
        )),
        Some(all) if free > all => Some(format!("{count}, offered as {free} shares")),
        Some(all) if free < all => Some(format!("{free} of {count} allocatable")),
        // Beside a firewall that drops packets it would read as its work.
        None if free == 0 && !family(&first.cause).is_some_and(|own| NO_GPUS.contains(&own)) => {
            Some("0 GPUs allocatable".to_owned())
        }
        _ => None,
    }
}

/// The nodes of the first cause; where no cause is sure, those that are NotReady.
fn nodes(analysis: &Analysis) -> impl Iterator<Item = &NodeState> {
    let first = analysis.incidents.first();
    let sure = first.filter(|first| first.verdict != Verdict::Possible);
    analysis.state.nodes.iter().filter(move |node| match sure {
        Some(first) => first.subjects.contains(&format!("node/{}", node.name)),
        // Without a cause what is NotReady is what is affected.
        None => node.ready == Some(false),
    })
}

/// Says which nodes are not ready.
fn not_ready(analysis: &Analysis) -> Rich {
    let mut text = Rich::new();
    let down: Vec<&NodeState> = nodes(analysis)
        .filter(|node| node.ready == Some(false))
        .take(NAMED)
        .collect();
    for (index, node) in down.iter().enumerate() {
        let before = match (index, down.len()) {
            (0, 1) => "Node ",
            (0, _) => "Nodes ",
            (at, all) if at + 1 == all => " and ",
            _ => ", ",
        };
        text = text.text(before).code(node.name.clone());
    }
    match down.len() {
        0 => text,
        1 => text.text(" is NotReady. "),
        _ => text.text(" are NotReady. "),
    }
}

/// Names the other nodes of the first cause, else those that its pods run on.
fn on_nodes(analysis: &Analysis, mut text: Rich, shown: &[&ImpactedWorkload]) -> Rich {
    let plain = text.plain();
    let mut others: Vec<&str> = nodes(analysis).map(|node| node.name.as_str()).collect();
    if others.is_empty() {
        others = shown.iter().map(|one| one.node.as_str()).collect();
    }
    others.retain(|name| !name.is_empty() && !plain.contains(*name));
    others.sort_unstable();
    others.dedup();
    for name in others.into_iter().take(NAMED) {
        text = text.text("Node ").code(name).text(". ");
    }
    text.trimmed()
}

/// How a row begins that knows of nothing that fails.
const NOBODY: &str = "No failure was seen in this input";

/// What is said where nothing that fails is known, with what was seen to be well.
fn nobody(analysis: &Analysis) -> Rich {
    let well = well(analysis);
    Rich::from(match well.is_empty() {
        // What lines tell of may be a failure.
        true if words::is_blind(analysis)
            && !analysis.incidents.is_empty()
            && analysis.unexplained.is_empty() =>
        {
            "Not known: the input does not show the state of pods and nodes.".to_owned()
        }
        true if words::is_blind(analysis) => {
            format!("{NOBODY}. It does not show the state of pods and nodes.")
        }
        true => format!("{NOBODY}."),
        false => format!("{NOBODY}: {}.", words::join(&well)),
    })
}

/// Whether a row says that nothing is known to be failing.
pub(super) fn is_nobody(affected: &Rich) -> bool {
    affected.plain().starts_with(NOBODY)
}

/// Pods and nodes beside something else that fails, where all of them are well.
pub(super) fn beside(analysis: &Analysis) -> Option<Rich> {
    let well = well(analysis);
    let failing = analysis.unexplained.first()?;
    let subject = failing.subject.as_str();
    let is_other = !subject.starts_with("pod/") && !subject.starts_with("node/");
    (is_other && !well.is_empty()).then(|| {
        Rich::from(format!(
            "No pod and no node was seen to fail: {}.",
            words::join(&well)
        ))
    })
}

/// How many pods and nodes there are, where all of them are well.
fn well(analysis: &Analysis) -> Vec<String> {
    let get = |key: &str| analysis.impact.counts.get(key).copied();
    let mut well = Vec::new();
    if let (Some(all), Some(0)) = (get("pods"), get("pods_unhealthy"))
        && all > 0
    {
        well.push(format!(
            "{} {} healthy",
            words::count(all, "pod"),
            words::are(all)
        ));
    }
    if let Some(all) = get("containers_running") {
        let are = words::are(all);
        well.push(format!("{} {are} running", words::count(all, "container")));
    }
    let nodes = &analysis.state.nodes;
    if !nodes.is_empty() && nodes.iter().all(|node| node.ready == Some(true)) {
        let all = nodes.len() as u64;
        well.push(format!(
            "{} {} Ready",
            words::count(all, "node"),
            words::are(all)
        ));
    }
    well
}

/// Whether the report lists it under what no cause explains.
fn is_unexplained(workload: &ImpactedWorkload, analysis: &Analysis) -> bool {
    let mut left = analysis.unexplained.iter();
    !analysis.incidents.is_empty()
        && left.any(|one| one.subject == workload.subject || one.also.contains(&workload.subject))
}

fn names(mut text: Rich, workloads: &[&ImpactedWorkload]) -> Rich {
    for (index, workload) in workloads.iter().take(NAMED).enumerate() {
        text = text.text(if index == 0 { "" } else { ", " });
        text = text.code(words::subject(&workload.subject));
        let state = words::ill(&workload.state);
        let restarts = (workload.restarts > 0).then(|| words::count(workload.restarts, "restart"));
        let known = [Some(state), restarts].into_iter().flatten();
        let known: Vec<String> = known.filter(|one| !one.is_empty()).collect();
        if !known.is_empty() {
            text = text.text(format!(" ({})", known.join(", ")));
        }
    }
    match workloads.len().saturating_sub(NAMED) {
        0 => text,
        more => text.text(format!(", {more} more")),
    }
}

/// What was counted, as short phrases. What GPUs a node that is NotReady offers is no use to anybody.
pub(crate) fn counted(analysis: &Analysis) -> Vec<String> {
    let mut pairs = vec![NODES_AND_GPUS[0]];
    let mut gpu_nodes = analysis.state.nodes.iter().filter(|node| node.gpu);
    if gpu_nodes.all(|node| node.ready != Some(false)) {
        pairs.push(NODES_AND_GPUS[1]);
    }
    pairs.push(PODS);
    phrases(&analysis.impact, &pairs)
}

fn phrases(impact: &Impact, pairs: &[(&str, &str)]) -> Vec<String> {
    let get = |key: &str| impact.counts.get(key).copied();
    let mut parts = Vec::new();
    for &(part, whole) in pairs {
        let (Some(part_count), Some(all)) = (get(part), get(whole)) else {
            continue;
        };
        parts.push(match whole {
            // That no node is affected says little where single pods are.
            "gpu_nodes" if part_count == 0 => continue,
            "gpu_nodes" => format!("{part_count} of {} affected", words::count(all, "GPU node")),
            // Nothing is missing. Shared cards are offered in more pieces than there are, and nvidia-smi may have
            // run on one node of several.
            "gpus" if part_count >= all => continue,
            "gpus" => format!("{part_count} of {} allocatable", words::count(all, "GPU")),
            _ if part_count == 0 => format!("{all} of {} healthy", words::count(all, "pod")),
            _ => format!("{part_count} of {} not healthy", words::count(all, "pod")),
        });
    }
    // Without a count of the cards themselves, what the cluster can hand out still says something.
    if let (Some(free), None) = (get("gpus_allocatable"), get("gpus")) {
        parts.push(format!("{} allocatable", words::count(free, "GPU")));
    }
    parts
}
