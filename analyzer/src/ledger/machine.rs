//! What fails on a machine whether an API server knows it or not: containers that a runtime lists as ended, and GPUs that
//! the driver does not serve.

use std::collections::{BTreeMap, BTreeSet};

use super::Sources;
use crate::facts::failing::{ContainerRow, Failing, LogEnd, PodTrouble};
use crate::facts::gpu::{Gpu, GpuInventory, XidStory};
use crate::facts::kube::Node;
use crate::facts::{Fact, Facts};
use crate::gpu::xid::{self, Class, Xid};
use crate::parsers::{DriverLine, Says};

/// Containers whose last run ended and that ran before: they are started again and again, or no more.
pub(super) fn containers(sources: &Sources<'_>, known: &[Fact<Failing>]) -> Vec<Fact<Failing>> {
    let ended =
        newest(sources.facts).filter(|row| row.data.state == "Exited" && row.data.attempt > 0);
    let unknown = ended.filter(|row| {
        let mut known = known.iter();
        !known.any(|one| one.data.what == "pod" && one.data.name == row.data.pod)
    });
    unknown.map(|row| container(sources, row)).collect()
}

/// The last run of each container that a runtime lists.
fn newest(facts: &Facts) -> impl Iterator<Item = &Fact<ContainerRow>> {
    let mut newest: BTreeMap<(&str, &str), &Fact<ContainerRow>> = BTreeMap::new();
    for row in facts.table::<ContainerRow>() {
        let key = (row.data.pod.as_str(), row.data.name.as_str());
        let last = newest.entry(key).or_insert(row);
        if row.data.attempt > last.data.attempt {
            *last = row;
        }
    }
    newest.into_values()
}

/// How many containers a runtime lists as running.
pub fn running(facts: &Facts) -> usize {
    newest(facts)
        .filter(|row| row.data.state == "Running")
        .count()
}

fn container(sources: &Sources<'_>, row: &Fact<ContainerRow>) -> Fact<Failing> {
    let data = &row.data;
    let logs = sources.facts.table::<LogEnd>().iter();
    let own = |log: &&Fact<LogEnd>| {
        let id = log.data.container.rsplit('-').next().unwrap_or("");
        id.len() >= 8 && (data.id.starts_with(id) || id.starts_with(data.id.as_str()))
    };
    let log = logs.filter(own).max_by_key(|log| log.data.grade);
    let told = told(sources, data);
    let mut lines: Vec<String> = told.map(|one| one.first.clone()).into_iter().collect();
    lines.push(row.text.to_string());
    lines.extend(log.map(|log| log.data.line.clone()));
    let (place, text) = match log {
        Some(log) => (log.place.clone(), log.text.clone()),
        None => (row.place.clone(), row.text.clone()),
    };
    let name = if data.pod.is_empty() {
        &data.name
    } else {
        &data.pod
    };
    let namespace = namespace(sources, data);
    let subject = match namespace.as_str() {
        "" => format!("pod/{name}"),
        namespace => format!("pod/{namespace}/{name}"),
    };
    Fact {
        data: Failing {
            what: "pod".into(),
            subject,
            namespace,
            name: name.clone(),
            container: data.name.clone(),
            node: data.node.clone(),
            // The kubelet knows why it does not run; the runtime says only how it ended.
            state: told.map_or(&data.state, |one| &one.state).clone(),
            since: told.and_then(|one| one.since),
            seen: true,
            ended: true,
            restarts: data.attempt,
            words: log.map_or_else(|| row.text.to_string(), |log| log.text.to_string()),
            lines,
            ..Failing::default()
        },
        place,
        text,
        at: log.and_then(|log| log.at),
    }
}

/// What the kubelet says of the container.
fn told<'a>(sources: &Sources<'a>, row: &ContainerRow) -> Option<&'a PodTrouble> {
    let said = sources.facts.table::<PodTrouble>().iter();
    let mut said = said.map(|one| &one.data);
    said.find(|one| !row.pod.is_empty() && one.pod == row.pod && one.container == row.name)
}

