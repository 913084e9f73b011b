//! `casefile-analyzer fix`: what it reads, tries and writes.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use super::captured::Captured;
use super::change::{Change, Refused};
use super::proposal::{self, Hints};
use super::replay::{Proof, Replay, ReplayError, Shown};
use super::write::{self, Fix};
use crate::cli::FixArgs;
use crate::diagnose::{Analyzer, Examined, Proposal};
use crate::model::Verdict;

/// Tries the rules' changes, or those of a person, and writes them.
pub fn run(
    args: &FixArgs,
    analyzer: &Analyzer,
    input: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let examined = analyzer.examine(input)?;
    let replay = Replay::new(analyzer, input)?;
    let mut fixes = if args.what_if.is_empty() {
        examined
            .proposals
            .iter()
            .map(|proposal| of_rule(&replay, proposal))
            .collect::<anyhow::Result<Vec<Fix>>>()?
    } else {
        vec![of_person(args, &replay, &examined)?]
    };
    let written = write::write(&examined.analysis.input, &mut fixes, &args.output)
        .with_context(|| format!("writing into {}", args.output.display()))?;
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

fn of_rule(replay: &Replay<'_>, proposal: &Proposal) -> anyhow::Result<Fix> {
    let changes: Result<Vec<Change>, Refused> = proposal.changes.iter().cloned().collect();
    let proof = match changes {
        Ok(changes) if changes.is_empty() => Err(Refused::new(
            "the rule describes this fix in words only; no replay can take its steps",
        )),
        Ok(changes) => attempt(replay, &changes, Some(&proposal.cause))?,
        Err(refused) => Err(refused),
    };
    Ok(Fix {
        cause: proposal.cause.clone(),
        title: proposal.title.clone(),
        verdict: Some(proposal.verdict),
        remedy: proposal.remedy.clone(),
        steps: proposal.steps.clone(),
        narrower: narrower(replay, &proof, Some(&proposal.cause)),
        proof,
    })
}

fn of_person(args: &FixArgs, replay: &Replay<'_>, examined: &Examined) -> anyhow::Result<Fix> {
    let mut state = Captured::open(replay.input())?;
    let hints = Hints {
        release: args.release.clone(),
        at: args.at.clone(),
        node: args.node.clone(),
    };
    let mut changes = Vec::new();
    for file in &args.what_if {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("reading the proposed change {}", file.display()))?;
        changes.extend(proposal::read(file, &text, &hints, &mut state)?);
    }
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
    let proof = replay.attempt(&changes, cause)?;
    Ok(Fix {
        cause: "proposal".into(),
        title: title.map_or_else(|| "no certain cause".to_owned(), |one| one.title.clone()),
        verdict: title
            .map(|one| one.verdict)
            .filter(|verdict| *verdict <= Verdict::Likely),
        remedy: format!("the proposed change: {}", names.join(", ")),
        steps: Vec::new(),
        narrower: None,
        proof: Ok(proof),
    })
}

fn attempt(
    replay: &Replay<'_>,
    changes: &[Change],
    cause: Option<&str>,
) -> anyhow::Result<Result<Proof, Refused>> {
    match replay.attempt(changes, cause) {
        Ok(proof) => Ok(Ok(proof)),
        Err(ReplayError::Refused(refused)) => Ok(Err(refused)),
        Err(ReplayError::Analyze(error)) => Err(error.into()),
    }
}

fn narrower(
    replay: &Replay<'_>,
    proof: &Result<Proof, Refused>,
    cause: Option<&str>,
) -> Option<Proof> {
    let proof = proof.as_ref().ok()?;
    matches!(proof.shown, Some(Shown::Gone(_)))
        .then(|| replay.narrower(proof, cause?))
        .flatten()
}

fn tell(fix: &Fix, out: &mut dyn Write) -> std::io::Result<()> {
    let shown = fix.shown();
    writeln!(out, "{}: {} ({})", shown.word(), fix.title, fix.cause)?;
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
