//! sonobuoy results: `resources/ns/<ns>/core_v1_pods.json`, `podlogs/`, `hosts/<node>/`.

use super::kubernetes_dirs::{is_of, is_read, list, log};
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "sonobuoy",
    title: "sonobuoy",
    recognise: |survey| survey.roots_with("resources/", &["resources/cluster/", "resources/ns/"]),
    identity: |survey: &Survey, root| Identity {
        node: None,
        version: survey.line(&format!("{root}serverversion.json")),
        ..Identity::default()
    },
    map,
};

/// `core_v1_pods.json` or `pods.json` is of pods.
fn plural(file: &str) -> Option<String> {
    let name = file.strip_suffix(".json")?;
    let (group, plural) = match name.split_once('_') {
        Some((group, rest)) => (group, rest.rsplit('_').next().unwrap_or(rest)),
        None => ("", name),
    };
    let plural = plural.to_lowercase();
    is_of(group, &plural).then_some(plural)
}

fn map(_: &Survey, _: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["resources", "cluster", file] => match plural(file).filter(|plural| is_read(plural)) {
            Some(plural) => Target::As(list(&plural, None)),
            None => Target::Unknown,
        },
        ["resources", "ns", namespace, file] => match plural(file).filter(|plural| is_read(plural))
        {
            Some(plural) => Target::As(list(&plural, Some(namespace))),
            None => Target::Unknown,
        },
        ["podlogs", namespace, pod, "logs", file] => {
            let container = file.trim_end_matches(".txt").trim_end_matches(".log");
            Target::As(log(namespace, pod, container, false))
        }
        _ => Target::Unknown,
    }
}
