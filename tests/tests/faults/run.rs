//! A run that is disturbed, and sources that do not behave.

use std::sync::Arc;
use std::time::{Duration, Instant};

use casefile_bundle::sources::About;
use casefile_bundle::{Entry, Limits, Outcome as Told, list};
use casefile_collector::cli::{Cli, ProgressMode};
use casefile_collector::outcome::Outcome;
use casefile_collector::progress::Progress;
use casefile_collector::redact::Content;
use casefile_collector::source::{Scope, Source, SourceCtx};
use casefile_collector::sources::host_info;
use clap::Parser as _;

use crate::desk::{Bundle, Desk, Ran, Row, Seen};
use crate::lab::{alive, signal};

const REST: &[&str] = &["/proc/meminfo", "/proc/mounts"];

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "SIGINT",
        run: interrupted,
    },
    Row {
        fault: "SIGTERM",
        run: terminated,
    },
    Row {
        fault: "SIGHUP: the terminal is lost",
        run: hung_up,
    },
    Row {
        fault: "SIGINT twice",
        run: twice,
    },
    Row {
        fault: "kill -9 half-way",
        run: killed,
    },
    Row {
        fault: "deadline of the whole run",
        run: deadline,
    },
    Row {
        fault: "a source panics",
        run: panics,
    },
    Row {
        fault: "a source never ends and hears nothing",
        run: deaf,
    },
    Row {
        fault: "a source blocks its thread for ever",
        run: blocked,
    },
];

const HANG: &str = "exec sleep 600";
/// One that only SIGKILL ends, after a while.
const DEAF_HANG: &str = "trap '' TERM; while :; do sleep 1; done";

/// Starts a run whose nvidia-smi hangs, and does something to it once that runs.
fn disturbed(hang: &str, disturb: impl FnOnce(u32)) -> (Desk, Ran) {
    let desk = Desk::new();
    let begun = desk.path("begun");
    let script = format!("echo $$ >> {}; {hang}", begun.display());
    desk.stub("nvidia-smi", &script);
    let bin = desk.text("bin");
    let only = ["--command-dir", &bin, "--only", "nvidia_smi,host_info"];
    let (child, clock) = desk.start(&only);
    while !begun.exists() && clock.elapsed() < crate::desk::DEADLINE {
        std::thread::sleep(Duration::from_millis(50));
    }
    // The other source ends meanwhile, and what it brought is flushed.
    std::thread::sleep(Duration::from_secs(3));
    disturb(child.id());
    let ran = desk.ran(child.wait_with_output().unwrap(), clock);
    (desk, ran)
}

fn ended_by(name: &str, said: &str) -> Result<Seen, String> {
    let (desk, ran) = disturbed(HANG, |pid| signal(name, pid));
    let bundle = ran.bundle();
    assert_eq!(bundle.manifest.interrupted.as_deref(), Some(said));
    for child in std::fs::read_to_string(desk.path("begun")).unwrap().lines() {
        assert!(!alive(child), "{child} was left behind");
    }
    let mut seen = bundle.row(
        &ran,
        "nvidia_smi",
        &[Told::Partial, Told::Failed],
        "the run was ended early",
        REST,
    )?;
    seen.said = format!("{said}; {}", seen.said);
    Ok(seen)
}

fn interrupted() -> Result<Seen, String> {
    ended_by("-INT", "interrupted (SIGINT)")
}

fn terminated() -> Result<Seen, String> {
    ended_by("-TERM", "interrupted (SIGTERM)")
}

fn hung_up() -> Result<Seen, String> {
    let (_desk, ran) = disturbed(HANG, |pid| {
        signal("-HUP", pid);
        std::thread::sleep(Duration::from_secs(1));
        signal("-INT", pid);
    });
    let bundle = ran.bundle();
    assert_eq!(
        bundle.manifest.interrupted.as_deref(),
        Some("interrupted (SIGINT)")
    );
    let mut seen = bundle.row(
        &ran,
        "host_info",
        &[Told::Collected, Told::Partial],
        "",
        REST,
    )?;
    seen.said = "goes on; (here until a SIGINT a second later)".to_owned();
    Ok(seen)
}

fn twice() -> Result<Seen, String> {
    let (desk, ran) = disturbed(DEAF_HANG, |pid| {
        signal("-INT", pid);
        std::thread::sleep(Duration::from_millis(100));
        signal("-INT", pid);
    });
    assert_eq!(ran.code, Some(130), "{ran:?}");
    for child in std::fs::read_to_string(desk.path("begun")).unwrap().lines() {
        assert!(!alive(child), "{child} was left behind");
    }
    partial(&ran, "exit 130 at once")
}

