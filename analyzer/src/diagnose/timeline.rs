//! What happened, in order: incidents' lines, warning events and starts of runtimes.

use crate::facts::excerpt;
use crate::facts::kube::Event;
use crate::facts::node::Process;
use crate::model::{Evidence, Incident, Moment};
use crate::scan::Scanned;

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
            moments.extend(of_line(line, incident));
        }
    }
    let known: Vec<_> = moments.iter().map(|moment| moment.place.clone()).collect();
    let events = scanned.facts.table::<Event>().iter();
    for event in events.filter(|event| event.data.kind == "Warning") {
        if let Some(at) = event.data.first.filter(|_| !known.contains(&event.place)) {
            moments.push(Moment {
                at,
                subject: event.data.object.clone(),
                text: excerpt(
                    &format!("{}: {}", event.data.reason, event.data.message),
                    TEXT,
                ),
                place: event.place.clone(),
                count: event.data.count,
                incident: None,
            });
        }
    }
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
    moments.sort_by(|a, b| (a.at, &a.place, &a.text).cmp(&(b.at, &b.place, &b.text)));
    moments.dedup();
    keep_most(moments)
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

fn of_line(line: &Evidence, incident: &Incident) -> Option<Moment> {
    Some(Moment {
        at: line.at?,
        subject: incident.subjects.first().cloned().unwrap_or_default(),
        text: excerpt(&line.says, TEXT),
        place: line.place.clone(),
        count: line.count,
        incident: Some(incident.cause.clone()),
    })
}
