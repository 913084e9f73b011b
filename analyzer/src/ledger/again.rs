//! Pods that run at the moment of the collection and end again and again.

use std::cmp::Reverse;

use chrono::TimeDelta;

use super::Sources;
use crate::facts::Fact;
use crate::facts::kube::{Container, Event, Pod};
use crate::parsers::ContainerRun;

/// A pod that was held back for its crashes so short a while ago has not settled, in seconds.
const BACKS_OFF: i64 = 120;
/// A container that was restarted so often does not only start badly.
const OFTEN: u64 = 10;
/// What restarts this often on average, in minutes, does so by itself: nobody starts machines so often.
const AVERAGE: i64 = 60;

/// Whether a pod that runs at this moment is between two crashes: a container of it ended with an error and runs again,
/// and the kubelet waited before that a short while ago.
pub(super) fn ends(sources: &Sources<'_>, pod: &Pod, containers: &[&Fact<Container>]) -> bool {
    let restarted = containers.iter().any(|one| {
        let data = &one.data;
        data.state == "running" && data.restarts > 0 && data.exit_code.is_some_and(|code| code != 0)
    });
    let waited = |event: &&Fact<Event>| {
        let recent = match (sources.now, event.data.last) {
            (Some(now), Some(last)) => now - last < TimeDelta::seconds(BACKS_OFF),
            _ => sources.now.is_none(),
        };
        recent
            && event
                .data
                .message
                .contains("Back-off restarting failed container")
    };
    let events = sources.warnings("pod", &pod.namespace, &pod.name);
    (restarted && events.iter().any(waited)) || ends_regularly(sources, pod, containers)
}

/// Whether a container of it was started anew every hour or more often for as long as the pod is there, and ended the last
/// time no longer ago than twice that.
fn ends_regularly(sources: &Sources<'_>, pod: &Pod, containers: &[&Fact<Container>]) -> bool {
    let (Some(now), Some(created)) = (sources.now, pod.created) else {
        return false;
    };
    let often = containers.iter().map(|one| &one.data).filter(|one| {
        one.state == "running"
            && one.restarts >= OFTEN
            && one.exit_code.is_some_and(|code| code != 0)
    });
    let most = often.max_by_key(|one| (one.restarts, Reverse(&one.name)));
    let Some(restarts) = most.and_then(|one| i32::try_from(one.restarts).ok()) else {
        return false;
    };
    let average = (now - created) / restarts;
    let runs = sources.facts.table::<ContainerRun>().iter();
    let ended = runs
        .filter(|run| run.data.namespace == pod.namespace && run.data.pod == pod.name)
        .filter_map(|run| run.data.run.finished)
        .max();
    average <= TimeDelta::minutes(AVERAGE) && ended.is_some_and(|ended| now - ended <= average * 2)
}