fn killed() -> Result<Seen, String> {
    let (desk, ran) = disturbed(HANG, |pid| signal("-KILL", pid));
    let seen = partial(&ran, "killed");
    for child in std::fs::read_to_string(desk.path("begun")).unwrap().lines() {
        // Nobody is left to end it; the row does.
        let _ = std::process::Command::new("kill")
            .args(["-9", child])
            .status();
    }
    seen
}

/// A readable `.partial` file with what was there by then.
fn partial(ran: &Ran, said: &str) -> Result<Seen, String> {
    let [file] = ran.files.as_slice() else {
        panic!("one file is wanted: {ran:?}")
    };
    assert!(file.to_str().unwrap().ends_with(".tar.gz.partial"));
    let (summary, entries) = list(file, &Limits::default()).unwrap();
    assert!(summary.header.is_some() && summary.manifest.is_none());
    for end in REST {
        assert!(
            entries
                .iter()
                .any(|entry| entry.path.as_str().ends_with(end)),
            "{end}"
        );
    }
    Ok(Seen {
        said: format!(
            "{said}; the .partial file is readable: {} entries",
            entries.len()
        ),
        rest: REST.join(", "),
        took: ran.took,
    })
}

fn deadline() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.stub("nvidia-smi", "sleep 600");
    let ran = desk.on_machine(&["--only", "nvidia_smi,host_info", "--timeout", "4s"]);
    let bundle = ran.bundle();
    let early = bundle.manifest.interrupted.clone().unwrap_or_default();
    assert!(
        early.contains("the time limit of the run was reached (4 s)"),
        "{early}"
    );
    bundle.row(
        &ran,
        "nvidia_smi",
        &[Told::Partial, Told::Failed],
        "the run was ended early",
        REST,
    )
}

const fn about(id: &'static str) -> About {
    About {
        id,
        title: "A source that does not behave",
        name: "odd",
        scope: Scope::Node,
        expected: false,
        by_hand: None,
        entries: &[],
    }
}

const fn bad(
    about: &'static About,
    collect: fn(SourceCtx) -> casefile_collector::source::BoxFuture<'static, Outcome>,
) -> Source {
    Source {
        about,
        timeout: Duration::from_secs(2),
        max_bytes: 1 << 20,
        plan: |_| Vec::new(),
        collect,
    }
}

static PANICS: Source = bad(&const { about("panics") }, |_ctx| {
    Box::pin(async { panic!("on purpose, by a row of the fault table") })
});
static DEAF: Source = bad(&const { about("deaf") }, |ctx| {
    Box::pin(async move {
        let path = ctx.out.path(Entry::Node, "deaf.txt");
        let mut entry = ctx.out.entry(path, Content::Text, None);
        let _ = entry.write(b"begun\n");
        std::future::pending().await
    })
});
static BLOCKED: Source = bad(&const { about("blocked") }, |ctx| {
    Box::pin(async move {
        ctx.host
            .on_thread(|_| std::thread::sleep(Duration::from_secs(3600)))
            .await;
        Outcome::Collected
    })
});

/// Runs the collector's own runner with a source of the row's beside a real one.
fn beside(source: &'static Source, outcomes: &[Told], said: &str) -> Result<Seen, String> {
    let desk = Desk::new();
    let cli = Cli::try_parse_from(["casefile-collector", "--timeout", "30s"]).unwrap();
    let options = cli.collect.resolve().unwrap();
    let progress = Arc::new(Progress::new(ProgressMode::None, options.timeout));
    let file = desk.path("out/bundle.tar.gz");
    let clock = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let sources = [source, &host_info::SOURCE];
    let report = runtime
        .block_on(casefile_collector::run::run(
            options,
            &sources,
            Some(&file),
            progress,
        ))
        .unwrap_or_else(|error| panic!("{error}"));
    runtime.shutdown_background();
    let took = clock.elapsed();
    assert!(took < Duration::from_secs(30));
    let bundle = Bundle::open(report.finished.path.as_ref());
    let ran = Ran {
        took,
        ..desk.ran(no_output(), clock)
    };
    bundle.row(&ran, source.id, outcomes, said, REST)
}

fn no_output() -> std::process::Output {
    std::process::Output {
        status: std::process::ExitStatus::default(),
        stdout: Vec::new(),
        stderr: Vec::new(),
    }
}

fn panics() -> Result<Seen, String> {
    beside(
        &PANICS,
        &[Told::Failed],
        "the source broke (a bug in the collector)",
    )
}

fn deaf() -> Result<Seen, String> {
    beside(&DEAF, &[Told::Partial], "its time limit of 2 s was reached")
}

fn blocked() -> Result<Seen, String> {
    beside(
        &BLOCKED,
        &[Told::Failed],
        "its time limit of 2 s was reached",
    )
}
