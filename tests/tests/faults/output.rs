//! An output that does not take what it is given.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use casefile_bundle::Outcome;
use casefile_tests::bins;

use crate::desk::{Desk, Row, Seen};
use crate::lab::Mount;

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "output disk fills up",
        run: fills_up,
    },
    Row {
        fault: "output disk full before the start",
        run: full,
    },
    Row {
        fault: "output folder cannot be written",
        run: no_folder,
    },
    Row {
        fault: "-o - to a terminal",
        run: terminal,
    },
    Row {
        fault: "verify - of a whole and of a cut bundle",
        run: verify_pipe,
    },
    Row {
        fault: "two runs in one second",
        run: at_once,
    },
    Row {
        fault: "diagnose beside an analyzer",
        run: diagnosed,
    },
    Row {
        fault: "diagnose beside an analyzer that fails",
        run: not_diagnosed,
    },
    Row {
        fault: "-o - to a closed pipe",
        run: closed_pipe,
    },
    Row {
        fault: "-o - to a full device",
        run: full_device,
    },
];

/// Text that gzip shrinks to a bit less than half.
fn digits(bytes: usize, seed: u64) -> String {
    let mut state = seed;
    let mut text = String::with_capacity(bytes + 20);
    while text.len() < bytes {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(seed | 1);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# {} {}", state >> 34, state >> 40 & 0xfffff);
    }
    text
}

fn fills_up() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    desk.file(
        "/etc/containerd/config.toml",
        "imports = [\"/etc/containerd/conf.d/*.toml\"]\n",
    );
    for at in 0..8 {
        desk.file(
            &format!("/etc/containerd/conf.d/{at}.toml"),
            digits(4 << 20, 77 + at),
        );
    }
    let _disk = Mount::disk(&desk.path("out"), 8 << 20)?;
    let ran = desk.on_tree(&["--only", "containerd_config,host_info"]);
    let bundle = ran.bundle();
    let early = bundle.manifest.interrupted.as_deref().unwrap_or_default();
    assert!(early.contains("the disk of the output is full"), "{early}");
    let rest = &[
        "/etc/containerd/config.toml",
        "/etc/os-release",
        "/conf.d/0.toml",
        "files.json",
    ];
    let lost = (0..8)
        .filter(|at| !bundle.has(&format!("/conf.d/{at}.toml")))
        .count();
    assert!(lost > 0 && lost < 8, "{lost}");
    bundle.row(
        &ran,
        "containerd_config",
        &[Outcome::Partial],
        "left out, no room on the disk",
        rest,
    )
}

fn full() -> Result<Seen, String> {
    let desk = Desk::new();
    let _disk = Mount::disk(&desk.path("out"), 2 << 20)?;
    let ran = desk.on_tree(&["--only", "host_info"]);
    assert!(ran.files.is_empty(), "{ran:?}");
    ran.refused(3, "only 2.0 MiB are free")
}

fn no_folder() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.on_tree(&["-o", "/proc/bundle.tar.gz"])
        .refused(3, "choose another place with -o PATH")
}

