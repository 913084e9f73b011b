//! What happened, in order: incidents' lines, warning events, starts of runtimes, and what befell each node.

use std::collections::BTreeSet;

use crate::facts::ending::NodeMoment;
use crate::facts::excerpt;
use crate::facts::kube::Event;
use crate::facts::node::Process;
use crate::model::{Evidence, Incident, Moment, Place};
use crate::parsers::HelmRevision;
use crate::scan::{Scanned, joined};

/// Most moments shown; the report says if more were seen.
const MOST: usize = 300;
/// Longest text of a moment, in bytes.
const TEXT: usize = 240;

/// Builds the timeline.
pub(super) fn build(scanned: &Scanned, incidents: &[Incident]) -> Vec<Moment> {
    let mut moments: Vec<Moment> = Vec::new();
    for incident in incidents {
        let symptoms = incident
            .symptoms
            .iter()
            .flat_map(|symptom| &symptom.evidence);
        for line in incident.evidence.iter().chain(symptoms) {
            moments.extend(of_line(line, incident, scanned));
        }
    }
    moments.extend(of_events(scanned, &places(&moments)));
    for process in scanned.facts.table::<Process>() {
        if let Some(at) = process.data.started {
            moments.push(Moment {
                at,
                subject: format!("node/{}", process.data.node),
                text: format!(
                    "process {} started (pid {})",
                    process.data.comm, process.data.pid
                ),
                place: process.place.clone(),
                count: 1,
                incident: None,
            });
        }
    }
    moments.extend(of_people(scanned));
    moments.extend(of_nodes(scanned, &places(&moments)));
    moments.sort_by(|a, b| {
        (a.at, &a.place, &a.incident, &a.text).cmp(&(b.at, &b.place, &b.incident, &b.text))
    });
    keep_most(one_a_line(moments))
}

/// Where moments stand.
fn places(moments: &[Moment]) -> BTreeSet<Place> {
    moments.iter().map(|moment| moment.place.clone()).collect()
}

/// Warnings of which no moment tells yet: no more of them than may be shown, the newest, for there may be very many.
fn of_events(scanned: &Scanned, known: &BTreeSet<Place>) -> Vec<Moment> {
    let events = scanned.facts.table::<Event>().iter();
    let warnings = events.filter(|event| event.data.kind == "Warning");
    let dated = warnings.filter_map(|event| Some((event.data.first?, event)));
    let mut dated: Vec<_> = dated
        .filter(|(_, event)| !known.contains(&event.place))
        .collect();
    dated.sort_by(|(a, one), (b, other)| (b, &other.place).cmp(&(a, &one.place)));
    // Several events at one place and time are one moment.
    let moments = dated.chunk_by(|(a, one), (b, other)| a == b && one.place == other.place);
    let newest = moments.take(MOST).flatten();
    let moments = newest.map(|(at, event)| Moment {
        at: *at,
        subject: event.data.object.to_string(),
        text: excerpt(
            &format!("{}: {}", event.data.reason, event.data.message),
            TEXT,
        ),
        place: event.place.clone(),
        count: event.data.count,
        incident: None,
    });
    moments.collect()
}

/// What people changed: releases of Helm.
fn of_people(scanned: &Scanned) -> impl Iterator<Item = Moment> {
    let revisions = scanned.facts.table::<HelmRevision>().iter();
    revisions.filter_map(|one| {
        let data = &one.data;
        Some(Moment {
            at: data.updated?,
            subject: format!("helmrelease/{}/{}", data.namespace, data.release),
            text: format!("Helm: revision {} {}", data.revision, data.status),
            place: one.place.clone(),
            count: 1,
            incident: None,
        })
    })
}

