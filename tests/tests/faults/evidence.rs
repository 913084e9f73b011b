//! Sources of evidence beside a tool that is missing, hangs or floods.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use casefile_bundle::Outcome;
use casefile_tests::recording::User;
use casefile_tests::replay::small::Small;
use casefile_tests::replay::{Credential, Fault, Faults, Server};

use crate::desk::{Desk, Ran, Row, SOME, Seen};
use crate::lab::{self, Freezer};

const HOST: &str = "/proc/meminfo";

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "a task hangs in the kernel (state D)",
        run: hanging_task,
    },
    Row {
        fault: "ipmitool hangs, dmidecode floods, sensors is missing",
        run: sick_tools,
    },
    Row {
        fault: "nvidia-smi -q -x fails, the text of memory errors does not",
        run: no_xml,
    },
    Row {
        fault: "the kubelet's stats hang behind the API server",
        run: kubelet_hangs,
    },
    Row {
        fault: "the kubelet's stats are 17 MiB",
        run: kubelet_floods,
    },
    Row {
        fault: "the kubelet answers none of its questions (404)",
        run: kubelet_has_nothing,
    },
    Row {
        fault: "the kubelet's socket of pod resources is mute",
        run: mute_socket,
    },
    Row {
        fault: "--include-bug-reports of a report that is cut",
        run: cut_report,
    },
    Row {
        fault: "MPS daemons in containers, a virtual GPU's token",
        run: shared_gpus,
    },
];

fn hanging_task() -> Result<Seen, String> {
    let frozen = Freezer::new()?;
    let script = frozen.script();
    let mut child = Command::new("/bin/sh")
        .args(["-c", &script])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let clock = Instant::now();
    let stat = format!("/proc/{}/stat", child.id());
    while !fs::read_to_string(&stat).unwrap().contains(") D ") {
        assert!(clock.elapsed().as_secs() < 10, "it is not frozen");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let desk = Desk::new();
    let ran = desk.on_machine(&["--only", "tasks,host_info"]);
    let bundle = ran.bundle();
    let tasks = bundle.content("/tasks.json");
    let pid = format!("\"pid\":{},", child.id());
    let task = tasks.lines().find(|line| line.contains(&pid));
    let task = task.unwrap_or_else(|| panic!("{tasks}")).to_owned();
    assert!(
        task.contains("\"state\":\"D\"") && task.contains("\"still\":true"),
        "{task}"
    );
    // It dies when it thaws.
    let _ = child.kill();
    drop(frozen);
    let _ = child.wait();
    let rest = &["/tasks.json", "/device-holders.json", HOST];
    let mut seen = bundle.row(&ran, "tasks", SOME, "", rest)?;
    seen.said = task;
    Ok(seen)
}

fn sick_tools() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.stub("ipmitool", "exec sleep 600");
    desk.stub("dmidecode", "yes 'Memory Device' | head -n 2000000");
    desk.stub("lspci", "echo '00:00.0 Host bridge'");
    let only = ["--only", "hardware,host_info", "--source-timeout", "50s"];
    let ran = desk.on_machine(&only);
    let bundle = ran.bundle();
    assert!(
        bundle
            .cut("/commands/dmidecode.out")
            .unwrap()
            .contains("output limit")
    );
    let rest = &["/commands/lspci-verbose.out", "/proc/interrupts", HOST];
    bundle.row(
        &ran,
        "hardware",
        &[Outcome::Partial],
        "no end after 20 s",
        rest,
    )
}

fn no_xml() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.stub(
        "nvidia-smi",
        "case \"$*\" in\n'-q -x') echo 'Failed to write XML' >&2; exit 1 ;;\n*ROW_REMAPPER) echo '    Remapped Rows' ;;\n*) echo fine ;;\nesac",
    );
    let ran = desk.on_machine(&["--only", "nvidia_smi,host_info"]);
    let bundle = ran.bundle();
    assert!(
        bundle
            .content("/commands/nvidia-smi-memory.out")
            .contains("Remapped Rows")
    );
    let rest = &[
        "/commands/nvidia-smi-nvlink-errors.out",
        "/commands/nvidia-smi-topo-p2p.out",
        HOST,
    ];
    bundle.row(
        &ran,
        "nvidia_smi",
        &[Outcome::Partial],
        "Failed to write XML",
        rest,
    )
}

/// Asks the kubelet of `gpu-1` through a server.
fn ask_kubelet(cluster: Small, faults: Faults) -> Ran {
    let server = Server::start(cluster, "127.0.0.1:0".parse().unwrap(), faults).unwrap();
    let kubeconfig = server.kubeconfig(User::Admin, Credential::Token);
    Desk::new().keep(|desk| {
        desk.file("/etc/hostname", "gpu-1\n");
        desk.file("/etc/os-release", "ID=ubuntu\n");
        fs::write(desk.path("kubeconfig"), kubeconfig).unwrap();
        desk.on_tree(&[
            "--kubeconfig",
            &desk.text("kubeconfig"),
            "--only",
            "node_proxy,host_info",
        ])
    })
}

fn kubelet() -> Small {
    let config = "{\"kubeletconfig\":{\"cgroupDriver\":\"systemd\"}}";
    Small::new()
        .with_answer(
            "/api/v1/nodes/gpu-1/proxy/configz",
            "application/json",
            config,
        )
        .with_answer(
            "/api/v1/nodes/gpu-1/proxy/healthz?verbose",
            "text/plain",
            "ok",
        )
}

