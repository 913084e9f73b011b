//! Warnings and errors of a bundle by kind, and whether a rule knows them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use casefile_bundle::Keys;
use casefile_fleet::analysed::Said;
use casefile_fleet::template::template;
use chrono::{DateTime, Utc};

use crate::diagnose::Analyzer;
use crate::dress::Level;
use crate::facts::excerpt;
use crate::join::Unit;
use crate::recording::{self, walk};

/// Kinds of messages that are kept of one bundle; a bundle with more has its later ones left out.
const MOST: usize = 2_000;
/// Longest example, in bytes.
const LONGEST: usize = 400;

/// What makes a message the same kind: who wrote it, and what it says.
type Key = (String, String, String);

/// All warnings and errors, the first of each kind as it was written.
pub(super) fn collect(
    analyzer: &Analyzer,
    unit: &Unit,
    keys: Option<&Keys>,
    node: &str,
) -> anyhow::Result<Vec<Said>> {
    let mut kinds: BTreeMap<Key, (Said, Span)> = BTreeMap::new();
    walk(unit, keys, &|_| true, &mut |line| {
        if line.level.is_some_and(|level| level >= Level::Warning) && is_said(&line) {
            add(&mut kinds, &line, node);
        }
        ControlFlow::Continue(())
    })?;
    let kinds = kinds.into_values().map(|(mut said, span)| {
        said.known = analyzer.knows(&said.example);
        said.first = span.first.map(|at| at.to_rfc3339());
        said.last = span.last.map(|at| at.to_rfc3339());
        said
    });
    Ok(kinds.collect())
}

#[derive(Default)]
struct Span {
    first: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
}

/// Configuration and answers of commands hold words such as "error" that nobody said.
fn is_said(line: &recording::Said) -> bool {
    let logs = ["/journal/", "/logs/", "/events/", "/var/log/"];
    logs.iter().any(|part| line.path.contains(part)) || line.at.is_some()
}

fn add(kinds: &mut BTreeMap<Key, (Said, Span)>, line: &recording::Said, node: &str) {
    let speaker = speaker(line);
    let subject = if line.speaker.contains('/') || line.node.is_empty() {
        line.speaker.clone()
    } else {
        format!("node/{}", line.node)
    };
    let key = (speaker, subject, template(&line.text, node));
    if kinds.len() >= MOST && !kinds.contains_key(&key) {
        return;
    }
    let (said, span) = kinds.entry(key.clone()).or_insert_with(|| {
        let (speaker, subject, template) = key;
        let said = Said {
            speaker,
            subject,
            template,
            level: match line.level {
                Some(Level::Error) => "error".to_owned(),
                _ => "warning".to_owned(),
            },
            example: excerpt(&line.text, LONGEST),
            path: line.path.clone(),
            line: line.line,
            ..Said::default()
        };
        (said, Span::default())
    });
    said.count += 1;
    span.first = span.first.into_iter().chain(line.at).min();
    span.last = span.last.into_iter().chain(line.at).max();
}

/// Unit or container; of a pod's log the file is the container's.
fn speaker(line: &recording::Said) -> String {
    let file = line.path.rsplit('/').next().unwrap_or("");
    let name = file.split('.').next().unwrap_or(file);
    if line.path.contains("/events/") {
        "event".to_owned()
    } else if line.speaker.is_empty() || line.speaker.contains('/') {
        name.to_owned()
    } else {
        line.speaker.clone()
    }
}
