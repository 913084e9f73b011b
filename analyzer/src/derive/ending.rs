//! Why containers ended and pods were evicted: their status joined with kernel lines, events, boots and file systems.

use std::collections::{BTreeMap, HashMap};

use casefile_bundle::Entry;
use chrono::{DateTime, Utc};

use super::{Deriver, Known};
use crate::ending::memory::{Full, Kill};
use crate::ending::{Around, Said, boots, ending, eviction};
use crate::facts::ending::{ContainerEnded, PodEvicted};
use crate::facts::kube::{Event, Pod};
use crate::facts::{AnyFact, Fact};
use crate::parsers::{ContainerRun, HostLine, HostSays};

/// Joins runs that ended with what was said around them.
pub(super) static DERIVER: Deriver = Deriver {
    id: "ending",
    derive,
};

/// What was captured of a node.
#[derive(Default)]
struct Node<'a> {
    kills: Vec<Kill>,
    kill_lines: Vec<&'a Fact<HostLine>>,
    boots: Vec<DateTime<Utc>>,
    kernel_captured: bool,
}

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let nodes = nodes(known);
    let events = events_by_pod(known);
    let mut facts = Vec::new();
    let well = well_since(known);
    // Without a manifest the last event is as late as the capture is known to be.
    let said = known.facts.table::<Event>().iter();
    let now = known
        .now
        .or_else(|| said.filter_map(|event| event.data.last).max());
    for run in known.facts.table::<ContainerRun>() {
        let since = well.get(&(run.data.namespace.as_str(), run.data.pod.as_str()));
        facts.push(ended(run, &nodes, &events, outlived(&run.data, since, now)));
    }
    facts.extend(evictions(known, &events));
    facts
}

/// Kernel lines by node; of lines that two entries hold (the journal and a copy of it) the first is taken.
fn nodes<'a>(known: &Known<'a>) -> BTreeMap<String, Node<'a>> {
    let mut nodes: BTreeMap<String, Node<'a>> = BTreeMap::new();
    for name in known.nodes() {
        let kernel_captured = known.holds_any(&Entry::Journal(&name, "kernel").path())
            || known.holds_any(&Entry::Command(&name, "dmesg").path());
        let list = known
            .documents
            .get(&Entry::Printed(&name, "journal-boots").path());
        let listed = list.map_or_else(Vec::new, |text| boots::parse(text));
        let node = Node {
            kernel_captured,
            boots: listed.into_iter().map(|boot| boot.began).collect(),
            ..Node::default()
        };
        nodes.insert(name, node);
    }
    let mut limits: Vec<(&Fact<HostLine>, Kill)> = Vec::new();
    for line in known.facts.table::<HostLine>() {
        let node = nodes.entry(line.data.node.clone()).or_default();
        match (&line.data.says, line.data.kill()) {
            (_, Some(kill)) if kill.pid == 0 => limits.push((line, kill)),
            (HostSays::Boot, _) => node.boots.extend(line.data.at),
            (_, Some(kill)) => {
                let known = node
                    .kills
                    .iter()
                    .position(|one| one.pid == kill.pid && one.at == kill.at);
                // The summary line says more than the sentence after it.
                match known.or_else(|| same_pid(&node.kills, &kill)) {
                    Some(at) if node.kills[at].container.is_empty() => {
                        node.kills[at] = kill;
                        node.kill_lines[at] = line;
                    }
                    Some(_) => {}
                    None => {
                        node.kills.push(kill);
                        node.kill_lines.push(line);
                    }
                }
            }
            _ => {}
        }
    }
    for (line, limit) in limits {
        let node = nodes.entry(line.data.node.clone()).or_default();
        match killed_for(node, line) {
            Some(at) => {
                let kill = &mut node.kills[at];
                (kill.full, kill.container, kill.pod_uid) =
                    (limit.full, limit.container, limit.pod_uid);
                node.kill_lines[at] = line;
            }
            None => {
                node.kills.push(limit);
                node.kill_lines.push(line);
            }
        }
    }
    nodes
}

/// Lines between the groups of a kill and its process: the tables of memory and tasks.
const REPORT_LINES: u32 = 2000;

