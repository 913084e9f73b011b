//! OpenShift must-gather and `oc adm inspect`: one folder an image, objects in YAML by group and plural.

use casefile_bundle::Entry;

use super::kubernetes_dirs::{is_of, is_read, list, log};
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "must-gather",
    title: "OpenShift must-gather",
    recognise,
    identity,
    map,
};

fn recognise(survey: &Survey) -> Vec<String> {
    let mut roots = survey.roots("cluster-scoped-resources/");
    roots.extend(survey.roots("namespaces/"));
    roots.sort();
    roots.dedup();
    // An Insights archive has the first folder too, in JSON.
    roots.retain(|root| {
        let yaml = |folder: &str| {
            let mut below = survey.below(&format!("{root}{folder}"));
            below.any(|entry| entry.path.ends_with(".yaml"))
        };
        yaml("cluster-scoped-resources/") || yaml("namespaces/")
    });
    roots
}

fn identity(survey: &Survey, root: &str) -> Identity {
    let version = survey.get(&format!("{root}version")).map(|entry| {
        let text = entry.text().into_owned();
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        lines.join(" ")
    });
    Identity {
        node: None,
        version: version.filter(|text| !text.is_empty()),
        ..Identity::default()
    }
}

fn is_known(group: &str, plural: &str) -> bool {
    is_read(plural) && is_of(group, plural)
}

fn map(survey: &Survey, capture: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["cluster-scoped-resources", group, plural, name] => match name.strip_suffix(".yaml") {
            // One file an object: as many entries of ours.
            Some(name) if is_known(group, plural) => {
                Target::Yaml(Entry::ListIn(plural, name).path())
            }
            _ => Target::Unknown,
        },
        ["cluster-scoped-resources", group, file] => match file.strip_suffix(".yaml") {
            Some(plural) if is_known(group, plural) => Target::Yaml(list(plural, None)),
            _ => Target::Unknown,
        },
        ["namespaces", namespace, group, file] if file.ends_with(".yaml") => {
            let plural = file.trim_end_matches(".yaml");
            if is_known(group, plural) {
                Target::Yaml(list(plural, Some(namespace)))
            } else {
                Target::Unknown
            }
        }
        ["namespaces", namespace, group, plural, file] if is_known(group, plural) => {
            match file.strip_suffix(".yaml") {
                Some(name) => Target::Yaml(format!(
                    "cluster-resources/{plural}/{namespace}.{name}.json"
                )),
                None => Target::Unknown,
            }
        }
        ["namespaces", namespace, "pods", pod, file] if file.ends_with(".yaml") => {
            let all = format!("{}namespaces/{namespace}/core/pods.yaml", capture.root);
            if survey.has(&all) {
                Target::Double
            } else {
                Target::Yaml(Entry::ListIn("pods", &format!("{namespace}.{pod}")).path())
            }
        }
        [
            "namespaces",
            namespace,
            "pods",
            pod,
            container,
            _,
            "logs",
            file,
        ] => match *file {
            "current.log" => Target::As(log(namespace, pod, container, false)),
            "previous.log" => Target::As(log(namespace, pod, container, true)),
            // The same, asked for without verifying the kubelet's certificate.
            "previous.insecure.log" => Target::Double,
            _ => Target::Unknown,
        },
        ["host_service_logs", ..] => Target::Split(super::node_files::by_host),
        _ => Target::Unknown,
    }
}
