//! troubleshoot.sh's support bundles, whose names of cluster resources ours follow.

use casefile_bundle::{Entry, entry};

use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "troubleshoot",
    title: "troubleshoot support bundle",
    recognise: |survey| {
        let mut roots = survey.roots(entry::OBJECTS);
        // Ours has the same folder; so has what was taken out of one of ours.
        // What was cut out of a bundle for sbctl has no version, but the kinds of the server.
        let marks = ["version.yaml".to_owned(), Entry::List("groups").path()];
        roots.retain(|root| {
            let marked = marks
                .iter()
                .any(|mark| survey.has(&format!("{root}{mark}")));
            marked && !survey.has_folder(&format!("{root}nodes/"))
        });
        roots.extend(survey.roots("host-collectors/"));
        roots.sort();
        roots.dedup();
        // Beside nodes of ours it is a bundle of ours that lost its header.
        let ours = survey.roots(entry::NODES);
        roots.retain(|root| !ours.contains(root));
        roots
    },
    identity: |survey: &Survey, root| {
        let node = survey.get(&format!("{root}host-collectors/system/hostos_info.json"));
        let node = node.and_then(|entry| {
            let text = entry.text().into_owned();
            let value: serde_json::Value = serde_json::from_str(&text).ok()?;
            Some(value.get("hostname")?.as_str()?.to_owned())
        });
        Identity {
            node,
            ..Identity::default()
        }
    },
    map,
};

fn map(_: &Survey, capture: &Capture, path: &str) -> Target {
    let ours = path.starts_with(entry::OBJECTS) || path.starts_with(entry::CLUSTER);
    if ours && !path.contains("-errors.") && !path.ends_with("-logs-errors.log") {
        return match path.strip_suffix(".yaml") {
            // The same as JSON stands beside it.
            Some(_) => Target::Double,
            None => Target::As(ours_of(path)),
        };
    }
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["host-collectors", "journald", file] => journald(capture, file),
        ["host-collectors", "run-host", file] if file.ends_with(".txt") => Target::Loose,
        ["host-collectors", "run-host", node, file] if file.ends_with(".txt") => {
            let name = file.trim_end_matches(".txt");
            Target::As(Entry::Printed(node, name).path())
        }
        // Logs that the bundle's author asked for by name.
        _ if path.ends_with(".log") || path.ends_with(".txt") => Target::Loose,
        _ => Target::Unknown,
    }
}

fn journald(capture: &Capture, file: &str) -> Target {
    match file.strip_suffix(".txt") {
        Some(unit) if !unit.ends_with("-stderr") => {
            capture.of_node(&super::node_files::journal(unit))
        }
        _ => Target::Unknown,
    }
}

/// Our name of an entry: some kinds have another there (sbctl's `pkg/util/support-bundle.go`).
fn ours_of(path: &str) -> String {
    const OTHERWISE: [(&str, &str); 8] = [
        ("pvcs", "persistentvolumeclaims"),
        ("pvs", "persistentvolumes"),
        ("storage-classes", "storageclasses"),
        ("ingress", "ingresses"),
        ("custom-resource-definitions", "customresourcedefinitions"),
        ("clusterRoleBindings", "clusterrolebindings"),
        ("network-policy", "networkpolicies"),
        ("resource-quota", "resourcequotas"),
    ];
    let Some(below) = path.strip_prefix(entry::OBJECTS) else {
        return path.to_owned();
    };
    let end = below.find(['/', '.']).unwrap_or(below.len());
    let (name, rest) = below.split_at(end);
    let known = OTHERWISE.iter().find(|(theirs, _)| *theirs == name);
    let plural = known.map_or(name, |(_, ours)| ours);
    Entry::Objects(&format!("{plural}{rest}")).path()
}
