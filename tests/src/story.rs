//! The story of the model incident as the node's journal tells it: what real programs printed in the
//! lab, set to the times of the recorded API objects, and a kubelet's lines about the same attempts.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

use crate::cri::Pod;
use crate::journal::{Entry, Journal, Machine, Origin};

/// The unit of the containerd that the kubelet uses.
pub const SNAP_CONTAINERD: &str = "snap.k8s.containerd.service";
/// The unit of the kubelet.
pub const SNAP_KUBELET: &str = "snap.k8s.kubelet.service";
/// The unit of the distribution's own containerd.
pub const HOST_CONTAINERD: &str = "containerd.service";

/// The three states in which the model incident was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The toolkit writes to a containerd that the kubelet does not use.
    WrongContainerd,
    /// That is mended; the firewall drops what pods send.
    BlockedDns,
    /// Both are mended.
    Fixed,
}

impl State {
    /// The sample's name.
    pub fn name(self) -> &'static str {
        match self {
            State::WrongContainerd => "toolkit-wrong-containerd",
            State::BlockedDns => "ufw-blocks-dns",
            State::Fixed => "fixed",
        }
    }

    /// The state of this sample name.
    pub fn of(name: &str) -> Option<Self> {
        let all = [State::WrongContainerd, State::BlockedDns, State::Fixed];
        all.into_iter().find(|state| state.name() == name)
    }
}

/// The machine of the recordings (`nodeInfo` of the node), booted shortly before its oldest pod started.
pub fn machine() -> Machine {
    Machine {
        machine_id: "62c66a7a5dd70c3146618063c344e531".to_owned(),
        boot_id: "b0070000111142228333444455556666".to_owned(),
        booted: time("2026-11-19T09:58:00Z"),
        hostname: "192-18-132-31".to_owned(),
    }
}

/// One attempt of the kubelet to get a sandbox with the handler `nvidia`.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// When, on the recordings' clock.
    pub time: DateTime<Utc>,
    /// For which pod.
    pub pod: Pod,
}

/// The attempts that the journal shows: a sample of the 279 and 120 that the recorded events count,
/// spread from the first to the last.
pub fn attempts(state: State) -> Vec<Attempt> {
    if state != State::WrongContainerd {
        return Vec::new();
    }
    let textgen = (
        "default",
        "gpu-textgen",
        "425bd169-85f5-475e-9cc9-ad88d8ee302b",
    );
    let validator = (
        "gpu-operator",
        "nvidia-operator-validator-gbcq4",
        "8f3202c4-93c5-491a-8c49-5aba1dbb712d",
    );
    let mut attempts = Vec::new();
    for (count, first, last, (namespace, name, uid)) in [
        (
            6,
            "2026-11-20T09:47:12.205Z",
            "2026-11-20T10:12:12.340Z",
            validator,
        ),
        (
            16,
            "2026-11-20T09:59:52.311Z",
            "2026-11-20T10:59:28.218Z",
            textgen,
        ),
    ] {
        let (first, last) = (time(first), time(last));
        for number in 0..count {
            let pod = Pod {
                name: name.to_owned(),
                namespace: namespace.to_owned(),
                uid: uid.to_owned(),
                attempt: 0,
                host_network: false,
            };
            let time = first + (last - first) * number / (count - 1);
            attempts.push(Attempt { time, pod });
        }
    }
    attempts.sort_by_key(|attempt| attempt.time);
    attempts
}

/// What the lab's programs really printed, and their process ids.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// Standard error of the kubelet's containerd.
    pub snap_containerd: String,
    /// Standard error of the distribution's containerd.
    pub host_containerd: String,
    /// What the container runtime answered to each attempt, in order.
    pub answers: Vec<String>,
    /// The kernel's lines about blocked packets, in order.
    pub kernel: Vec<String>,
    /// Process ids: the kubelet's containerd, the distribution's, the kubelet.
    pub pids: [u32; 3],
}

