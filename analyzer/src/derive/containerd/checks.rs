//! Handlers that RuntimeClasses ask for, and faults of a configuration, as facts.

use super::said::Said;
use super::{Resolved, of_place, text_at};
use crate::containerd::instances::Instance;
use crate::containerd::problem::ConfigProblem;
use crate::containerd::{Answer, EffectiveConfig};
use crate::derive::Known;
use crate::facts::runtime::{ConfigFault, HandlerCheck};
use crate::facts::{AnyFact, Fact};
use crate::model::Place;

pub(super) fn handler_fact(
    known: &Known<'_>,
    resolved: &Resolved,
    instance: &Instance,
    config: &EffectiveConfig,
    handler: &str,
    check: crate::containerd::HandlerCheck,
    said: Option<&Said>,
) -> Vec<AnyFact> {
    let contradiction = said.and_then(|said| said.contradicts(handler, check.resolves));
    let otherwise = said
        .zip(contradiction.clone())
        .map(|(said, why)| said.fact(&resolved.node, why));
    let data = HandlerCheck {
        node: resolved.node.clone(),
        instance: instance.id.clone(),
        used_by_kubelet: resolved.used(&instance.id).to_owned(),
        handler: handler.to_owned(),
        resolves: contradiction
            .as_ref()
            .map_or(word(check.resolves), |_| word(Answer::Unknown))
            .to_owned(),
        because: contradiction.unwrap_or(check.because),
    };
    let root = config.files.first();
    let (place, text) = match (&check.provenance, root) {
        (Some(place), _) => of_place(known, place),
        (None, Some(root)) => {
            let place = Place {
                path: root.bundle_path.as_str().into(),
                line: Some(1),
            };
            let text = text_at(known, &place).unwrap_or_default();
            (place, text)
        }
        (None, None) => (Place::default(), String::new()),
    };
    let fact = Fact {
        data,
        place,
        text: text.into(),
        at: None,
    };
    std::iter::once(fact.into()).chain(otherwise).collect()
}

pub(in crate::derive) fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "yes",
        Answer::No => "no",
        Answer::Unknown => "unknown",
    }
}

pub(super) fn fault_fact(
    known: &Known<'_>,
    resolved: &Resolved,
    instance: &Instance,
    problem: &ConfigProblem,
) -> AnyFact {
    let kind = serde_json::to_value(problem).ok();
    let kind = kind.as_ref().and_then(|value| value.get("kind")?.as_str());
    let (place, text) = problem.place().map_or_else(
        || (Place::default(), String::new()),
        |place| of_place(known, place),
    );
    Fact {
        data: ConfigFault {
            node: resolved.node.clone(),
            instance: instance.id.clone(),
            used_by_kubelet: resolved.used(&instance.id).to_owned(),
            fault: kind.unwrap_or("other").to_owned(),
            effect: problem.effect().word().to_owned(),
            detail: problem.to_string(),
        },
        place,
        text: text.into(),
        at: None,
    }
    .into()
}
