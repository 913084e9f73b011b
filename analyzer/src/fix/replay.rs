//! The proof: a change is applied to the captured state, the state is diagnosed again, and the two are compared.

use super::exposure;
use super::workload::Workload;
use crate::change::captured::{Captured, Overlay};
use crate::change::hinge::Hinge;
use crate::change::{Applied, Change, Refused};
use crate::diagnose::{AnalyzeError, Analyzer, Judged, Proposal, Reading, Standing};
use crate::model::Verdict;

/// What a replay showed about a cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// The changed state no longer has the cause.
    Gone(String),
    /// It still has it.
    StillThere(String),
    /// What helps is a step on the running system, which no file shows.
    NeedsAStep(String),
    /// The bundle does not hold what would show it.
    CannotBeShown(String),
}

impl Shown {
    /// The words for tables, e.g. `gone` or `still there`.
    pub fn word(&self) -> &'static str {
        match self {
            Shown::Gone(_) => "gone",
            Shown::StillThere(_) => "still there",
            Shown::NeedsAStep(_) => "needs a runtime step",
            Shown::CannotBeShown(_) => "cannot be shown",
        }
    }

    /// Why, as a sentence.
    pub fn why(&self) -> &str {
        match self {
            Shown::Gone(why)
            | Shown::StillThere(why)
            | Shown::NeedsAStep(why)
            | Shown::CannotBeShown(why) => why,
        }
    }
}

/// What may be said of a change, by what its replay showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// What failed is shown to work in the changed state, and nothing else that is known stands in its way.
    HealsTheWorkload,
    /// The changed state no longer has the cause; that the workload then runs is not shown.
    RemovesTheCause,
    /// What helps is a step on the running system, which no file shows; the files that it changes are right.
    NeedsARuntimeStep,
    /// The cause stays.
    DoesNotHelp,
    /// Nothing is shown.
    CannotBeShown,
}

impl Claim {
    /// What is claimed, as a sentence without a full stop.
    pub fn says(self) -> &'static str {
        match self {
            Self::HealsTheWorkload => {
                "it heals the workload: what failed is shown to work in the changed state"
            }
            Self::RemovesTheCause => {
                "it removes the cause from the captured state; that what failed then works is not shown"
            }
            Self::NeedsARuntimeStep => {
                "it needs a step on the running system, which no replay can show"
            }
            Self::DoesNotHelp => "it does not help",
            Self::CannotBeShown => "nothing is claimed: the bundle cannot show it",
        }
    }
}

/// A change and what came of it.
pub struct Proof {
    /// The cause's own check says that what failed works now.
    pub works: bool,
    /// How far the pods that failed get in the changed state.
    pub workload: Workload,
    /// What stays broken or unknown after it although the cause is gone, as sentences.
    pub unshown: Vec<String>,
    /// The changes that were tried.
    pub changes: Vec<Change>,
    /// Each applied to the captured state.
    pub applied: Vec<Applied>,
    /// What became of the cause it is for; none where it is for no certain cause.
    pub shown: Option<Shown>,
    /// Causes of the captured state that the changed state has no longer, the one it is for included.
    pub gone: Vec<Standing>,
    /// Causes that both have.
    pub remains: Vec<Standing>,
    /// Causes that only the changed state has.
    pub appears: Vec<Standing>,
    /// What the change lets through that was stopped before, as sentences.
    pub opens: Vec<String>,
    /// The state after the changes.
    pub state: Captured,
}

impl Proof {
    /// What may be said of it.
    pub fn claim(&self) -> Claim {
        let certain = |one: &Standing| one.verdict <= Verdict::Likely;
        let others = self.remains.iter().chain(&self.appears).any(certain);
        match &self.shown {
            None | Some(Shown::CannotBeShown(_)) => Claim::CannotBeShown,
            Some(Shown::StillThere(_)) => Claim::DoesNotHelp,
            Some(Shown::NeedsAStep(_)) => Claim::NeedsARuntimeStep,
            Some(Shown::Gone(_))
                if self
                    .applied
                    .iter()
                    .any(|one| !one.runtime.is_empty() || !one.simulated) =>
            {
                Claim::NeedsARuntimeStep
            }
            Some(Shown::Gone(_))
                if self.works
                    && !others
                    && self.workload.runs()
                    && self.unshown.is_empty()
                    && self.costs().next().is_none() =>
            {
                Claim::HealsTheWorkload
            }
            Some(Shown::Gone(_)) => Claim::RemovesTheCause,
        }
    }

    /// How far the pods that failed get, where the replay followed the change.
    pub fn followed(&self) -> Option<&Workload> {
        let simulated = matches!(self.shown, Some(Shown::Gone(_) | Shown::StillThere(_)));
        simulated.then_some(&self.workload)
    }

    /// What it takes from somebody.
    pub fn costs(&self) -> impl Iterator<Item = &String> {
        self.applied.iter().flat_map(|one| &one.costs)
    }

