//! What `gpud scan` and `gpud machine-info` printed.
//!
//! Source: gpud's `pkg/scan/scan.go` and `MachineInfo.RenderTable` of its `api/v1/types.go`.

use super::{Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "gpud-scan",
    title: "gpud scan",
    recognise: |survey| {
        survey.files(|entry| {
            let text = entry.text();
            let table = || text.lines().take(40).any(|line| version(line).is_some());
            text.contains("scanning the host (GOOS ") || table()
        })
    },
    identity: |survey: &Survey, root| {
        let text = survey.get(root).map(|entry| entry.text().into_owned());
        let text = text.unwrap_or_default();
        Identity {
            version: text.lines().find_map(version).map(str::to_owned),
            ..Identity::default()
        }
    },
    map: |_, _, _| Target::Loose,
};

/// The version in the first row of its table of the machine: `|  GPUd Version  |  v0.5.0  |`.
fn version(line: &str) -> Option<&str> {
    let mut cells = line.trim().strip_prefix('|')?.split('|').map(str::trim);
    (cells.next()? == "GPUd Version").then(|| cells.next())?
}
