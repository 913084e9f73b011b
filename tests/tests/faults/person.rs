//! What a person at the node sees, and what the node itself knows: summaries, maps, the kubelet's own credentials, boots of
//! long ago.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use casefile_bundle::Outcome;
use casefile_tests::journal::{Entry, Journal, Machine, Origin};
use casefile_tests::recording::User;
use casefile_tests::replay::small::Small;
use casefile_tests::replay::{Credential, Faults, Server};
use chrono::{TimeDelta, Utc};

use crate::desk::{Desk, Row, SOME, Seen};
use crate::lab;

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "--anonymize: the map is named, and not in the bundle",
        run: map,
    },
    Row {
        fault: "diagnose where there is no analyzer",
        run: no_analyzer,
    },
    Row {
        fault: "every source is skipped or fails: ten lines",
        run: ten_lines,
    },
    Row {
        fault: "a kubelet whose own kubeconfig is the only one",
        run: kubelets_own,
    },
    Row {
        fault: "an Xid of a boot two months ago",
        run: older_boot,
    },
];

/// A program under another name. A copy may not be run while another thread starts a process that has it open still.
fn same_program(program: &Path, name: &Path) {
    let real = std::fs::canonicalize(program).unwrap();
    if std::fs::hard_link(&real, name).is_err() {
        std::fs::copy(&real, name).unwrap();
    }
}

fn lines_of(ran: &crate::desk::Ran) -> Vec<String> {
    let both = [ran.stdout.as_str(), ran.stderr.as_str()].concat();
    both.lines().map(str::to_owned).collect()
}

fn map() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    desk.file("/etc/hostname", "gpu-vault-17\n");
    let ran = desk.on_tree(&["--only", "host_info", "--anonymize", "hosts,ips"]);
    let (maps, bundles): (Vec<_>, Vec<_>) = ran
        .files
        .iter()
        .partition(|file| file.to_string_lossy().ends_with(".map.json"));
    let ([map], [bundle]) = (maps.as_slice(), bundles.as_slice()) else {
        panic!("{ran:?}")
    };
    let lines = lines_of(&ran);
    let said = lines.iter().find(|line| line.starts_with("Map"));
    let said = said.unwrap_or_else(|| panic!("{lines:?}"));
    assert!(said.contains("keep it, do not send it"), "{said}");
    let name = map.file_name().unwrap().to_string_lossy().into_owned();
    assert!(said.contains(&name), "{said}");
    assert!(
        std::fs::read_to_string(map)
            .unwrap()
            .contains("gpu-vault-17")
    );
    let bundle = crate::desk::Bundle::open(bundle);
    let host = bundle.content("/etc/hostname");
    assert!(!host.contains("vault"), "{host}");
    assert!(!bundle.has(".map.json"));
    let mut seen = bundle.row(&ran, "host_info", SOME, "", &["/etc/os-release"])?;
    seen.said = format!("Map       {name}: keep it, do not send it");
    Ok(seen)
}

/// The collector in a folder of its own, where nothing else lies.
fn no_analyzer() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    let alone = desk.path("collector");
    same_program(
        &casefile_tests::bins::find(casefile_tests::bins::COLLECTOR),
        &alone,
    );
    let clock = Instant::now();
    let output = Command::new(&alone)
        .args([
            "diagnose",
            "--only",
            "host_info",
            "--progress",
            "none",
            "--root",
        ])
        .arg(desk.path("root"))
        .current_dir(desk.path("out"))
        .env_clear()
        .output()
        .unwrap();
    let ran = desk.ran(output, clock);
    if !ran.stderr.contains("not diagnosed") {
        return Err("an analyzer is installed here".to_owned());
    }
    let said = "casefile-analyzer is not on this machine";
    assert!(ran.stderr.contains(said), "{ran:?}");
    let mut seen = ran
        .bundle()
        .row(&ran, "host_info", SOME, "", &["/etc/os-release"])?;
    seen.said = said.to_owned();
    Ok(seen)
}

/// All sources on a tree that has next to nothing, with a kubeconfig of a server that is gone and pseudonyms besides.
fn ten_lines() -> Result<Seen, String> {
    let server = Server::start(
        Small::new(),
        "127.0.0.1:0".parse().unwrap(),
        Faults::default(),
    );
    let config = server.unwrap().kubeconfig(User::Admin, Credential::Token);
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    std::fs::write(desk.path("kubeconfig"), config).unwrap();
    let kubeconfig = desk.text("kubeconfig");
    let ran = desk.on_tree(&["--kubeconfig", &kubeconfig, "--anonymize", "hosts"]);
    let lines = lines_of(&ran);
    assert!(lines.len() <= 10, "{} lines: {lines:?}", lines.len());
    let refusals = lines
        .iter()
        .filter(|line| line.contains("the API server cannot be used"));
    assert_eq!(refusals.count(), 1, "{lines:?}");
    for what in ["Bundle", "Collected", "Missing", "Map", "Next"] {
        assert!(
            lines.iter().any(|line| line.starts_with(what)),
            "no {what}: {lines:?}"
        );
    }
    Ok(Seen {
        said: format!("{} lines, one of them of the API server", lines.len()),
        rest: "Bundle, Collected, Missing, Map, Next".to_owned(),
        took: ran.took,
    })
}

