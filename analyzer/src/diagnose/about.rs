//! The answer about one thing that was asked for: its state, and what explains it.

use crate::facts::kube::{Node, Pod};
use crate::facts::{Fact, Facts};
use crate::model::{About, Incident, Place, Unexplained};

/// What the input shows of a thing, in words.
struct Seen {
    state: String,
    node: String,
    place: Place,
}

/// Puts what concerns the subject first, and says how it is.
pub(super) fn answer(
    subject: &str,
    facts: &Facts,
    incidents: &mut [Incident],
    unexplained: &mut [Unexplained],
) -> About {
    let seen = seen(subject, facts);
    let node = seen.as_ref().map(|one| format!("node/{}", one.node));
    let concerns = |incident: &Incident| {
        let on_node = |node: &String| incident.subjects.contains(node);
        if incident.subjects.iter().any(|one| one == subject) {
            0
        } else if node.as_ref().is_some_and(on_node) {
            1
        } else {
            2
        }
    };
    let is_it =
        |one: &Unexplained| one.subject == subject || one.also.iter().any(|also| also == subject);
    incidents.sort_by_key(concerns);
    unexplained.sort_by_key(|one| !is_it(one));
    let causes: Vec<String> = incidents
        .iter()
        .filter(|incident| concerns(incident) == 0)
        .map(|incident| incident.cause.clone())
        .collect();
    let on_its_node: Vec<String> = incidents
        .iter()
        .filter(|incident| concerns(incident) == 1)
        .map(|incident| incident.cause.clone())
        .collect();
    let words = unexplained.first().filter(|one| is_it(one));
    About {
        subject: subject.to_owned(),
        found: seen.is_some() || words.is_some() || !causes.is_empty(),
        state: seen
            .as_ref()
            .map(|one| one.state.clone())
            .unwrap_or_default(),
        place: seen.map(|one| one.place),
        causes,
        on_its_node,
        last_words: words.map(|one| one.last_words.clone()),
    }
}

fn seen(subject: &str, facts: &Facts) -> Option<Seen> {
    if let Some(name) = subject.strip_prefix("node/") {
        let node = facts
            .table::<Node>()
            .iter()
            .find(|one| one.data.name == name)?;
        return Some(Seen {
            state: if node.data.ready { "Ready" } else { "NotReady" }.to_owned(),
            node: name.to_owned(),
            place: node.place.clone(),
        });
    }
    let pods = facts.table::<Pod>().iter();
    let is_it = |pod: &&Fact<Pod>| {
        format!("pod/{}/{}", pod.data.namespace, pod.data.name).replace("//", "/") == subject
    };
    let pod = pods.into_iter().find(is_it)?;
    let ready = if pod.data.healthy { "" } else { ", not ready" };
    let restarts = match pod.data.restarts {
        0 => String::new(),
        1 => ", 1 restart".to_owned(),
        more => format!(", {more} restarts"),
    };
    Some(Seen {
        state: format!("{}{ready}{restarts}", pod.data.state),
        node: pod.data.node.clone(),
        place: pod.place.clone(),
    })
}