/// The kill that a line about its control groups belongs to: the next one in the same log, within a second where
/// both have a time.
fn killed_for(node: &Node<'_>, groups: &Fact<HostLine>) -> Option<usize> {
    let hits = node.kills.iter().zip(&node.kill_lines).enumerate();
    let after = hits.filter_map(|(at, (kill, line))| {
        let near = match (kill.at, groups.data.at) {
            (Some(one), Some(two)) => (one - two).num_seconds().abs() <= 1,
            _ => true,
        };
        let lines = line.place.line?.checked_sub(groups.place.line?)?;
        let same = line.place.path == groups.place.path && kill.full == Full::Unknown;
        (near && same && lines <= REPORT_LINES).then_some((lines, at))
    });
    after.min().map(|(_, at)| at)
}

/// The other line about one kill: the same process within a second.
fn same_pid(kills: &[Kill], kill: &Kill) -> Option<usize> {
    let near = |one: &Kill| match (one.at, kill.at) {
        (Some(one), Some(two)) => (one - two).num_seconds().abs() <= 1,
        _ => true,
    };
    kills
        .iter()
        .position(|one| one.pid == kill.pid && one.process == kill.process && near(one))
}

fn events_by_pod<'a>(known: &Known<'a>) -> HashMap<&'a str, Vec<&'a Fact<Event>>> {
    let mut events: HashMap<&str, Vec<&Fact<Event>>> = HashMap::new();
    for event in known.facts.table::<Event>() {
        if event.data.object.starts_with("pod/") {
            events
                .entry(event.data.object.as_str())
                .or_default()
                .push(event);
        }
    }
    events
}

/// When each pod that is well became so.
fn well_since<'a>(known: &Known<'a>) -> HashMap<(&'a str, &'a str), DateTime<Utc>> {
    let mut all = HashMap::new();
    for pod in known.facts.table::<Pod>().iter().map(|pod| &pod.data) {
        let name = (pod.namespace.as_str(), pod.name.as_str());
        all.entry(name).or_insert(pod.since.filter(|_| pod.healthy));
    }
    let well = all.into_iter();
    well.filter_map(|(name, since)| Some((name, since?)))
        .collect()
}

/// The pod is well, and has been for longer than twice the run that ended: whatever ended that one ends this one no more,
/// as far as the capture tells.
fn outlived(run: &ContainerRun, since: Option<&DateTime<Utc>>, now: Option<DateTime<Utc>>) -> bool {
    let took = run.run.finished.zip(run.run.started);
    took.zip(now.zip(since))
        .is_some_and(|((finished, started), (now, since))| now - since > (finished - started) * 2)
}

fn ended(
    run: &Fact<ContainerRun>,
    nodes: &BTreeMap<String, Node<'_>>,
    events: &HashMap<&str, Vec<&Fact<Event>>>,
    outlived: bool,
) -> AnyFact {
    let data = &run.data;
    let pod = format!("pod/{}/{}", data.namespace, data.pod);
    let events = events.get(pod.as_str()).map_or(&[][..], Vec::as_slice);
    let said: Vec<Said> = events
        .iter()
        .map(|event| Said {
            reason: event.data.reason.to_string(),
            message: event.data.message.to_string(),
            times: (event.data.first, event.data.last),
        })
        .collect();
    let none = Node::default();
    let node = nodes.get(&data.node).unwrap_or(&none);
    let found = ending(
        &data.run,
        Around {
            events: &said,
            kills: &node.kills,
            kernel_captured: node.kernel_captured,
            boots: &node.boots,
        },
    );
    // The line that shows the cause: the kernel's, the kubelet's event, or the status itself.
    let (place, text) = match (found.kill, found.event) {
        (Some(at), _) => (
            node.kill_lines[at].place.clone(),
            node.kill_lines[at].text.clone(),
        ),
        (None, Some(at)) => (events[at].place.clone(), events[at].text.clone()),
        (None, None) => (run.place.clone(), run.text.clone()),
    };
    let fact = ContainerEnded {
        namespace: data.namespace.clone(),
        pod: data.pod.clone(),
        container: data.run.name.clone(),
        node: data.node.clone(),
        init: data.init,
        cause: found.cause.word().to_owned(),
        because: crate::facts::excerpt(&found.because, 600),
        exit_code: data.run.exit_code,
        meaning: found.code.words,
        signal: found.code.signal,
        memory_limit: data.run.memory_limit.clone(),
        restarts: data.restarts,
        finished: data.run.finished,
        outlived: if outlived { "yes" } else { "no" },
    };
    Fact {
        data: fact,
        place,
        text,
        at: data.run.finished,
    }
    .into()
}

