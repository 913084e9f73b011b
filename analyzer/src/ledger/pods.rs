//! Pods that do not do their work, and the container that keeps them from it.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use smallvec::SmallVec;

use super::{Sources, again, log_of, messages};
use crate::facts::failing::{Failing, LogEnd};
use crate::facts::kube::{Container, Event, Pod};
use crate::facts::{Fact, Rows};
use crate::ledger::grade::Grade;

/// A pod that is younger than this is starting, in seconds.
const STARTS: i64 = 60;
/// A pod that has been terminating for less than this is going away as it should, in seconds.
const GOES: i64 = 900;

/// One entry for each pod that fails.
pub(super) fn failing(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let pods = sources.facts.table::<Pod>();
    // A large cluster has very many pods, and of each there is one copy.
    let mut by_name: HashMap<(&str, &str), SmallVec<[&Fact<Pod>; 1]>> =
        HashMap::with_capacity(pods.len());
    for pod in pods {
        let key = (pod.data.namespace.as_str(), pod.data.name.as_str());
        by_name.entry(key).or_default().push(pod);
    }
    let mut containers: HashMap<(&str, &str), SmallVec<[&Fact<Container>; 2]>> =
        HashMap::with_capacity(pods.len());
    for container in sources.facts.table::<Container>() {
        let data = &container.data;
        let key = (data.namespace.as_str(), data.pod.as_str());
        containers.entry(key).or_default().push(container);
    }
    let replaced = Replaced::of(pods);
    let mut found = Vec::new();
    for pod in pods {
        let key = (pod.data.namespace.as_str(), pod.data.name.as_str());
        // Several pastes may show one pod at different times; which is the last is not known.
        let Some(copies) = by_name.remove(&key) else {
            continue;
        };
        let first = &copies[0].data;
        let own = containers.get(&key).map_or(&[][..], SmallVec::as_slice);
        let well = copies.iter().any(|pod| pod.data.healthy) && !again::ends(sources, first, own);
        let unread = |pod: &&Fact<Pod>| pod.data.phase.is_empty() && pod.data.state.is_empty();
        let is_manifest = copies.iter().all(unread)
            && sources
                .warnings("pod", &first.namespace, &first.name)
                .is_empty();
        if well || is_manifest || is_expected(sources, first, &replaced) {
            continue;
        }
        // A describe tells more of a pod than a row of a table.
        let told = copies.iter().max_by_key(|pod| pod.data.owner.len().min(1));
        let Some(pod) = told else { continue };
        let subject = format!("pod/{}/{}", first.namespace, first.name);
        found.push((subject, *pod, own));
    }
    found.sort_unstable_by(|(one, ..), (other, ..)| one.cmp(other));
    let entries = found.iter();
    entries
        .map(|(subject, pod, own)| entry(sources, subject, pod, own))
        .collect()
}

fn is_expected(sources: &Sources<'_>, pod: &Pod, replaced: &Replaced<'_>) -> bool {
    let starting = matches!(pod.phase.as_str(), "Pending" | "Running")
        && pod.restarts == 0
        && sources.is_young(pod.created, TimeDelta::seconds(STARTS));
    let going = pod.state == "Terminating"
        && (sources.now.is_none() || sources.is_young(pod.since, TimeDelta::seconds(GOES)));
    matches!(pod.state.as_str(), "Completed" | "Succeeded")
        || starting
        || going
        || replaced.holds(pod)
}

/// The namespaces and owners of pods that work or did.
struct Replaced<'a>(BTreeSet<(&'a str, &'a str)>);

impl<'a> Replaced<'a> {
    fn of(pods: Rows<'a, Pod>) -> Self {
        let well = pods.iter().map(|pod| &pod.data).filter(|pod| pod.healthy);
        let owned = well.filter(|pod| !pod.owner.is_empty());
        Self(owned.map(Self::key).collect())
    }

    fn key(pod: &Pod) -> (&str, &str) {
        (&pod.namespace, &pod.owner)
    }

    /// Whether a dead pod's owner has another one of these: it is kept for its log and harms nobody.
    fn holds(&self, pod: &Pod) -> bool {
        pod.phase == "Failed" && self.0.contains(&Self::key(pod))
    }
}

/// The container that keeps the pod from its work: one that ended with an error, or one that waits for a reason. An init
/// container comes first, since the others wait for it.
fn culprit<'a>(containers: &[&'a Fact<Container>]) -> Option<&'a Fact<Container>> {
    let rank = |container: &Container| {
        let ended = container.exit_code.is_some_and(|code| code != 0);
        let waits = container.state == "waiting"
            && !matches!(
                container.reason.as_str(),
                "" | "PodInitializing" | "ContainerCreating"
            );
        match (container.state.as_str(), ended, waits) {
            ("running", true, _) => 1,
            ("running", false, _) => 0,
            (_, _, true) => 4,
            (_, true, _) => 3,
            _ => 0,
        }
    };
    let ranked = containers.iter().filter(|one| rank(&one.data) > 0);
    ranked
        .max_by_key(|one| (rank(&one.data), one.data.init, one.data.restarts))
        .copied()
}