/// The journal of a state.
pub fn journal(state: State, captured: &Captured) -> Journal {
    let mut journal = Journal::new(machine());
    let [snap_pid, host_pid, kubelet_pid] = captured.pids;
    let attempts = attempts(state);
    let snap = service(SNAP_CONTAINERD, "k8s.containerd", snap_pid, "containerd");
    let host = service(HOST_CONTAINERD, "containerd", host_pid, "containerd");
    let kubelet = service(SNAP_KUBELET, "k8s.kubelet", kubelet_pid, "kubelet");

    // Mending the toolkit made it restart the kubelet's containerd.
    let snap_start = match state {
        State::WrongContainerd => time("2026-11-19T10:01:12.104Z"),
        State::BlockedDns | State::Fixed => time("2026-11-20T10:14:24.104Z"),
    };
    // After the toolkit's last try at 11:00:51, which found nobody listening.
    let host_start = match state {
        State::WrongContainerd => time("2026-11-20T11:02:10.420Z"),
        State::BlockedDns | State::Fixed => time("2026-11-20T10:33:10.420Z"),
    };
    let attempt_times: Vec<_> = attempts.iter().map(|attempt| attempt.time).collect();
    started(
        &mut journal,
        SNAP_CONTAINERD,
        "Service for snap application k8s.containerd",
        snap_start,
    );
    started(
        &mut journal,
        HOST_CONTAINERD,
        "containerd container runtime",
        host_start,
    );
    containerd(
        &mut journal,
        &snap,
        &captured.snap_containerd,
        snap_start,
        &attempt_times,
    );
    containerd(
        &mut journal,
        &host,
        &captured.host_containerd,
        host_start,
        &[],
    );
    for (attempt, answer) in attempts.iter().zip(&captured.answers) {
        refused(&mut journal, &kubelet, kubelet_pid, attempt, answer);
    }
    if state == State::WrongContainerd {
        backing_off(&mut journal, &kubelet, kubelet_pid);
    }
    for (number, line) in (0..).zip(&captured.kernel) {
        // Lines about one packet follow each other within microseconds.
        let time = packet_time(state, line) + TimeDelta::microseconds(number);
        let message = line.clone();
        journal.push(Entry {
            time,
            origin: Origin::Kernel,
            priority: 4,
            message,
        });
    }
    journal
}

/// When a packet passed the firewall, known by its identification: the incident's two queries between
/// the start and the end of the recorded container, in the distance that the incident's log shows.
fn packet_time(state: State, line: &str) -> DateTime<Utc> {
    let first = match state {
        State::Fixed => time("2026-11-20T11:03:24.244083Z"),
        State::WrongContainerd | State::BlockedDns => time("2026-11-20T10:54:32.244083Z"),
    };
    if line.contains(" ID=4481 ") {
        first
    } else if line.contains(" ID=33338 ") {
        first + TimeDelta::microseconds(40_032_823)
    } else {
        time("2026-11-20T09:12:44.518220Z")
    }
}

fn started(journal: &mut Journal, unit: &str, description: &str, when: DateTime<Utc>) {
    journal.push(Entry {
        time: when + TimeDelta::milliseconds(212),
        origin: Origin::Manager {
            unit: unit.to_owned(),
        },
        priority: 6,
        message: format!("Started {unit} - {description}."),
    });
}

/// A containerd's own lines: each keeps its distance from the line that began its group, which is the
/// start of the process or an attempt to run a sandbox.
fn containerd(
    journal: &mut Journal,
    origin: &Origin,
    printed: &str,
    start: DateTime<Utc>,
    attempts: &[DateTime<Utc>],
) {
    let mut group: Option<(DateTime<Utc>, DateTime<Utc>)> = None;
    let mut next = attempts.iter();
    for line in printed.lines() {
        let Some((stamp, rest)) = split_stamp(line) else {
            continue;
        };
        // containerd announces a sandbox before it tries it.
        if line.contains("level=info msg=\"RunPodSandbox for ") {
            let Some(attempt) = next.next() else { break };
            group = Some((stamp, *attempt));
        }
        let (printed_at, model) = *group.get_or_insert((stamp, start));
        let time = model + (stamp - printed_at);
        let text = time.to_rfc3339_opts(SecondsFormat::Nanos, true);
        journal.push(Entry {
            time,
            origin: origin.clone(),
            priority: 6,
            message: format!("time=\"{text}\"{rest}"),
        });
    }
}

/// `time="..." level=...` as its time and what follows.
fn split_stamp(line: &str) -> Option<(DateTime<Utc>, &str)> {
    let (stamp, rest) = line.strip_prefix("time=\"")?.split_once('"')?;
    let stamp = DateTime::parse_from_rfc3339(stamp).ok()?;
    Some((stamp.with_timezone(&Utc), rest))
}

