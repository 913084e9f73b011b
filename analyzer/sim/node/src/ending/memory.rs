//! The kernel's lines about a kill for memory: which process, and which control group was full.

use chrono::{DateTime, Utc};

/// The control group that was full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Full {
    /// A container's own.
    Container,
    /// A pod's.
    Pod,
    /// One above the pods, such as `/kubepods`.
    Parent,
    /// None: the machine had no memory left.
    Node,
    /// The line does not say which.
    Unknown,
}

/// A process that the kernel killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kill {
    /// Its name.
    pub process: String,
    /// Its id.
    pub pid: u64,
    /// What was full.
    pub full: Full,
    /// The container that it ran in; empty where the line does not say.
    pub container: String,
    /// The uid of its pod, with dashes; empty where the line does not say.
    pub pod_uid: String,
    /// When.
    pub at: Option<DateTime<Utc>>,
}

/// Reads `oom-kill:constraint=…` (since Linux 5.0), `… out of memory: Killed process …` (all) and `Task in … killed as a
/// result of limit of …` (before 5.0), which names the groups and no process: its id is 0.
#[must_use]
pub fn parse(text: &str) -> Option<Kill> {
    match text.find("oom-kill:constraint=") {
        Some(at) => summary(text.get(at + "oom-kill:".len()..)?),
        None => killed(text).or_else(|| limit_of(text)),
    }
}

fn limit_of(text: &str) -> Option<Kill> {
    let (task, group) = text
        .get(text.find("Task in ")? + "Task in ".len()..)?
        .split_once(" killed as a result of limit of ")?;
    let group = group.split_whitespace().next()?;
    Some(Kill {
        process: String::new(),
        pid: 0,
        full: full_of(group),
        container: container_of(task),
        pod_uid: pod_of(task),
        at: None,
    })
}

/// Whose a control group is that was full.
fn full_of(group: &str) -> Full {
    if !container_of(group).is_empty() {
        Full::Container
    } else if !pod_of(group).is_empty() {
        Full::Pod
    } else if group.is_empty() {
        Full::Unknown
    } else {
        Full::Parent
    }
}

fn summary(text: &str) -> Option<Kill> {
    let field = |name: &str| {
        let fields = text.split(',');
        let mut found = fields.filter_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
        found.next().unwrap_or_default().trim()
    };
    let task = field("task_memcg");
    let group = field("oom_memcg");
    let full = match field("constraint") {
        "CONSTRAINT_NONE" | "CONSTRAINT_CPUSET" | "CONSTRAINT_MEMORY_POLICY" => Full::Node,
        "CONSTRAINT_MEMCG" => full_of(group),
        _ => Full::Unknown,
    };
    Some(Kill {
        process: field("task").to_owned(),
        pid: field("pid").parse().ok()?,
        full,
        container: container_of(task),
        pod_uid: pod_of(task),
        at: None,
    })
}

fn killed(text: &str) -> Option<Kill> {
    let at = text.find("ut of memory: Kill")?;
    let rest = text.get(at..)?;
    let after = rest.split_once(" process ")?.1;
    let (pid, rest) = after.split_once(' ')?;
    let process = rest
        .trim_start()
        .strip_prefix('(')
        .and_then(|rest| rest.split(')').next());
    // Without the summary line it is only known that some group's limit was reached, not whose.
    let full = if text.contains("Memory cgroup out of memory") {
        Full::Unknown
    } else {
        Full::Node
    };
    Some(Kill {
        process: process.unwrap_or_default().to_owned(),
        pid: pid.trim_end_matches(',').parse().ok()?,
        full,
        container: String::new(),
        pod_uid: String::new(),
        at: None,
    })
}

/// The parts of a control group's path that pods are in. A node that is a container itself has its own id above them.
fn of_pods(group: &str) -> &str {
    group.find("kubepods").map_or(group, |at| &group[at..])
}

/// The container id in a control group's path, in the spellings of systemd and cgroupfs. Containers may have groups of
/// their own below theirs.
fn container_of(group: &str) -> String {
    let mut parts = of_pods(group).rsplit(['/', ':']);
    let id = parts.find_map(|part| {
        let part = part.strip_suffix(".scope").unwrap_or(part);
        let id = part.rsplit('-').next().unwrap_or_default();
        let hex = id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex.then(|| id.to_owned())
    });
    id.unwrap_or_default()
}

/// The pod uid in a control group's path: `pod0a1b_…` with systemd, `pod0a1b-…` with cgroupfs.
fn pod_of(group: &str) -> String {
    let mut parts = group.rsplit(['/', ':']);
    let uid = parts.find_map(|part| {
        let part = part.strip_suffix(".slice").unwrap_or(part);
        let at = part
            .rfind("pod")
            .filter(|at| part.get(*at..) != Some("pods"))?;
        let uid = part.get(at + 3..)?.replace('_', "-");
        let hex = uid
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        (uid.len() >= 32 && hex).then_some(uid)
    });
    uid.unwrap_or_default()
}
