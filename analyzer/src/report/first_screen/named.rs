//! Whom the text is of that shows a cause, where no subject of the cause says so.

use super::{impact, stamp};
use crate::form::Form;
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
    let gpu = named_gpu(first).filter(|_| impact::is_of_gpus(first, analysis));
    if let Some(gpu) = gpu.filter(|gpu| !text.plain().contains(gpu.as_str())) {
        let gap = if text.is_empty() { "" } else { " " };
        // A UUID begins so itself.
        let kind = if gpu.starts_with("GPU") { "" } else { "GPU " };
        text = text.trimmed().text(format!("{gap}{kind}"));
        text = text.code(gpu).text(". ");
    }
    let host = logged_by(first)
        .or_else(|| by_its_row(first))
        .or_else(|| seen.machine.clone());
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

/// The machine whose kubelet is the source of the row of events that shows the cause: `kubelet, gpu-1`.
fn by_its_row(first: &Incident) -> Option<String> {
    let row = first.beside.as_ref()?.text.as_str();
    let (_, rest) = row.split_once(" kubelet, ")?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// The machine whose log shows the cause.
fn logged_by(first: &Incident) -> Option<String> {
    stamp::host_of_lines(lines_for(first))
}

fn lines_for(first: &Incident) -> impl Iterator<Item = &str> {
    let lines = first.evidence.iter().filter(|line| line.role == Role::For);
    lines.map(|line| line.text.as_str())
}

/// The GPU that lines for the cause name, where they name one: by its place on the bus, its UUID, or its number.
fn named_gpu(first: &Incident) -> Option<String> {
    let lines = lines_for(first).filter_map(|line| GPU.captures(line));
    let names = lines.filter_map(|found| {
        let parts = ["bus", "uuid", "number"];
        let name = parts.iter().find_map(|part| found.name(part))?;
        Some(name.as_str().to_owned())
    });
    let names: Vec<String> = names.collect();
    // The longest name of one says most, as the bus beside a number.
    let longest = names.iter().max_by_key(|name| name.len())?;
    let same = |name: &String| name.len() < longest.len() || name == longest;
    names.iter().all(same).then(|| longest.clone())
}

static GPU: Form = Form::new(concat!(
    r"(?:\bGPU (?:at PCI:)?|\(PCI:)(?P<bus>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)",
    r"|\b(?P<uuid>GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b",
    r"|\bGPU (?P<number>\d{1,2})\b",
));

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