/// A kubelet's four lines about one refused sandbox.
fn refused(journal: &mut Journal, origin: &Origin, pid: u32, attempt: &Attempt, answer: &str) {
    let Pod {
        name,
        namespace,
        uid,
        ..
    } = &attempt.pod;
    let error = format!("rpc error: code = Unknown desc = {answer}");
    let once = quoted(&error);
    let pod = format!("pod=\"{namespace}/{name}\"");
    let full = format!("{name}_{namespace}({uid})");
    let inner = format!(
        "Failed to create sandbox for pod {}: {error}",
        quoted(&full)
    );
    let outer = format!(
        "failed to \"CreatePodSandbox\" for {} with CreatePodSandboxError: {}",
        quoted(&full),
        quoted(&inner)
    );
    let lines = [
        (
            "log.go:32",
            format!("\"RunPodSandbox from runtime service failed\" err={once}"),
        ),
        (
            "kuberuntime_sandbox.go:70",
            format!("\"Failed to create sandbox for pod\" err={once} {pod}"),
        ),
        (
            "kuberuntime_manager.go:1252",
            format!("\"CreatePodSandbox for pod failed\" err={once} {pod}"),
        ),
        (
            "pod_workers.go:1301",
            format!(
                "\"Error syncing pod, skipping\" err={} {pod} podUID=\"{uid}\"",
                quoted(&outer)
            ),
        ),
    ];
    for (number, (place, text)) in (1..).zip(lines) {
        let time = attempt.time + TimeDelta::microseconds(4000 + 40 * number);
        journal.push(klog(origin, pid, time, place, &text));
    }
}

/// The kubelet holds the toolkit's container back.
fn backing_off(journal: &mut Journal, origin: &Origin, pid: u32) {
    let (container, pod) = (
        "nvidia-container-toolkit-ctr",
        "nvidia-container-toolkit-daemonset-bhqw6",
    );
    let inner = format!(
        "back-off 5m0s restarting failed container={container} pod={pod}_gpu-operator(f84c592f-7456-4bd1-944c-4fd199a24ce3)"
    );
    let outer = format!(
        "failed to \"StartContainer\" for \"{container}\" with CrashLoopBackOff: {}",
        quoted(&inner)
    );
    let text = format!(
        "\"Error syncing pod, skipping\" err={} pod=\"gpu-operator/{pod}\" podUID=\"f84c592f-7456-4bd1-944c-4fd199a24ce3\"",
        quoted(&outer)
    );
    for at in [
        "2026-11-20T11:01:02.513Z",
        "2026-11-20T11:01:59.514Z",
        "2026-11-20T11:03:12.512Z",
    ] {
        journal.push(klog(origin, pid, time(at), "pod_workers.go:1301", &text));
    }
}

/// A line as klog writes it.
fn klog(origin: &Origin, pid: u32, time: DateTime<Utc>, place: &str, text: &str) -> Entry {
    let stamp = time.format("%m%d %H:%M:%S%.6f");
    let message = format!("E{stamp} {pid:>7} {place}] {text}");
    Entry {
        time,
        origin: origin.clone(),
        priority: 6,
        message,
    }
}

/// Text in quotation marks, as Go's `%q` writes it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn service(unit: &str, identifier: &str, pid: u32, comm: &str) -> Origin {
    Origin::Service {
        unit: unit.to_owned(),
        identifier: identifier.to_owned(),
        pid,
        comm: comm.to_owned(),
    }
}

fn time(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text)
        .map(|time| time.with_timezone(&Utc))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_lines_keep_their_distance_within_their_group() {
        let printed = "time=\"2030-01-01T00:00:00Z\" level=info msg=starting\n\
                       time=\"2030-01-01T00:00:05Z\" level=info msg=\"RunPodSandbox for x\"\n\
                       time=\"2030-01-01T00:00:06Z\" level=error msg=\"RunPodSandbox for x failed\"\n";
        let captured = Captured {
            snap_containerd: printed.to_owned(),
            ..Captured::default()
        };
        let text = journal(State::WrongContainerd, &captured).export();
        assert!(text.contains("time=\"2026-11-19T10:01:12.104000000Z\" level=info msg=starting"));
        assert!(text.contains("time=\"2026-11-20T09:47:13.205000000Z\" level=error"));
    }

    #[test]
    fn the_kubelet_quotes_the_runtimes_answer_as_often_as_it_wraps_it() {
        let answer =
            "failed to get sandbox runtime: no runtime for \"nvidia\" is configured".to_owned();
        let captured = Captured {
            answers: vec![answer; 22],
            ..Captured::default()
        };
        let text = journal(State::WrongContainerd, &captured).export();
        assert!(text.contains(r#"err="rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for \"nvidia\" is configured" pod="default/gpu-textgen""#));
        assert!(text.contains(r#"no runtime for \\\"nvidia\\\" is configured\"" pod="#));
    }

    #[test]
    fn a_mended_node_has_no_refused_sandbox() {
        assert!(attempts(State::Fixed).is_empty());
    }
}
