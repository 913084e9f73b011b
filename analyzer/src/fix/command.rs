//! `casefile-analyzer fix`: what it reads, tries and writes.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use super::contradiction;
use super::proofs::Fix;
use super::proposal::{self, Hints};
use super::replay::{Aim, Replay, ReplayError};
use super::write;
use crate::cli::FixArgs;
use crate::diagnose::{Analyzer, Examined};
use crate::join::Unit;
use crate::model::Verdict;

/// Tries the rules' changes, or those of a person, and writes them into a folder.
pub fn run(
    args: &FixArgs,
    analyzer: &Analyzer,
    unit: &Unit,
    folder: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let examined = analyzer.examine_unit(unit)?;
    let mut fixes = if args.what_if.is_empty() {
        super::proofs(analyzer, &examined)?
    } else {
        let replay = Replay::new(analyzer, &examined.reading)?;
        vec![of_person(args, &replay, &examined)?]
    };
    let written = write::write(&examined.analysis.input, &mut fixes, folder)
        .with_context(|| format!("writing into {}", folder.display()))?;
    for fix in &fixes {
        tell(fix, out)?;
    }
    if fixes.is_empty() {
        writeln!(
            out,
            "nothing is confirmed or likely, so there is nothing to fix"
        )?;
    }
    for file in written {
        writeln!(out, "wrote {}", file.display())?;
    }
    Ok(())
}

fn of_person(args: &FixArgs, replay: &Replay<'_>, examined: &Examined) -> anyhow::Result<Fix> {
    let mut state = replay.captured().clone();
    let hints = Hints {
        release: args.release.clone(),
        at: args.at.clone(),
        node: args.node.clone(),
    };
    let mut proposed = Vec::new();
    for file in &args.what_if {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("reading the proposed change {}", file.display()))?;
        proposed.extend(proposal::read(file, &text, &hints, &mut state)?);
    }
    contradiction::check(&proposed)?;
    let (changes, origins): (Vec<_>, Vec<_>) = proposed.into_iter().unzip();
    let first = examined.proposals.first();
    let cause = args
        .cause
        .as_deref()
        .or(first.map(|one| one.cause.as_str()));
    let title = examined
        .proposals
        .iter()
        .find(|one| Some(one.cause.as_str()) == cause);
    let names: Vec<String> = args
        .what_if
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    // Their own change has to fit the bundle: a refusal is the answer, and an error.
    let aim = cause.map(|cause| Aim {
        cause,
        hinges: title.map_or(&[], |one| one.hinges.as_slice()),
        nodes: title.map_or(&[], |one| one.nodes.as_slice()),
    });
    let proof = replay.attempt(&changes, aim).map_err(|error| match error {
        ReplayError::Refused { number, why } => origins[number].refuses(&why).into(),
        ReplayError::Analyze(error) => anyhow::Error::from(error),
    })?;
    Ok(Fix {
        cause: "proposal".into(),
        title: title.map_or_else(|| "no certain cause".to_owned(), |one| one.title.clone()),
        verdict: title
            .map(|one| one.verdict)
            .filter(|verdict| *verdict <= Verdict::Likely),
        remedy: format!("the proposed change: {}", names.join(", ")),
        by_hand: Vec::new(),
        verify: title.map(|one| one.verify.clone()).unwrap_or_default(),
        narrower: None,
        proof: Ok(proof),
    })
}

/// Pods of which is said what nothing shows; one cause often stops many in the same way.
const MOST_OPEN: usize = 3;

fn tell(fix: &Fix, out: &mut dyn Write) -> std::io::Result<()> {
    let shown = fix.shown();
    writeln!(out, "{}: {} ({})", fix.word(), fix.title, fix.cause)?;
    writeln!(
        out,
        "  fix: {}",
        if fix.remedy.is_empty() {
            "in words only"
        } else {
            &fix.remedy
        }
    )?;
    writeln!(out, "  {}", shown.why())?;
    if let Some(proof) = fix.best() {
        writeln!(out, "  claim: {}", proof.claim().says())?;
        let not_shown = proof.runtime().chain(&proof.unshown);
        for one in not_shown.filter(|one| *one != shown.why()) {
            writeln!(out, "  not shown: {one}")?;
        }
        if let Some(workload) = proof.followed() {
            if let Some(shown) = workload.shown() {
                writeln!(out, "  shown to work after it: {shown}")?;
            }
            for one in &workload.broken {
                writeln!(out, "  still broken after it: {one}")?;
            }
            for one in workload.open.iter().take(MOST_OPEN) {
                writeln!(out, "  not shown: {one}")?;
            }
        }
        for one in proof.costs() {
            writeln!(out, "  a person has to choose it: {one}")?;
        }
    }
    if let Ok(proof) = &fix.proof {
        for one in &proof.appears {
            writeln!(out, "  new after it: {} ({})", one.title, one.cause)?;
        }
        for one in &proof.remains {
            writeln!(out, "  remains: {} ({})", one.title, one.cause)?;
        }
        for one in &proof.opens {
            writeln!(out, "  opens {one}")?;
        }
    }
    if fix.narrower.is_some() {
        writeln!(
            out,
            "  a smaller change does as well and is the one that was written"
        )?;
    }
    Ok(())
}
