//! Commands that do not behave.

use casefile_bundle::Outcome;

use crate::desk::{Desk, Row, Seen};
use crate::lab;

const REST: &[&str] = &["/proc/meminfo", "/proc/mounts"];
const HURT: &[Outcome] = &[Outcome::Partial, Outcome::Failed];

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "nvidia-smi hangs and ignores SIGTERM",
        run: ignores_term,
    },
    Row {
        fault: "nvidia-smi stops itself (SIGSTOP)",
        run: stopped,
    },
    Row {
        fault: "nvidia-smi in state D, not even SIGKILL helps",
        run: unkillable,
    },
    Row {
        fault: "nvidia-smi floods its standard output",
        run: floods_stdout,
    },
    Row {
        fault: "nvidia-smi floods its standard error",
        run: floods_stderr,
    },
    Row {
        fault: "nvidia-smi leaves a child that holds the pipe",
        run: grandchild,
    },
    Row {
        fault: "iptables-save prints 300,000 rules",
        run: many_rules,
    },
    Row {
        fault: "nvidia-smi crashes (signal)",
        run: crashes,
    },
    Row {
        fault: "nvidia-smi is no program",
        run: no_program,
    },
];

fn smi(script: &str) -> (Desk, crate::desk::Ran) {
    let desk = Desk::new();
    desk.stub("nvidia-smi", script);
    let only = ["--only", "nvidia_smi,host_info", "--source-timeout", "4s"];
    let ran = desk.on_machine(&only);
    (desk, ran)
}

fn ignores_term() -> Result<Seen, String> {
    let (_desk, ran) = smi("trap '' TERM\necho begun\nwhile :; do sleep 1; done");
    let bundle = ran.bundle();
    let cut = bundle.cut("/commands/nvidia-smi.out").unwrap();
    assert!(cut.contains("killed"), "{cut}");
    bundle.row(
        &ran,
        "nvidia_smi",
        HURT,
        "its time limit of 4 s was reached",
        REST,
    )
}

fn stopped() -> Result<Seen, String> {
    let (_desk, ran) = smi("echo begun\nkill -STOP $$");
    let bundle = ran.bundle();
    assert!(bundle.cut("/commands/nvidia-smi.out").is_some());
    bundle.row(
        &ran,
        "nvidia_smi",
        HURT,
        "its time limit of 4 s was reached",
        REST,
    )
}

fn unkillable() -> Result<Seen, String> {
    let frozen = lab::Freezer::new()?;
    let (_desk, ran) = smi(&frozen.script());
    assert!(frozen.holds_a_process(), "the stub was not frozen");
    let bundle = ran.bundle();
    let (_, text) = bundle.told("nvidia_smi");
    let cut = bundle.cut("/commands/nvidia-smi.out").unwrap();
    assert!(
        cut.contains("abandoned, because it cannot be killed"),
        "{cut} {text}"
    );
    bundle.row(
        &ran,
        "nvidia_smi",
        HURT,
        "its time limit of 4 s was reached",
        REST,
    )
}

fn floods_stdout() -> Result<Seen, String> {
    let (_desk, ran) = smi("[ $# = 0 ] || exit 0\nexec yes");
    let bundle = ran.bundle();
    assert!(
        bundle
            .cut("/nvidia-smi.out")
            .unwrap()
            .contains("output limit")
    );
    bundle.row(
        &ran,
        "nvidia_smi",
        &[Outcome::Partial],
        "its output was cut",
        REST,
    )
}

fn floods_stderr() -> Result<Seen, String> {
    let (_desk, ran) = smi("head -c 50000000 /dev/zero | tr '\\0' x >&2; echo fine");
    let bundle = ran.bundle();
    let entry = |end: &str| {
        let mut entries = bundle.manifest.entries.iter();
        entries
            .find(|entry| entry.path.as_str().ends_with(end))
            .unwrap()
            .bytes
    };
    assert_eq!(entry("/commands/nvidia-smi.err"), 256 << 10);
    let (outcome, _) = bundle.told("nvidia_smi");
    Ok(Seen {
        said: format!("nvidia_smi {outcome:?}: 256 KiB of its 50 MB on standard error kept"),
        rest: "/commands/nvidia-smi.out".to_owned(),
        took: ran.took,
    })
}

fn grandchild() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.stub(
        "nvidia-smi",
        "sleep 600 & echo $! >> \"${0%/*}/../children\"; echo fine",
    );
    let only = ["--only", "nvidia_smi,host_info", "--source-timeout", "30s"];
    let ran = desk.on_machine(&only);
    let bundle = ran.bundle();
    let children = std::fs::read_to_string(desk.path("children")).unwrap();
    for child in children.lines() {
        assert!(!lab::alive(child), "{child} was left behind");
    }
    assert!(!children.is_empty());
    let (_, said) = bundle.told("nvidia_smi");
    assert!(
        !said.contains("time limit") && !said.contains("no end after"),
        "{said}"
    );
    assert_eq!(bundle.content("/commands/nvidia-smi.out"), "fine\n");
    let rest = &["/commands/nvidia-smi.out", "/proc/meminfo", "/proc/mounts"];
    bundle.row(
        &ran,
        "nvidia_smi",
        &[Outcome::Collected, Outcome::Partial],
        "",
        rest,
    )
}

fn many_rules() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.stub("iptables-save", "yes -- '-A KUBE-SVC-ABCDEFGHIJKLMNOP -m comment --comment default/web:http -j KUBE-SEP-X' | head -n 300000");
    let ran = desk.on_machine(&["--only", "firewall,host_info"]);
    let bundle = ran.bundle();
    let rules = bundle.content("/commands/iptables-save.out");
    assert_eq!(rules.lines().count(), 300_000);
    let whole = &[Outcome::Collected, Outcome::Partial];
    bundle.row(
        &ran,
        "firewall",
        whole,
        "",
        &["/commands/iptables-save.out", "/proc/meminfo"],
    )
}

fn crashes() -> Result<Seen, String> {
    let (_desk, ran) = smi("echo half; kill -SEGV $$");
    let bundle = ran.bundle();
    bundle.row(
        &ran,
        "nvidia_smi",
        HURT,
        "ended by signal 11 (segmentation fault)",
        REST,
    )
}

fn no_program() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.stub("nvidia-smi", "");
    std::fs::write(desk.path("bin/nvidia-smi"), b"\x7fELF not really").unwrap();
    let ran = desk.on_machine(&["--only", "nvidia_smi,host_info"]);
    let bundle = ran.bundle();
    bundle.row(&ran, "nvidia_smi", HURT, "cannot be started", REST)
}
