//! Where pieces of loose texts go: which node they are of, by which path a bundle would hold them, and what is read of them
//! there.

use casefile_bundle::{Entry, entry};

use super::pasted::{CONFIGS, OPERATOR_VALUES, PastedEntry};
use super::{Documents, Router, guarded};
use crate::facts::kube::{HelmRelease, Node, Pod};
use crate::facts::{AnyFact, Fact, Facts};
use crate::lines::UNNAMED_NODE;
use crate::loose::{self, What};
use crate::model::Place;
use crate::parsers::{Document, Parsed, Read};
use crate::shared::Shared;

/// Releases of which values were pasted, and neither a list nor a state: their chart is told by what the values hold.
pub(super) fn unlisted_releases(documents: &Documents, facts: &Facts) -> Vec<AnyFact> {
    let known = facts.table::<HelmRelease>();
    let values = documents.range(entry::HELM.to_owned()..);
    let values = values.take_while(|(path, _)| path.starts_with(entry::HELM));
    let mut found: Vec<AnyFact> = Vec::new();
    let mut told: Vec<(&str, &str)> = Vec::new();
    for (path, text) in values {
        let parts: Vec<&str> = path.split('/').collect();
        let [
            "helm",
            namespace,
            name,
            "values-all.yaml" | "values-user.yaml",
        ] = parts.as_slice()
        else {
            continue;
        };
        let listed = known
            .iter()
            .any(|one| one.data.namespace == *namespace && one.data.name == *name);
        if listed || told.contains(&(*namespace, *name)) {
            continue;
        }
        told.push((namespace, name));
        let data = HelmRelease {
            namespace: (*namespace).to_owned(),
            name: (*name).to_owned(),
            chart: chart_of(text).to_owned(),
            ..HelmRelease::default()
        };
        let place = Place {
            path: path.as_str().into(),
            line: Some(1),
        };
        found.push(AnyFact::new(Fact {
            place,
            text: Shared::default(),
            at: None,
            data,
        }));
    }
    found
}

/// The chart of the GPU stack that has such values; empty where none is told.
fn chart_of(text: &str) -> &'static str {
    let Some(values) = crate::helm::yaml::read(text) else {
        return "";
    };
    let has = |path: &str| values.pointer(path).is_some();
    let sections = OPERATOR_SECTIONS.iter();
    let known = sections.filter(|one| values.get(**one).is_some()).count();
    if has("/scheduler/kubeScheduler") || has("/devicePlugin/deviceSplitCount") {
        "hami"
    } else if known >= 2 || has("/toolkit/env") {
        "gpu-operator"
    } else {
        ""
    }
}

/// Sections of the GPU Operator's values; two of them in one file are no other chart's.
const OPERATOR_SECTIONS: [&str; 12] = [
    "operator",
    "driver",
    "toolkit",
    "devicePlugin",
    "dcgm",
    "dcgmExporter",
    "gfd",
    "mig",
    "migManager",
    "cdi",
    "daemonsets",
    "validator",
];

/// What a node is called: as the only node that any object names.
pub(super) fn node_name(facts: &Facts) -> String {
    let only = |mut names: Vec<&str>| {
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        match names.as_slice() {
            [one] => Some((*one).to_owned()),
            _ => None,
        }
    };
    let nodes = facts
        .table::<Node>()
        .iter()
        .map(|node| node.data.name.as_str());
    let hosts = facts
        .table::<Pod>()
        .iter()
        .map(|pod| pod.data.node.as_str());
    only(nodes.collect())
        .or_else(|| only(hosts.collect()))
        .unwrap_or_else(|| UNNAMED_NODE.into())
}

/// An entry as it would lie in a bundle.
pub(super) struct Placed {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) origin: Place,
    pub(super) parsed: Parsed,
}

/// Gives an entry its path and reads it. `number` tells apart what has no path of its own.
pub(super) fn place(router: &Router, entry: PastedEntry, node: &str, number: usize) -> Placed {
    let node = entry.host.as_deref().unwrap_or(node);
    let path = match &entry.what {
        What::Entry(path) => Entry::Node(node, path).path(),
        What::Cluster(path) => path.clone(),
        What::Part(path) => Entry::Node(node, &format!("pasted/{number}/{path}")).path(),
        What::ContainerdConfig { whole } => {
            let kind = if *whole { "whole" } else { "part" };
            Entry::Node(node, &format!("{CONFIGS}{kind}/{number}.toml")).path()
        }
        _ => OPERATOR_VALUES.path(),
    };
    let shown = match &entry.what {
        What::Cluster(_) => entry.text.clone(),
        _ => String::new(),
    };
    let text = match &entry.what {
        What::ContainerdConfig { .. } => loose::without_elisions(&entry.text),
        What::Part(_) => loose::process_record(&entry.text).unwrap_or_default(),
        What::Cluster(_) => loose::helm_entry(&path, entry.text),
        _ => entry.text,
    };
    let reader = match &entry.what {
        What::Entry(_) | What::Cluster(_) => router.parser(&path),
        What::Part(whole) => router.parser(&Entry::Node(node, whole).path()),
        _ => None,
    };
    let document = Document {
        path: &path,
        node,
        text: &text,
    };
    let mut parsed = match reader.map(|reader| (reader.id, reader.read)) {
        Some((id, Read::Whole(parse) | Read::Small(parse))) => {
            guarded(id, &path, || parse(&document))
        }
        _ => Parsed::default(),
    };
    // What was rewritten for its parser is quoted as it stood.
    for fact in &mut parsed.facts {
        fact.rewrite(&mut |place, text| {
            let before = usize::try_from(place.line.unwrap_or(1)).unwrap_or(1);
            if let Some(line) = shown.lines().nth(before.saturating_sub(1)) {
                *text = crate::facts::excerpt(line.trim(), 400).into();
            }
        });
    }
    // Its lines were searched where they stand.
    parsed.said.clear();
    Placed {
        path,
        text,
        origin: entry.origin,
        parsed,
    }
}
