//! What a node's runtime would do with a handler, asked by a person.

use super::{Known, resolve_node, tree};
use crate::containerd::{Answer, Handler, Starts};

/// One line an answer; of one node, or of all that were captured.
///
/// # Errors
/// Says what was not collected.
pub(crate) fn runtime(
    known: &Known<'_>,
    handler: &str,
    node: Option<&str>,
) -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    for node in known
        .nodes()
        .iter()
        .filter(|one| node.is_none_or(|wanted| wanted == *one))
    {
        let tree = tree::captured(known, node);
        let resolved = resolve_node(known, node, &tree);
        for instance in &resolved.instances {
            let Some((config, cri)) = resolved.of(instance) else {
                continue;
            };
            lines.push(format!(
                "node {node}, {} (used by the kubelet: {}), {}",
                instance.id,
                resolved.used(&instance.id),
                instance
                    .version
                    .as_deref()
                    .unwrap_or("version not captured"),
            ));
            lines.push(format!("  configuration: {}", instance.config_path));
            lines.push(format!(
                "  daemon: {}; CRI: {}",
                starts(config.starts()),
                available(cri.available)
            ));
            for problem in config.problems.iter().chain(&cri.problems) {
                let place = problem
                    .place()
                    .map_or_else(String::new, |place| format!(" ({place})"));
                lines.push(format!("  {}: {problem}{place}", problem.effect().word()));
            }
            let check = cri.check(config, handler);
            lines.push(format!(
                "  handler {handler:?}: {} - {}",
                word(check.resolves),
                check.because
            ));
            lines.extend(
                cri.handlers
                    .values()
                    .map(|one| format!("  {}", in_words(one))),
            );
            lines.push(format!("  sandbox image: {}", cri.sandbox_image.value));
            lines.push(format!("  snapshotter: {}", cri.snapshotter.value));
            lines.push(format!(
                "  registry config_path: {}",
                or_none(&cri.registry_config_path.value)
            ));
            lines.extend(
                config
                    .containerd
                    .assumptions
                    .iter()
                    .map(|one| format!("  assumed: {one}")),
            );
        }
    }
    if lines.is_empty() {
        return Err("no containerd was captured there".to_owned());
    }
    Ok(lines)
}

fn in_words(handler: &Handler) -> String {
    let place = handler
        .place
        .as_ref()
        .map_or_else(|| "built in".to_owned(), ToString::to_string);
    format!(
        "handler {}: {}, BinaryName {}, SystemdCgroup {} ({place})",
        handler.name,
        or_none(&handler.runtime_type.value),
        or_none(&handler.binary_name.value),
        handler.systemd_cgroup.value
    )
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

fn starts(starts: Starts) -> &'static str {
    match starts {
        Starts::Yes => "starts",
        Starts::No => "ends at its start",
        Starts::Unknown => "unknown",
    }
}

fn available(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "up",
        Answer::No => "not up",
        Answer::Unknown => "unknown",
    }
}

fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "resolves",
        Answer::No => "does not resolve",
        Answer::Unknown => "unknown",
    }
}
