//! What a replay shows of the pods that failed: scheduled, sandbox, image, flow.

use std::collections::BTreeMap;

use crate::diagnose::Judged;
use crate::diagnose::steps::{Passes, PodSteps};

/// Sentences kept of each kind; a cluster in which more fails is told by the first.
const MOST: usize = 20;

/// How far the pods that failed get in a changed state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workload {
    /// Pods by the steps that are shown to succeed, in the order of the steps.
    passed: BTreeMap<&'static str, usize>,
    /// Pods that were failing.
    pods: usize,
    /// The same with nodes and units.
    failed: usize,
    /// Steps that are shown to fail, and things that no cause explains, as sentences.
    pub broken: Vec<String>,
    /// What nothing shows, as sentences.
    pub open: Vec<String>,
}

impl Workload {
    /// Of what failed before, how far it gets after.
    pub(super) fn of(before: &Judged, after: &Judged) -> Self {
        let failed = |one: &&PodSteps| before.pods.iter().any(|was| was.pod == one.pod);
        let own: Vec<&PodSteps> = after.pods.iter().filter(failed).collect();
        let mut passed = BTreeMap::new();
        for step in own.iter().flat_map(|one| one.passed()) {
            *passed.entry(step).or_insert(0) += 1;
        }
        let unexplained = before.unexplained.iter();
        let unexplained = unexplained.map(|one| format!("{one}: no known cause explains it"));
        let broken = own.iter().flat_map(|one| one.broken());
        Self {
            passed,
            pods: own.iter().filter(|one| one.is_pod()).count(),
            failed: own.len(),
            broken: broken.chain(unexplained).take(MOST).collect(),
            open: own.iter().filter_map(|one| one.open()).take(MOST).collect(),
        }
    }

    /// Why nothing is shown of pods whose packets were known to be stopped: a change that leaves open what becomes of
    /// them takes the evidence away, and not the cause.
    pub(super) fn lost_sight(before: &[PodSteps], after: &[PodSteps]) -> Option<String> {
        let flow = |of: &PodSteps| of.steps.iter().find(|one| one.0 == "flow").cloned();
        let stopped = before
            .iter()
            .filter(|one| matches!(flow(one), Some((_, Passes::No(_)))));
        let mut lost = stopped.filter(|was| {
            let now = after.iter().find(|one| one.pod == was.pod);
            now.is_some_and(|now| matches!(flow(now), Some((_, Passes::Unknown(_)))))
        });
        let pod = &lost.next()?.pod;
        Some(format!(
            "what becomes of the packets of {pod} after the change cannot be told; before it they were stopped"
        ))
    }

    /// Whether every pod that failed is shown to get through every step; of nothing that failed nothing is shown.
    pub fn runs(&self) -> bool {
        self.failed > 0 && self.broken.is_empty() && self.open.is_empty()
    }

    /// The steps that are shown to succeed, with the number of pods: `scheduled (2 of 2 pods), sandbox (1 of 2 pods)`.
    pub fn shown(&self) -> Option<String> {
        let in_order = ["scheduled", "sandbox", "image", "flow"];
        let passed = in_order.iter().filter_map(|step| {
            let count = self.passed.get(step)?;
            let plural = if self.pods == 1 { "" } else { "s" };
            Some(format!("{step} ({count} of {} pod{plural})", self.pods))
        });
        let passed: Vec<String> = passed.collect();
        (!passed.is_empty()).then(|| passed.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pods(flow: Passes) -> [PodSteps; 1] {
        [PodSteps {
            pod: "a/b".into(),
            steps: vec![("scheduled", Passes::Yes), ("flow", flow)],
        }]
    }

    #[test]
    fn where_nothing_is_known_to_fail_nothing_is_shown_to_run() {
        assert!(!Workload::default().runs());
        let well = Workload {
            failed: 1,
            ..Workload::default()
        };
        assert!(well.runs());
    }

    #[test]
    fn packets_that_were_stopped_and_are_no_longer_known_are_no_packets_that_pass() {
        let stopped = pods(Passes::No("dropped".into()));
        let unknown = pods(Passes::Unknown("not known".into()));
        let lost = Workload::lost_sight(&stopped, &unknown);
        assert!(lost.is_some_and(|why| why.contains("a/b")));
        for (before, after) in [
            (&stopped, &pods(Passes::Yes)),
            (&stopped, &stopped),
            (&unknown, &unknown),
        ] {
            assert_eq!(Workload::lost_sight(before, after), None);
        }
    }
}