fn entry(
    sources: &Sources<'_>,
    subject: &str,
    pod: &Fact<Pod>,
    containers: &[&Fact<Container>],
) -> Fact<Failing> {
    let data = &pod.data;
    let culprit = culprit(containers);
    let container = culprit.map(|one| &one.data);
    let exit_code = container
        .and_then(|one| one.exit_code)
        .filter(|code| *code != 0);
    let crash = data.state.ends_with("CrashLoopBackOff") || data.state.ends_with("Error");
    let ended = exit_code.is_some() || crash;
    let events = sources.warnings("pod", &data.namespace, &data.name);
    let name = container.map_or("", |one| one.name.as_str());
    let runs_again = container.is_some_and(|one| one.state == "running");
    let log = log_of(sources.facts, data, name, runs_again && ended);
    // The log of a program that still runs says little where nothing in it is marked.
    let log = log.filter(|log| ended || log.data.grade >= Grade::Error);
    let own_words = container.map_or("", |one| {
        let texts = [&one.last_message, &one.message];
        let told = texts
            .into_iter()
            .find(|text| one.exit_code.is_some() && !text.is_empty());
        let told = told.filter(|text| !text.starts_with("back-off "));
        told.map_or("", String::as_str)
    });
    let (place, text, at) = match (log, own_words.is_empty(), events.first()) {
        (Some(log), _, _) => (log.place.clone(), log.text.clone(), log.at),
        (None, true, Some(event)) => (event.place.clone(), event.text.clone(), event.at),
        _ => (pod.place.clone(), pod.text.clone(), None),
    };
    let failing = Failing {
        what: "pod".into(),
        // A pasted table may not tell the namespace.
        subject: subject.replace("//", "/"),
        namespace: data.namespace.clone(),
        name: data.name.clone(),
        container: name.to_owned(),
        image: container.map(|one| one.image.clone()).unwrap_or_default(),
        node: data.node.clone(),
        owner: data.owner.clone(),
        state: data.state.clone(),
        seen: true,
        ended,
        exit_code,
        restarts: data.restarts,
        words: log.map_or_else(|| last_line(own_words), |log| log.text.to_string()),
        message: container.map(|one| one.message.clone()).unwrap_or_default(),
        warnings: messages(&events),
        gpu: data.gpus > 0 || !data.component.is_empty() || !data.extended.is_empty(),
        since: since(data, ended, &events),
        lines: lines(pod, log, &events),
    };
    Fact {
        data: failing,
        place,
        text,
        at,
    }
}

/// Since when it fails: since it was last not ready, or, where it runs in between, since the kubelet first held it back or
/// found it unwell.
fn since(pod: &Pod, ended: bool, events: &[&Fact<Event>]) -> Option<DateTime<Utc>> {
    let turned = pod.since.or(pod.created);
    if !ended || pod.restarts == 0 {
        return turned;
    }
    let of_its_runs = events.iter().filter(|event| {
        let data = &event.data;
        data.reason == "Unhealthy" || data.message.contains("restarting failed container")
    });
    let first = of_its_runs.filter_map(|event| event.data.first).min();
    // One that is ready at this moment was last not ready before that.
    let turned = turned.filter(|_| !pod.healthy || first.is_none());
    turned.into_iter().chain(first).min()
}

/// The lines that show it: of its log, of its row in a table, and of its last event.
fn lines(pod: &Fact<Pod>, log: Option<&Fact<LogEnd>>, events: &[&Fact<Event>]) -> Vec<String> {
    let row = Some(&pod.text).filter(|text| !text.starts_with(['"', '{']));
    let checks = log.into_iter().flat_map(|log| &log.data.checks);
    let checks = checks.map(String::as_str);
    let log = log.map(|log| log.data.line.as_str());
    let row = row.map(|text| text.as_str());
    let event = events.first().map(|event| event.text.as_str());
    let told = checks.chain([log, row, event].into_iter().flatten());
    told.filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The gravest line of a message that holds the end of a log, the last of equally grave ones.
fn last_line(message: &str) -> String {
    let lines = message.lines().filter(|line| !line.trim().is_empty());
    let best = lines.max_by_key(|line| super::grade::grade(line));
    crate::facts::excerpt(best.unwrap_or("").trim(), 600)
}
