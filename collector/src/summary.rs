//! The closing words: what was taken, what was not and why, and the file to carry away.

use std::io::{self, Write};

use casefile_bundle::{Outcome, VerifyReport};

use crate::progress::human;
use crate::run::Report;

/// Prints the closing summary.
pub fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if let Some(why) = &report.interrupted {
        writeln!(out, "Run ended early: {why}")?;
    }
    let missing: Vec<_> = report
        .sources
        .iter()
        .filter(|source| source.outcome != Outcome::Collected)
        .collect();
    if !missing.is_empty() {
        writeln!(out, "Not (fully) collected:")?;
    }
    for source in missing {
        writeln!(
            out,
            "  {} {}: {}",
            source.id,
            word(source.outcome),
            source.why.as_deref().unwrap_or("no reason given")
        )?;
    }
    let count = |outcome| {
        report
            .sources
            .iter()
            .filter(|source| source.outcome == outcome)
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
    )
}

/// Whether everything that was wanted is there.
pub fn complete(report: &Report) -> bool {
    let collected = report
        .sources
        .iter()
        .filter(|source| source.outcome == Outcome::Collected)
        .count();
    report.interrupted.is_none() && collected + report.unwanted == report.sources.len()
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
