//! Operators that fail or are not installed.

use super::Sources;
use super::things::member;
use crate::facts::Fact;
use crate::facts::failing::{Failing, Unready};

/// One entry for each operator.
pub(super) fn failing(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    // What keeps an operator from being installed is told by another object than the operator's own.
    let unready = sources.facts.table::<Unready>().iter();
    let own = unready.filter(|one| one.data.operator.is_empty());
    own.map(|one| {
        let plan = sources.facts.table::<Unready>().iter().find(|plan| {
            !plan.data.operator.is_empty()
                && (&plan.data.operator, &plan.data.namespace)
                    == (&one.data.name, &one.data.namespace)
        });
        match plan {
            Some(plan) => by_its_plan(entry(one), plan),
            None => entry(one),
        }
    })
    .collect()
}

/// An operator that waits, with what its plan says: what could not be created is what it waits for.
fn by_its_plan(operator: Fact<Failing>, plan: &Fact<Unready>) -> Fact<Failing> {
    let Unready {
        name,
        reason,
        message,
        ..
    } = &plan.data;
    let mut own = operator;
    own.data.message = format!("InstallPlan {name} failed ({reason}): {message}");
    // What it lacks follows from that.
    own.data.warnings.clear();
    own
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
