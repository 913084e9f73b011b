//! What the rules propose for an input, each with what its replay showed.

use std::path::Path;

use super::change::{Change, Refused};
use super::replay::{Proof, Replay, ReplayError, Shown};
use crate::diagnose::{AnalyzeError, Analyzer, Examined, Proposal};
use crate::model::{Step, Verdict};

/// Tries what the rules propose for every cause that is confirmed or likely, in the order of the incidents.
pub fn proofs(
    analyzer: &Analyzer,
    input: &Path,
    examined: &Examined,
) -> Result<Vec<Fix>, AnalyzeError> {
    let replay = Replay::new(analyzer, input, &examined.judged);
    let proposals = examined.proposals.iter();
    proposals.map(|one| of_rule(&replay, one)).collect()
}

/// The fix of one cause, or of what a person proposes.
pub struct Fix {
    /// Cause id; `proposal` for a person's own change.
    pub cause: String,
    /// What is wrong, as a sentence.
    pub title: String,
    /// How sure that is; none for a person's own change.
    pub verdict: Option<Verdict>,
    /// One line that names the fix.
    pub remedy: String,
    /// The rule's steps, for people.
    pub steps: Vec<Step>,
    /// What the replay showed; or why none was possible.
    pub proof: Result<Proof, Refused>,
    /// The smallest part of the changes that does as well.
    pub narrower: Option<Proof>,
}

impl Fix {
    /// What became of the cause.
    pub fn shown(&self) -> Shown {
        match &self.proof {
            Ok(proof) => proof.shown.clone().unwrap_or_else(|| {
                Shown::CannotBeShown(
                    "no certain cause of the bundle is named for this change".into(),
                )
            }),
            Err(refused) => Shown::CannotBeShown(refused.why.clone()),
        }
    }

    /// The changes to hand over: the narrower ones where they do as well.
    pub fn best(&self) -> Option<&Proof> {
        self.narrower.as_ref().or(self.proof.as_ref().ok())
    }
}

fn of_rule(replay: &Replay<'_>, proposal: &Proposal) -> Result<Fix, AnalyzeError> {
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

fn attempt(
    replay: &Replay<'_>,
    changes: &[Change],
    cause: Option<&str>,
) -> Result<Result<Proof, Refused>, AnalyzeError> {
    match replay.attempt(changes, cause) {
        Ok(proof) => Ok(Ok(proof)),
        Err(ReplayError::Refused(refused)) => Ok(Err(refused)),
        Err(ReplayError::Analyze(error)) => Err(error),
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
