//! How far each failing pod gets in a captured or changed state: scheduled, sandbox, image, flow.

use std::collections::BTreeSet;

use crate::facts::Facts;
use crate::facts::failing::Failing;
use crate::facts::firewall::EgressCheck;
use crate::facts::kube::{Node, Pod, RuntimeClass};
use crate::facts::runtime::HandlerCheck;
use crate::facts::scheduling::PodFit;

/// Whether a step of a pod is shown to succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passes {
    /// It is.
    Yes,
    /// It is shown to fail, and why.
    No(String),
    /// The bundle does not show it, and what would.
    Unknown(String),
}

/// What a failing pod needs, one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodSteps {
    /// `namespace/name`.
    pub pod: String,
    /// Each step by its name, in order.
    pub steps: Vec<(&'static str, Passes)>,
}

/// Of every failing pod, how far it gets; and every other failing thing as one step that no file shows.
pub(super) fn of(facts: &Facts) -> Vec<PodSteps> {
    let mut seen = BTreeSet::new();
    let failing = facts.table::<Failing>().iter().map(|fact| &fact.data);
    failing
        .filter(|one| one.seen && seen.insert(&one.subject))
        .map(|one| match pod_of(facts, one) {
            Some(pod) => pod_steps(facts, one, pod),
            None => PodSteps {
                pod: one.subject.clone(),
                steps: vec![(
                    "captured state",
                    Passes::Unknown(format!(
                        "{}; nothing shows it after the change",
                        or_unknown(&one.state)
                    )),
                )],
            },
        })
        .collect()
}

fn or_unknown(state: &str) -> &str {
    if state.is_empty() { "failing" } else { state }
}

fn pod_of<'a>(facts: &'a Facts, failing: &Failing) -> Option<&'a Pod> {
    let mut pods = facts.table::<Pod>().iter().map(|pod| &pod.data);
    pods.find(|pod| {
        failing.what == "pod" && pod.namespace == failing.namespace && pod.name == failing.name
    })
}

fn pod_steps(facts: &Facts, failing: &Failing, pod: &Pod) -> PodSteps {
    // A container that ran once had its node, its sandbox and its image.
    let ran = failing.restarts > 0 || failing.ended || failing.state.contains("CrashLoop");
    let started = ran || failing.state == "Running";
    PodSteps {
        pod: format!("{}/{}", pod.namespace, pod.name),
        steps: vec![
            ("scheduled", scheduled(facts, pod)),
            ("sandbox", sandbox(facts, failing, pod, started)),
            ("image", image(failing, started)),
            ("flow", flow(facts, pod)),
        ],
    }
}

fn scheduled(facts: &Facts, pod: &Pod) -> Passes {
    if ["Failed", "Succeeded"].contains(&pod.phase.as_str()) {
        return anew(facts, pod);
    }
    if !pod.node.is_empty() {
        return Passes::Yes;
    }
    let mut fits = facts.table::<PodFit>().iter().map(|fit| &fit.data);
    let own = fits.find(|fit| fit.namespace == pod.namespace && fit.name == pod.name);
    match own {
        Some(fit) if fit.state == "fits" => Passes::Yes,
        Some(fit) if fit.state == "unschedulable" => Passes::No(fit.sentence.clone()),
        _ => Passes::Unknown("no node is shown to take it".to_owned()),
    }
}

/// A pod that has ended is not started again, whatever its restart policy: another one in its place has to be admitted.
fn anew(facts: &Facts, pod: &Pod) -> Passes {
    let mut nodes = facts.table::<Node>().iter().map(|node| &node.data);
    let offered = nodes
        .find(|node| node.name == pod.node)
        .and_then(|node| node.gpu_allocatable);
    match offered {
        Some(offered) if offered < pod.gpus => Passes::No(format!(
            "it has ended; one made anew needs GPUs (number: {}), of which {} offers {offered}",
            pod.gpus, pod.node
        )),
        _ if pod.owner.is_empty() => {
            Passes::Unknown("it has ended, and nobody but a person makes it anew".to_owned())
        }
        _ => Passes::Unknown(format!(
            "it has ended, and whether {} makes it anew is not shown",
            pod.owner
        )),
    }
}

