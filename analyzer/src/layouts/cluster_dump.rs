//! `kubectl cluster-info dump --output-directory`: nodes.json, a folder a namespace, a `logs.txt` a pod.

use super::{Capture, Identity, Layout, Survey, Target, dump_internal, kubernetes_dirs};

pub(super) static LAYOUT: Layout = Layout {
    id: "cluster-info-dump",
    title: "kubectl cluster-info dump",
    recognise,
    identity: |_, _| Identity::default(),
    map,
};

fn recognise(survey: &Survey) -> Vec<String> {
    let mut roots = survey.roots("nodes.json");
    roots.extend(survey.roots("nodes.yaml"));
    roots.retain(|root| kubernetes_dirs::is_dump(survey, root));
    // No other tool names a file so: of a dump that lost its list of nodes, or never had the right to it.
    for ending in ["json", "yaml"] {
        let mark = format!("/replication-controllers.{ending}");
        for entry in &survey.entries {
            let Some(namespace) = entry.path.strip_suffix(&mark) else {
                continue;
            };
            let root = namespace.rsplit_once('/').map_or("", |(root, _)| root);
            if survey.has(&format!("{namespace}/pods.{ending}")) {
                roots.push(match root {
                    "" => String::new(),
                    root => format!("{root}/"),
                });
            }
        }
    }
    roots.sort();
    roots.dedup();
    roots
}

fn map(survey: &Survey, capture: &Capture, path: &str) -> Target {
    match kubernetes_dirs::dump(path) {
        Some(Target::As(ours)) => {
            let entry = survey.get(&format!("{}{path}", capture.root));
            let internal = entry.is_some_and(|entry| dump_internal::is(&entry.text()));
            if internal {
                Target::Split(dump_internal::published)
            } else {
                Target::As(ours)
            }
        }
        Some(target) => target,
        None => Target::Unknown,
    }
}
