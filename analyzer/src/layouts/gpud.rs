//! What `gpud scan` printed.
//!
//! Source: gpud's `pkg/scan/scan.go`.

use super::{Identity, Layout, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "gpud-scan",
    title: "gpud scan",
    recognise: |survey| {
        survey.files(|entry| {
            let text = entry.text();
            text.contains("scanning the host (GOOS ") || text.contains("gpud machine-info")
        })
    },
    identity: |_, _| Identity::default(),
    map: |_, _, _| Target::Loose,
};
