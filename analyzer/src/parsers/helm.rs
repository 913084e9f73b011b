//! Helm releases: name, chart and status, their revisions, and what the last of them changed. The values files are read
//! by derivers as text.

use casefile_bundle::{ANY, Entry};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Document, Parsed, Parser, Read};
use crate::facts::kube::HelmRelease;
use crate::facts::{AnyFact, Fact, FactType, Field};

/// Reads `helm/<namespace>/<release>/release.json`.
pub(super) static PARSER: Parser = Parser {
    id: "helm",
    reads: &[Entry::Helm(ANY, ANY, "release.json")],
    read: Read::Whole(parse),
};

/// Reads `helm/<namespace>/<release>/history.json`: one revision a line.
pub(super) static HISTORY: Parser = Parser {
    id: "helm-history",
    reads: &[Entry::Helm(ANY, ANY, "history.json")],
    read: Read::Whole(parse_history),
};

/// Reads `helm/<namespace>/<release>/changes.json`.
pub(super) static CHANGES: Parser = Parser {
    id: "helm-changes",
    reads: &[Entry::Helm(ANY, ANY, "changes.json")],
    read: Read::Whole(parse_changes),
};

/// Revisions read of one release; Helm keeps ten.
const MOST_REVISIONS: usize = 1000;

/// A revision of a release.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HelmRevision {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Number.
    pub revision: u64,
    /// `deployed`, `superseded`, `failed`, `pending-upgrade` and so on.
    pub status: String,
    /// Helm's own words.
    pub description: String,
    /// When it was made.
    pub updated: Option<DateTime<Utc>>,
}

/// What differs between two revisions of a release.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HelmChanges {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Later revision.
    pub to: u64,
    /// Chart with version, of both.
    pub charts: (String, String),
    /// Paths of the user's values that differ.
    pub paths: Vec<String>,
    /// Their values before, pruned to what differs.
    pub before: Value,
    /// Their values after.
    pub after: Value,
}

/// A value of the user's that no template of the chart names.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UnreadValue {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Chart.
    pub chart: String,
    /// Path of the value.
    pub value: String,
}

macro_rules! internal {
    ($kind:ty, $name:literal) => {
        impl FactType for $kind {
            const KIND: &'static str = $name;
            const FIELDS: &'static [Field] = &[];
            fn subject(&self) -> String {
                format!("helmrelease/{}/{}", self.namespace, self.release)
            }
        }
    };
}
internal!(HelmRevision, "helm-revision");
internal!(HelmChanges, "helm-changes");
internal!(UnreadValue, "helm-unread-value");

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Release {
    name: String,
    namespace: String,
    chart: String,
    chart_version: String,
    revision: u64,
    status: String,
    unread_values: Vec<String>,
}

fn stated<T: FactType>(document: &Document<'_>, line: u32, text: &str, data: T) -> AnyFact {
    Fact {
        place: document.line(line),
        text: crate::facts::excerpt(text, 400).into(),
        at: None,
        data,
    }
    .into()
}

fn broken(document: &Document<'_>, what: &str, error: &serde_json::Error) -> Parsed {
    Parsed::problem(
        document.line(u32::try_from(error.line()).unwrap_or(1)),
        format!("{what} not read: {error}"),
    )
}

fn parse(document: &Document<'_>) -> Parsed {
    let release: Release = match serde_json::from_str(document.text) {
        Ok(release) => release,
        Err(error) => return broken(document, "helm release", &error),
    };
    let unread = release.unread_values.iter().map(|value| {
        let data = UnreadValue {
            namespace: release.namespace.clone(),
            release: release.name.clone(),
            chart: release.chart.clone(),
            value: value.clone(),
        };
        stated(document, 1, "", data)
    });
    let mut facts: Vec<AnyFact> = unread.collect();
    let data = HelmRelease {
        namespace: release.namespace,
        name: release.name,
        chart: release.chart,
        version: release.chart_version,
        revision: release.revision,
        status: release.status,
    };
    facts.push(stated(document, 1, "", data));
    Parsed {
        facts,
        ..Parsed::default()
    }
}

/// Namespace and release of a path below `helm/`.
fn whose(path: &str) -> (String, String) {
    let mut parts = path.split('/').skip(1).map(str::to_owned);
    (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    )
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    revision: u64,
    updated: String,
    status: String,
    description: String,
}

/// An element of a list that stands on a line of its own.
fn line_of_list(text: &str) -> &str {
    text.trim().trim_end_matches([',', ']'])
}

fn parse_history(document: &Document<'_>) -> Parsed {
    if let Err(error) = serde_json::from_str::<Vec<serde::de::IgnoredAny>>(document.text) {
        return broken(document, "helm history", &error);
    }
    let (namespace, release) = whose(document.path);
    let lines = (1u32..).zip(document.text.lines());
    let read = lines.filter_map(|(number, text)| {
        let line: Line = serde_json::from_str(line_of_list(text)).ok()?;
        let updated = DateTime::parse_from_rfc3339(&line.updated).ok();
        let data = HelmRevision {
            namespace: namespace.clone(),
            release: release.clone(),
            revision: line.revision,
            status: line.status,
            description: line.description,
            updated: updated.map(|at| at.to_utc()),
        };
        Some(stated(document, number, line_of_list(text), data))
    });
    Parsed {
        facts: read.take(MOST_REVISIONS).collect(),
        ..Parsed::default()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChangesFile {
    to_revision: u64,
    from_chart: String,
    to_chart: String,
    user_values: Changes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Changes {
    paths: Vec<String>,
    before: Value,
    after: Value,
}

fn parse_changes(document: &Document<'_>) -> Parsed {
    let file: ChangesFile = match serde_json::from_str(document.text) {
        Ok(file) => file,
        Err(error) => return broken(document, "helm changes", &error),
    };
    let (namespace, release) = whose(document.path);
    let data = HelmChanges {
        namespace,
        release,
        to: file.to_revision,
        charts: (file.from_chart, file.to_chart),
        paths: file.user_values.paths,
        before: file.user_values.before,
        after: file.user_values.after,
    };
    Parsed {
        facts: vec![stated(document, 1, "", data)],
        ..Parsed::default()
    }
}
