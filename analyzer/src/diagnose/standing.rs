//! What the captured state alone says of a cause, and what a rule proposes to change about it.

use std::collections::BTreeSet;
use std::path::Path;

use casefile_bundle::entry;

use super::steps::PodSteps;
use crate::change::hinge::Hinge;
use crate::change::{Change, Refused};
use crate::facts::FactType;
use crate::facts::kube::{Container, Event};
use crate::join::Unit;
use crate::model::{Analysis, Place, Step, Verdict};
use crate::rules::engine::Assessment;
use crate::rules::file::Kind;
use crate::scan::{Documents, Scanned, node_of};

/// A diagnosis with the changes that belong to it.
pub struct Examined {
    /// The diagnosis.
    pub analysis: Analysis,
    /// What the rules propose for each incident that is confirmed or likely, in the same order.
    pub proposals: Vec<Proposal>,
    /// What was read, to try the proposals on.
    pub reading: Reading,
}

/// What one pass over an input gave, kept so that changes can be judged without another pass.
pub struct Reading {
    pub(super) unit: Unit,
    /// Texts of nodes that stand inside other texts, under the path that a bundle would have them at.
    pub(super) pasted: Documents,
    /// Without what derivers add; none where a new pass has to be made.
    pub(super) scanned: Option<Scanned>,
}

impl Reading {
    /// The input that was read, or the first of those that were read as one.
    pub fn input(&self) -> &Path {
        self.unit.input()
    }

    /// Whether changes can be judged without reading the input once more.
    pub fn suffices(&self) -> bool {
        self.scanned.is_some()
    }
}

/// What a rule proposes to change.
pub struct Proposal {
    /// Cause id.
    pub cause: String,
    /// Title of the incident.
    pub title: String,
    /// How sure the cause is.
    pub verdict: Verdict,
    /// One line that names the fix.
    pub remedy: String,
    /// The rule's steps, for people.
    pub steps: Vec<Step>,
    /// The rule's checks, for people.
    pub verify: Vec<Step>,
    /// What the cause needs in the captured files, as far as the evidence fills it in.
    pub hinges: Vec<Hinge>,
    /// Nodes of a joined input that the evidence is about.
    pub nodes: Vec<String>,
    /// Why it is a person's work, as a sentence, where the rule has no changes.
    pub by_person: Option<String>,
    /// What a person chooses by them, as a clause.
    pub choice: Option<String>,
    /// The changes, filled in; or why one cannot be.
    pub changes: Vec<Result<Change, Refused>>,
    /// Of a joined input, what is changed on some nodes and not on these, and why, as sentences.
    pub left_out: Vec<String>,
}

/// What is said of a cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Cause id.
    pub cause: String,
    /// Title, with its facts.
    pub title: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, as a sentence.
    pub why: String,
    /// Where the deciding line stands.
    pub place: Option<Place>,
    /// What was seen of it that is state and no history: signal and what it says.
    pub seen: Vec<(String, String)>,
}

/// What an input says of every cause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// On the captured state alone: what was said before is history that no change takes back.
    pub state: Vec<Standing>,
    /// On everything, history included.
    pub all: Vec<Standing>,
    /// Failing things that no cause explains, by their subjects.
    pub unexplained: Vec<String>,
    /// How far each failing pod gets.
    pub pods: Vec<PodSteps>,
}

impl Judged {
    /// What is said of one cause.
    pub fn find<'a>(all: &'a [Standing], cause: &str) -> Option<&'a Standing> {
        all.iter().find(|one| one.cause == cause)
    }
}

impl Standing {
    pub(super) fn of(one: &Assessment<'_>) -> Option<Self> {
        let verdict = one.verdict?;
        if one.rule.file.kind != Kind::Cause {
            return None;
        }
        let (why, place) = super::incident::why(one);
        let seen = one.seen.iter().filter_map(|(signal, sightings)| {
            Some(((*signal).to_owned(), sightings.first()?.says.clone()))
        });
        Some(Self {
            cause: one.rule.file.id.clone(),
            title: one.headline(),
            verdict,
            why,
            place,
            seen: seen.collect(),
        })
    }
}

/// Takes out what tells of the past: lines that were said, events, states of containers. Lines of
/// configuration and of commands that show it are state.
pub(super) fn forget_history(scanned: &mut Scanned) {
    scanned.hits.retain(|hit| is_state(&hit.place.path));
    scanned.facts.forget(Event::KIND);
    scanned.facts.forget(Container::KIND);
}

