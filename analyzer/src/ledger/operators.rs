//! Operators that fail or are not installed.

use super::Sources;
use super::things::member;
use crate::facts::Fact;
use crate::facts::failing::{Failing, Unready};

/// One entry for each operator.
pub(super) fn failing(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let unready = sources.facts.table::<Unready>().iter();
    unready.map(entry).collect()
}

fn entry(one: &Fact<Unready>) -> Fact<Failing> {
    let data = &one.data;
    let lines = [
        member("reason", &data.reason),
        member("message", &data.message),
    ];
    let subject = format!("{}/{}/{}", data.kind, data.namespace, data.name);
    Fact {
        data: Failing {
            what: "operator".into(),
            subject: subject.replace("//", "/"),
            namespace: data.namespace.clone(),
            name: data.name.clone(),
            state: match data.reason.as_str() {
                "" => data.state.clone(),
                reason => format!("{}: {reason}", data.state),
            },
            seen: true,
            message: data.message.clone(),
            warnings: data.unmet.clone(),
            since: data.since,
            lines: lines.into_iter().flatten().collect(),
            ..Failing::default()
        },
        place: one.place.clone(),
        text: one.text.clone(),
        at: one.at,
    }
}
