//! The log of NVIDIA's installer (`/var/log/nvidia-installer.log`) lying about.

use super::{Capture, Identity, Layout, Survey};

pub(super) static LAYOUT: Layout = Layout {
    id: "nvidia-installer-log",
    title: "nvidia-installer log",
    recognise: |survey| {
        survey.files(|entry| {
            let text = entry.text();
            text.trim_start().starts_with("nvidia-installer log file '")
        })
    },
    identity: |survey: &Survey, root| {
        let head = survey.get(root).map(|entry| entry.text().into_owned());
        let head = head.unwrap_or_default();
        let version = head
            .lines()
            .find_map(|line| line.strip_prefix("installer version:"));
        Identity {
            version: version.map(|version| version.trim().to_owned()),
            ..Identity::default()
        }
    },
    map: |_: &Survey, capture: &Capture, _| capture.of_node("rootfs/var/log/nvidia-installer.log"),
};
