//! What an input shows, counted: numbers that a person would count by hand in it. What is not there is not counted, so that zero
//! means "none seen" and never "none there".

mod logs;
pub(super) mod pods;

use std::collections::{BTreeMap, BTreeSet};

use casefile_bundle::Summary;

use super::platform;
use crate::facts::cluster::{MachineMark, NamedBy};
use crate::facts::gpu::{Driver, Gpu};
use crate::facts::kube::{Event, Node, Pod};
use crate::facts::text::NewestDate;
use crate::model::{Clock, ClockLine, Clocks, Seen};
use crate::parsers::{Figure, HostLine, HostSays};
use crate::scan::{Scanned, node_of};

/// Counts what was read.
pub(super) fn seen(scanned: &Scanned) -> Seen {
    let facts = &scanned.facts;
    let nodes = nodes(scanned);
    Seen {
        format: format(scanned, &scanned.summary),
        nodes: count(nodes.len()),
        pods: count(pods::named(scanned).len()),
        events: count(facts.table::<Event>().len()),
        gpus: gpus(scanned),
        driver_version: driver(scanned),
        kernel: kernel(scanned),
        kubernetes_version: kubernetes(scanned),
        boots: boots(scanned),
        unhealthy_pods: pods::unhealthy(facts),
        machine: machine(scanned, &nodes),
        openshift: platform::is_openshift(facts),
        pod: pods::only(scanned),
        logs: logs::logs(scanned),
    }
}