fn at_once() -> Result<Seen, String> {
    let desk = Desk::new();
    let args = ["--only", "host_info"];
    let runs: Vec<_> = (0..4).map(|_| desk.start(&args)).collect();
    let mut last = None;
    for (child, clock) in runs {
        last = Some(desk.ran(child.wait_with_output().unwrap(), clock));
        let ran = last.as_ref().unwrap();
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let ran = last.unwrap();
    assert_eq!(ran.files.len(), 4, "{ran:?}");
    let seen = Seen {
        said: "each has a bundle of its own".to_owned(),
        rest: String::new(),
        took: ran.took,
    };
    Ok(seen)
}

fn terminal() -> Result<Seen, String> {
    let desk = Desk::new();
    let clock = Instant::now();
    let collector = bins::find(bins::COLLECTOR);
    let line = format!(
        "{} -o - --only host_info; echo exit $?",
        collector.display()
    );
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(desk.path("out"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("script: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    assert!(
        said.contains("exit 2") && said.contains("to this terminal"),
        "{said}"
    );
    Ok(Seen {
        said: said.trim().to_owned(),
        rest: "nothing was run".to_owned(),
        took: clock.elapsed(),
    })
}

fn verify_pipe() -> Result<Seen, String> {
    let desk = Desk::new();
    let clock = Instant::now();
    let ran = desk.run(&["--only", "host_info"]);
    let bytes = std::fs::read(&ran.files[0]).unwrap();
    let verify = |bytes: &[u8]| {
        let mut child = Command::new(bins::find(bins::COLLECTOR))
            .args(["verify", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (code, said) = verify(&bytes);
    assert!(
        code == Some(0) && said.contains("whole and unchanged"),
        "{said}"
    );
    let (code, cut) = verify(&bytes[..bytes.len() / 2]);
    assert!(code == Some(3) && cut.contains("NOT whole"), "{cut}");
    Ok(Seen {
        said: said.trim().to_owned(),
        rest: cut.lines().last().unwrap_or_default().to_owned(),
        took: clock.elapsed(),
    })
}

fn closed_pipe() -> Result<Seen, String> {
    let desk = Desk::new();
    let clock = Instant::now();
    let mut child = desk
        .command(&["-o", "-", "--only", "host_info"])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran = desk.ran(child.wait_with_output().unwrap(), clock);
    assert!(ran.files.is_empty(), "{ran:?}");
    ran.refused(3, "Broken pipe")
}

fn full_device() -> Result<Seen, String> {
    let desk = Desk::new();
    let clock = Instant::now();
    let device = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = desk.command(&["-o", "-", "--only", "host_info"]);
    let child = command.stdout(Stdio::from(device)).spawn().unwrap();
    let ran = desk.ran(child.wait_with_output().unwrap(), clock);
    ran.refused(3, "No space left on device")
}

fn diagnose(desk: &Desk) -> crate::desk::Ran {
    desk.file("/etc/os-release", "ID=ubuntu\n");
    let (bin, root) = (desk.text("bin"), desk.text("root"));
    let options = [
        "--timeout",
        "60s",
        "--only",
        "host_info",
        "--root",
        &root,
        "--command-dir",
        &bin,
    ];
    desk.run(&[&["diagnose"][..], &options].concat())
}

fn diagnosed() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.stub(
        "casefile-analyzer",
        "[ \"$1 $2 $3\" = 'diagnose --format ticket' ] && [ -s \"$4\" ] || exit 9\n\
         printf 'GPU 3 fell off the bus\\n\\nCause      confirmed.\\nAffected   1 pod\\nFix        Drain it.\\n'\nexit 1",
    );
    let ran = diagnose(&desk);
    let bundle = ran.bundle();
    let said = "GPU 3 fell off the bus\nCause      confirmed.\nFix        Drain it.";
    assert!(ran.stdout.contains(said), "{ran:?}");
    let mut seen = bundle.row(
        &ran,
        "host_info",
        &[Outcome::Collected, Outcome::Partial],
        "",
        &["/etc/os-release"],
    )?;
    seen.said = said.to_owned();
    Ok(seen)
}

fn not_diagnosed() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.stub("casefile-analyzer", "exit 70");
    let ran = diagnose(&desk);
    assert!(ran.stderr.contains("not diagnosed: "), "{ran:?}");
    assert!(ran.stderr.contains("it said nothing"), "{ran:?}");
    assert_eq!(ran.code, Some(4));
    let mut seen = ran.bundle().row(
        &ran,
        "host_info",
        &[Outcome::Collected, Outcome::Partial],
        "",
        &["/etc/os-release"],
    )?;
    seen.said = ran.stderr.trim().to_owned();
    Ok(seen)
}
