//! Rows of the events of a `kubectl describe` whose head was not pasted: who reports them tells what they are about, and
//! the messages which pod.

use super::age::seconds;
use super::split::Section;
use super::tables::{About, event_object, row_cells};
use super::{Taken, What};
use crate::form::Form;
use crate::words::NOT_NAMED;

/// Reasons that a kubelet or a scheduler gives to pods and never to nodes: pkg/kubelet/events/event.go of Kubernetes, the
/// lists of pods, images, volumes, probes and sandboxes, and the scheduler's two.
const OF_PODS: [&str; 22] = [
    "Scheduled",
    "FailedScheduling",
    "Pulling",
    "Pulled",
    "ErrImageNeverPull",
    "InspectFailed",
    "Created",
    "Started",
    "Failed",
    "Killing",
    "Preempting",
    "BackOff",
    "ExceededGracePeriod",
    "FailedKillPod",
    "FailedCreatePodContainer",
    "FailedCreatePodSandBox",
    "SandboxChanged",
    "FailedMount",
    "FailedAttachVolume",
    "FailedSync",
    "Unhealthy",
    "ProbeWarning",
];

/// Controllers by the name that they report with, and the kind of what their events are about: the `NewRecorder` calls in
/// pkg/controller of Kubernetes. The events of the others are about several kinds.
const CONTROLLERS: [(&str, &str); 6] = [
    ("job-controller", "Job"),
    ("replicaset-controller", "ReplicaSet"),
    ("daemonset-controller", "DaemonSet"),
    ("statefulset-controller", "StatefulSet"),
    ("deployment-controller", "Deployment"),
    ("persistentvolume-controller", "PersistentVolumeClaim"),
];

static NAMED: Form = Form::new(concat!(
    r"Successfully assigned (?P<ns>[a-z0-9-]+)/(?P<name>[a-z0-9.-]+) to ",
    r"|\b(?:in|of|for) pod (?P<name_then>[a-z0-9.-]+)_(?P<ns_then>[a-z0-9-]+)\([0-9a-f-]{8,}\)",
));

/// The kind of what a row is about, and its cells: type, reason, age, speaker, message.
fn row(line: &str) -> Option<(&'static str, Vec<&str>)> {
    if !line.trim_start().starts_with(['N', 'W']) || line.len() > 16 << 10 {
        return None;
    }
    let cells = row_cells(line);
    let [kind, reason, age, speaker, _, ..] = cells.as_slice() else {
        return None;
    };
    let is_aged = seconds(age).is_some() || age.starts_with("<unknown>");
    if !matches!(*kind, "Normal" | "Warning") || !is_aged {
        return None;
    }
    let speaker = speaker.split(',').next().unwrap_or("");
    let controller = CONTROLLERS.iter().find(|(name, _)| *name == speaker);
    let about = match controller {
        Some((_, about)) => about,
        None if OF_PODS.contains(reason) => "Pod",
        None => return None,
    };
    Some((about, cells))
}

/// Namespace and name of the pod that a message names.
fn named<'a>(rows: &[&'a str]) -> Option<(&'a str, &'a str)> {
    rows.iter().find_map(|row| {
        let found = NAMED.captures(row)?;
        let either = |one: &str, other: &str| {
            let cell = found.name(one).or_else(|| found.name(other));
            cell.map(|cell| cell.as_str())
        };
        either("ns", "ns_then").zip(either("name", "name_then"))
    })
}

/// Takes rows that follow one another; they are of one object, as in the description that they come from.
pub(super) fn take(section: &Section<'_>, at: usize) -> Taken {
    let Some((kind, _)) = row(section.line(at)) else {
        return Taken::No;
    };
    let lines = section.run(at, |line| row(line).is_some_and(|(of, _)| of == kind));
    let rows = section.range(at, at + lines);
    let named = named(&rows).filter(|_| kind == "Pod");
    let (namespace, name) = named.unwrap_or(("", NOT_NAMED));
    let about = About {
        kind,
        namespace,
        name,
    };
    let found = rows.iter().enumerate().filter_map(|(offset, line)| {
        let (_, cells) = row(line)?;
        let [kind, reason, age, _, message @ ..] = cells.as_slice() else {
            return None;
        };
        let times = age.split_once("(x");
        let times = times.and_then(|(_, rest)| rest.split([' ', ')']).next()?.parse().ok());
        let told = (times.unwrap_or(1), seconds(age));
        let event = event_object(&about, kind, reason, &message.join(" "), told)?;
        Some((What::Object(event), offset))
    });
    Taken::Found(found.collect(), lines)
}

#[cfg(test)]
mod tests {
    use super::super::{What, pieces};

    fn subjects(text: &str) -> Vec<(String, String)> {
        let of = |what: &What| match what {
            What::Object(event) => {
                let text = |name: &str| event["involvedObject"][name].as_str().map(str::to_owned);
                text("namespace").zip(text("name"))
            }
            _ => None,
        };
        pieces(text)
            .iter()
            .filter_map(|piece| of(&piece.what))
            .collect()
    }

    #[test]
    fn rows_without_their_head_are_about_the_pod_that_a_message_names() {
        let text = "  Normal   Scheduled  117s  default-scheduler  Successfully assigned shop/api-0 to w1\n  \
             Warning  Failed     70s (x4 over 113s)  kubelet  Error: failed to create containerd task\n";
        let pod = ("shop".to_owned(), "api-0".to_owned());
        assert_eq!(subjects(text), [pod.clone(), pod]);
        let text = "Warning  BackOff  43s (x7 over 2m)  kubelet  Back-off restarting failed container a in pod api-0_shop(95534006-402a)\n";
        assert_eq!(subjects(text), [("shop".to_owned(), "api-0".to_owned())]);
    }

    #[test]
    fn rows_that_name_no_pod_are_about_one_without_a_name_and_those_of_nodes_about_none() {
        let text =
            "Warning  FailedCreatePodSandBox  11s  kubelet  Failed to create pod sandbox: no\n";
        assert_eq!(subjects(text), [(String::new(), "(not named)".to_owned())]);
        let text =
            "Warning  FailedCreate  75s (x5 over 3m45s)  job-controller  Error creating: no\n";
        assert_eq!(subjects(text), [(String::new(), "(not named)".to_owned())]);
        let text =
            "Normal  NodeNotReady  11s  node-controller  Node w1 status is now: NodeNotReady\n";
        assert_eq!(subjects(text), []);
    }
}
