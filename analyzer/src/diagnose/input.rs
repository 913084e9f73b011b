//! What was analysed, and the moment that is "now" for it.

use std::path::Path;

use casefile_bundle::{Form, Summary};
use chrono::{DateTime, Utc};

use crate::facts::failing::LogSpan;
use crate::facts::kube::{Node, Pod};
use crate::model::Input;
use crate::rules::engine::Assessment;
use crate::scan::Scanned;

/// "Now" of the analysis: the end of collection, else when another tool's capture says that it was taken, else the newest time that an object, the end of a log or any evidence
/// carries.
pub(super) fn reference_time(
    scanned: &Scanned,
    assessments: &[Assessment<'_>],
) -> Option<DateTime<Utc>> {
    let summary = &scanned.summary;
    let facts = &scanned.facts;
    let nodes = facts.table::<Node>().iter();
    let nodes = nodes.flat_map(|node| [node.data.heartbeat, node.data.ready_since]);
    let pods = facts.table::<Pod>().iter().map(|pod| pod.data.since);
    let objects = nodes.chain(pods).flatten().max();
    let spans = facts.table::<LogSpan>().iter();
    let ends = spans.flat_map(|span| span.data.last.values());
    let logs = ends
        .filter_map(|moment| DateTime::from_timestamp(moment.at?, 0))
        .max();
    let finished = summary.manifest.as_ref().map(|manifest| manifest.finished);
    let started = summary.header.as_ref().map(|header| header.started);
    let captures = scanned.plan.captures.iter();
    let taken = captures
        .filter_map(|capture| Some(capture.identity.taken?.taken))
        .max();
    let seen = || {
        assessments
            .iter()
            .flat_map(|one| one.seen.values().flatten())
    };
    finished.or(started).or(taken).or_else(|| {
        let said = seen().filter_map(|sighting| sighting.last.or(sighting.at));
        said.max().max(objects).max(logs)
    })
}

/// The input, for the report.
pub(super) fn describe(input: &Path, summary: &Summary) -> Input {
    let header = summary.header.as_ref();
    let manifest = summary.manifest.as_ref();
    let name = input
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Input {
        name: name.unwrap_or_else(|| ".".into()),
        form: match summary.form {
            Form::Bundle => "bundle".into(),
            Form::Tar => "tar".into(),
            Form::Folder => "folder".into(),
            Form::Archive => "archive".into(),
            Form::Text => "text".into(),
        },
        node: header.map(|header| header.node.clone()),
        tool: header.map(|header| header.tool.clone()),
        started: header.map(|header| header.started),
        finished: manifest.map(|manifest| manifest.finished),
        interrupted: manifest.and_then(|manifest| manifest.interrupted.clone()),
        cut_short: summary.cut_short,
        entries: summary.entries,
        bytes: summary.bytes,
        bundles: Vec::new(),
    }
}