    /// What has to happen on the running system beside it.
    pub fn runtime(&self) -> impl Iterator<Item = &String> {
        self.applied.iter().flat_map(|one| &one.runtime)
    }
}

/// What changes are meant to remove.
#[derive(Clone, Copy)]
pub struct Aim<'a> {
    /// Cause id.
    pub cause: &'a str,
    /// What the cause needs to be so in the captured files.
    pub hinges: &'a [Hinge],
    /// Nodes of a joined input that show the cause; empty where one node is meant.
    pub nodes: &'a [String],
}

impl<'a> Aim<'a> {
    /// What a rule proposes its changes for.
    pub fn of(proposal: &'a Proposal) -> Self {
        Self {
            cause: &proposal.cause,
            hinges: &proposal.hinges,
            nodes: &proposal.nodes,
        }
    }
}

/// Replays changes on inputs.
pub struct Replay<'a> {
    analyzer: &'a Analyzer,
    reading: &'a Reading,
    captured: Captured,
    before: Judged,
}

impl<'a> Replay<'a> {
    /// Judges the captured state as it is, from what was read when it was examined.
    pub fn new(analyzer: &'a Analyzer, reading: &'a Reading) -> Result<Self, AnalyzeError> {
        Ok(Self {
            before: analyzer.judge_again(reading, &Overlay::new())?,
            captured: analyzer.captured(reading)?,
            analyzer,
            reading,
        })
    }

    /// The captured state, before any change.
    pub fn captured(&self) -> &Captured {
        &self.captured
    }

    /// Tries changes.
    pub fn attempt(&self, changes: &[Change], aim: Option<Aim<'_>>) -> Result<Proof, ReplayError> {
        let mut state = self.captured.clone();
        let mut applied = Vec::new();
        for (number, change) in changes.iter().enumerate() {
            let one = change.apply(&mut state);
            applied.push(one.map_err(|why| ReplayError::Refused { number, why })?);
        }
        let after = self.analyzer.judge_again(self.reading, state.overlay())?;
        let workload = Workload::of(&self.before, &after);
        let live = |all: &[Standing], cause: &str| {
            all.iter()
                .any(|one| one.cause == cause && one.verdict.is_live())
        };
        let only = |from: &[Standing], wanted: &dyn Fn(&Standing) -> bool| -> Vec<Standing> {
            let live = from.iter().filter(|one| one.verdict.is_live());
            live.filter(|one| wanted(one)).cloned().collect()
        };
        let shown = aim.map(|aim| self.shown(aim, &after, &applied, &mut state));
        let mut gone = only(&self.before.state, &|one| !live(&after.state, &one.cause));
        // What only logs tell is gone as well, where what it needs is.
        if let (Some(Shown::Gone(_)), Some(aim)) = (&shown, aim)
            && gone.iter().all(|one| one.cause != aim.cause)
        {
            gone.extend(Judged::find(&self.before.all, aim.cause).cloned());
        }
        let works = changes.iter().all(is_followed)
            && aim.is_some_and(|aim| {
                let after =
                    Judged::find(&after.state, aim.cause).or(Judged::find(&after.all, aim.cause));
                after.is_some_and(|after| after.verdict == Verdict::RuledOut)
            });
        Ok(Proof {
            works,
            workload,
            unshown: match shown {
                Some(Shown::Gone(_)) => exposure::unshown(&mut state, changes),
                _ => Vec::new(),
            },
            shown,
            gone,
            remains: only(&after.state, &|one| live(&self.before.state, &one.cause)),
            appears: only(&after.state, &|one| !live(&self.before.state, &one.cause)),
            opens: exposure::opened(&mut state, changes),
            changes: changes.to_vec(),
            applied,
            state,
        })
    }

    /// The smallest part of the changes that still removes the cause; none where all of them are needed.
    pub fn narrower(&self, proof: &Proof, aim: Aim<'_>) -> Option<Proof> {
        let mut best: Option<Proof> = None;
        loop {
            let changes = best.as_ref().map_or(&proof.changes, |best| &best.changes);
            let smaller = alternatives(changes).into_iter().find_map(|changes| {
                let tried = self.attempt(&changes, Some(aim)).ok()?;
                matches!(tried.shown, Some(Shown::Gone(_))).then_some(tried)
            });
            match smaller {
                Some(smaller) => best = Some(smaller),
                None => return best,
            }
        }
    }

