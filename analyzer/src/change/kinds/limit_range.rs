//! A LimitRange that refuses pods, widened to what they ask for.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::listed;
use super::object::Named;
use super::object_patch::ObjectPatch;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A namespace, and what the API server says when it refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitRange {
    /// Namespace of the pods.
    pub namespace: String,
    /// The refusal, as `maximum memory usage per Container is 1Gi, but limit is 2Gi`.
    pub sentence: String,
}

/// One bound that was hit.
#[derive(Debug, PartialEq, Eq)]
struct Hit {
    bound: &'static str,
    resource: String,
    per: String,
    is: String,
    asked: String,
}

impl Kind for LimitRange {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let hits = hits(&self.sentence);
        if hits.is_empty() {
            return Err(Refused::new(
                "the refusal names no bound with the amount that was asked for; a person sets the pod's requests and limits",
            ));
        }
        let (named, limits) = self.widened(state, &hits)?;
        let said: Vec<String> = hits
            .iter()
            .map(|hit| {
                format!(
                    "{} {} of a {} to {}",
                    hit.bound,
                    hit.resource,
                    hit.per.to_lowercase(),
                    hit.asked
                )
            })
            .collect();
        let said = said.join(", ");
        let patch = ObjectPatch {
            how: "merge",
            fields: json!({"spec": {"limits": limits}}),
            title: format!("Set {said} in {named}"),
            follows: "pods that were refused are made with the next attempt of their controller"
                .into(),
            interrupts: "Nothing; pods that run keep what they have.".into(),
            named,
        };
        let mut applied = patch.applied(state)?;
        applied.costs.push(format!(
            "every pod of namespace {} may ask for as much ({said})",
            self.namespace
        ));
        Ok(applied)
    }
}

impl LimitRange {
    /// The one LimitRange of the namespace that has these bounds, and its limits as they shall be.
    fn widened(&self, state: &mut Captured, hits: &[Hit]) -> Result<(Named, Value), Refused> {
        let path = Named::new("LimitRange", Some(&self.namespace), "x").entry();
        let bounds = format!("the bounds of namespace {}", self.namespace);
        let mut found = Vec::new();
        for item in listed(state, &path, &bounds)? {
            let mut limits = item["spec"]["limits"].clone();
            if let (true, Some(name)) = (
                hits.iter().all(|hit| widen(&mut limits, hit)),
                item["metadata"]["name"].as_str(),
            ) {
                found.push((
                    Named::new("LimitRange", Some(&self.namespace), name),
                    limits,
                ));
            }
        }
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(Refused::new(format!(
                "{path} holds no LimitRange with the bounds that the refusal names"
            ))),
            number => Err(Refused::new(format!(
                "{path} holds {number} LimitRanges with these bounds; a person has to choose"
            ))),
        }
    }
}

/// Sets the bound that was hit; false where these limits have none like it. A default above a new bound would be refused.
fn widen(limits: &mut Value, hit: &Hit) -> bool {
    let mut any = false;
    for limit in limits.as_array_mut().into_iter().flatten() {
        let own =
            limit["type"] == hit.per.as_str() && limit[hit.bound][&hit.resource] == hit.is.as_str();
        if own {
            limit[hit.bound][&hit.resource] = hit.asked.clone().into();
            any = true;
        }
    }
    any
}

/// What the refusal names; a ratio and a missing limit have no amount that could be set.
fn hits(sentence: &str) -> Vec<Hit> {
    let Ok(bound) = Regex::new(
        r"(maximum|minimum) (\S+) usage per (Container|Pod) is ([^,\s]+), but (?:limit|request) is ([0-9][0-9.eEA-Za-z]*)",
    ) else {
        return Vec::new();
    };
    let mut all: Vec<Hit> = Vec::new();
    for found in bound.captures_iter(sentence) {
        let hit = Hit {
            bound: if &found[1] == "maximum" { "max" } else { "min" },
            resource: found[2].to_owned(),
            per: found[3].to_owned(),
            is: found[4].to_owned(),
            asked: found[5].trim_end_matches('.').to_owned(),
        };
        if !all.contains(&hit) {
            all.push(hit);
        }
    }
    all
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    let sentence = format!(
        "{} maximum memory usage per Container is 1Gi, but limit is 2Gi",
        trial.bad
    );
    vec![json!({"limit-range": {"namespace": "a", "sentence": sentence}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_from_the_api_servers_refusal() {
        let said = "pods \"x\" is forbidden: [maximum cpu usage per Container is 1, but limit is 1500m, minimum memory usage per Pod is 64Mi, but request is 33554432]";
        let hits = hits(said);
        let told: Vec<_> = hits
            .iter()
            .map(|hit| {
                (
                    hit.bound,
                    hit.per.as_str(),
                    hit.is.as_str(),
                    hit.asked.as_str(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("max", "Container", "1", "1500m"),
                ("min", "Pod", "64Mi", "33554432")
            ]
        );
        assert!(
            super::hits(
                "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000"
            )
            .is_empty()
        );
        assert!(
            super::hits("maximum memory usage per Container is 1Gi.  No limit is specified")
                .is_empty()
        );
    }

    #[test]
    fn only_the_bound_that_was_hit_changes() {
        let mut limits = json!([{"type": "Container", "max": {"memory": "1Gi", "cpu": "1"}}, {"type": "Pod", "max": {"memory": "1Gi"}}]);
        let hit = Hit {
            bound: "max",
            resource: "memory".into(),
            per: "Container".into(),
            is: "1Gi".into(),
            asked: "2Gi".into(),
        };
        assert!(widen(&mut limits, &hit));
        assert_eq!(
            limits,
            json!([{"type": "Container", "max": {"memory": "2Gi", "cpu": "1"}}, {"type": "Pod", "max": {"memory": "1Gi"}}])
        );
        assert!(!widen(&mut limits, &hit), "it is another bound by now");
    }
}
