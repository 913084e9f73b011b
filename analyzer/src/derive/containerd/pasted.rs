//! containerd configurations that were pasted into a text without saying whose they are.
//!
//! They are resolved like any other; that the kubelet uses them stays unknown.

use super::{KubeletUse, Resolved, instance_facts};
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
    let folder = format!("nodes/{node}/{CONFIGS}");
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
    let mut config = resolve(&tree, root, None);
    let mut cri = cri_view(&config);
    if !whole {
        // What a part of a file does not say may stand in the rest of it.
        config.problems.retain(is_seen);
        cri.problems.retain(is_seen);
    }
    let id = format!("the configuration at {}", &name[1..]);
    let instance = instance(&id, &name[1..], &config);
    let resolved = Resolved {
        node: node.to_owned(),
        instances: Vec::new(),
        kubelet: KubeletUse::Unknown {
            missing: Vec::new(),
        },
        configs: std::iter::once((id.clone(), config)).collect(),
        cris: std::iter::once((id, cri)).collect(),
    };
    instance_facts(known, &resolved, &instance)
}

/// Whether a problem is something that stands there, not something that does not.
fn is_seen(problem: &ConfigProblem) -> bool {
    !matches!(
        problem,
        ConfigProblem::NotCaptured { .. }
            | ConfigProblem::Missing { .. }
            | ConfigProblem::PatternNotCaptured { .. }
            | ConfigProblem::SectionReplaced { .. }
            | ConfigProblem::DefaultRuntimeEmpty { .. }
            | ConfigProblem::DefaultRuntimeMissing { .. }
            | ConfigProblem::NoRuntimeType { .. }
            | ConfigProblem::NotToml { .. }
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
