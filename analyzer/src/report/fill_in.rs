//! Names in capitals that a command leaves to the person who runs it, with what the bundle knows of them.

use std::collections::BTreeSet;

use super::blocks::{Block, Rich, StepItem};
use crate::model::{Analysis, Incident};

/// What stands in commands of rules for something that a person chooses, and what it means.
const NAMES: &[(&str, &str)] = &[
    ("POD", "a pod that is affected"),
    ("TESTPOD", "a pod to try it with"),
    ("NAMESPACE", "its namespace"),
    ("NODE", "the node"),
    ("NAME", "the workload or object"),
    ("CONTAINER", "the container's name"),
    ("RELEASE", "the helm release"),
    ("CHART", "the chart, or its file"),
    ("VERSION", "the version to install"),
    ("IMAGE", "the image"),
    ("PV", "the PersistentVolume"),
    ("OLD_NODE", "the node that is gone"),
    ("HAMI-SCHEDULER", "an address of HAMi's scheduler"),
    ("DEVICE-PLUGIN-POD", "the device plugin's pod on the node"),
    (
        "HAMI-DEVICE-PLUGIN-POD",
        "HAMi's device plugin pod on the node",
    ),
    ("JOB", "the job"),
    ("BUS_ID", "the GPU's PCI bus id"),
    ("INDEX", "the GPU's index in nvidia-smi -L"),
    ("WATTS", "the power limit in watts"),
    ("KEY", "the label's key"),
    ("VALUE", "its value"),
    ("UPSTREAM_IP", "a DNS server of /etc/resolv.conf"),
    ("SERVICE_IP", "the service's cluster address"),
    ("SERVICE", "the service"),
    ("CLIENT", "the pod that calls"),
    ("SERVER", "the pod that answers"),
    ("POD_IP", "the pod's address"),
    ("OTHER_POD_IP", "the address of a pod on another node"),
    ("OTHER_NODE_POD_IP", "the address of a pod on another node"),
    ("REGISTRY", "the registry"),
    ("USER", "the user of the registry"),
    ("TOKEN", "its token"),
    ("YOUR_PROCESS", "the program's name"),
];

/// A sentence about what is to be filled in; none where the commands leave nothing open.
pub(crate) fn note(steps: &[StepItem], incident: &Incident, analysis: &Analysis) -> Option<Block> {
    let commands = steps.iter().filter_map(|step| step.command.as_deref());
    let open: BTreeSet<usize> = commands.flat_map(open_names).collect();
    if open.is_empty() {
        return None;
    }
    let mut text = Rich::new().strong("To fill in:");
    for (nth, index) in open.iter().enumerate() {
        let (name, meaning) = NAMES[*index];
        text = text
            .text(if nth == 0 { " " } else { "; " })
            .code(name)
            .text(format!(" is {meaning}"));
        let known = known(name, incident, analysis);
        if let Some((first, rest)) = known.split_first() {
            text = text.text(", here ").code(first.clone());
            for one in rest {
                text = text.text(" or ").code(one.clone());
            }
        }
    }
    Some(Block::paragraph(text.text(".")))
}

/// Indices of the names that a command leaves open.
fn open_names(command: &str) -> Vec<usize> {
    let is_part = |c: char| c.is_ascii_uppercase() || c == '_' || c == '-';
    let mut found = Vec::new();
    let mut rest = command;
    let mut before = ' ';
    while let Some(start) = rest.find(|c: char| c.is_ascii_uppercase()) {
        before = rest[..start].chars().next_back().unwrap_or(before);
        let word = &rest[start..];
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let next = after.chars().next().unwrap_or(' ');
        // A column's title (NAME:.metadata.name), a variable or a part of another word is no blank.
        let own = !before.is_ascii_alphanumeric() && !"$_{-".contains(before);
        if own && !next.is_ascii_alphanumeric() && !(next == ':' && titled(after)) {
            found.extend(NAMES.iter().position(|(name, _)| *name == word));
        }
        before = word.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    found
}

/// Whether a colon starts the path of a custom column.
fn titled(after: &str) -> bool {
    after.starts_with(":.") || after.starts_with(":{")
}

/// What the bundle offers for a name: at most two. Pods that do not do their work come first.
fn known(name: &str, incident: &Incident, analysis: &Analysis) -> Vec<String> {
    let ill = |subject: &&String| {
        let mut workloads = analysis.impact.workloads.iter();
        workloads.any(|one| one.subject == **subject)
    };
    let of = |kind: &str, part: usize| -> Vec<String> {
        let (ill, rest): (Vec<&String>, Vec<&String>) = incident.subjects.iter().partition(ill);
        let subjects = if ill.is_empty() || kind != "pod/" {
            ill.into_iter().chain(rest).collect()
        } else {
            ill
        };
        let subjects = subjects.into_iter();
        let mut all: Vec<String> = Vec::new();
        for subject in subjects.filter(|one| one.starts_with(kind)) {
            let part = subject.split('/').nth(part).unwrap_or_default();
            if !part.is_empty() && !all.iter().any(|one| one == part) {
                all.push(part.to_owned());
            }
        }
        all.truncate(2);
        all
    };
    match name {
        "POD" => of("pod/", 2),
        "NAMESPACE" => of("pod/", 1),
        "NODE" => of("node/", 1),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(command: &str) -> Vec<&'static str> {
        open_names(command)
            .into_iter()
            .map(|i| NAMES[i].0)
            .collect()
    }

    #[test]
    fn only_names_that_a_person_has_to_replace_are_named() {
        assert_eq!(
            names("kubectl delete pod POD -n NAMESPACE"),
            ["POD", "NAMESPACE"]
        );
        assert_eq!(
            names("kubectl logs -n kube-system HAMI-DEVICE-PLUGIN-POD -c x"),
            ["HAMI-DEVICE-PLUGIN-POD"]
        );
        assert_eq!(
            names("kubectl cp NAMESPACE/POD:/tmp x"),
            ["NAMESPACE", "POD"]
        );
        for none in [
            "kubectl get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName",
            "echo $NODE ${POD}",
            "nvidia-smi -q -d PERFORMANCE,ECC",
            "dmesg | grep NVRM",
        ] {
            assert_eq!(names(none), Vec::<&str>::new(), "{none}");
        }
    }
}
