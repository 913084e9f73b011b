//! Archives of Red Hat Insights: of a host (`insights_commands/` beside copied files, both below `data/` in newer ones), and of
//! the operator in a cluster (`config/`, `events/`).
//!
//! Source: insights-core's `core/context.py`, `core/serde.py` and `util/mangle.py`; insights-operator's `docs/insights-archive-sample`.

use casefile_bundle::Entry;

use super::kubernetes_dirs::{list, log};
use super::node_files::{copied, journal, printed, typed};
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "insights-archive",
    title: "Red Hat Insights archive",
    recognise: |survey| {
        let mut roots: Vec<String> = survey.roots("insights_archive.txt");
        roots.extend(survey.roots("insights-operator/gathers.json"));
        roots.extend(survey.roots("insights-operator/gathers"));
        for root in survey.roots("insights_commands/") {
            roots.push(root.strip_suffix("data/").unwrap_or(&root).to_owned());
        }
        roots.retain(|root| !survey.has_folder(&format!("{root}sos_commands/")));
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |survey: &Survey, root| {
        let below = ["data/", ""];
        let named = ["hostname", "hostname_-s", "hostname_-f"];
        let mut files = below.iter().flat_map(|data| {
            let commands = format!("{root}{data}insights_commands/");
            named.iter().map(move |name| format!("{commands}{name}"))
        });
        Identity {
            node: files.find_map(|file| survey.line(&file)),
            version: survey.line(&format!("{root}version_info")),
            ..Identity::default()
        }
    },
    map,
};

fn map(_: &Survey, capture: &Capture, path: &str) -> Target {
    let path = path.strip_prefix("data/").unwrap_or(path);
    if let Some(command) = path.strip_prefix("insights_commands/") {
        if command.starts_with("journalctl_--no-pager") {
            return capture.of_node(&journal("journal"));
        }
        return printed(&typed(command)).map_or(Target::Unknown, |known| capture.of_node(known));
    }
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["config", "node", file] if file.ends_with(".json") => {
            Target::Yaml(Entry::Objects(&format!("nodes/{file}")).path())
        }
        ["config", "node", "logs", node, file] => {
            Target::As(Entry::Node(node, &journal(file)).path())
        }
        ["config", "pod", namespace, "logs", pod, file] => {
            let name = file.trim_end_matches(".log");
            let previous = name.ends_with("_previous");
            let container = name
                .trim_end_matches("_current")
                .trim_end_matches("_previous");
            Target::As(log(namespace, pod, container, previous))
        }
        ["config", "pod", namespace, file] => match file.strip_suffix(".json") {
            Some(pod) => Target::As(Entry::ListIn("pods", &format!("{namespace}.{pod}")).path()),
            None => Target::Unknown,
        },
        ["events", file] => match file.strip_suffix(".json") {
            Some(namespace) => Target::As(list("events", Some(namespace))),
            None => Target::Unknown,
        },
        _ => copied(path).map_or(Target::Unknown, |file| capture.of_node(&file)),
    }
}
