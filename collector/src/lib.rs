//! The collector: sources, the road from them into one bundle, and the command line around it.

pub mod anonymize;
pub mod cli;
pub mod cluster;
pub mod exec;
pub mod files;
pub mod host;
pub mod options;
pub mod out;
pub mod outcome;
pub mod output;
pub mod plan;
pub mod progress;
pub mod redact;
pub mod run;
pub mod source;
pub mod sources;
pub mod summary;
pub mod take;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;

use crate::cli::{Cli, CollectArgs, Command, PlanFormat};
use crate::run::RunError;

const USAGE: u8 = 2;
const NO_OUTPUT: u8 = 3;
const PARTIAL: u8 = 4;
const BUG: u8 = 70;

/// Does what the command line says. The exit code says how it went, as `--help` explains.
pub fn start() -> ExitCode {
    let cli = Cli::parse();
    let code = match cli.command {
        None => collect(&cli.collect),
        Some(Command::Collect(args)) => collect(&args),
        Some(Command::Plan { collect, format }) => plan(&collect, format),
        Some(Command::Verify { bundle }) => verify(&bundle),
    };
    ExitCode::from(code)
}

fn complain(what: &dyn std::fmt::Display) {
    // With standard error closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "casefile-collector: {what}");
}

fn collect(args: &CollectArgs) -> u8 {
    let options = match args.resolve() {
        Ok(options) => options,
        Err(error) => {
            complain(&error);
            return USAGE;
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&format!("cannot start its threads: {error}"));
            return BUG;
        }
    };
    if let Some(file) = options.kubeconfig.as_deref().filter(|_| options.live())
        && let Err(error) = runtime.block_on(cluster::credentials::check(file))
    {
        complain(&format!("--kubeconfig {error}"));
        return USAGE;
    }
    let wanted = sources::SOURCES
        .iter()
        .filter(|source| plan::not_wanted(source, &options).is_none())
        .count();
    let progress = Arc::new(progress::Progress::new(args.progress, wanted));
    let result = runtime.block_on(run::run(options, args.output.as_deref(), progress));
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
            if summary::complete(&report) {
                0
            } else {
                PARTIAL
            }
        }
        Err(error) => {
            complain(&error);
            if matches!(error, RunError::Writer) {
                BUG
            } else {
                NO_OUTPUT
            }
        }
    }
}

fn plan(args: &CollectArgs, format: PlanFormat) -> u8 {
    match args.resolve() {
        Ok(options) => match plan::print(&options, format, &mut std::io::stdout().lock()) {
            Ok(()) => 0,
            Err(error) => {
                complain(&format!("cannot print the plan: {error}"));
                NO_OUTPUT
            }
        },
        Err(error) => {
            complain(&error);
            USAGE
        }
    }
}

fn verify(bundle: &Path) -> u8 {
    match casefile_bundle::verify(bundle, &casefile_bundle::Limits::default()) {
        Ok(report) => {
            let name = bundle.display().to_string();
            let _ = summary::print_verify(&name, &report, &mut std::io::stdout().lock());
            if report.is_clean() { 0 } else { NO_OUTPUT }
        }
        Err(error) => {
            complain(&error);
            NO_OUTPUT
        }
    }
}