fn sandbox(facts: &Facts, failing: &Failing, pod: &Pod, started: bool) -> Passes {
    if let Some(class) = pod.runtime_class.as_ref().filter(|class| !class.is_empty()) {
        let mut classes = facts.table::<RuntimeClass>().iter().map(|one| &one.data);
        let Some(class) = classes.find(|one| one.name == *class) else {
            return Passes::Unknown(format!("the RuntimeClass {class} was not collected"));
        };
        let mut checks = facts.table::<HandlerCheck>().iter().map(|one| &one.data);
        let check = checks.find(|one| {
            one.handler == class.handler && one.used_by_kubelet == "yes" && one.node == pod.node
        });
        return match check {
            Some(check) if check.resolves == "yes" => Passes::Yes,
            Some(check) if check.resolves == "no" => Passes::No(check.because.clone()),
            _ if started => Passes::Yes,
            _ => Passes::Unknown(format!(
                "whether its runtime has the handler {} is not known",
                class.handler
            )),
        };
    }
    let refused = failing.warnings.iter().find(|one| one.contains("sandbox"));
    match refused {
        _ if started => Passes::Yes,
        Some(words) => Passes::Unknown(format!("its sandbox failed before: {words}")),
        None => Passes::Unknown("its sandbox is not shown to start".to_owned()),
    }
}

fn image(failing: &Failing, started: bool) -> Passes {
    if failing.state.contains("Image") || failing.state == "ErrImagePull" {
        Passes::No(format!("its image is not there: {}", failing.state))
    } else if started {
        Passes::Yes
    } else {
        Passes::Unknown("its image is not shown to be on the node".to_owned())
    }
}

fn flow(facts: &Facts, pod: &Pod) -> Passes {
    let checks = facts.table::<EgressCheck>().iter().map(|one| &one.data);
    let own: Vec<&EgressCheck> = checks
        .filter(|one| one.node == pod.node && !one.question.starts_with("logged"))
        .collect();
    let blocked = own
        .iter()
        .find(|one| ["dropped", "rejected"].contains(&one.verdict.as_str()));
    match blocked {
        _ if pod.host_network => Passes::Yes,
        Some(check) => Passes::No(format!(
            "{} is {}: {}",
            check.question, check.verdict, check.decided_by
        )),
        None if own.iter().any(|one| one.verdict == "accepted") => Passes::Yes,
        None => Passes::Unknown("the way of its packets is not known".to_owned()),
    }
}

impl PodSteps {
    /// The steps that are shown to fail, as sentences.
    pub fn broken(&self) -> impl Iterator<Item = String> {
        self.steps.iter().filter_map(|(step, passes)| match passes {
            Passes::No(why) => Some(format!("{} ({step}): {why}", self.pod)),
            _ => None,
        })
    }

    /// The steps that nothing shows, as a sentence.
    pub fn open(&self) -> Option<String> {
        let open = self.steps.iter().filter_map(|(step, passes)| match passes {
            Passes::Unknown(why) => Some(format!("{step}: {why}")),
            _ => None,
        });
        let open: Vec<String> = open.collect();
        (!open.is_empty()).then(|| format!("{}: {}", self.pod, open.join("; ")))
    }

    /// Whether it is of a pod, and not of another failing thing.
    pub fn is_pod(&self) -> bool {
        self.steps.len() > 1
    }

    /// Names of the steps that are shown to succeed.
    pub fn passed(&self) -> impl Iterator<Item = &'static str> {
        let passed = |one: &&(&'static str, Passes)| one.1 == Passes::Yes;
        self.steps.iter().filter(passed).map(|(step, _)| *step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_is_no_success() {
        let failing = Failing {
            state: "ContainerCreating".into(),
            ..Failing::default()
        };
        let steps = pod_steps(&Facts::default(), &failing, &Pod::default());
        assert_eq!(steps.passed().count(), 0);
        assert!(steps.open().is_some_and(|open| open.contains("sandbox")));
    }

    #[test]
    fn a_pod_whose_image_is_missing_is_still_broken() {
        let failing = Failing {
            state: "ImagePullBackOff".into(),
            ..Failing::default()
        };
        let steps = pod_steps(&Facts::default(), &failing, &Pod::default());
        assert!(steps.broken().any(|one| one.contains("image")));
    }

    #[test]
    fn a_pod_that_has_ended_is_not_shown_to_run_again() {
        let steps = |gpus: u64| {
            let pod = Pod {
                phase: "Failed".into(),
                node: "gpu-1".into(),
                gpus,
                ..Pod::default()
            };
            let mut facts = Facts::default();
            let node = Node {
                name: "gpu-1".into(),
                gpu_allocatable: Some(0),
                ..Node::default()
            };
            facts.add(crate::facts::AnyFact::new(crate::facts::Fact {
                data: node,
                place: crate::model::Place {
                    path: "nodes.json".into(),
                    line: None,
                },
                text: crate::shared::Shared::default(),
                at: None,
            }));
            pod_steps(&facts, &Failing::default(), &pod)
        };
        assert!(
            steps(0)
                .open()
                .is_some_and(|open| open.contains("has ended"))
        );
        assert!(steps(1).broken().any(|one| one.contains("gpu-1 offers 0")));
    }
}
