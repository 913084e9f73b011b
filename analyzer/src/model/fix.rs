//! What a fix does and what trying it on a copy of the captured state has shown.

use serde::Serialize;

use super::Verdict;

/// What became of the cause when its fix was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixOutcome {
    /// The changed state no longer has the cause.
    Gone,
    /// It still has it.
    StillThere,
    /// The bundle does not hold what would show it.
    CannotBeShown,
}

/// What may be said of a fix, by what trying it showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixClaim {
    /// What failed is shown to work in the changed state.
    HealsTheWorkload,
    /// The changed state no longer has the cause; that the workload then runs is not shown.
    RemovesTheCause,
    /// A step on the running system has to follow, which no file shows.
    NeedsARuntimeStep,
    /// The cause stays.
    DoesNotHelp,
    /// Nothing is shown.
    CannotBeShown,
}

/// A fix as typed changes, tried on the captured state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// What became of the cause.
    pub outcome: FixOutcome,
    /// What may be said of it.
    pub claim: FixClaim,
    /// What has to happen on the running system, and what else is not shown, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_shown: Vec<String>,
    /// What it takes from somebody, as clauses: a person has to choose it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<String>,
    /// Why, as a sentence; what is missing where it cannot be shown.
    pub why: String,
    /// Causes that the changed state has no longer.
    pub gone: Vec<CauseName>,
    /// Causes that it still has.
    pub remains: Vec<CauseName>,
    /// Causes that only the changed state has.
    pub appears: Vec<CauseName>,
    /// What the change lets through that was stopped before, as clauses.
    pub opens: Vec<String>,
    /// What the rule's wider change would have let through beyond it.
    pub leaves_closed: Vec<String>,
    /// What was taken for granted beyond the change itself.
    pub assumes: Vec<String>,
    /// What a person does, in order.
    pub actions: Vec<FixAction>,
    /// Files to carry to the site.
    pub files: Vec<HandedFile>,
    /// Captured entries that differ, as unified diffs.
    pub deltas: Vec<Delta>,
}

/// A cause by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CauseName {
    /// Cause id.
    pub cause: String,
    /// Title with its facts.
    pub title: String,
    /// How sure.
    pub verdict: Verdict,
}

/// One step on the real system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FixAction {
    /// What it does and why.
    pub text: String,
    /// Node on which it runs as root; none where it is done elsewhere.
    pub node: Option<String>,
    /// Whether a person does it without a command line.
    pub by_hand: bool,
    /// A command that succeeds only if the state is still the captured one.
    pub check: Option<String>,
    /// What that command checks, as a clause.
    pub checks: Option<String>,
    /// Shows what would change, without changing it.
    pub dry_run: Option<String>,
    /// The change itself.
    pub command: Option<String>,
    /// What to see after it.
    pub expect: String,
    /// Takes it back.
    pub roll_back: String,
    /// What it interrupts, as a sentence.
    pub interrupts: String,
}

/// A file that the commands of a fix use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HandedFile {
    /// File name.
    pub name: String,
    /// What it is, as a clause.
    pub what: String,
    /// Content.
    pub content: String,
}

/// What a change makes of one captured entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delta {
    /// Path of the entry, in the bundle or new.
    pub entry: String,
    /// Unified diff, captured against changed.
    pub diff: String,
}
