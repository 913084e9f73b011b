//! What `dcgmi diag`, `dcgmi health` and `nv-hostengine` wrote into a file.
//!
//! Source: DCGM's `dcgmi/Diag.cpp` and its documentation of `dcgmi diag -j`.

use super::{Identity, Layout, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "dcgm",
    title: "NVIDIA DCGM",
    recognise: |survey| {
        survey.files(|entry| {
            const MARKS: [&str; 4] = [
                "Successfully ran diagnostic for group",
                "\"DCGM GPU Diagnostic\"",
                "\"DCGM Diagnostic\"",
                "| Health Monitor Report",
            ];
            let text = entry.text();
            MARKS.iter().any(|mark| text.contains(mark))
        })
    },
    identity: |_, _| Identity::default(),
    map: |_, _, _| Target::Loose,
};
