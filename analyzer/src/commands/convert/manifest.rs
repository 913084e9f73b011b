//! What the manifest of a converted capture says.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use casefile_bundle::{Outcome, SourceReport};
use chrono::{DateTime, Utc};

use crate::layouts::Plan;
use crate::sources::{self, About, SOURCES};

/// The tools whose captures an input holds, with their versions.
pub(super) fn tool(plan: &Plan) -> String {
    let all: BTreeSet<String> = plan
        .captures
        .iter()
        .map(|one| {
            let version = one.identity.version.as_deref().unwrap_or("");
            format!("{} {version}", one.title).trim_end().to_owned()
        })
        .collect();
    match all.is_empty() {
        true => "loose files".to_owned(),
        false => all.into_iter().collect::<Vec<_>>().join(", "),
    }
}

/// What the manifest says of each source: what another tool took may be a part of it.
pub(super) fn reports(
    written: &BTreeSet<String>,
    tool: &str,
    at: DateTime<Utc>,
) -> Vec<SourceReport> {
    let there = |source: &About| {
        let mut sources = written.iter().filter_map(|path| sources::of_entry(path));
        sources.any(|one| one.id == source.id)
    };
    let told = SOURCES.iter().filter(|one| one.expected || there(one));
    let rows = told.map(|source| {
        let there = there(source);
        SourceReport {
            id: source.id.to_owned(),
            title: source.title.to_owned(),
            outcome: if there {
                Outcome::Partial
            } else {
                Outcome::Skipped
            },
            why: Some(if there {
                format!("as {tool} took it; whether it took all is not known")
            } else {
                format!("not part of {tool}")
            }),
            started: at,
            finished: at,
            notes: Vec::new(),
        }
    });
    rows.collect()
}

/// When the capture was written, as far as its file says.
pub(super) fn taken(path: &Path) -> anyhow::Result<DateTime<Utc>> {
    let modified = std::fs::metadata(path)
        .and_then(|data| data.modified())
        .with_context(|| format!("reading the date of {}", path.display()))?;
    Ok(modified.into())
}
