//! What cloud-init wrote: `cloud-init-output.log`, `cloud-init.log`.

use super::{Capture, Identity, Layout, Survey};

pub(super) static LAYOUT: Layout = Layout {
    id: "cloud-init",
    title: "cloud-init log",
    recognise: |survey| {
        survey.files(|entry| {
            let text = entry.text();
            let mut lines = text.lines().take(20);
            lines.any(|line| {
                let first = line.starts_with("Cloud-init v. ");
                first || (line.contains(" - util.py[") && line.contains("Cloud-init v. "))
            })
        })
    },
    identity: |_, _| Identity::default(),
    map: |_: &Survey, capture: &Capture, _| {
        let file = super::survey::name(&capture.root);
        let file = if file.contains("output") {
            "cloud-init-output.log"
        } else {
            "cloud-init.log"
        };
        capture.of_node(&format!("rootfs/var/log/{file}"))
    },
};
