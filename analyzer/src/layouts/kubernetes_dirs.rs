//! Objects and logs of a cluster by the names that tools give their files.

use std::sync::LazyLock;

use casefile_bundle::Entry;

use super::{Capture, Part, Survey, Target};
use crate::parsers::{Read, Router};
use casefile_shapes::alphabet;

/// Kinds whose objects have no namespace.
const OF_CLUSTER: [&str; 13] = [
    "nodes",
    "namespaces",
    "runtimeclasses",
    "persistentvolumes",
    "storageclasses",
    "volumeattachments",
    "mutatingwebhookconfigurations",
    "validatingwebhookconfigurations",
    "csinodes",
    "deviceclasses",
    "resourceslices",
    "priorityclasses",
    "clusterpolicies",
];

/// Where we keep objects of a kind: a file a namespace, or one of the cluster.
pub(super) fn list(plural: &str, namespace: Option<&str>) -> String {
    match namespace {
        Some(namespace) => Entry::ListIn(plural, namespace).path(),
        None => Entry::List(plural).path(),
    }
}

/// Where a list of all namespaces goes, or one of objects that have none.
pub(super) fn everywhere(plural: &str) -> String {
    let namespace = (!OF_CLUSTER.contains(&plural)).then_some("all-namespaces");
    list(plural, namespace)
}

/// Splits `<pod>-<rest>`: the name of a pod that a controller made ends with five letters that it drew.
pub(super) fn pod_and_rest(name: &str) -> Option<(&str, &str)> {
    let mut end = 0;
    for part in name.split('-') {
        end += part.len();
        if end > part.len() && alphabet::is_end_of_pod(part) && end + 1 < name.len() {
            return Some((&name[..end], &name[end + 1..]));
        }
        end += 1;
    }
    None
}

/// Whether objects of a kind are read at all: a parser reads their lists object by object.
pub(super) fn is_read(plural: &str) -> bool {
    static ROUTER: LazyLock<Option<Router>> = LazyLock::new(|| Router::new().ok());
    let by_object = |path: &str| {
        let parser = ROUTER.as_ref().and_then(|router| router.parser(path));
        parser.is_some_and(|parser| matches!(parser.read, Read::Items(_)))
    };
    by_object(&list(plural, None))
        || by_object(&list(plural, Some("x")))
        || OF_CLUSTER.contains(&plural)
}

/// Whether a group's objects by this name are those that Kubernetes means by it: others have nodes, volumes and policies too, metrics
/// come by the names of what they measure, and events by those of a second group again.
pub(super) fn is_of(group: &str, plural: &str) -> bool {
    match group {
        "nvidia.com" => matches!(plural, "clusterpolicies" | "nvidiadrivers"),
        "config.openshift.io" => matches!(plural, "clusteroperators" | "clusterversions"),
        "operators.coreos.com" => matches!(plural, "clusterserviceversions" | "installplans"),
        "events.k8s.io" => false,
        _ if group.ends_with("metrics.k8s.io") => false,
        _ => !group.contains('.') || group.ends_with(".k8s.io"),
    }
}

/// Entries of ours that are lines of one file, each at the number that it has there.
#[derive(Default)]
pub(super) struct PartLines {
    /// Each with the number of the line behind its last.
    parts: Vec<(Part, u32)>,
}

impl PartLines {
    /// Adds a line to the entry that is our path.
    pub(super) fn add(&mut self, path: &str, number: u32, text: &str) {
        let found = self.parts.iter().position(|(part, _)| part.path == path);
        let at = found.unwrap_or_else(|| {
            let part = Part {
                path: path.to_owned(),
                line: number,
                text: String::new(),
            };
            self.parts.push((part, number));
            self.parts.len() - 1
        });
        let Some((part, next)) = self.parts.get_mut(at) else {
            return;
        };
        part.text.extend((*next..number).map(|_| '\n'));
        part.text += text;
        part.text.push('\n');
        *next = number.max(*next).saturating_add(1);
    }

    /// Adds the objects of a YAML document, which starts at this line of its file, to the list that is our path: each as JSON in a
    /// line of its own.
    pub(super) fn add_objects(
        &mut self,
        path: &str,
        from: u32,
        document: &str,
        change: impl Fn(String) -> String,
    ) {
        for (line, json) in super::yaml_items_as_json(document) {
            let number = from.saturating_add(line.saturating_sub(1));
            let Ok(json) = json.map(|json| change(String::from_utf8_lossy(&json).into_owned()))
            else {
                continue;
            };
            self.add(path, number, &json);
        }
    }

    /// The entries.
    pub(super) fn finish(self) -> Vec<Part> {
        self.parts.into_iter().map(|(part, _)| part).collect()
    }
}

/// The log of a container.
pub(super) fn log(namespace: &str, pod: &str, container: &str, previous: bool) -> String {
    let previous = if previous { "-previous" } else { "" };
    Entry::PodLog(&format!("{namespace}/{pod}/{container}{previous}.log")).path()
}

/// Splits a `logs.txt` of `kubectl cluster-info dump` at the lines that mark each container's log.
pub(super) fn marked_logs(_: &Capture, _: &str, text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut open = false;
    for (line, number) in text.lines().zip(1_u32..) {
        if let Some((container, pod)) = start_of_log(line) {
            let (namespace, pod) = pod.split_once('/').unwrap_or(("default", pod));
            parts.push(Part {
                path: log(namespace, pod, container, false),
                line: number.saturating_add(1),
                text: String::new(),
            });
            open = true;
        } else if line.starts_with("==== END logs for container ") {
            open = false;
        } else if let Some(part) = parts.last_mut().filter(|_| open) {
            part.text.push_str(line);
            part.text.push('\n');
        }
    }
    parts
}

/// Container and pod of `==== START logs for container C of pod NS/POD ====`.
pub(super) fn start_of_log(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("==== START logs for container ")?;
    rest.trim_end()
        .strip_suffix(" ====")?
        .split_once(" of pod ")
}

/// A folder as `kubectl cluster-info dump --output-directory` writes it.
pub(super) fn dump(path: &str) -> Option<Target> {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["nodes.json"] => Some(Target::As(list("nodes", None))),
        ["nodes.yaml"] => Some(Target::Yaml(list("nodes", None))),
        [namespace, file] => {
            let (plural, ending) = file.rsplit_once('.')?;
            let ours = list(plural, Some(namespace));
            match ending {
                "json" if is_read(plural) => Some(Target::As(ours)),
                "yaml" if is_read(plural) => Some(Target::Yaml(ours)),
                "json" | "yaml" => Some(Target::Unknown),
                _ => None,
            }
        }
        [_, _, "logs.txt"] => Some(Target::Split(marked_logs)),
        _ => None,
    }
}

/// Whether such a folder lies at this root.
pub(super) fn is_dump(survey: &Survey, root: &str) -> bool {
    ["json", "yaml"].iter().any(|ending| {
        let pods = format!("/pods.{ending}");
        survey.has(&format!("{root}nodes.{ending}"))
            && survey.below(root).any(|entry| {
                let below = &entry.path[root.len()..];
                below.ends_with(&pods) && below.matches('/').count() == 1
            })
    })
}
