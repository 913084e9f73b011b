//! Lines of a component in every dress in which it can say them: a table, and no dress hides a cause.

use std::collections::BTreeMap;

use crate::{Files, analyze, analyzer, verdicts};
use casefile_analyzer::dress::undress;
use casefile_analyzer::rules::file::Kind;

/// A dress, the components that wear it, the name of such a file, and the dress itself.
struct Dress {
    name: &'static str,
    file: &'static str,
    worn_by: &'static [&'static str],
    put_on: fn(&str, &str) -> String,
}

/// Components that speak through a unit of the node.
const UNITS: &[&str] = &["kernel", "kubelet", "containerd", "systemd"];
/// Components that log with klog.
const KLOG: &[&str] = &[
    "kubelet",
    "hami",
    "device plugin",
    "network agent",
    "container",
];
/// Components that speak in a container.
const CONTAINERS: &[&str] = &[
    "CoreDNS",
    "hami",
    "device plugin",
    "network agent",
    "monitoring",
    "fabric manager",
    "application",
    "container",
];
/// What the cluster keeps as an event.
const EVENTS: &[&str] = &["event"];
/// Components that log with logfmt.
const LOGFMT: &[&str] = &["containerd", "container", "network agent"];
/// Everybody, in the table's order.
const ALL: &[&str] = &[
    "kernel",
    "kubelet",
    "containerd",
    "systemd",
    "CoreDNS",
    "hami",
    "device plugin",
    "network agent",
    "monitoring",
    "fabric manager",
    "application",
    "container",
    "event",
];