/// The namespace of a container's pod: by the list itself, or by the only pod of its name that anything else names.
fn namespace(sources: &Sources<'_>, row: &ContainerRow) -> String {
    if !row.namespace.is_empty() || row.pod.is_empty() {
        return row.namespace.clone();
    }
    let nodes = sources.facts.table::<Node>().iter();
    let described = nodes.flat_map(|node| &node.data.listed_pods);
    let described = described.filter_map(|name| name.split_once('/'));
    let said = sources.facts.table::<PodTrouble>().iter();
    let said = said.map(|one| (one.data.namespace.as_str(), one.data.pod.as_str()));
    let own = described.chain(said).filter(|(_, name)| *name == row.pod);
    let namespaces: BTreeSet<&str> = own.map(|(namespace, _)| namespace).collect();
    match namespaces.first() {
        Some(only) if namespaces.len() == 1 => (*only).to_owned(),
        _ => String::new(),
    }
}

/// GPUs of a node that nvidia-smi does not list, or lists with a fault.
pub(super) fn gpus(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let inventories = sources.facts.table::<GpuInventory>().iter();
    let unwell = inventories.filter(|one| !one.data.all_well);
    let entry = |one: &Fact<GpuInventory>| {
        let data = &one.data;
        let cards = sources.facts.table::<Gpu>().iter();
        let mut cards = cards.filter(|gpu| gpu.data.node == data.node);
        let trouble = cards.find_map(|gpu| {
            let trouble = &gpu.data.card.trouble;
            (!trouble.is_empty()).then(|| format!("GPU {}: {trouble}", gpu.data.card.bus_id))
        });
        let words = trouble.unwrap_or_else(|| data.refusal.clone());
        Fact {
            data: Failing {
                what: "gpus".into(),
                subject: format!("gpus/{}", data.node),
                name: data.node.clone(),
                node: data.node.clone(),
                state: data.says.clone(),
                seen: true,
                words,
                gpu: true,
                lines: vec![one.text.to_string()],
                ..Failing::default()
            },
            place: one.place.clone(),
            text: one.text.clone(),
            at: one.at,
        }
    };
    unwell.map(entry).collect()
}

/// Where a fault lies that is no program's: the GPU, its memory, its link or power, or the driver.
const NO_PROGRAM: [&str; 6] = ["hardware", "memory", "bus", "link", "power", "driver"];

/// GPUs of which the driver logged a fault that is no program's. The log may tell of an earlier start of the machine, so
/// the entry says what was logged and when, and not how the GPU is.
pub(super) fn suspects(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let stories = sources.facts.table::<XidStory>().iter();
    let faults = stories.filter(|one| NO_PROGRAM.contains(&one.data.class.as_str()));
    let entry = |one: &Fact<XidStory>| {
        let data = &one.data;
        let hard = hard_faults(sources, data);
        // What begins as a program's fault and is none is shown by the code that says so.
        let words = hard.first().map_or(&one.text, |line| &line.text);
        let lines = hard.iter().map(|line| line.data.says.shown.clone());
        Fact {
            data: Failing {
                what: "gpu".into(),
                subject: format!("gpu/{}/{}", data.node, data.bus_id),
                name: data.bus_id.clone(),
                node: data.node.clone(),
                state: format!("the driver logged {}", data.sentence),
                seen: true,
                words: words.to_string(),
                gpu: true,
                since: one.at,
                lines: lines.chain([one.text.to_string()]).collect(),
                ..Failing::default()
            },
            place: one.place.clone(),
            text: one.text.clone(),
            at: one.at,
        }
    };
    faults.map(entry).collect()
}

/// The driver's lines about a GPU that no program is to blame for, first those of the log that has them most often: it goes
/// back the furthest.
fn hard_faults<'a>(sources: &Sources<'a>, story: &XidStory) -> Vec<&'a Fact<DriverLine>> {
    let lines = sources.facts.table::<DriverLine>().iter();
    let of_gpu = lines.filter(|line| match &line.data.says.what {
        Says::Xid(bus, code) => {
            let hard = |xid: Xid| {
                matches!(
                    xid.class,
                    Class::Bus | Class::Memory | Class::Hardware | Class::Link | Class::Power
                )
            };
            line.data.node == story.node
                && *bus == story.bus_id
                && xid::lookup(*code).is_some_and(hard)
        }
        _ => false,
    });
    let mut of_gpu: Vec<_> = of_gpu.collect();
    of_gpu.sort_by_key(|line| std::cmp::Reverse(line.data.count));
    of_gpu
}
