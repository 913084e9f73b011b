//! `fleet` and `sql`: many bundles as tables, by shards, and what they say together.

mod ask;
mod said;
mod settings;
mod show;
mod worker;

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use casefile_fleet::commit::commits;
use casefile_fleet::plan::{self, Assumed};
use casefile_fleet::shard::{self, Settings, ShardError};
use casefile_fleet::store::{Store, StoreError};
use casefile_fleet::worker::{Limits, Program};

pub(super) use ask::sql;
pub(super) use show::{plural, quiet};

use super::Exit;
use crate::cli::{FleetArgs, FleetCommand, PlanArgs, RunArgs, StatusArgs, WorkArgs};
use crate::diagnose::Analyzer;
use crate::rules::load;

/// What a desk's inbox and a shard have in common.
pub(super) struct Work {
    pub(super) program: Program,
    pub(super) limits: Limits,
    pub(super) jobs: usize,
    pub(super) max_size: u64,
    pub(super) judge: String,
}

/// How the work is done: by this same program, once a core.
///
/// # Errors
/// Rules that cannot be loaded; they are told before any bundle is read.
pub(super) fn work(args: &WorkArgs) -> anyhow::Result<Work> {
    let (set, faults) = load(args.rules.rules.as_deref())?;
    if let Some(fault) = faults.first() {
        bail!("{fault}; mend it or leave it out, so that all bundles are judged by the same rules");
    }
    let judge = Analyzer::new(set)?.judge_name();
    let mut own = vec!["fleet".to_owned(), "worker".to_owned()];
    if let Some(rules) = &args.rules.rules {
        own.extend(["--rules".to_owned(), rules.display().to_string()]);
    }
    for key in &args.keys.identity {
        own.extend(["--identity".to_owned(), key.display().to_string()]);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Work {
        program: Program {
            path: std::env::current_exe().context("the path of this program")?,
            args: own,
        },
        limits: Limits {
            time: Duration::from_secs(args.time_limit),
            memory: args.worker_memory << 20,
        },
        jobs: args.jobs.unwrap_or(cores).max(1),
        max_size: args.max_size << 20,
        judge,
    })
}

/// Prints what happens while it does, one line at a time.
pub(super) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "note: {}", quiet(line));
}

pub(super) fn run(
    args: &FleetArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match &args.command {
        FleetCommand::Run(args) => shard(args, out, errors),
        FleetCommand::Plan(args) => plan_for(args, out),
        FleetCommand::Status(args) => status(args, out),
        FleetCommand::Odd(args) => ask::odd(args, out, errors),
        FleetCommand::Worker(args) => worker::run(args, out, errors),
    }
}

/// Whether a storage that cannot be used now may be later: then the command is to be run again, and is no wrong use.
pub(super) fn may_pass(error: &StoreError) -> bool {
    !matches!(error, StoreError::Address { .. })
}

fn shard(args: &RunArgs, out: &mut dyn Write, errors: &mut dyn Write) -> anyhow::Result<Exit> {
    if args.buckets == 0 || args.buckets > 999_999 {
        bail!("--buckets is from 1 to 999999");
    }
    let work = work(&args.work)?;
    let from = Store::open(&args.input, false)?;
    let to = Store::open(&args.output, true)?;
    let settings = Settings {
        shard: args.shard,
        buckets: args.buckets,
        jobs: work.jobs,
        program: work.program,
        limits: work.limits,
        max_size: work.max_size,
        retry_failed: args.retry_failed,
        judge: work.judge,
    };
    let start = Instant::now();
    let done = match shard::run(&from, &to, &settings, &note) {
        Err(ShardError::Store(error)) if may_pass(&error) => {
            writeln!(errors, "error: {error}")?;
            writeln!(errors, "Run the same command again.")?;
            return Ok(Exit::Input);
        }
        done => done?,
    };
    let seconds = start.elapsed().as_secs_f64();
    writeln!(
        out,
        "shard {}: {} buckets written, {} were there; {} analysed in {seconds:.1} s ({:.2} bundles per second and core), most memory of a worker {} MiB",
        args.shard,
        done.written,
        done.skipped,
        plural(done.bundles, "bundle"),
        done.bundles as f64 / seconds.max(0.001) / settings.jobs as f64,
        done.worker_memory >> 20,
    )?;
    for (input, why) in &done.refused {
        writeln!(out, "not analysed: {}: {}", quiet(input), quiet(why))?;
    }
    for (what, why) in &done.failed {
        writeln!(out, "failed: {}: {}", quiet(what), quiet(why))?;
    }
    if done.failed.is_empty() {
        Ok(Exit::Done)
    } else {
        writeln!(
            out,
            "Run the same command again: it does only what is missing."
        )?;
        Ok(Exit::Input)
    }
}

fn plan_for(args: &PlanArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if args.rate.is_nan() || args.rate <= 0.0 || args.within == 0 {
        bail!("--rate and --within must be more than 0");
    }
    let from = Store::open(&args.input, false)?;
    let plan = plan::plan(
        &from,
        Assumed {
            rate: args.rate,
            jobs: args.jobs,
            within: f64::from(args.within) * 60.0,
        },
    )?;
    let size = plan.bytes as f64 / f64::from(1 << 20);
    writeln!(out, "{}, {size:.1} MiB", plural(plan.bundles, "bundle"))?;
    if let Some((name, bytes)) = &plan.largest {
        writeln!(out, "largest   {} ({} KiB)", quiet(name), bytes >> 10)?;
    }
    writeln!(
        out,
        "shards    {} with {} workers each",
        plan.shards, args.jobs
    )?;
    writeln!(out, "buckets   {}", plan.buckets)?;
    writeln!(
        out,
        "time      {:.0} s for the fullest shard ({}), {:.2} core hours in all at {} bundles per second and core",
        plan.seconds,
        plural(plan.fullest, "bundle"),
        plan.core_hours,
        args.rate
    )?;
    writeln!(
        out,
        "run       casefile-analyzer fleet run {} -o <output> --buckets {} --jobs {} --shard <I>/{}",
        quiet(from.shown()),
        plan.buckets,
        args.jobs,
        plan.shards
    )?;
    Ok(Exit::Done)
}

fn status(args: &StatusArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let to = Store::open(&args.output, false)?;
    let commits = commits(&to)?;
    let objects = match &args.input {
        Some(input) => Some(shard::inputs(&Store::open(input, false)?)?),
        None => None,
    };
    let status = plan::status(&commits, objects.as_deref());
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &status)?;
        writeln!(out)?;
        return Ok(Exit::Done);
    }
    match status.wanted {
        Some(wanted) => writeln!(
            out,
            "{} of {wanted} buckets written, {} missing",
            status.written,
            status.missing.len()
        )?,
        None => writeln!(out, "{} buckets written", status.written)?,
    }
    writeln!(
        out,
        "{}, {} of them not analysed, {} uploaded twice",
        plural(status.bundles, "bundle"),
        status.refused.len(),
        status.duplicates
    )?;
    for (table, rows) in &status.rows {
        writeln!(out, "{table:10} {rows}")?;
    }
    for (judge, buckets) in &status.judges {
        writeln!(out, "by {judge}: {}", plural(u64::from(*buckets), "bucket"))?;
    }
    for (input, why) in status.refused.iter().take(20) {
        writeln!(out, "not analysed: {}: {}", quiet(input), quiet(why))?;
    }
    Ok(Exit::Done)
}