static DRESSES: &[Dress] = &[
    Dress {
        name: "as pasted",
        file: "ticket.txt",
        worn_by: ALL,
        put_on: |_, message| message.to_owned(),
    },
    Dress {
        name: "journal, short",
        file: "journal.txt",
        worn_by: UNITS,
        put_on: |who, message| format!("Nov 20 10:00:00 gpu-1 {who}[812]: {message}"),
    },
    Dress {
        name: "journal, short-iso",
        file: "journal.txt",
        worn_by: UNITS,
        put_on: |who, message| format!("2026-11-20T10:00:00+0000 gpu-1 {who}[812]: {message}"),
    },
    Dress {
        name: "journal, JSON",
        file: "journal.json",
        worn_by: UNITS,
        put_on: |who, message| {
            serde_json::json!({
                "__REALTIME_TIMESTAMP": "1795168800000000", "SYSLOG_IDENTIFIER": who, "_HOSTNAME": "gpu-1",
                "PRIORITY": "3", "MESSAGE": message,
            })
            .to_string()
        },
    },
    Dress {
        name: "dmesg",
        file: "dmesg.txt",
        worn_by: &["kernel"],
        put_on: |_, message| format!("[   12.345678] {message}"),
    },
    Dress {
        name: "dmesg -T",
        file: "dmesg.txt",
        worn_by: &["kernel"],
        put_on: |_, message| format!("[Fri Nov 20 10:00:00 2026] {message}"),
    },
    Dress {
        name: "container log, CRI",
        file: "pod.log",
        worn_by: CONTAINERS,
        put_on: |_, message| format!("2026-11-20T10:00:00.123456789Z stderr F {message}"),
    },
    Dress {
        name: "container log, Docker",
        file: "pod.log",
        worn_by: CONTAINERS,
        put_on: |_, message| {
            serde_json::json!({"log": format!("{message}\n"), "stream": "stderr", "time": "2026-11-20T10:00:00.1Z"})
                .to_string()
        },
    },
    Dress {
        name: "klog",
        file: "component.log",
        worn_by: KLOG,
        put_on: |_, message| format!("E1120 10:00:00.123456    1234 server.go:12] {message}"),
    },
    Dress {
        name: "logfmt",
        file: "component.log",
        worn_by: LOGFMT,
        put_on: |_, message| {
            let escaped = message.replace('\\', "\\\\").replace('"', "\\\"");
            format!("time=\"2026-11-20T10:00:00Z\" level=error msg=\"{escaped}\"")
        },
    },
    Dress {
        name: "zap or slog, JSON",
        file: "component.log",
        worn_by: CONTAINERS,
        put_on: |_, message| {
            serde_json::json!({"level": "error", "ts": "2026-11-20T10:00:00.123Z", "msg": message})
                .to_string()
        },
    },
    Dress {
        name: "klog in a journal",
        file: "journal.txt",
        worn_by: &["kubelet"],
        put_on: |who, message| {
            format!(
                "Nov 20 10:00:00 gpu-1 {who}[812]: E1120 10:00:00.123456     812 server.go:12] {message}"
            )
        },
    },
    Dress {
        name: "logfmt in a journal",
        file: "journal.txt",
        worn_by: &["containerd"],
        put_on: |who, message| {
            let escaped = message.replace('\\', "\\\\").replace('"', "\\\"");
            format!(
                "Nov 20 10:00:00 gpu-1 {who}[812]: time=\"2026-11-20T10:00:00Z\" level=error msg=\"{escaped}\""
            )
        },
    },
    Dress {
        name: "journal, export",
        file: "journal.export",
        worn_by: UNITS,
        put_on: |who, message| {
            format!(
                "__REALTIME_TIMESTAMP=1795168800000000\n_HOSTNAME=gpu-1\nPRIORITY=3\nSYSLOG_IDENTIFIER={who}\nMESSAGE={message}\n"
            )
        },
    },
    Dress {
        name: "syslog, RFC 5424",
        file: "syslog",
        worn_by: UNITS,
        put_on: |who, message| {
            format!("<3>1 2026-11-20T10:00:00.123456Z gpu-1 {who} 812 - - {message}")
        },
    },
    Dress {
        name: "dmesg, with levels",
        file: "dmesg.txt",
        worn_by: &["kernel"],
        put_on: |_, message| format!("kern  :err   : [   12.345678] {message}"),
    },
    Dress {
        name: "kubectl get events",
        file: "events.txt",
        worn_by: EVENTS,
        put_on: |_, message| {
            format!(
                "LAST SEEN   TYPE      REASON   OBJECT      MESSAGE\n2m          Warning   Failed   pod/web-1   {message}"
            )
        },
    },
    Dress {
        name: "kubectl describe",
        file: "describe.txt",
        worn_by: EVENTS,
        put_on: |_, message| {
            format!(
                "Events:\n  Type     Reason  Age                From     Message\n  ----     ------  ----               ----     -------\n  Warning  Failed  2m (x3 over 5m)    kubelet  {message}"
            )
        },
    },
    Dress {
        name: "event, JSON",
        file: "events.json",
        worn_by: EVENTS,
        put_on: |_, message| event(message).to_string(),
    },
    Dress {
        name: "event, YAML",
        file: "events.yaml",
        worn_by: EVENTS,
        put_on: |_, message| {
            let quoted = serde_json::Value::from(message).to_string();
            format!(
                "apiVersion: v1\nkind: Event\ntype: Warning\nreason: Failed\ncount: 3\nmessage: {quoted}\nlastTimestamp: \"2026-11-20T10:00:00Z\"\nmetadata:\n  name: web-1.17\n  namespace: shop\ninvolvedObject:\n  kind: Pod\n  name: web-1\n  namespace: shop\n"
            )
        },
    },
];

fn event(message: &str) -> serde_json::Value {
    serde_json::json!({
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "Failed", "count": 3, "message": message,
        "lastTimestamp": "2026-11-20T10:00:00Z",
        "metadata": { "name": "web-1.17", "namespace": "shop" },
        "involvedObject": { "kind": "Pod", "name": "web-1", "namespace": "shop" },
    })
}

/// Sentences with which an event begins: the scheduler's, the kubelet's, a controller's.
const EVENT_SAYS: [&str; 9] = [
    "0/",
    "Failed to pull image",
    "Back-off ",
    "MountVolume.",
    "AttachVolume.",
    "Multi-Attach",
    "Error creating:",
    "Failed create pod sandbox",
    "Failed to create pod sandbox",
];