    fn shown(
        &self,
        Aim {
            cause,
            hinges,
            nodes,
        }: Aim<'_>,
        after: &Judged,
        applied: &[Applied],
        state: &mut Captured,
    ) -> Shown {
        let live = |one: &&Standing| one.verdict.is_live();
        if let Some(before) = Judged::find(&self.before.state, cause).filter(live) {
            let shown = of_state(before, Judged::find(&after.state, cause), applied);
            // What runs keeps what it has until it is started anew, and the setting that it comes from is right by then.
            let shown = match (shown, of_hinges(hinges, nodes, state)) {
                (Shown::StillThere(_), Some(Shown::Gone(why))) => Shown::NeedsAStep(why),
                (shown, _) => shown,
            };
            return match Workload::lost_sight(&self.before.pods, &after.pods) {
                Some(why) if matches!(shown, Shown::Gone(_)) => Shown::CannotBeShown(why),
                _ => shown,
            };
        }
        // The state alone does not make the cause, but a setting may be part of it: what logs say of the
        // past stays, and the cause is gone if the setting is.
        let before = Judged::find(&self.before.all, cause);
        let now = Judged::find(&after.all, cause);
        let Some(before) = before.filter(live) else {
            return Shown::CannotBeShown("the bundle does not show this cause".into());
        };
        let ended = ended(before, now);
        if let Some(now) = now.filter(|now| now.verdict == Verdict::RuledOut) {
            return Shown::Gone(now.why.clone());
        }
        let weaker = now.is_none_or(|now| now.verdict > before.verdict);
        if weaker && !ended.is_empty() {
            Shown::Gone(no_longer_holds(&ended.join("; ")))
        } else if let Some(shown) = of_hinges(hinges, nodes, state) {
            shown
        } else {
            step_of(applied.iter()).unwrap_or_else(|| {
                Shown::CannotBeShown(
                    "found in logs and events only, so replay cannot verify it".into(),
                )
            })
        }
    }
}

/// A cause that logs told ends with what it needs: one of the lines that it hinges on is there no more.
fn of_hinges(hinges: &[Hinge], nodes: &[String], state: &mut Captured) -> Option<Shown> {
    let mut still = Vec::new();
    for hinge in hinges {
        let Some(place) = hinge.holds(state, nodes, false) else {
            continue;
        };
        match hinge.holds(state, nodes, true) {
            None => {
                return Some(Shown::Gone(no_longer_holds(&format!(
                    "{} ({place})",
                    hinge.says
                ))));
            }
            Some(place) => still.push(format!("{} ({place})", hinge.says)),
        }
    }
    (!still.is_empty()).then(|| Shown::StillThere(format!("unchanged: {}", still.join("; "))))
}

/// What is to be said where a step among the changes is for the running system, or for a person.
fn step_of<'a>(mut applied: impl Iterator<Item = &'a Applied> + Clone) -> Option<Shown> {
    if let Some(step) = applied.clone().find(|one| one.is_step()) {
        return Some(Shown::NeedsAStep(step.runtime.join("; ")));
    }
    let step = applied.find(|one| !one.simulated)?;
    Some(Shown::CannotBeShown(format!(
        "a person has to do this on the running system: {}",
        step.title
    )))
}

/// What became of a cause that the state alone shows.
fn of_state(before: &Standing, after: Option<&Standing>, applied: &[Applied]) -> Shown {
    match after {
        Some(after) if after.verdict.is_live() => {
            // What was simulated and does not help is no step that might.
            let steps = applied.iter().filter(|one| !one.simulated);
            step_of(steps).unwrap_or_else(|| Shown::StillThere(after.why.clone()))
        }
        Some(after) if after.verdict == Verdict::RuledOut => Shown::Gone(after.why.clone()),
        other => Shown::Gone(no_longer_holds(&ended(before, other).join("; "))),
    }
}

/// Says of what was seen before that the change ends it.
fn no_longer_holds(what: &str) -> String {
    format!("with the change this no longer holds: {what}")
}

/// What was seen before and is not seen any more.
fn ended<'a>(before: &'a Standing, after: Option<&Standing>) -> Vec<&'a str> {
    let still =
        |signal: &str| after.is_some_and(|after| after.seen.iter().any(|(kept, _)| kept == signal));
    let gone = before.seen.iter().filter(|(signal, _)| !still(signal));
    gone.map(|(_, says)| says.as_str()).collect()
}

/// Whether what the change leads to is worked out (a packet's way, a runtime's handlers), so that a check of it says
/// more than that the setting is set.
fn is_followed(change: &Change) -> bool {
    matches!(
        change,
        Change::UfwRoute(_)
            | Change::Iptables(_)
            | Change::Firewalld(_)
            | Change::NftRule(_)
            | Change::HelmValues(_)
            | Change::ContainerdRuntime(_)
            | Change::ContainerdImport(_)
            | Change::ContainerdSection(_)
    )
}

/// The same changes with one of them made smaller.
fn alternatives(changes: &[Change]) -> Vec<Vec<Change>> {
    let mut all = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        for smaller in change.kind().narrower() {
            let mut copy = changes.to_vec();
            copy[index] = smaller;
            all.push(copy);
        }
    }
    all
}

/// Why nothing could be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A change does not fit the input.
    #[error("{why}")]
    Refused {
        /// Which one, counted from 0.
        number: usize,
        /// The reason.
        why: Refused,
    },
    /// The input cannot be read.
    #[error(transparent)]
    Analyze(#[from] AnalyzeError),
}
