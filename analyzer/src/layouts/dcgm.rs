//! What `dcgmi` (`diag`, `health`, `discovery`), its older name `nvvs`, and `nv-hostengine` wrote into a file.
//!
//! Source: DCGM's `dcgmi/Diag.cpp`, `dcgmi/Health.cpp` and `dcgmi/Query.cpp`, its documentation of `dcgmi diag -j`, and outputs
//! that people pasted into its issues.

use super::{Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "dcgm",
    title: "NVIDIA DCGM",
    recognise: |survey| {
        survey.files(|entry| {
            const MARKS: [&str; 7] = [
                "Successfully ran diagnostic for group",
                // With `-v` that line is not there.
                "| DCGM Version ",
                "\"DCGM GPU Diagnostic\"",
                "\"DCGM Diagnostic\"",
                "| Health Monitor Report",
                "\"Health Monitor Report\"",
                "| GPU ID | Device Information",
            ];
            let text = entry.text();
            MARKS.iter().any(|mark| text.contains(mark))
        })
    },
    identity: |survey: &Survey, root| {
        let text = survey.get(root).map(|entry| entry.text().into_owned());
        let text = text.unwrap_or_default();
        let row = text
            .split_once("| DCGM Version ")
            .and_then(|(_, rest)| rest.split('|').nth(1));
        Identity {
            version: row.map(|cell| cell.trim().to_owned()),
            ..Identity::default()
        }
    },
    map: |_, _, _| Target::Loose,
};
