//! The kubelet's sentence about an eviction: which resource, signal, threshold and file system.

/// An eviction, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Eviction {
    /// `memory`, `ephemeral-storage`, `inodes`, `pids`; empty where the sentence names none.
    pub resource: String,
    /// The signal behind it, e.g. `memory.available`; of storage one of two, where the sentence does not tell which.
    pub signal: String,
    /// Threshold, as written.
    pub threshold: String,
    /// What was available, as written.
    pub available: String,
    /// Volume or container whose own limit was passed; empty where the node was short.
    pub own_limit: String,
    /// Whether the node was short; otherwise the pod passed a limit of its own.
    pub node_was_short: bool,
}

/// Reads `status.message` of an evicted pod or the message of an `Evicted` event.
#[must_use]
pub fn parse(message: &str) -> Option<Eviction> {
    low_on_resource(message)
        .or_else(|| own_limit(message))
        .or_else(|| condition(message))
}

/// The text between two others.
fn between<'a>(text: &'a str, before: &str, after: &[char]) -> Option<&'a str> {
    let rest = text.get(text.find(before)? + before.len()..)?;
    let end = rest.find(after).unwrap_or(rest.len());
    rest.get(..end)
        .map(|part| part.trim_matches(['"', ' ', '.']))
}

/// Resource and signal by the names that kubelets gave them: conditions and file systems before 1.13, resources since.
fn old_name(named: &str) -> Option<(&'static str, &'static str)> {
    Some(match named {
        "MemoryPressure" => ("memory", "memory.available"),
        "DiskPressure" => ("ephemeral-storage", signal("ephemeral-storage")),
        "PIDPressure" => ("pids", "pid.available"),
        "nodefs" => ("ephemeral-storage", "nodefs.available"),
        "imagefs" => ("ephemeral-storage", "imagefs.available"),
        "nodefsInodes" => ("inodes", "nodefs.inodesFree"),
        "imagefsInodes" => ("inodes", "imagefs.inodesFree"),
        _ => return None,
    })
}

fn signal(resource: &str) -> &'static str {
    match resource {
        "memory" => "memory.available",
        "ephemeral-storage" => "nodefs.available or imagefs.available",
        "inodes" => "nodefs.inodesFree or imagefs.inodesFree",
        "pids" => "pid.available",
        _ => "",
    }
}

fn low_on_resource(message: &str) -> Option<Eviction> {
    let resource = between(message, "low on resource: ", &['.', ' '])?.trim_matches(['[', ']']);
    let text = |before| {
        between(message, before, &[',', ' '])
            .unwrap_or_default()
            .to_owned()
    };
    let (resource, signal) = old_name(resource).unwrap_or((resource, signal(resource)));
    Some(Eviction {
        resource: resource.to_owned(),
        signal: signal.to_owned(),
        threshold: text("Threshold quantity: "),
        available: text("available: "),
        own_limit: String::new(),
        node_was_short: true,
    })
}

fn own_limit(message: &str) -> Option<Eviction> {
    let quoted = |before: &str| between(message, before, &['"', ',']);
    let (what, limit) = if let Some(volume) = quoted("Usage of EmptyDir volume \"") {
        (
            format!("volume {volume}"),
            between(message, "exceeds the limit ", &[',']),
        )
    } else if message.contains("exceeded its local ephemeral storage limit") {
        let container = between(message, "ontainer ", &[' '])?;
        let limit = between(message, "storage limit ", &[',']);
        (format!("container {container}"), limit)
    } else if message.contains("ephemeral local storage usage exceeds the total limit") {
        let limit = between(message, "of containers ", &[',']);
        ("the pod's containers together".to_owned(), limit)
    } else {
        return None;
    };
    Some(Eviction {
        resource: "ephemeral-storage".to_owned(),
        threshold: limit.unwrap_or_default().to_owned(),
        own_limit: what,
        ..Eviction::default()
    })
}

/// A pod that a node under pressure does not even admit.
fn condition(message: &str) -> Option<Eviction> {
    let condition = between(message, "node had condition: [", &[']'])?;
    let resource = match condition {
        one if one.contains("Memory") => "memory",
        one if one.contains("Disk") => "ephemeral-storage",
        one if one.contains("PID") => "pids",
        _ => "",
    };
    Some(Eviction {
        resource: resource.to_owned(),
        signal: signal(resource).to_owned(),
        node_was_short: true,
        ..Eviction::default()
    })
}