/// Who says a line: as its head names it, as it begins, else by the family of its cause.
fn component(speaker: &str, family: &str, message: &str) -> &'static str {
    let is_event = EVENT_SAYS.iter().any(|begin| message.starts_with(begin));
    match (speaker, family) {
        ("kernel", _) | ("", "gpu-hardware") => "kernel",
        (speaker, _) if speaker.contains("kubelet") => "kubelet",
        (speaker, _) if speaker.contains("containerd") => "containerd",
        ("systemd", _) => "systemd",
        ("", _) if is_event => "event",
        // The toolkit configures a runtime and is none.
        ("", "runtime") if message.contains("toolkit") => "container",
        ("", "runtime") => "containerd",
        ("", "node" | "image") => "kubelet",
        ("", "dns") => "CoreDNS",
        ("", "hami") => "hami",
        ("", "gpu-sharing") => "device plugin",
        ("", "network") => "network agent",
        ("", "monitoring") => "monitoring",
        ("", "fabric") => "fabric manager",
        ("", "workload") => "application",
        _ => "container",
    }
}

#[test]
fn a_line_says_the_same_in_every_dress_of_its_component() {
    let analyzer = analyzer();
    let set = crate::shipped_rules();
    // Per dress and component: lines that keep their cause in play, and all.
    let mut table: BTreeMap<(usize, &str), (usize, usize)> = BTreeMap::new();
    let mut lost = Vec::new();
    for rule in set.rules.iter().filter(|one| one.file.kind == Kind::Cause) {
        for example in rule.file.examples.all() {
            let alone = example
                .files
                .first_key_value()
                .filter(|_| example.files.len() == 1);
            let live = example
                .expect
                .verdict()
                .is_some_and(|verdict| verdict.is_live());
            let Some((path, text)) = alone.filter(|_| live) else {
                continue;
            };
            // One line, which somebody said: tables, settings and output of programs have no such dress.
            let line = text.trim_end();
            let row = line.contains("  ") || line.contains(" = ");
            let said = line.contains(' ') && !line.contains('\n') && !row && !path.contains('/');
            let dress = undress(line);
            if !said || line.starts_with(['{', '"', '<']) {
                continue;
            }
            let message = &line[dress.outer..];
            let who = component(dress.speaker, &rule.file.family, message);
            for (at, dress) in DRESSES.iter().enumerate() {
                if !dress.worn_by.contains(&who) {
                    continue;
                }
                let worn = (dress.put_on)(who, message) + "\n";
                let files = Files::from([(dress.file.to_owned(), worn.into_bytes())]);
                let kept = verdicts(&analyze(&analyzer, &files)).contains_key(&rule.file.id);
                let cell = table.entry((at, who)).or_default();
                cell.0 += usize::from(kept);
                cell.1 += 1;
                if !kept {
                    lost.push(format!("    {} as {}: {line}", rule.file.id, dress.name));
                }
            }
        }
    }
    let heads = ALL.iter().map(|who| format!("{who:>15}"));
    println!("{:24}{}", "", heads.collect::<String>());
    for (at, dress) in DRESSES.iter().enumerate() {
        let cells = ALL.iter().map(|who| match table.get(&(at, *who)) {
            Some((kept, all)) => format!("{:>15}", format!("{kept}/{all}")),
            None => format!("{:>15}", "-"),
        });
        println!("{:24}{}", dress.name, cells.collect::<String>());
    }
    println!("{}", lost.join("\n"));
    let all: usize = table.values().map(|cell| cell.1).sum();
    let mute = ALL
        .iter()
        .filter(|who| !table.keys().any(|(_, column)| column == *who));
    let mute: Vec<&str> = mute.copied().collect();
    assert!(mute.is_empty(), "no example is said by {mute:?}");
    assert!(
        all > 800 && lost.is_empty(),
        "of {all}:\n{}",
        lost.join("\n")
    );
}