const OF_KUBELET: &[&str] = &[
    "/commands/kubelet-configz.json",
    "/commands/kubelet-healthz.txt",
    "/etc/os-release",
];

fn kubelet_hangs() -> Result<Seen, String> {
    let faults = Faults::default().with("/api/v1/nodes/gpu-1/proxy/stats", Fault::Hang);
    let ran = ask_kubelet(kubelet(), faults);
    let partial = &[Outcome::Partial];
    let said = "no answer within 15 s";
    ran.bundle()
        .row(&ran, "node_proxy", partial, said, OF_KUBELET)
}

fn kubelet_floods() -> Result<Seen, String> {
    let huge = format!("{{\"pods\":[\"{}\"]}}", "x".repeat(17 << 20));
    let stats = "/api/v1/nodes/gpu-1/proxy/stats/summary";
    let ran = ask_kubelet(
        kubelet().with_answer(stats, "application/json", &huge),
        Faults::default(),
    );
    let partial = &[Outcome::Partial];
    let said = "the answer is over 16777216 bytes";
    ran.bundle()
        .row(&ran, "node_proxy", partial, said, OF_KUBELET)
}

fn kubelet_has_nothing() -> Result<Seen, String> {
    let ran = ask_kubelet(Small::new(), Faults::default());
    let bundle = ran.bundle();
    assert!(!bundle.has("/commands/kubelet-stats.json"));
    let skipped = &[Outcome::Skipped];
    bundle.row(
        &ran,
        "node_proxy",
        skipped,
        "HTTP 404",
        &["/etc/os-release"],
    )
}

/// A socket at which somebody listens and nobody answers, where the kubelet has its own.
fn mute_socket() -> Result<Seen, String> {
    lab::root()?;
    let desk = Desk::new();
    let socket = desk.text("mute.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let inner = desk.command(&["--only", "pod_resources,host_info"]);
    let script = format!(
        "mount -t tmpfs none /var/lib || exit 77; mkdir -p /var/lib/kubelet/pod-resources && \
         ln -s {socket} /var/lib/kubelet/pod-resources/kubelet.sock && exec \"$@\""
    );
    let clock = Instant::now();
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
    let failed = &[Outcome::Failed];
    let said = "/var/lib/kubelet/pod-resources/kubelet.sock: ";
    ran.bundle()
        .row(&ran, "pod_resources", failed, said, &[HOST])
}

/// A report that the machine went down over: its text up to the cut is taken, and only where it is asked for.
fn cut_report() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    let line = b"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";
    std::io::Write::write_all(&mut packer, &line.repeat(20_000)).unwrap();
    let packed = packer.finish().unwrap();
    desk.file(
        "/var/log/nvidia-bug-report.log.gz",
        &packed[..packed.len() / 2],
    );
    let only = ["--only", "nvidia_fabric,host_info"];
    let without = desk.on_tree(&only);
    assert!(!without.bundle().has("/var/log/nvidia-bug-report.log"));
    fs::remove_file(&without.files[0]).unwrap();
    let ran = desk.on_tree(&[&["--include-bug-reports"][..], &only].concat());
    let bundle = ran.bundle();
    let report = "/var/log/nvidia-bug-report.log";
    assert!(bundle.content(report).contains("fallen off the bus"));
    assert!(bundle.cut(report).unwrap().contains("it ends early"));
    let partial = &[Outcome::Partial];
    let rest = &["/etc/os-release"];
    bundle.row(&ran, "nvidia_fabric", partial, "only its beginning", rest)
}

/// Logs lie where the device plugin and the DRA driver keep them; a token is named, and its content stays on the node.
fn shared_gpus() -> Result<Seen, String> {
    const TOKEN: &str = "not-for-others-0123456789";
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    let logs = [
        "/run/nvidia/mps/nvidia.com/gpu/log/control.log",
        "/run/nvidia/mps/nvidia.com/gpu.shared/log/server.log",
        "/var/lib/kubelet/plugins/gpu.nvidia.com/mps/claim-1/log/control.log",
    ];
    let line = "[2026-03-03 08:12:10.446 Control    73] Server 95 exited with status 1\n";
    for log in logs {
        desk.file(log, line);
    }
    desk.file("/etc/nvidia/gridd.conf", "ServerAddress=dls.example\n");
    let token = desk.file("/etc/nvidia/ClientConfigToken/client.tok", TOKEN);
    std::os::unix::fs::symlink("client.tok", token.with_file_name("newest.tok")).unwrap();
    let ran = desk.on_tree(&["--only", "nvidia_fabric,host_info"]);
    let bundle = ran.bundle();
    for log in logs {
        assert_eq!(bundle.content(log), line, "{log}");
    }
    assert!(!bundle.has("/ClientConfigToken/client.tok"));
    let noted = bundle.content("/files.json");
    assert!(
        noted.contains("ClientConfigToken/client.tok") && !noted.contains(TOKEN),
        "{noted}"
    );
    let link = noted.lines().find(|line| line.contains("newest.tok\""));
    assert!(
        link.is_some_and(|line| line.contains("\"client.tok\"")),
        "{noted}"
    );
    let rest = &["/etc/nvidia/gridd.conf", "/etc/os-release"];
    bundle.row(&ran, "nvidia_fabric", SOME, "", rest)
}