/// The one machine of an input: the only one that heads of log lines name, else the only node that it tells of, else the
/// only one that a line names, else the only one that somebody typed on. A name and the same with its domain are one.
fn machine(scanned: &Scanned, nodes: &BTreeSet<&str>) -> Option<String> {
    let marks = |by: NamedBy| -> BTreeSet<&str> {
        let marks = scanned.facts.table::<MachineMark>().iter();
        let marks = marks.filter(|mark| mark.data.by == by);
        marks.map(|mark| mark.data.host.as_str()).collect()
    };
    let mut choices = [
        marks(NamedBy::Head),
        nodes.clone(),
        marks(NamedBy::Line),
        marks(NamedBy::Prompt),
    ]
    .into_iter();
    let named = choices.find(|names| !names.is_empty())?;
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let shorts: BTreeSet<String> = named.iter().map(|name| short(name)).collect();
    let longest = named.into_iter().max_by_key(|name| name.len())?;
    (shorts.len() == 1).then(|| longest.to_owned())
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn format(scanned: &Scanned, summary: &Summary) -> String {
    // What lies inside another capture is a part of it, as a node's bug report in a must-gather.
    let all = &scanned.plan.captures;
    let inside = |root: &str| {
        all.iter()
            .any(|one| one.root.len() < root.len() && root.starts_with(&one.root))
    };
    let outermost = all.iter().filter(|one| !inside(&one.root));
    let formats: BTreeSet<&str> = outermost.map(|one| one.format).collect();
    match summary.header {
        Some(_) => "casefile".to_owned(),
        None if formats.is_empty() => "loose".to_owned(),
        None => formats.into_iter().collect::<Vec<_>>().join("+"),
    }
}

/// Nodes that the cluster lists; else those whose files are there; else those that pods run on or are named after.
fn nodes(scanned: &Scanned) -> BTreeSet<&str> {
    let listed = scanned.facts.table::<Node>().iter();
    let listed: BTreeSet<&str> = listed
        .map(|node| node.data.name.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    if !listed.is_empty() {
        return listed;
    }
    let paths = scanned.paths.iter().map(|path| node_of(path));
    let named = paths.filter(|node| !node.is_empty() && *node != crate::scan::pasted::UNNAMED_NODE);
    let named: BTreeSet<&str> = named.collect();
    if !named.is_empty() {
        return named;
    }
    // Those that pods run on, where nothing else tells of any.
    let pods = scanned.facts.table::<Pod>();
    let bound: BTreeSet<&str> = pods
        .iter()
        .map(|pod| pod.data.node.as_str())
        .filter(|node| !node.is_empty())
        .collect();
    match bound.is_empty() {
        false => bound,
        true => pods::nodes_in_names(pods),
    }
}

/// GPUs on the bus, as the driver counts them, or as nodes offer them; whichever shows most.
fn gpus(scanned: &Scanned) -> u64 {
    let lists = scanned
        .documents
        .iter()
        .filter(|(path, _)| path.ends_with("/commands/lspci.out"));
    let on_bus: usize = lists
        .map(|(_, text)| text.lines().filter(|line| is_gpu(line)).count())
        .sum();
    let known: BTreeSet<String> = scanned
        .facts
        .table::<Gpu>()
        .iter()
        .map(|gpu| format!("{} {}", gpu.data.node, gpu.data.card.bus_id))
        .collect();
    let offered = scanned
        .facts
        .table::<Node>()
        .iter()
        .filter_map(|node| node.data.gpu_capacity)
        .max()
        .unwrap_or(0);
    let captured = count(on_bus.max(known.len())).max(offered);
    match captured {
        // No command was captured that lists them: those that the kernel found.
        0 => found_by_kernel(scanned),
        captured => captured,
    }
}

fn found_by_kernel(scanned: &Scanned) -> u64 {
    let gpus = figures(scanned).filter_map(|(node, figure)| match figure {
        Figure::Gpu(place) => Some((node, place.as_str())),
        _ => None,
    });
    count(at_places(&gpus.collect()))
}

/// How many GPUs these are, each with its node and its place on the bus. `dmesg` names no host: beside the log of one machine it
/// is the same machine's.
fn at_places(gpus: &BTreeSet<(&str, &str)>) -> usize {
    let nameless = |node: &str| node.is_empty() || node == crate::scan::pasted::UNNAMED_NODE;
    let nodes = gpus.iter().map(|(node, _)| *node);
    let named: BTreeSet<&str> = nodes.filter(|node| !nameless(node)).collect();
    let only = named.first().filter(|_| named.len() == 1);
    let owner = |node| match only {
        Some(only) if nameless(node) => *only,
        _ => node,
    };
    let owned: BTreeSet<_> = gpus
        .iter()
        .map(|(node, place)| (owner(*node), place))
        .collect();
    owned.len()
}

/// Figures that logs tell, each with its node.
pub(super) fn figures(scanned: &Scanned) -> impl Iterator<Item = (&str, &Figure)> {
    let lines = scanned.facts.table::<HostLine>().iter();
    lines.filter_map(|line| match &line.data.says {
        HostSays::Figure(figure) => Some((line.data.node.as_str(), figure)),
        _ => None,
    })
}

/// What dates lines. The zone of a machine counts where all lines are of that one.
pub(super) fn clocks(scanned: &Scanned) -> Clocks {
    let lines = scanned.facts.table::<HostLine>().iter();
    let nodes: BTreeSet<&str> = lines.clone().map(|line| line.data.node.as_str()).collect();
    let is_one = nodes.len() <= 1;
    let told = lines.filter_map(|line| match &line.data.says {
        HostSays::Clock(clock) if *clock != Clock::Utc || is_one => Some(ClockLine {
            place: line.place.clone(),
            count: line.data.count,
            clock: clock.clone(),
        }),
        _ => None,
    });
    let mut heads = scanned.plan.captures.iter();
    let machine = heads.find_map(|capture| capture.identity.taken);
    let dates = scanned.facts.table::<NewestDate>().iter();
    let newest = dates.max_by_key(|one| one.data.at);
    Clocks {
        lines: told.collect(),
        machine: machine.filter(|_| is_one),
        newest: newest.map(|one| (one.data.at, one.place.clone())),
    }
}

/// Whether a line of lspci is of a GPU of NVIDIA.
fn is_gpu(line: &str) -> bool {
    let starts = line.starts_with(|first: char| first.is_ascii_hexdigit());
    let kind = [
        "VGA compatible controller",
        "3D controller",
        "Display controller",
    ];
    starts && line.contains("NVIDIA") && kind.iter().any(|kind| line.contains(kind))
}

fn driver(scanned: &Scanned) -> Option<String> {
    let drivers = || scanned.facts.table::<Driver>().iter();
    let loaded = drivers().map(|driver| driver.data.module.clone());
    let told = figures(scanned).filter_map(|(_, figure)| match figure {
        Figure::Module(version) => Some(version.clone()),
        _ => None,
    });
    // nvidia-smi answers only where the module is loaded, and tells its own version, which is mostly the same.
    let answered = drivers().map(|driver| driver.data.version.clone());
    most(loaded)
        .or_else(|| most(told))
        .or_else(|| most(answered))
        .or_else(|| most(built(scanned)))
        .or_else(|| most(build_logs(scanned)))
}

/// Versions whose build DKMS logged: `/var/lib/dkms/nvidia/535.129.03/5.15.0-88-generic/x86_64/log/make.log`.
fn build_logs(scanned: &Scanned) -> impl Iterator<Item = String> {
    let below = scanned
        .paths
        .iter()
        .filter_map(|path| path.split_once("/rootfs/var/lib/dkms/nvidia/"));
    below.filter_map(|(_, rest)| {
        let (version, log) = rest.split_once('/')?;
        let like = version.starts_with(|c: char| c.is_ascii_digit());
        (like && log.ends_with("/log/make.log")).then(|| version.to_owned())
    })
}

/// Versions of the module that DKMS lists: `nvidia/535.129.03, 5.15.0-88-generic, x86_64: installed`, older with a comma.
fn built(scanned: &Scanned) -> impl Iterator<Item = String> {
    let lists = scanned
        .documents
        .iter()
        .filter(|(path, _)| path.ends_with("/commands/dkms-status.out"));
    let lines = lists.flat_map(|(_, text)| text.lines());
    lines.filter_map(|line| {
        let rest = line.trim().strip_prefix("nvidia")?;
        let version = rest
            .trim_start_matches([',', '/', ' '])
            .split([',', ':'])
            .next()?;
        let like = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
        like.then(|| version.trim().to_owned())
    })
}

fn kernel(scanned: &Scanned) -> Option<String> {
    let printed = scanned
        .documents
        .iter()
        .filter(|(path, _)| path.ends_with("/commands/uname.out"));
    let printed = printed.filter_map(|(_, text)| {
        let line = text.lines().find_map(|line| line.strip_prefix("Linux "))?;
        line.split_whitespace().nth(1).map(str::to_owned)
    });
    let booted = scanned.facts.table::<HostLine>().iter().filter_map(|line| {
        let (_, version) = line.text.split_once("Linux version ")?;
        version.split_whitespace().next().map(str::to_owned)
    });
    let versions = scanned
        .documents
        .iter()
        .filter(|(path, _)| path.ends_with("/rootfs/proc/version"));
    let booted = versions
        .filter_map(|(_, text)| {
            let rest = text.trim_start().strip_prefix("Linux version ")?;
            rest.split_whitespace().next().map(str::to_owned)
        })
        .chain(booted);
    let nodes = scanned
        .facts
        .table::<Node>()
        .iter()
        .map(|node| node.data.kernel.clone());
    let told = figures(scanned).filter_map(|(_, figure)| match figure {
        Figure::Kernel(version) => Some(version.clone()),
        _ => None,
    });
    let captures = scanned.plan.captures.iter();
    let identities = captures.filter_map(|one| one.identity.kernel.clone());
    most(printed)
        .or_else(|| most(booted))
        .or_else(|| most(nodes))
        .or_else(|| most(told))
        .or_else(|| most(identities))
}

fn kubernetes(scanned: &Scanned) -> Option<String> {
    let nodes = scanned
        .facts
        .table::<Node>()
        .iter()
        .map(|node| node.data.kubelet.clone());
    let told = scanned.plan.captures.iter();
    let logged = figures(scanned).filter_map(|(_, figure)| match figure {
        Figure::Kubelet(version) => Some(version.clone()),
        _ => None,
    });
    most(nodes)
        .or_else(|| most(told.filter_map(|one| one.identity.kubernetes.clone())))
        .or_else(|| most(logged))
}

/// The commonest of several; of equally common ones the last in the order of letters, which is the newest.
fn most(all: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in all.filter(|one| !one.is_empty()) {
        *counts.entry(one).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)))
        .map(|(one, _)| one)
}

