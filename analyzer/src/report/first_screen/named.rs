//! Whom the text is of that shows a cause, where no subject of the cause says so.

use super::stamp;
use crate::model::{Analysis, Incident, Role};
use crate::report::blocks::Rich;

/// Adds whom the text is of that shows the cause, where no subject of the cause says so: the pod that its lines name, or the
/// only one that the input tells of, and the machine.
pub(super) fn by_its_text(analysis: &Analysis, mut text: Rich) -> Rich {
    let Some(first) = analysis.incidents.first() else {
        return text;
    };
    let seen = &analysis.seen;
    if text.is_empty() {
        let only = seen.pod.clone();
        if let Some(pod) = named_pod(first).or(only) {
            text = Rich::from("Pod ").code(pod).text(". ");
        }
    }
    let host = logged_by(first).or_else(|| seen.machine.clone());
    let plain = text.plain();
    let names_node = ["Node ", "node "].iter().any(|word| plain.contains(word));
    match host.filter(|host| !plain.contains(host.as_str()) && !names_node) {
        Some(host) => {
            let gap = if plain.is_empty() || plain.ends_with(' ') {
                ""
            } else {
                " "
            };
            text.text(format!("{gap}Machine ")).code(host).text(".")
        }
        None => text.trimmed(),
    }
}

/// Whether anything says whom the first cause hits.
pub(super) fn is_anybody(analysis: &Analysis) -> bool {
    !by_its_text(analysis, Rich::new()).is_empty()
}

/// The machine whose log shows the cause.
fn logged_by(first: &Incident) -> Option<String> {
    stamp::host_of_lines(lines_for(first))
}

fn lines_for(first: &Incident) -> impl Iterator<Item = &str> {
    let lines = first.evidence.iter().filter(|line| line.role == Role::For);
    lines.map(|line| line.text.as_str())
}

/// The pod that a line for the cause names, as components quote one: `pod "web-0"`, `pod="shop/web-0"`, and
/// `web-0_shop(uid)`.
fn named_pod(first: &Incident) -> Option<String> {
    const HEADS: [&str; 4] = ["pod=\"", "pod \"", "pod=\\\"", "pod \\\""];
    lines_for(first).find_map(|line| {
        let rest = HEADS
            .iter()
            .find_map(|head| Some(line.split_once(head)?.1))?;
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-./_".contains(c)));
        let name = &rest[..end.unwrap_or(rest.len())];
        let name = match name.split_once('_') {
            Some((pod, namespace)) => format!("{namespace}/{pod}"),
            None => name.to_owned(),
        };
        (name.len() > 1).then_some(name)
    })
}
