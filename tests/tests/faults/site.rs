//! What real sites have and a laboratory does not: more pods than logs are taken of, firewalls of 120,000 rules,
//! journals under another machine-id, API services that are down, kubelets that answer a question with their usage, and
//! terminals of 60 columns.

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use casefile_bundle::Outcome;
use casefile_tests::journal::{Entry, Journal, Machine, Origin};
use casefile_tests::recording::User;
use casefile_tests::replay::small::Small;
use casefile_tests::replay::{Credential, Fault, Faults, Server};
use chrono::{TimeDelta, Utc};
use serde_json::{Value, json};

use crate::desk::{Bundle, Desk, Ran, Row, SOME, Seen};
use crate::lab;

const JSON: &str = "application/json";

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "95 crashing pods behind 4,200 healthy ones",
        run: many_logs,
    },
    Row {
        fault: "nft holds 120,000 rules",
        run: many_nft_rules,
    },
    Row {
        fault: "a journal under another machine-id",
        run: other_machine_id,
    },
    Row {
        fault: "API: the metrics service is down",
        run: no_metrics,
    },
    Row {
        fault: "--node-logs of a kubelet that answers with its usage",
        run: usage,
    },
    Row {
        fault: "a private key in ConfigMaps, written in 11 ways",
        run: private_key,
    },
    Row {
        fault: "a private key that a script in a ConfigMap echoes",
        run: echoed_key,
    },
    Row {
        fault: "a terminal of 60 columns, nothing to log in with",
        run: narrow,
    },
];

fn server(cluster: Small, faults: Faults) -> Server {
    Server::start(cluster, "127.0.0.1:0".parse().unwrap(), faults).unwrap()
}

fn on_cluster(server: &Server, args: &[&str]) -> Ran {
    let config = server.kubeconfig(User::Admin, Credential::Token);
    Desk::new().keep(|desk| desk.on_cluster(&config, args))
}

fn pod(namespace: &str, name: &str, node: &str, restarts: u64) -> Value {
    let ready = if restarts > 0 { "False" } else { "True" };
    json!({"metadata": {"name": name, "namespace": namespace},
        "spec": {"nodeName": node, "containers": [{"name": "main"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}],
            "containerStatuses": [{"name": "main", "restartCount": restarts, "state": {"running": {}}}]}})
}

/// The healthy ones are listed first and more than there is room for; those that crash have their logs all the same,
/// and the one on the collector's own node has its log first.
fn many_logs() -> Result<Seen, String> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let mut pods: Vec<Value> = (0..4_200)
        .map(|at| pod("kube-system", &format!("calm-{at}"), "gpu-2", 0))
        .collect();
    pods.extend((0..94).map(|at| pod("team", &format!("sick-{at}"), "gpu-2", 7)));
    pods.push(pod("team", "sick-zz-own", host.trim(), 7));
    let names: Vec<&str> = pods
        .iter()
        .filter(|pod| pod["metadata"]["namespace"] == "team")
        .filter_map(|pod| pod["metadata"]["name"].as_str())
        .collect();
    let logs = names.iter().fold(Small::new(), |small, name| {
        let path =
            format!("/api/v1/namespaces/team/pods/{name}/log?container=main&timestamps=true");
        small.with_answer(path.leak(), "text/plain", "2026-01-01T00:00:00Z boom\n")
    });
    let server = server(
        logs.with_lists(&[("pods", "Pod", pods.clone())]),
        Faults::default(),
    );
    let ran = on_cluster(&server, &["--source-timeout", "50s"]);
    let bundle = ran.bundle();
    let taken = bundle.manifest.entries.iter();
    let taken = taken.filter(|entry| entry.path.as_str().contains("logs/team/sick-"));
    assert_eq!(taken.count(), 95, "{:?}", bundle.told("cluster_pod_logs"));
    let asked = server.requests();
    let logs: Vec<&String> = asked.iter().filter(|one| one.contains("/log?")).collect();
    let sick = |log: &&&String| log.contains("/pods/sick-");
    let first: std::collections::BTreeSet<&str> = logs
        .iter()
        .filter(sick)
        .filter_map(|log| log.split("/pods/").nth(1)?.split('/').next())
        .collect();
    assert_eq!(first.len(), 95, "{first:?}");
    let own = logs.iter().position(|log| log.contains("sick-zz-own"));
    assert!(own.is_some_and(|at| at < 16), "{own:?} of {}", logs.len());
    let rest = &["logs/team/sick-zz-own/main.log", "/proc/meminfo"];
    let mut seen = bundle.row(&ran, "cluster_pod_logs", SOME, "", rest)?;
    seen.said = format!("logs of 95 of 95 crashing pods, {} requests", logs.len());
    Ok(seen)
}

