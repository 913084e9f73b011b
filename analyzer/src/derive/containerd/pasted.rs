//! containerd configurations that were pasted into a text without saying whose they are.
//!
//! They are resolved like any other; that the kubelet uses them stays unknown.

use casefile_bundle::Entry;

use super::checks::fault_fact;
use super::{KubeletUse, Resolved, handler_facts, instance_fact};
use crate::containerd::config::RootFile;
use crate::containerd::handlers::cri_view;
use crate::containerd::instances::{Instance, InstanceKind};
use crate::containerd::problem::ConfigProblem;
use crate::containerd::{EffectiveConfig, MapTree, resolve};
use crate::derive::Known;
use crate::facts::AnyFact;
use crate::scan::pasted::CONFIGS;

/// The facts of all such configurations of a node.
pub(super) fn facts(known: &Known<'_>, node: &str) -> Vec<AnyFact> {
    let folder = Entry::Node(node, CONFIGS).path();
    let pasted = known
        .documents
        .range(folder.clone()..)
        .take_while(|(path, _)| path.starts_with(&folder));
    let mut facts = Vec::new();
    for (path, text) in pasted {
        let whole = path[folder.len()..].starts_with("whole/");
        facts.extend(of_one(known, node, path, text, whole));
    }
    facts
}

fn of_one(known: &Known<'_>, node: &str, path: &str, text: &str, whole: bool) -> Vec<AnyFact> {
    let origin = known.origins.get(path).map(ToString::to_string);
    let name = format!("/{}", origin.unwrap_or_else(|| path.to_owned()));
    let mut tree = MapTree::new();
    tree.add(&name, path, text);
    let root = RootFile {
        path: &name,
        explicit: true,
    };
    let config = resolve(&tree, root, None);
    let cri = cri_view(&config);
    let id = format!("the text at {}", &name[1..]);
    let instance = instance(&id, &name[1..], &config);
    let resolved = Resolved {
        node: node.to_owned(),
        instances: Vec::new(),
        kubelet: KubeletUse::Unknown {
            missing: Vec::new(),
        },
        cgroups: super::cgroup::Setting::default(),
        configs: std::iter::once((id.clone(), config)).collect(),
        cris: std::iter::once((id, cri)).collect(),
    };
    let problems = resolved.configs.values().flat_map(|one| &one.problems);
    let problems = problems.chain(resolved.cris.values().flat_map(|one| &one.problems));
    let faults: Vec<AnyFact> = problems
        .filter(|problem| is_seen(problem))
        .map(|problem| fault_fact(known, &resolved, &instance, problem))
        .collect();
    if !whole {
        return faults;
    }
    // A whole file also says what it does not define. It does not say that a node runs with it.
    let mut facts = faults;
    if let Some((config, cri)) = resolved.of(&instance) {
        facts.push(instance_fact(known, &resolved, &instance, config, cri));
    }
    facts.extend(handler_facts(known, &resolved, &instance));
    facts
}

/// Whether a problem is something that stands there whatever the rest of the file and the release are.
fn is_seen(problem: &ConfigProblem) -> bool {
    matches!(
        problem,
        ConfigProblem::WrongType { .. }
            | ConfigProblem::CriDisabled { .. }
            | ConfigProblem::BadPluginId { .. }
            | ConfigProblem::BadPattern { .. }
    )
}

fn instance(id: &str, config: &str, resolved: &EffectiveConfig) -> Instance {
    Instance {
        id: id.to_owned(),
        kind: InstanceKind::System,
        config_path: config.to_owned(),
        config_explicit: true,
        address: String::new(),
        address_from: "",
        root: String::new(),
        state: String::new(),
        version: None,
        pid: None,
        started: None,
        unit: None,
        evidence: resolved
            .files
            .first()
            .map(|file| crate::containerd::instances::Evidence {
                path: file.bundle_path.clone(),
                line: 1,
                text: String::new(),
            })
            .into_iter()
            .collect(),
    }
}
