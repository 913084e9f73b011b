//! The closing words: what was taken, what was not and why, and the file to carry away.

use std::io::{self, Write};

use casefile_bundle::{Outcome, SourceReport, VerifyReport};

use crate::progress::human;
use crate::run::Report;

/// Prints the closing summary: what was taken, what was not and why, the file, and what to do with it.
pub fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if let Some(why) = &report.interrupted {
        writeln!(out, "Run ended early: {why}")?;
    }
    let is = |source: &&SourceReport, outcome| source.outcome == outcome;
    let taken: Vec<&str> = report
        .sources
        .iter()
        .filter(|source| is(source, Outcome::Collected))
        .map(|source| source.id.as_str())
        .collect();
    if !taken.is_empty() {
        writeln!(out, "Collected: {}", taken.join(", "))?;
    }
    if !report.unwanted.is_empty() {
        writeln!(out, "Not asked for: {}", report.unwanted.join(", "))?;
    }
    let missing: Vec<_> = report
        .sources
        .iter()
        .filter(|source| {
            source.outcome != Outcome::Collected && !report.unwanted.contains(&source.id.as_str())
        })
        .collect();
    if !missing.is_empty() {
        writeln!(out, "Not (fully) collected:")?;
    }
    for source in missing {
        let why = source.why.as_deref().unwrap_or("no reason given");
        writeln!(out, "  {} {}: {why}", source.id, word(source.outcome))?;
    }
    let count = |outcome| {
        report
            .sources
            .iter()
            .filter(|source| is(source, outcome))
            .count()
    };
    writeln!(
        out,
        "{} ({}, sha256 {}): {} collected, {} partial, {} skipped, {} failed",
        report.finished.path,
        human(report.finished.bytes),
        report.finished.sha256,
        count(Outcome::Collected),
        count(Outcome::Partial),
        count(Outcome::Skipped),
        count(Outcome::Failed),
    )?;
    leak_check(report, out)?;
    next(report, out)
}

/// Entries that are named.
const MAX_NAMED: usize = 3;

/// What the leak check changed, and where.
fn leak_check(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mended = &report.finished.mended;
    let list = |paths: Vec<&str>| {
        let more = paths.len().saturating_sub(MAX_NAMED);
        let named = paths[..paths.len().min(MAX_NAMED)].join(", ");
        match more {
            0 => named,
            _ => format!("{named} and {more} more"),
        }
    };
    let replaced: Vec<&str> = mended.replaced.keys().map(String::as_str).collect();
    if !replaced.is_empty() {
        let count: u64 = mended.replaced.values().sum();
        let values = if count == 1 { "value" } else { "values" };
        let named = list(replaced);
        writeln!(
            out,
            "Leak check: replaced {count} secret {values} in {named}"
        )?;
    }
    let withheld: Vec<&str> = mended.withheld.keys().map(String::as_str).collect();
    if !withheld.is_empty() {
        writeln!(out, "Leak check: withheld {}", list(withheld))?;
    }
    Ok(())
}

fn next(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if report.without_root {
        writeln!(out, "Next: {}", crate::run::NOT_ROOT)?;
    }
    if report.finished.path == "-" {
        return Ok(());
    }
    let path = &report.finished.path;
    let name = path.rsplit('/').next().unwrap_or(path);
    if report.finished.encrypted {
        return writeln!(
            out,
            "Next: copy it away; `casefile-collector verify --identity KEY` says whether it arrived whole, and\n      \
             `casefile-analyzer diagnose --identity KEY {name}` reads it, where KEY is a recipient's key file."
        );
    }
    writeln!(
        out,
        "Next: copy it away; there, `casefile-collector verify` or sha256sum says whether it arrived whole, and\n      \
         `casefile-analyzer diagnose {name}` reads it. `tar tzf {path}` shows what is in it."
    )
}

/// Whether everything that was wanted is there.
pub fn complete(report: &Report) -> bool {
    let collected = report
        .sources
        .iter()
        .filter(|source| source.outcome == Outcome::Collected)
        .count();
    report.interrupted.is_none() && collected + report.unwanted.len() == report.sources.len()
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Collected => "collected",
        Outcome::Partial => "partial",
        Outcome::Skipped => "skipped",
        Outcome::Failed => "failed",
    }
}

/// Prints what `verify` found.
/// `signature` says in words how it is signed; none where its signature does not hold.
pub fn print_verify(
    name: &str,
    report: &VerifyReport,
    signature: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (what, paths) in [
        ("changed", &report.changed),
        ("missing", &report.missing),
        ("not in the manifest", &report.extra),
    ] {
        for path in paths {
            writeln!(out, "{what}: {path}")?;
        }
    }
    for problem in &report.summary.problems {
        writeln!(out, "{problem}")?;
    }
    if report.summary.manifest.is_none() {
        writeln!(out, "there is no manifest: the bundle was cut short")?;
    }
    let verdict = if report.is_clean() && signature.is_some() {
        "whole and unchanged"
    } else {
        "NOT whole"
    };
    writeln!(
        out,
        "{name}: {verdict}, {} entries as the manifest says, {}",
        report.intact,
        signature.unwrap_or("the signature does not hold")
    )
}
