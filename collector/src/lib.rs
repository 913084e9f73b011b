//! The collector: sources, the road from them into one bundle, and the command line around it.

pub mod anonymize;
pub mod cli;
pub mod cli_config;
pub mod cluster;
mod cri;
mod diagnose;
mod elf;
pub mod exec;
pub mod files;
pub mod host;
pub mod inventory;
mod ld_cache;
pub mod leak;
mod newest;
pub mod options;
pub mod out;
pub mod outcome;
pub mod output;
pub mod plan;
pub mod privacy;
pub mod progress;
pub mod run;
pub mod seal;
pub mod sink;
pub mod source;
pub mod sources;
pub mod summary;
mod sysfs;
pub mod take;
mod threads;
mod upload;
mod verify;

pub use casefile_redact as redact;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::CommandFactory;

use crate::cli::{Cli, CollectArgs, Command, PlanFormat};
use crate::host::hanging;
use crate::run::RunError;

const USAGE: u8 = 2;
const NO_OUTPUT: u8 = 3;
const PARTIAL: u8 = 4;
const BUG: u8 = 70;

/// How much less than its neighbours the collector wants of the processor. The kernel derives the priority of disk
/// access from it: best effort, second lowest.
const NICE: i32 = 10;

/// Does what the command line says. The exit code says how it went, as `--help` explains.
pub fn start() -> ExitCode {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == hanging::ARGUMENT)
    {
        return ExitCode::from(hanging::serve());
    }
    hanging::enable();
    let cli = match cli_config::parse(arguments()) {
        Ok(cli) => cli,
        Err(error) => {
            complain(&error);
            return ExitCode::from(USAGE);
        }
    };
    let code = match cli.command {
        None => collect(&cli.collect),
        Some(Command::Collect(args)) => collect(&args),
        Some(Command::Diagnose(args)) => diagnose(&args),
        Some(Command::Plan {
            collect,
            privacy: true,
            ..
        }) => plan_privacy(&collect),
        Some(Command::Plan {
            collect, format, ..
        }) => plan(&collect, format),
        Some(Command::Verify {
            bundle,
            public_key,
            identity,
        }) => verify::verify(&bundle, public_key.as_deref(), &identity),
        Some(Command::Reveal {
            map,
            report,
            output,
        }) => reveal(&map, &report, output.as_deref()),
        Some(Command::Upload {
            bundle,
            url,
            chroot,
        }) => match enter(chroot.as_deref()) {
            Ok(()) => upload::command(&bundle, url.as_deref()),
            Err(why) => {
                complain(&why);
                USAGE
            }
        },
        Some(Command::Man) => printed(clap_mangen::Man::new(Cli::command()).render(&mut stdout())),
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "casefile-collector", &mut text);
            printed(stdout().write_all(&text))
        }
    };
    ExitCode::from(code)
}

/// The arguments of this process. As a plugin of kubectl it runs on somebody's own machine, which is no part of the case.
fn arguments() -> Vec<OsString> {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let name = args.first().map(Path::new).and_then(Path::file_name);
    let plugin = name.is_some_and(|name| name.to_string_lossy().starts_with("kubectl-"));
    let mine = ["--root", "--chroot", "--cluster-only"];
    let told = args.iter().any(|arg| {
        let arg = arg.to_string_lossy();
        mine.iter().any(|one| arg.split('=').next() == Some(one))
    });
    let command = args.get(1).map(|arg| arg.to_string_lossy().into_owned());
    match command.as_deref() {
        _ if !plugin || told => {}
        Some("collect" | "diagnose" | "plan") => args.insert(2, "--cluster-only".into()),
        Some(option) if !option.starts_with('-') => {}
        _ => args.insert(1, "--cluster-only".into()),
    }
    args
}

fn stdout() -> std::io::StdoutLock<'static> {
    std::io::stdout().lock()
}

fn printed(result: std::io::Result<()>) -> u8 {
    match result {
        Ok(()) => 0,
        // A reader that closed the pipe has what it wanted.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            complain(&format!("cannot print: {error}"));
            NO_OUTPUT
        }
    }
}

fn complain(what: &dyn std::fmt::Display) {
    // With standard error closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "casefile-collector: {what}");
}

/// Makes a folder the root of this process, as `--chroot` asks.
fn enter(root: Option<&Path>) -> Result<(), String> {
    let Some(root) = root else { return Ok(()) };
    cli::check_root("--chroot", root).map_err(|error| error.to_string())?;
    let entered = rustix::process::chroot(root).map_err(std::io::Error::from);
    entered
        .and_then(|()| std::env::set_current_dir("/"))
        .map_err(|error| {
            let root = root.display();
            format!("--chroot {root}: {error} (it needs root, or a privileged pod with the node's root mounted there)")
        })
}

