//! What the rules propose for an input, each with what its replay showed.

use casefile_bundle::Entry;

use super::replay::{Aim, Claim, Proof, Replay, ReplayError, Shown};
use crate::change::kinds::manual::Manual;
use crate::change::{Applied, Change, Refused};
use crate::diagnose::{AnalyzeError, Analyzer, Examined, Proposal};
use crate::model::{Step, Verdict};

/// Tries what the rules propose for every cause that is confirmed or likely, in the order of the incidents.
pub fn proofs(analyzer: &Analyzer, examined: &Examined) -> Result<Vec<Fix>, AnalyzeError> {
    let replay = Replay::new(analyzer, &examined.reading)?;
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
    pub by_hand: Vec<Applied>,
    /// How to see that it helped.
    pub verify: Vec<Step>,
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

    /// What became of the cause, in words for tables. Files that are right show nothing of a unit that has to run after it.
    pub fn word(&self) -> &'static str {
        match (self.shown(), self.best().map(Proof::claim)) {
            (Shown::Gone(_), Some(Claim::NeedsARuntimeStep)) => "gone after a runtime step",
            (shown, _) => shown.word(),
        }
    }

    /// The changes to hand over: the narrower ones where they do as well.
    pub fn best(&self) -> Option<&Proof> {
        self.narrower.as_ref().or(self.proof.as_ref().ok())
    }

    /// What tells the collected cluster from every other: the identity of its namespace `kube-system`. None where that
    /// was not collected, or where names of the site were replaced.
    pub(super) fn cluster(&mut self) -> Option<String> {
        let state = match (&mut self.narrower, &mut self.proof) {
            (Some(proof), _) | (None, Ok(proof)) => &mut proof.state,
            (None, Err(_)) => return None,
        };
        let path = Entry::List("namespaces").path();
        let list: serde_json::Value = serde_json::from_str(&state.before(&path)?).ok()?;
        let mut items = list["items"].as_array()?.iter();
        let own = items.find(|one| one["metadata"]["name"] == "kube-system")?;
        let uid = own["metadata"]["uid"].as_str()?;
        let plain = |c: char| c.is_ascii_hexdigit() || c == '-';
        (uid.len() == 36 && uid.chars().all(plain)).then(|| uid.to_owned())
    }

    /// What a person does, in order.
    pub fn applied(&self) -> &[Applied] {
        let Some(proof) = self.best() else {
            return &self.by_hand;
        };
        let mut actions = proof.applied.iter().flat_map(|one| &one.actions);
        // A change that only a person makes says less than the rule's steps with their commands.
        let by_script = actions.any(|action| action.script().is_some());
        match by_script || self.by_hand.is_empty() {
            true => &proof.applied,
            false => &self.by_hand,
        }
    }

    /// Captured against changed, entry by entry.
    pub(super) fn differences(&mut self) -> Vec<(String, String)> {
        let proof = match (&mut self.narrower, &mut self.proof) {
            (Some(proof), _) | (None, Ok(proof)) => proof,
            (None, Err(_)) => return Vec::new(),
        };
        let mut paths: Vec<String> = proof
            .applied
            .iter()
            .flat_map(|one: &Applied| one.changed.clone())
            .collect();
        paths.sort();
        paths.dedup();
        let mut all = Vec::new();
        for path in paths {
            let before = proof.state.before(&path).unwrap_or_default();
            let after = proof.state.now(&path).unwrap_or_default();
            let diff = similar::TextDiff::from_lines(&before, &after);
            let text = diff
                .unified_diff()
                .header(&format!("captured/{path}"), &format!("changed/{path}"))
                .to_string();
            if !text.is_empty() {
                all.push((path, text));
            }
        }
        all
    }
}

/// The fix of a rule's proposal, tried.
pub(super) fn of_rule(replay: &Replay<'_>, proposal: &Proposal) -> Result<Fix, AnalyzeError> {
    let aim = Aim::of(proposal);
    let changes: Result<Vec<Change>, Refused> = proposal.changes.iter().cloned().collect();
    let proof = match changes {
        Ok(changes) if changes.is_empty() => Err(Refused::new(
            format!(
                "Manual fix; it cannot be simulated. {}",
                proposal.by_person.as_deref().unwrap_or_default()
            )
            .trim_end()
            .to_owned(),
        )),
        Ok(changes) => match replay.attempt(&changes, Some(aim)) {
            Ok(proof) => Ok(proof),
            Err(ReplayError::Refused { why, .. }) => Err(why),
            Err(ReplayError::Analyze(error)) => return Err(error),
        },
        Err(refused) => Err(refused),
    };
    let mut proof = proof;
    let mut narrower = proof.as_ref().ok().and_then(|proof| {
        matches!(proof.shown, Some(Shown::Gone(_)))
            .then(|| replay.narrower(proof, aim))
            .flatten()
    });
    for proof in proof.iter_mut().chain(&mut narrower) {
        proof.unshown.extend(proposal.left_out.iter().cloned());
        choose(proof, proposal.choice.as_deref());
    }
    Ok(Fix {
        cause: proposal.cause.clone(),
        title: proposal.title.clone(),
        verdict: Some(proposal.verdict),
        remedy: proposal.remedy.clone(),
        by_hand: proposal.steps.iter().map(by_hand).collect(),
        verify: proposal.verify.clone(),
        narrower,
        proof,
    })
}

/// Lets a person choose before the first step what the changes as a whole decide.
fn choose(proof: &mut Proof, choice: Option<&str>) {
    let scripted = |one: &&mut Applied| one.actions.iter().any(|action| action.script().is_some());
    if let (Some(choice), Some(first)) = (choice, proof.applied.iter_mut().find(scripted)) {
        first.costs.push(choice.to_owned());
    }
}

/// A step of a rule, for people.
fn by_hand(step: &Step) -> Applied {
    let manual = Manual {
        step: step.text.clone(),
        run: step.command.clone(),
        expect: step.expect.clone().unwrap_or_default(),
    };
    manual.told()
}
