//! The plan: everything that a run would read, run and request, for someone who must approve it first.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::PlanFormat;
use crate::exec::Exec;
use crate::host::Host;
use crate::options::Options;
use crate::progress::human;
use crate::source::{PlanCtx, PlanItem, Scope, Source};
use crate::sources::{self, SOURCES};

/// One source's part of the plan.
#[derive(Debug, Serialize)]
struct Part {
    id: &'static str,
    title: &'static str,
    scope: Scope,
    timeout_seconds: u64,
    max_bytes: u64,
    /// Why it would not run at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_run: Option<String>,
    items: Vec<PlanItem>,
}

/// Prints the plan and does none of it.
pub fn print(options: &Options, format: PlanFormat, out: &mut dyn Write) -> io::Result<()> {
    let host = Host::new(&options.root);
    let exec = Exec::new(options.live(), options.command_dir.as_deref());
    let ctx = PlanCtx {
        options,
        host: &host,
        exec: &exec,
    };
    let wanted = SOURCES
        .iter()
        .filter(|source| not_wanted(source, options).is_none())
        .count();
    let parts: Vec<Part> = SOURCES
        .iter()
        .map(|source| part(source, &ctx, wanted))
        .collect();
    match format {
        PlanFormat::Json => {
            let plan = serde_json::json!({
                "schema": "casefile.plan/1", "node": options.node, "options": options.recorded(), "sources": parts,
            });
            serde_json::to_writer_pretty(&mut *out, &plan)?;
            writeln!(out)
        }
        PlanFormat::Text => text(options, &parts, out),
    }
}

fn part(source: &'static Source, ctx: &PlanCtx<'_>, wanted: usize) -> Part {
    let not_run = not_wanted(source, ctx.options);
    let mut items = if not_run.is_some() {
        Vec::new()
    } else {
        (source.plan)(ctx)
    };
    items.sort();
    items.dedup();
    Part {
        id: source.id,
        title: source.title,
        scope: source.scope,
        timeout_seconds: ctx
            .options
            .source_timeout
            .unwrap_or(source.timeout)
            .as_secs(),
        max_bytes: ctx.options.most_of(source, wanted),
        not_run,
        items,
    }
}

/// Why the user does not want this source.
pub fn not_wanted(source: &Source, options: &Options) -> Option<String> {
    if options.skip.contains(source.id) {
        return Some("named by --skip".to_owned());
    }
    let opt_in = sources::OPT_IN
        .iter()
        .find(|one| one.source.id == source.id);
    if let Some(one) = opt_in.filter(|one| !(one.asked)(options)) {
        return Some(format!("not asked for: {} asks for it", one.by));
    }
    if options.cluster_only && source.scope != Scope::Cluster {
        return Some("--cluster-only leaves out this machine".to_owned());
    }
    (!options.only.is_empty() && !options.only.contains(source.id))
        .then(|| "not named by --only".to_owned())
}

fn totals(parts: &[Part]) -> String {
    let (mut files, mut commands, mut requests, mut probes) = (0, 0, 0, 0);
    for item in parts.iter().flat_map(|part| &part.items) {
        match item {
            PlanItem::File { .. } => files += 1,
            PlanItem::Command { .. } => commands += 1,
            PlanItem::Api { .. } | PlanItem::Cri { .. } => requests += 1,
            PlanItem::Probe { .. } => probes += 1,
        }
    }
    let probes = if probes == 0 {
        String::new()
    } else {
        format!(" {probes} probes over the network (--probe),")
    };
    format!(
        "{files} files or globs, {commands} commands, {requests} kinds of requests,{probes} from {} sources",
        parts.len()
    )
}

fn text(options: &Options, parts: &[Part], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "Plan for node {} (nothing below has been done)",
        options.node
    )?;
    writeln!(
        out,
        "\
What it does: reads the files below, runs the commands below (each only inspects), asks the container
runtime's socket and the API server the requests below.
What it does not: change anything on the node or in the cluster, open a connection to anything that is not named below,
keep the values of Secrets, or send anything anywhere. The one POST asks the API server what the credentials may do, and
creates nothing. Its output is one file, which stays here until somebody carries it away; credentials in files, logs and
outputs are replaced by markers before they are written.
Limits: {} s in all, {} of content before compression; priority below that of the node's own work.
In all: {}",
        options.timeout.as_secs(),
        human(options.max_size),
        totals(parts)
    )?;
    for part in parts {
        writeln!(out)?;
        writeln!(
            out,
            "{}: {} (up to {} s, {})",
            part.id,
            part.title,
            part.timeout_seconds,
            human(part.max_bytes)
        )?;
        if let Some(why) = &part.not_run {
            writeln!(out, "  would not run: {why}")?;
        }
        for item in &part.items {
            match item {
                PlanItem::File { path } => writeln!(out, "  read  {path}")?,
                PlanItem::Command {
                    program: Some(_),
                    line,
                } => writeln!(out, "  run   {line}")?,
                PlanItem::Command {
                    program: None,
                    line,
                } => writeln!(out, "  run   {line}   (not installed)")?,
                PlanItem::Cri { socket, call } => writeln!(out, "  cri   {socket} {call}")?,
                PlanItem::Probe { protocol, target } => {
                    writeln!(out, "  probe {protocol} {target}")?;
                }
                PlanItem::Api { method, path } => writeln!(out, "  api   {method} {path}")?,
            }
        }
    }
    Ok(())
}