/// Real rules in a network of their own.
fn many_nft_rules() -> Result<Seen, String> {
    const RULES: usize = 120_000;
    const EACH: usize = 30;
    lab::root()?;
    let desk = Desk::new();
    let mut rules = String::from("table ip kube-proxy {\n");
    for chain in 0..RULES / EACH {
        let _ = writeln!(rules, " chain svc-{chain} {{");
        for at in 0..EACH {
            let (high, low) = (chain >> 8, chain & 255);
            let _ = writeln!(
                rules,
                "  ip daddr 10.{high}.{low}.{at} tcp dport 80{at:02} counter drop"
            );
        }
        rules.push_str(" }\n");
    }
    rules.push_str("}\n");
    std::fs::write(desk.path("rules.nft"), rules).unwrap();
    let clock = Instant::now();
    let inner = desk.command(&["--only", "firewall,host_info", "--timeout", "200s"]);
    let script = format!("nft -f {} || exit 77; exec \"$@\"", desk.text("rules.nft"));
    let mut command = Command::new("unshare");
    command.args(["--net", "/bin/sh", "-c", &script, "sh"]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.current_dir(desk.path("out"));
    let output = command
        .output()
        .map_err(|error| format!("unshare: {error}"))?;
    if output.status.code() == Some(77) {
        return Err("nft does not take rules here".to_owned());
    }
    let ran = desk.ran(output, clock);
    let [file] = ran.files.as_slice() else {
        panic!("{ran:?}")
    };
    let bundle = Bundle::open(file);
    let listed = bundle.content("/commands/nft-list-ruleset.out");
    assert_eq!(listed.matches(" counter ").count(), RULES);
    let rest = &["/commands/nft-list-ruleset.out", "/proc/meminfo"];
    let mut seen = bundle.row(&ran, "firewall", SOME, "", rest)?;
    seen.said = format!("{RULES} of {RULES} rules are in the bundle");
    Ok(seen)
}

/// A real journal file, as a clone of a disk or a container with the node's journal has it.
fn other_machine_id() -> Result<Seen, String> {
    lab::root()?;
    let desk = Desk::new();
    let id = "5".repeat(32);
    let mut journal = Journal::new(Machine {
        machine_id: id.clone(),
        boot_id: "b".repeat(32),
        booted: Utc::now() - TimeDelta::hours(3),
        hostname: "gpu-1".to_owned(),
    });
    journal.push(Entry {
        time: Utc::now() - TimeDelta::hours(1),
        origin: Origin::Kernel,
        priority: 3,
        message: "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.".to_owned(),
    });
    std::fs::write(desk.path("export"), journal.export()).unwrap();
    let file = desk.text("system.journal");
    let made = Command::new("/lib/systemd/systemd-journal-remote")
        .args(["-o", &file, &desk.text("export")])
        .output()
        .map_err(|error| format!("systemd-journal-remote: {error}"))?;
    assert!(made.status.success(), "{made:?}");
    let clock = Instant::now();
    let inner = desk.command(&["--only", "journal,host_info"]);
    let script = format!(
        "mount -t tmpfs none /var/log || exit 77; mkdir -p /var/log/journal/{id} && cp {file} /var/log/journal/{id}/ && exec \"$@\""
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "/bin/sh", "-c", &script, "sh"]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.current_dir(desk.path("out"));
    let output = command
        .output()
        .map_err(|error| format!("unshare: {error}"))?;
    if output.status.code() == Some(77) {
        return Err("nothing may be mounted here".to_owned());
    }
    let ran = desk.ran(output, clock);
    let bundle = ran.bundle();
    assert!(
        bundle
            .content("/journal/kernel.json")
            .contains("fallen off the bus")
    );
    let rest = &["/journal/kernel.json", "/proc/meminfo"];
    bundle.row(&ran, "journal", SOME, "one other machine-id is read", rest)
}

fn no_metrics() -> Result<Seen, String> {
    let group = |name: &str| {
        let version = json!({"groupVersion": format!("{name}/v1beta1"), "version": "v1beta1"});
        json!({"name": name, "versions": [version], "preferredVersion": version})
    };
    let groups = json!({"kind": "APIGroupList", "groups": [group("metrics.k8s.io"), group("custom.metrics.k8s.io")]});
    let cluster = Small::new().with_answer("/apis", JSON, &groups.to_string());
    let faults = Faults::default()
        .with("/apis/metrics.k8s.io", Fault::Status(503))
        .with("/apis/custom.metrics.k8s.io", Fault::Status(503));
    let server = server(cluster, faults);
    let ran = on_cluster(&server, &[]);
    let bundle = ran.bundle();
    let rest = &["cluster-resources/nodes.json", "/proc/meminfo"];
    bundle.row(&ran, "cluster_objects", &[Outcome::Collected], "", rest)
}

fn usage() -> Result<Seen, String> {
    let text = "journalctl [OPTIONS...] [MATCHES...]\n\nQuery the journal.\n\nOptions:\n     --system                Show the system journal\n";
    let url = "/api/v1/nodes/gpu-2/proxy/logs/";
    let server = server(
        Small::new().with_answer(url, "text/plain", text),
        Faults::default(),
    );
    let config = server.kubeconfig(User::Admin, Credential::Token);
    let ran = Desk::new().keep(|desk| {
        std::fs::write(desk.path("kubeconfig"), &config).unwrap();
        let file = desk.text("kubeconfig");
        let only = ["--only", "cluster_node_logs,host_info"];
        desk.run(&[&["--kubeconfig", &file, "--node-logs", "gpu-2"][..], &only].concat())
    });
    let bundle = ran.bundle();
    let journals = bundle.manifest.entries.iter();
    let journals = journals.filter(|entry| entry.path.as_str().contains("nodes/gpu-2/journal/"));
    assert_eq!(journals.count(), 0, "{:?}", bundle.manifest);
    let failed = &[Outcome::Failed];
    bundle.row(
        &ran,
        "cluster_node_logs",
        failed,
        "journal of gpu-2:",
        &["/proc/meminfo"],
    )
}

/// A key as people write it into scripts, notes and values: each way in a ConfigMap of its own.
fn private_key() -> Result<Seen, String> {
    // Made here, and a key of nothing.
    let line = |seed: usize| {
        let bytes: Vec<u8> = (0..48)
            .map(|at| (at * 37 + seed * 101 + 11) as u8)
            .collect();
        STANDARD.encode(bytes)
    };
    let body: Vec<String> = (0..8).map(line).collect();
    let (begin, end) = ["BEGIN", "END"]
        .map(|word| format!("-----{word} RSA {} KEY-----", "PRIVATE"))
        .into();
    let lines: Vec<&str> = std::iter::once(begin.as_str())
        .chain(body.iter().map(String::as_str))
        .chain([end.as_str()])
        .collect();
    let each =
        |write: &dyn Fn(&str) -> String| lines.iter().map(|line| write(line)).collect::<String>();
    let ways = [
        lines.join("\n"),
        lines.join("\\n"),
        lines.join(" "),
        lines.join("%0A"),
        lines.join("&#10;"),
        lines.join("\",\""),
        each(&|line| format!("> {line}\n")),
        each(&|line| format!("+{line}\n")),
        each(&|line| format!("    '{line}\\n'\n")),
        each(&|line| format!("2026-01-01T00:00:00Z app[7]: {line}\n")),
        // Escaped twice and split by a script's own quoting.
        lines.join("\\n").replace("KEY-----\\n", "KEY-----' + '\\n"),
    ];
    let maps = ways.iter().enumerate().map(|(at, text)| {
        json!({"metadata": {"name": format!("odd-{at}"), "namespace": "default"}, "data": {"run.sh": text}})
    });
    let server = server(
        Small::new().with_lists(&[("configmaps", "ConfigMap", maps.collect())]),
        Faults::default(),
    );
    let ran = on_cluster(&server, &[]);
    let bundle = ran.bundle();
    let maps = bundle.content("configmaps/default.json");
    for (at, part) in body.iter().enumerate() {
        let left = maps.lines().find(|line| line.contains(part.as_str()));
        let name = left.and_then(|line| line.split("\"odd-").nth(1)?.split('"').next());
        assert!(
            left.is_none(),
            "line {at} of the key is in the map {name:?}"
        );
    }
    let rest = &["configmaps/default.json"];
    let mut seen = bundle.row(&ran, "cluster_objects", SOME, "", rest)?;
    seen.said = format!(
        "none of the eight lines of the key, written in {} ways",
        ways.len()
    );
    Ok(seen)
}

/// Lines of a key among a script's words, in a text inside an object: what is left of it blocks the bundle.
fn echoed_key() -> Result<Seen, String> {
    let line = |seed: usize| {
        let bytes: Vec<u8> = (0..48).map(|at| (at * 53 + seed * 89 + 7) as u8).collect();
        STANDARD.encode(bytes)
    };
    let mark = |word: &str| format!("-----{word} RSA {} KEY-----", "PRIVATE");
    let body: Vec<String> = (0..8).map(line).collect();
    let lines = std::iter::once(mark("BEGIN"))
        .chain(body.iter().cloned())
        .chain([mark("END")]);
    let script: String = lines
        .map(|line| format!("echo \"{line}\" >> key.pem\n"))
        .collect();
    let map =
        json!({"metadata": {"name": "odd", "namespace": "default"}, "data": {"run.sh": script}});
    let server = server(
        Small::new().with_lists(&[("configmaps", "ConfigMap", vec![map])]),
        Faults::default(),
    );
    let ran = on_cluster(&server, &[]);
    let bundle = ran.bundle();
    let maps = bundle.content("configmaps/default.json");
    for (at, part) in body.iter().enumerate() {
        assert!(!maps.contains(part.as_str()), "line {at} of the key");
    }
    bundle.row(
        &ran,
        "cluster_objects",
        SOME,
        "",
        &["configmaps/default.json"],
    )
}

/// What a person sees: a status line that is never wrapped, and ten lines at the end.
fn narrow() -> Result<Seen, String> {
    const COLUMNS: usize = 60;
    let desk = Desk::new();
    let clock = Instant::now();
    let inner = desk.command(&["--timeout", "50s"]);
    let mut line = format!("stty cols {COLUMNS} rows 24; exec");
    // Progress as a terminal gets it, which the desk turns off.
    let args: Vec<String> = inner
        .get_args()
        .map(|arg| arg.to_string_lossy().into_owned())
        .filter(|arg| arg != "--progress" && arg != "none")
        .collect();
    let program = inner.get_program().to_string_lossy().into_owned();
    for word in std::iter::once(&program).chain(&args) {
        let _ = write!(line, " '{word}'");
    }
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(desk.path("out"))
        .env("HOME", "/nonexistent")
        .env_remove("KUBECONFIG")
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| format!("script: {error}"))?;
    let took = clock.elapsed();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    for status in shown.split("\r\x1b[K").filter(|part| part.starts_with('[')) {
        let width = status
            .trim_end()
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .count();
        assert!(width < COLUMNS, "{width} columns: {status:?}");
    }
    if took < Duration::from_secs(4) {
        assert!(!shown.contains("up to "), "{shown}");
    }
    let (_, end) = shown
        .split_once("Bundle ")
        .unwrap_or_else(|| panic!("{shown}"));
    let lines = 1 + end.trim_end().lines().count();
    assert!(lines <= 10, "{lines} lines: {end}");
    assert!(end.matches("no credentials").count() <= 1, "{end}");
    assert!(end.contains("casefile-analyzer diagnose"), "{end}");
    for source in casefile_collector::sources::SOURCES.iter() {
        let id = format!("{}:", source.id);
        assert!(
            !source.id.contains('_') || !end.contains(&id),
            "{id} in {end}"
        );
    }
    let seen = Seen {
        said: end.lines().nth(2).unwrap_or_default().trim().to_owned(),
        rest: format!("{lines} lines at the end"),
        took,
    };
    Ok(seen)
}
