//! HAMi's settings, read from the values of its Helm release.

use casefile_bundle::Entry;

use super::{Deriver, Known};
use crate::facts::kube::HelmRelease;
use crate::facts::{AnyFact, Fact};
use crate::model::Place;
use crate::model::state::HamiSetting;

/// Reads the values files of HAMi's releases.
pub(super) static DERIVER: Deriver = Deriver { id: "hami", derive };

/// Keys that decide how a GPU is shared.
const KEYS: &[&str] = &[
    "deviceMemoryScaling",
    "deviceSplitCount",
    "deviceCoreScaling",
    "defaultMem",
    "defaultCores",
    "migStrategy",
    "disablecorelimit",
    "nodeSchedulerPolicy",
    "gpuSchedulerPolicy",
];

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    for release in known.facts.table::<HelmRelease>() {
        let HelmRelease {
            namespace,
            name,
            chart,
            ..
        } = &release.data;
        if !chart.contains("hami") {
            continue;
        }
        let path = Entry::Helm(namespace, name, "values-all.yaml").path();
        if let Some(text) = known.documents.get(&path) {
            facts.extend(settings(&path, text));
        }
    }
    facts
}

/// Settings by key, wherever they stand: charts moved them between tables over the years.
fn settings(path: &str, text: &str) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let Some((key, value)) = text.trim().split_once(':') else {
            continue;
        };
        let value = value.trim().trim_matches(['"', '\'']);
        if KEYS.contains(&key) && !value.is_empty() {
            let place = Place {
                path: path.into(),
                line: Some(line),
            };
            let fact = Fact {
                data: HamiSetting {
                    name: key.to_owned(),
                    value: crate::facts::excerpt(value, 80),
                    place: place.clone(),
                },
                place,
                text: text.trim().into(),
                at: None,
            };
            facts.push(fact.into());
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;

    #[test]
    fn settings_are_found_in_any_table_and_cite_their_line() {
        let text =
            "devicePlugin:\n  deviceSplitCount: 10\n  deviceMemoryScaling: \"1.5\"\n  other: 1\n";
        let mut facts = Facts::default();
        for fact in settings("helm/kube-system/hami/values-all.yaml", text) {
            facts.add(fact);
        }
        let read: Vec<(String, String, Option<u32>)> = facts
            .table::<HamiSetting>()
            .iter()
            .map(|fact| {
                let HamiSetting { name, value, place } = fact.data.clone();
                (name, value, place.line)
            })
            .collect();
        assert_eq!(
            read,
            [
                ("deviceSplitCount".into(), "10".into(), Some(2)),
                ("deviceMemoryScaling".into(), "1.5".into(), Some(3))
            ]
        );
    }
}
