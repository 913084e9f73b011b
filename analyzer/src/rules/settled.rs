//! Whether a pod that is well now stays so, or is between two crashes.

use std::collections::BTreeMap;

use chrono::{DateTime, Duration, Utc};

use crate::facts::Facts;
use crate::facts::kube::Pod;
use crate::parsers::ContainerRun;

/// A container that ended so often may end again.
const OFTEN: u64 = 3;
/// A pod that has been well for so long is not between two crashes, where the length of its last run is not known.
const WELL: Duration = Duration::minutes(10);
/// So long it has to be well at least.
const LEAST: Duration = Duration::minutes(2);

/// How long the last runs of containers lasted before they ended, by `pod/<namespace>/<name>`.
pub(super) struct Runs(BTreeMap<String, Duration>);

impl Runs {
    pub(super) fn of(facts: &Facts) -> Self {
        let mut longest: BTreeMap<String, Duration> = BTreeMap::new();
        for run in facts.table::<ContainerRun>() {
            let data = &run.data;
            let times = data.run.finished.zip(data.run.started);
            let Some(lasted) = times.map(|(finished, started)| finished - started) else {
                continue;
            };
            let known = longest
                .entry(format!("pod/{}/{}", data.namespace, data.pod))
                .or_insert(lasted);
            *known = lasted.max(*known);
        }
        Self(longest)
    }

    /// Whether it has been well for twice as long as its last run lasted; none where that is not known.
    fn outlived(&self, pod: &Pod, now: Option<DateTime<Utc>>) -> Option<bool> {
        let lasted = self.0.get(&format!("pod/{}/{}", pod.namespace, pod.name))?;
        let well = now.zip(pod.since).map(|(now, since)| now - since)?;
        Some(well >= LEAST.max(*lasted * 2))
    }

    /// Whether a pod is well and may be taken to stay so.
    pub(super) fn settled(&self, pod: &Pod, now: Option<DateTime<Utc>>) -> bool {
        let young = now
            .zip(pod.since)
            .is_some_and(|(now, since)| now - since < WELL);
        let between = pod.restarts >= OFTEN && young && self.outlived(pod, now) != Some(true);
        pod.healthy && !between
    }

    /// Whether the end of a container's last run is a thing of the past: its pod has been well for long, and for longer
    /// than that run lasted where it ended often.
    pub(super) fn is_over(&self, pod: &Pod, now: Option<DateTime<Utc>>) -> bool {
        let well = now.zip(pod.since).map(|(now, since)| now - since);
        let long = well.is_some_and(|well| well >= WELL);
        let outlived = self.outlived(pod, now);
        pod.healthy
            && match outlived {
                Some(outlived) if pod.restarts >= OFTEN => outlived,
                _ => long || outlived == Some(true),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pod that is well for so many minutes, after runs that ended, of which the last lasted so many minutes.
    fn over(well: i64, restarts: u64, lasted: Option<i64>) -> (bool, bool) {
        let now = DateTime::from_timestamp(1_800_000_000, 0);
        let pod = Pod {
            namespace: "shop".into(),
            name: "web".into(),
            healthy: true,
            restarts,
            since: now.map(|now| now - Duration::minutes(well)),
            ..Pod::default()
        };
        let lasted = lasted.map(|lasted| ("pod/shop/web".to_owned(), Duration::minutes(lasted)));
        let runs = Runs(lasted.into_iter().collect());
        (runs.settled(&pod, now), runs.is_over(&pod, now))
    }

    #[test]
    fn a_container_that_outlives_its_last_run_has_settled() {
        assert_eq!(over(6, 10, Some(2)), (true, true));
        assert_eq!(over(3, 10, Some(2)), (false, false));
        assert_eq!(over(1, 10, Some(0)), (false, false), "it just started");
        assert_eq!(over(6, 10, None), (false, false));
        assert_eq!(over(20, 10, None), (true, true));
    }

    #[test]
    fn one_that_ends_every_few_hours_is_not_over_while_it_runs_as_it_did_before() {
        assert_eq!(over(60, 10, Some(300)), (true, false));
        assert_eq!(over(660, 10, Some(300)), (true, true));
        assert_eq!(over(60, 1, Some(300)), (true, true), "it ended once");
    }
}