/// Boots that the journal lists, of which there are lines.
fn boots(scanned: &Scanned) -> Option<u64> {
    let list = scanned
        .documents
        .iter()
        .find(|(path, _)| path.ends_with("/commands/journal-boots.out"));
    let listed = list.map(|(_, text)| {
        let rows = text
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        rows.filter(|first| first.parse::<i64>().is_ok()).count()
    });
    let kept: BTreeSet<&str> = scanned
        .paths
        .iter()
        .filter_map(|path| path.split_once("/rootfs/var/log/kern.log"))
        .map(|(_, boot)| boot)
        .filter(|boot| boot.starts_with(".boot-"))
        .collect();
    // A journal that keeps nothing lists none, which does not say how often the machine started.
    listed
        .filter(|boots| *boots > 0)
        .or_else(|| (!kept.is_empty()).then_some(kept.len() + 1))
        .map(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_without_a_host_is_of_the_only_machine_that_is_named() {
        let count = |gpus: &[(&str, &str)]| at_places(&gpus.iter().copied().collect());
        assert_eq!(count(&[("n1", "01:00.0"), ("", "01:00.0")]), 1);
        assert_eq!(count(&[("n1", "01:00.0"), ("unnamed-node", "02:00.0")]), 2);
        assert_eq!(count(&[("n1", "01:00.0"), ("n2", "01:00.0")]), 2);
        assert_eq!(count(&[("", "01:00.0")]), 1);
    }
}
