//! What the manifest says of the entries that an analysis names, so that a reader can check them.

use std::collections::{BTreeMap, BTreeSet};

use casefile_bundle::Summary;

use crate::model::{Analysis, Digest, Figure};

/// The digest of every entry that is named anywhere in the analysis.
pub(super) fn digests(analysis: &Analysis, summary: &Summary) -> BTreeMap<String, Digest> {
    let Some(manifest) = &summary.manifest else {
        return BTreeMap::new();
    };
    let wanted = paths(analysis);
    let entries = manifest.entries.iter();
    entries
        .filter(|entry| wanted.contains(entry.path.as_str()))
        .map(|entry| {
            let digest = Digest {
                sha256: entry.sha256.clone(),
                bytes: entry.bytes,
                truncated: entry.truncated.clone(),
                redacted: entry
                    .redactions
                    .values()
                    .fold(0, |sum: u64, number| sum.saturating_add(*number)),
            };
            (entry.path.as_str().to_owned(), digest)
        })
        .collect()
}

fn paths(analysis: &Analysis) -> BTreeSet<&str> {
    let mut paths = BTreeSet::new();
    for incident in &analysis.incidents {
        let symptoms = incident.symptoms.iter().flat_map(|one| &one.evidence);
        let observations = incident.observations.iter().flat_map(|one| &one.lines);
        let lines = incident.evidence.iter().chain(symptoms).chain(observations);
        paths.extend(lines.map(|line| line.place.path.as_str()));
        let cells = incident.tables.iter().flat_map(|table| &table.rows);
        let places = cells.flatten().filter_map(|cell| cell.place.as_ref());
        paths.extend(places.map(|place| place.path.as_str()));
        paths.extend(incident.figures.iter().flat_map(of_figure));
    }
    let considered = analysis.differential.iter();
    paths.extend(considered.filter_map(|one| Some(one.place.as_ref()?.path.as_str())));
    let noise = analysis.benign.iter().flat_map(|one| &one.evidence);
    paths.extend(noise.map(|line| line.place.path.as_str()));
    paths.extend(analysis.timeline.iter().map(|one| one.place.path.as_str()));
    let hit = analysis.impact.workloads.iter();
    paths.extend(hit.map(|one| one.place.path.as_str()));
    let environment = analysis.environment.iter();
    paths.extend(environment.filter_map(|one| Some(one.place.as_ref()?.path.as_str())));
    paths.extend(analysis.problems.iter().map(|one| one.place.path.as_str()));
    paths
}

fn of_figure(figure: &Figure) -> Vec<&str> {
    let places: Vec<_> = match figure {
        Figure::PacketPath(path) => path.steps.iter().map(|step| &step.place).collect(),
        Figure::RuntimeLayers(layers) => {
            let settings = layers.layers.iter().flat_map(|layer| &layer.settings);
            settings.map(|setting| &setting.place).collect()
        }
        Figure::GpuMap(map) => {
            let cards = map.cards.iter().map(|card| &card.place);
            cards
                .chain(map.holders.iter().map(|one| &one.place))
                .collect()
        }
        Figure::Packing(packing) => packing.nodes.iter().map(|node| &node.place).collect(),
    };
    let known = places.into_iter().flatten();
    known.map(|place| place.path.as_str()).collect()
}
