//! Rows of `kubectl get pods` without their headings: `--no-headers`, or what `grep` left of a table.

use super::split::Section;
use super::tables::{namespace_of, pod_object};
use super::{Taken, What};
use crate::form::Form;

static ROW: Form = Form::new(
    r"^\s*(?:(?P<namespace>[a-z0-9][a-z0-9-]*)\s+)?(?:pod/)?(?P<name>[a-z0-9][a-z0-9.-]*)\s+(?P<ready>\d+)/(?P<of>\d+)\s+(?P<status>[A-Z][\w:/.-]*)\s+(?P<restarts>\d+)(?: \([^()]{1,24} ago\))?\s+(?:\d+[smhdy])+(?:\s+(?P<ip>\S+)\s+(?P<node>\S+))?(?:\s|$)",
);

/// Takes rows that follow one another.
pub(super) fn take(section: &Section<'_>, at: usize) -> Taken {
    let fits = |line: &str| line.len() < 2000 && ROW.is_match(line);
    if !fits(section.line(at)) {
        return Taken::No;
    }
    let lines = section.run(at, fits);
    let mut found = Vec::new();
    for offset in 0..lines {
        let Some(cells) = ROW.captures(section.line(at + offset)) else {
            continue;
        };
        let cell = |name: &str| cells.name(name).map_or("", |one| one.as_str());
        let namespace = match cell("namespace") {
            "" => namespace_of(section),
            named => named,
        };
        let restarts = cell("restarts").parse().unwrap_or(0);
        let ready = cell("ready") == cell("of");
        let mut object = pod_object(cell("name"), namespace, cell("status"), ready, restarts);
        let node = Some(cell("node")).filter(|node| !node.starts_with('<'));
        object["spec"]["nodeName"] = serde_json::json!(node.unwrap_or(""));
        found.push((What::Object(object), offset));
    }
    Taken::Found(found, lines)
}