/// Evicted pods: by their events, which name the pod, and by status where no event is left.
fn evictions(known: &Known<'_>, events: &HashMap<&str, Vec<&Fact<Event>>>) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    let evicted = events.iter().filter_map(|(pod, events)| {
        let event = events.iter().find(|event| event.data.reason == "Evicted")?;
        Some((*pod, *event))
    });
    let with_event: BTreeMap<&str, &Fact<Event>> = evicted.collect();
    for (pod, event) in &with_event {
        let pod = pod.trim_start_matches("pod/");
        // A table that was pasted may not tell the namespace.
        let (namespace, name) = pod.split_once('/').unwrap_or(("", pod));
        let pods = known.facts.table::<Pod>().iter();
        let bound = pods.filter(|one| one.data.namespace == namespace && one.data.name == name);
        let node = bound
            .map(|one| one.data.node.clone())
            .next()
            .unwrap_or_default();
        let message = &event.data.message;
        facts.extend(
            evicted_fact(known, (namespace, name, &node), message).map(|data| {
                Fact {
                    data,
                    place: event.place.clone(),
                    text: event.text.clone(),
                    at: event.data.last,
                }
                .into()
            }),
        );
    }
    let mut seen = std::collections::BTreeSet::new();
    for run in known.facts.table::<ContainerRun>() {
        let data = &run.data;
        let pod = format!("pod/{}/{}", data.namespace, data.pod);
        let told = with_event.contains_key(pod.as_str()) || data.run.pod_reason != "Evicted";
        if told || !seen.insert(pod) {
            continue;
        }
        let about = (
            data.namespace.as_str(),
            data.pod.as_str(),
            data.node.as_str(),
        );
        facts.extend(
            evicted_fact(known, about, &data.run.pod_message).map(|fact| {
                Fact {
                    data: fact,
                    place: run.place.clone(),
                    text: "\"reason\":\"Evicted\"".into(),
                    at: data.run.finished,
                }
                .into()
            }),
        );
    }
    facts
}

fn evicted_fact(
    known: &Known<'_>,
    (namespace, pod, node): (&str, &str, &str),
    message: &str,
) -> Option<PodEvicted> {
    let found = eviction::parse(message)?;
    let storage = matches!(found.resource.as_str(), "ephemeral-storage" | "inodes");
    let filesystem = if storage && found.node_was_short {
        fullest(known, node, found.resource == "inodes")
    } else {
        String::new()
    };
    Some(PodEvicted {
        namespace: namespace.to_owned(),
        pod: pod.to_owned(),
        node: node.to_owned(),
        resource: found.resource,
        signal: found.signal,
        filesystem,
        threshold: found.threshold,
        available: found.available,
        own_limit: found.own_limit,
        node_was_short: found.node_was_short,
        message: crate::facts::excerpt(message, 400),
    })
}

/// Mount points that kubelets and runtimes keep their data below.
const DATA_MOUNTS: [&str; 9] = [
    "/",
    "/var",
    "/var/lib",
    "/var/lib/kubelet",
    "/var/lib/containerd",
    "/var/lib/containers",
    "/var/lib/docker",
    "/var/lib/rancher",
    "/var/snap",
];

/// The fullest of the file systems that an eviction can be about, as `df` printed them: `/var (93%)`.
fn fullest(known: &Known<'_>, node: &str, inodes: bool) -> String {
    let name = if inodes { "df-inodes" } else { "df" };
    let Some(text) = known.documents.get(&Entry::Printed(node, name).path()) else {
        return String::new();
    };
    let rows = text.lines().filter_map(|line| {
        let mount = line.split_whitespace().last()?;
        let used = line.split_whitespace().rev().nth(1)?.strip_suffix('%')?;
        DATA_MOUNTS
            .contains(&mount)
            .then_some((used.parse::<u8>().ok()?, mount))
    });
    let fullest = rows.max_by_key(|(used, _)| *used);
    fullest.map_or_else(String::new, |(used, mount)| format!("{mount} ({used}%)"))
}
