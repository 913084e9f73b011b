//! `kubectl cluster-info dump` to standard output: the lists one after the other, then the logs.

use casefile_bundle::Entry;

use super::kubernetes_dirs::{log, start_of_log};
use super::{Capture, Identity, Layout, Part, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "cluster-info-dump",
    title: "kubectl cluster-info dump",
    recognise: |survey| {
        survey.files(|entry| {
            let text = entry.text();
            let start: String = text
                .trim_start_matches('\u{feff}')
                .chars()
                .filter(|c| !c.is_whitespace())
                .take(19)
                .collect();
            // A list of nodes alone is `nodes.json` of something else.
            start == "{\"kind\":\"NodeList\"," && !entry.path.ends_with("nodes.json")
        })
    },
    identity: |_, _| Identity::default(),
    map: |_, _, _| Target::Split(documents),
};

fn documents(_: &Capture, _: &str, text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut open: Option<Part> = None;
    let mut object = false;
    for (line, number) in text.lines().zip(1_u32..) {
        let bare = line.trim_end().trim_start_matches('\u{feff}');
        if let Some((container, pod)) = start_of_log(bare) {
            let (namespace, name) = pod.split_once('/').unwrap_or(("default", pod));
            let path = log(namespace, name, container, false);
            open = Some(Part {
                path,
                line: number.saturating_add(1),
                text: String::new(),
            });
            object = false;
            continue;
        }
        if bare == "{" && open.is_none() {
            open = Some(Part {
                path: String::new(),
                line: number,
                text: String::new(),
            });
            object = true;
        }
        let ends = (object && bare == "}") || bare.starts_with("==== END logs for container ");
        if let Some(part) = &mut open
            && (!ends || object)
        {
            part.text.push_str(line.trim_start_matches('\u{feff}'));
            part.text.push('\n');
        }
        if ends {
            parts.extend(open.take().and_then(|part| named(part, number)));
        }
    }
    parts.extend(open.and_then(|part| named(part, 0)));
    parts
}

/// Gives a list the path that we hold lists of its kind by; `number` tells several apart.
fn named(mut part: Part, number: u32) -> Option<Part> {
    if !part.path.is_empty() {
        return Some(part);
    }
    let kind = part.text.lines().take(4).find_map(|line| {
        let value = line.trim().strip_prefix("\"kind\":")?;
        Some(value.trim().trim_matches([',', '"']).to_lowercase())
    })?;
    let plural = format!("{}s", kind.strip_suffix("list")?);
    part.path = match plural.as_str() {
        "nodes" => Entry::List("nodes").path(),
        _ => Entry::ListIn(&plural, &format!("dump-{number}")).path(),
    };
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_logs_are_taken_apart() {
        let text = "{\n    \"kind\": \"NodeList\",\n    \"items\": []\n}\n{\n    \"kind\": \"PodList\",\n    \"items\": []\n}\n==== START logs for container c of pod ns/p ====\nline\n==== END logs for container c of pod ns/p ====\n";
        let capture = Capture {
            format: "x",
            title: "x",
            root: String::new(),
            identity: Identity::default(),
        };
        let found: Vec<(String, u32)> = documents(&capture, "", text)
            .into_iter()
            .map(|part| (part.path, part.line))
            .collect();
        assert_eq!(
            found,
            [
                ("cluster-resources/nodes.json".to_owned(), 1),
                ("cluster-resources/pods/dump-8.json".to_owned(), 5),
                ("cluster-resources/pods/logs/ns/p/c.log".to_owned(), 10),
            ]
        );
    }
}