/// Boots, kills for memory, ends of certificates and the like. Of what came before a node was last not ready the first
/// is named.
fn of_nodes(scanned: &Scanned, known: &BTreeSet<Place>) -> Vec<Moment> {
    let table = scanned.facts.table::<NodeMoment>();
    let down: BTreeSet<&str> = table
        .iter()
        .filter(|one| one.data.what == "not-ready")
        .map(|one| one.data.node.as_str())
        .collect();
    let shown = table.iter().filter(|one| {
        let first = one.data.first && down.contains(one.data.node.as_str());
        first || !known.contains(&one.place)
    });
    let moments = shown.filter_map(|one| {
        let NodeMoment {
            node,
            what,
            detail,
            at,
            first,
        } = &one.data;
        let lead = if *first && what != "not-ready" && down.contains(node.as_str()) {
            "first, before the node was last not ready: "
        } else {
            ""
        };
        Some(Moment {
            at: (*at)?,
            subject: format!("node/{node}"),
            text: excerpt(&format!("{lead}{what}: {detail}"), TEXT),
            place: one.place.clone(),
            count: 1,
            incident: None,
        })
    });
    moments.collect()
}

/// Several statements about one line at one time are one moment: a reader sees the line once.
fn one_a_line(moments: Vec<Moment>) -> Vec<Moment> {
    let mut kept: Vec<Moment> = Vec::new();
    for moment in moments {
        match kept.last_mut() {
            Some(last)
                if (last.at, &last.place, &last.incident)
                    == (moment.at, &moment.place, &moment.incident) =>
            {
                last.count = last.count.max(moment.count);
                if moment.text.starts_with(&last.text) {
                    last.text = moment.text;
                } else if !last.text.contains(&moment.text) {
                    last.text = excerpt(&format!("{}; {}", last.text, moment.text), TEXT);
                }
            }
            _ => kept.push(moment),
        }
    }
    kept
}

/// Keeps what belongs to incidents, then the newest of the rest.
fn keep_most(moments: Vec<Moment>) -> Vec<Moment> {
    let excess = moments.len().saturating_sub(MOST);
    let mut dropped = 0;
    moments
        .into_iter()
        .filter(|moment| {
            let drop = dropped < excess && moment.incident.is_none();
            dropped += usize::from(drop);
            !drop
        })
        .collect()
}

fn of_line(line: &Evidence, incident: &Incident, scanned: &Scanned) -> Option<Moment> {
    let of_incident = || incident.subjects.first().cloned().unwrap_or_default();
    Some(Moment {
        at: line.at?,
        subject: subject(&line.place, scanned).unwrap_or_else(of_incident),
        text: excerpt(what_happened(line), TEXT),
        place: line.place.clone(),
        count: line.count,
        incident: Some(incident.cause.clone()),
    })
}

/// What a line says; where it only gives context, the line itself says more.
fn what_happened(line: &Evidence) -> &str {
    const CONTEXT: [&str; 2] = ["is mentioned", "the message comes from"];
    let is_context = CONTEXT.iter().any(|words| line.says.contains(words));
    let own = line.text.lines().map(str::trim).find(|own| !own.is_empty());
    match own.filter(|_| is_context) {
        Some(own) => own,
        None => &line.says,
    }
}

/// Whom a line speaks of, as the layout of the bundle says: an incident has several subjects.
fn subject(place: &Place, scanned: &Scanned) -> Option<String> {
    let parts: Vec<&str> = joined::within(&place.path).split('/').collect();
    match parts.as_slice() {
        ["cluster-resources", "pods", "logs", namespace, pod, _] => {
            Some(format!("pod/{namespace}/{pod}"))
        }
        ["cluster-resources", "events", _] => {
            let event = scanned.facts.table::<Event>().at(place)?;
            Some(event.data.object.to_string())
        }
        ["nodes", node, ..] => Some(format!("node/{node}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(line: u32, text: &str) -> Moment {
        Moment {
            at: chrono::DateTime::UNIX_EPOCH,
            subject: String::new(),
            text: text.to_owned(),
            place: Place {
                path: "a".into(),
                line: Some(line),
            },
            count: 1,
            incident: None,
        }
    }

    #[test]
    fn two_statements_about_one_line_are_one_moment() {
        let all = vec![
            moment(1, "a"),
            moment(1, "a, told at length"),
            moment(1, "b"),
            moment(1, "b"),
            moment(2, "b"),
        ];
        let kept: Vec<String> = one_a_line(all).into_iter().map(|one| one.text).collect();
        assert_eq!(kept, ["a, told at length; b", "b"]);
    }
}