/// A real process of that name, alone in its namespace of processes.
fn kubelets_own() -> Result<Seen, String> {
    lab::root()?;
    let server = Server::start(
        Small::new(),
        "127.0.0.1:0".parse().unwrap(),
        Faults::default(),
    )
    .unwrap();
    let desk = Desk::new();
    same_program(Path::new("/bin/sh"), &desk.path("kubelet"));
    std::fs::write(
        desk.path("own.conf"),
        server.kubeconfig(User::Admin, Credential::Token),
    )
    .unwrap();
    let script = format!(
        "mount -t proc proc /proc || exit 77; {} -c 'sleep 50; :' kubelet --kubeconfig={} & sleep 0.5; \"$@\"; code=$?; kill $!; exit $code",
        desk.text("kubelet"),
        desk.text("own.conf")
    );
    let inner = desk.command(&["--only", "cluster_objects,host_info"]);
    let clock = Instant::now();
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "/bin/sh",
        "-c",
        &script,
        "sh",
    ]);
    command.arg(inner.get_program()).args(inner.get_args());
    command
        .current_dir(desk.path("out"))
        .env_remove("KUBECONFIG")
        .env("HOME", "/nonexistent");
    let output = command
        .output()
        .map_err(|error| format!("unshare: {error}"))?;
    if output.status.code() == Some(77) {
        return Err("nothing may be mounted here".to_owned());
    }
    let ran = desk.ran(output, clock);
    let rest = &["cluster-resources/pods/default.json", "/proc/meminfo"];
    let bundle = ran.bundle();
    bundle.row(&ran, "cluster_objects", &[Outcome::Collected], "", rest)
}

fn older_boot() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    let id = "7".repeat(32);
    let boot = |boot_id: &str, days: i64, messages: &[&str]| {
        let booted = Utc::now() - TimeDelta::days(days);
        let mut journal = Journal::new(Machine {
            machine_id: id.clone(),
            boot_id: boot_id.repeat(32),
            booted,
            hostname: "gpu-1".to_owned(),
        });
        for (at, message) in messages.iter().enumerate() {
            journal.push(Entry {
                time: booted + TimeDelta::seconds(10 + i64::try_from(at).unwrap()),
                origin: Origin::Kernel,
                priority: 3,
                message: (*message).to_owned(),
            });
        }
        journal.export()
    };
    let xid = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.";
    let old = boot(
        "a",
        60,
        &[
            "usb 1-1: new high-speed USB device",
            xid,
            "EDAC MC0: 1 CE memory read error",
        ],
    );
    // Of the newest boot and the one before it all messages are taken.
    let text =
        old + &boot("c", 3, &["Linux version 6.5.0"]) + &boot("b", 0, &["Linux version 6.8.0"]);
    std::fs::write(desk.path("export"), text).unwrap();
    let file = desk.file(&format!("/var/log/journal/{id}/system.journal"), "");
    std::fs::remove_file(&file).unwrap();
    let made = Command::new("/lib/systemd/systemd-journal-remote")
        .arg("-o")
        .arg(&file)
        .arg(desk.path("export"))
        .output()
        .map_err(|error| format!("systemd-journal-remote: {error}"))?;
    assert!(made.status.success(), "{made:?}");
    let ran = desk.on_tree(&["--only", "journal,host_info"]);
    let bundle = ran.bundle();
    let older = bundle.content("/journal/kernel-older.json");
    assert!(
        older.contains("fallen off the bus") && older.contains("EDAC MC0"),
        "{older}"
    );
    assert!(!older.contains("usb 1-1"), "{older}");
    let boots = bundle.content("/commands/journal-boots.out");
    let listed = ["a", "b", "c"].map(|id| boots.contains(&id.repeat(32)));
    assert_eq!(listed, [true; 3], "{boots}");
    let rest = &[
        "/journal/kernel-older.json",
        "/journal/kernel.json",
        "/etc/os-release",
    ];
    let mut seen = bundle.row(&ran, "journal", SOME, "", rest)?;
    seen.said = "the Xid and the memory error of 60 days ago, without the USB device".to_owned();
    Ok(seen)
}