fn is_state(path: &str) -> bool {
    let config = path.contains("/rootfs/") && !path.contains("/rootfs/var/log/");
    let command =
        path.contains("/commands/") && !path.contains("dmesg") && !path.contains("journal");
    config || command || path.starts_with(entry::HELM)
}

/// Texts that stand inside others and were given the path of a bundle's entry.
pub(super) fn pasted(scanned: &Scanned) -> Documents {
    let placed = |path: &&String| scanned.origins.contains_key(*path);
    let documents = scanned.documents.iter();
    let own = documents.filter(|(path, _)| !node_of(path).is_empty() && placed(path));
    own.map(|(path, text)| (path.clone(), text.clone()))
        .collect()
}

/// Why nothing is proposed for a fault between two of its times.
const BETWEEN: &str =
    "It works at the moment, and what makes it fail again is looked for at the machine.";

/// What the rules propose. `nodes` are those of a joined input: each change is proposed for every one of them
/// that its evidence is about.
pub(super) fn proposals(
    analysis: &Analysis,
    assessments: &[Assessment<'_>],
    nodes: &[&str],
) -> Vec<Proposal> {
    let sure = analysis
        .incidents
        .iter()
        .filter(|incident| incident.verdict <= Verdict::Likely);
    sure.filter_map(|incident| {
        let one = assessments
            .iter()
            .find(|one| one.rule.file.id == incident.cause)?;
        let affected = affected(one, nodes);
        let (changes, left_out) = match incident.meanwhile {
            Some(_) => Default::default(),
            None => changes(one, &affected),
        };
        Some(Proposal {
            cause: incident.cause.clone(),
            title: incident.title.clone(),
            verdict: incident.verdict,
            remedy: incident.remedy.title.clone(),
            steps: incident.remedy.steps.clone(),
            verify: incident.remedy.verify.clone(),
            hinges: hinges(one),
            changes,
            left_out,
            by_person: match incident.meanwhile {
                Some(_) => Some(BETWEEN.to_owned()),
                None => one.rule.file.remedy.by_person.clone(),
            },
            choice: one.rule.file.remedy.choice.clone(),
            nodes: affected,
        })
    })
    .collect()
}

/// Those of the nodes that the evidence is about.
fn affected(one: &Assessment<'_>, nodes: &[&str]) -> Vec<String> {
    let sightings = one.seen.values().flatten();
    let own: BTreeSet<&str> = sightings
        .map(|sighting| sighting.node.as_str())
        .filter(|node| nodes.contains(node))
        .collect();
    own.into_iter().map(str::to_owned).collect()
}

/// The rule's changes, filled in: for each affected node, or once where none is named; and what is left out of it.
fn changes(
    one: &Assessment<'_>,
    affected: &[String],
) -> (Vec<Result<Change, Refused>>, Vec<String>) {
    let filled = |one: &Assessment<'_>| -> Vec<Result<Change, Refused>> {
        let all = one.rule.file.remedy.changes.iter();
        all.map(|change| change.filled(&|text| one.whole(text)))
            .collect()
    };
    if affected.is_empty() {
        return (filled(one), Vec::new());
    }
    let mut all: Vec<Result<Change, Refused>> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    for node in affected {
        // What it says of other nodes fills in nothing here.
        let mut own = one.clone();
        for sightings in own.seen.values_mut() {
            sightings.retain(|one| one.node.is_empty() || one.node == *node);
        }
        own.seen.retain(|_, sightings| !sightings.is_empty());
        for change in filled(&own) {
            if let Err(refused) = &change {
                left_out.push(format!("{node} is not changed: {refused}"));
            }
            let change = change.map(|change| change.on(node));
            if !all.contains(&change) {
                all.push(change);
            }
        }
    }
    // A node whose evidence does not fill a change in is no reason to leave out the others.
    if all.iter().any(Result::is_ok) {
        all.retain(Result::is_ok);
    } else {
        left_out.clear();
    }
    left_out.dedup();
    (all, left_out)
}

fn hinges(one: &Assessment<'_>) -> Vec<Hinge> {
    let all = one.rule.file.remedy.hinges_on.iter();
    let whole = |text: &Option<String>| match text {
        Some(text) => one.whole(text).map(Some),
        None => Some(None),
    };
    all.filter_map(|hinge| {
        Some(Hinge {
            entry: one.whole(&hinge.entry)?,
            line: one.whole(&hinge.line)?,
            pod: whole(&hinge.pod)?,
            lacks: whole(&hinge.lacks)?,
            says: one.whole(&hinge.says)?,
        })
    })
    .collect()
}