fn collect(args: &CollectArgs) -> u8 {
    match collected(args) {
        Ok((code, _)) | Err(code) => code,
    }
}

/// Collects, and shows what the analyzer says of it.
fn diagnose(args: &CollectArgs) -> u8 {
    let (code, report) = match collected(args) {
        Ok(done) => done,
        Err(code) => return code,
    };
    let file = &report.finished.path;
    let why = match diagnose::find(args.command_dir.as_deref()) {
        _ if file == "-" => "the bundle went to standard output".to_owned(),
        _ if report.finished.encrypted => {
            "the bundle is encrypted, and its key is not here".to_owned()
        }
        Ok(analyzer) => match diagnose::ask(&analyzer, file) {
            Ok(said) => {
                let printed = printed(writeln!(stdout(), "\n{said}"));
                return if printed == 0 { code } else { printed };
            }
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    };
    complain(&format!("not diagnosed: {why}"));
    PARTIAL
}

/// Collects, prints the summary, and says how it went; an error is an exit code whose reason was said.
fn collected(args: &CollectArgs) -> Result<(u8, run::Report), u8> {
    if let Err(why) = enter(args.chroot.as_deref()) {
        complain(&why);
        return Err(USAGE);
    }
    let options = match args.resolve() {
        Ok(options) => options,
        Err(error) => {
            complain(&error);
            return Err(USAGE);
        }
    };
    // Before there are threads: each inherits it, and so does every command. Refused, it is no reason not to collect.
    let _ = rustix::process::nice(NICE);
    let runtime = match threads::runtime() {
        Ok(runtime) => runtime,
        Err(why) => {
            complain(&why);
            return Err(NO_OUTPUT);
        }
    };
    if let Some(file) = options.kubeconfig.as_deref()
        && let Err(error) = runtime.block_on(cluster::credentials::check(
            file,
            options.context.as_deref(),
        ))
    {
        complain(&format!("--kubeconfig {error}"));
        return Err(USAGE);
    }
    let progress = Arc::new(progress::Progress::new(args.progress, options.timeout));
    if let Some(most) = args.spread {
        let share = upload::share(&options.node, most);
        runtime.block_on(async { tokio::time::sleep(share).await });
    }
    let result = runtime.block_on(run::run(
        options,
        &sources::SOURCES,
        args.output.as_deref(),
        progress,
    ));
    let sent = match (&result, &args.upload) {
        (Ok(report), Some(address)) => {
            let bundle = Path::new(&report.finished.path);
            Some(runtime.block_on(upload::send(bundle, address)))
        }
        _ => None,
    };
    // Threads that hang in a dead file system must not hold the program.
    runtime.shutdown_background();
    match result {
        Ok(report) => {
            // The bundle itself may be on standard output.
            let _ = if report.finished.path == "-" {
                summary::print(&report, &mut std::io::stderr().lock())
            } else {
                summary::print(&report, &mut std::io::stdout().lock())
            };
            match sent {
                Some(Ok(())) => {
                    let place = upload::without_query(args.upload.as_deref().unwrap_or(""));
                    let _ = writeln!(stdout(), "{:<9} to {place}", "Sent");
                }
                Some(Err(error)) => {
                    complain(&error);
                    return Err(NO_OUTPUT);
                }
                None => {}
            }
            let whole = summary::complete(&report) || args.accept_partial;
            Ok((if whole { 0 } else { PARTIAL }, report))
        }
        Err(error) => {
            complain(&error);
            Err(match error {
                RunError::Writer => BUG,
                _ => NO_OUTPUT,
            })
        }
    }
}

fn plan(args: &CollectArgs, format: PlanFormat) -> u8 {
    match args.resolve() {
        Ok(options) => printed(plan::print(&options, format, &mut stdout())),
        Err(error) => {
            complain(&error);
            USAGE
        }
    }
}

fn plan_privacy(args: &CollectArgs) -> u8 {
    let words: Vec<_> = args.anonymize.iter().map(|class| class.word()).collect();
    printed(privacy::plan(&words, &mut stdout()))
}

/// Writes the report with the names of the site; an existing file is not overwritten.
fn reveal(map: &Path, report: &Path, output: Option<&Path>) -> u8 {
    let text = match anonymize::reveal(map, report) {
        Ok(text) => text,
        Err(error) => {
            complain(&error);
            return NO_OUTPUT;
        }
    };
    let Some(path) = output else {
        return printed(stdout().write_all(&text));
    };
    match std::fs::File::create_new(path).and_then(|mut file| file.write_all(&text)) {
        Ok(()) => 0,
        Err(error) => {
            complain(&format!("cannot write {}: {error}", path.display()));
            NO_OUTPUT
        }
    }
}
