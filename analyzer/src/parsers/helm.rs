//! Helm releases: name, chart and status. The values files are read by derivers as text.

use serde::Deserialize;

use super::{Document, Parsed, Parser, Read};
use crate::facts::Fact;
use crate::facts::kube::HelmRelease;

/// Reads `helm/<namespace>/<release>/release.json`.
pub(super) static PARSER: Parser = Parser {
    id: "helm",
    reads: &["helm/*/*/release.json"],
    read: Read::Whole(parse),
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Release {
    name: String,
    namespace: String,
    chart: String,
    chart_version: String,
    revision: u64,
    status: String,
}

fn parse(document: &Document<'_>) -> Parsed {
    match serde_json::from_str::<Release>(document.text) {
        Ok(release) => {
            let fact = Fact {
                place: document.line(1),
                text: String::new(),
                at: None,
                data: HelmRelease {
                    namespace: release.namespace,
                    name: release.name,
                    chart: release.chart,
                    version: release.chart_version,
                    revision: release.revision,
                    status: release.status,
                },
            };
            Parsed {
                facts: vec![fact.into()],
                ..Parsed::default()
            }
        }
        Err(error) => Parsed::problem(
            document.line(u32::try_from(error.line()).unwrap_or(1)),
            format!("helm release not read: {error}"),
        ),
    }
}
