//! What `cloud-init collect-logs` packs: its logs beside `run/cloud-init/`, the kernel's messages and the journal.
//!
//! Source: cloud-init's `cmd/devel/logs.py`, and what it wrote on Debian 12.

use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "cloud-init",
    title: "cloud-init logs",
    recognise: |survey| survey.roots_with("cloud-init.log", &["run/cloud-init/"]),
    identity: |survey: &Survey, root| {
        let data = survey.get(&format!("{root}{INSTANCE}"));
        let data = data.map(|entry| entry.text().into_owned());
        let data = data.unwrap_or_default();
        let program = survey.line(&format!("{root}version"));
        Identity {
            node: value(&data, "local_hostname"),
            kernel: value(&data, "kernel_release"),
            version: program.and_then(|line| Some(line.rsplit(' ').next()?.to_owned())),
            ..Identity::default()
        }
    },
    map,
};

/// What is known of the instance, as JSON that anybody may read.
const INSTANCE: &str = "run/cloud-init/instance-data.json";

fn map(_: &Survey, capture: &Capture, path: &str) -> Target {
    match path {
        "cloud-init.log" | "cloud-init-output.log" => {
            capture.of_node(&format!("rootfs/var/log/{path}"))
        }
        "dmesg.txt" => capture.of_node("commands/dmesg.out"),
        "journal.txt" => capture.of_node("journal/journal"),
        // These say whose the capture is.
        "version" | "dpkg-version" | "rpm-version" | INSTANCE => Target::Double,
        _ => Target::Unknown,
    }
}

/// A text of a JSON that may be cut, by its key.
fn value(json: &str, key: &str) -> Option<String> {
    let (_, rest) = json.split_once(&format!("\"{key}\": \""))?;
    let (text, _) = rest.split_once('"')?;
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::Entry;

    #[test]
    fn the_archive_says_whose_it_is() {
        let entry = |path: &str, text: &str| Entry {
            path: path.to_owned(),
            head: text.as_bytes().to_vec(),
            tail: Vec::new(),
            size: None,
        };
        let survey = Survey::new(vec![
            entry("d/cloud-init.log", ""),
            entry("d/dmesg.txt", ""),
            entry("d/version", "/usr/bin/cloud-init 22.4.2"),
            entry(
                "d/run/cloud-init/instance-data.json",
                "{\n \"v1\": {\n  \"kernel_release\": \"6.8.0\",\n  \"local_hostname\": \"n1\"",
            ),
            entry("e/cloud-init.log", ""),
        ]);
        assert_eq!((LAYOUT.recognise)(&survey), ["d/"]);
        let identity = (LAYOUT.identity)(&survey, "d/");
        assert_eq!(identity.node.as_deref(), Some("n1"));
        assert_eq!(identity.kernel.as_deref(), Some("6.8.0"));
        assert_eq!(identity.version.as_deref(), Some("22.4.2"));
    }
}
