//! A rule as its author writes it: the YAML of one cause.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::examples::Examples;
use super::messages::Ending;
use super::short;
use crate::change::Change;
use crate::change::hinge::Hinge;
use crate::model::{Severity, Verdict};
use crate::parsers::Channel;

/// What a rule file describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A root cause of the catalogue.
    #[default]
    Cause,
    /// Noise that looks like a fault and is none.
    Benign,
}

/// One rule file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// Cause id of the catalogue; the file's stem, where it is not written. It names the fault.
    #[serde(default)]
    pub id: String,
    /// Cause or benign.
    #[serde(default)]
    pub kind: Kind,
    /// What is wrong, as a short sentence that holds without any facts.
    pub title: String,
    /// The same with facts, `{signal.field}`; used when all of them were seen.
    #[serde(default)]
    pub headline: Option<String>,
    /// Family of the catalogue; the folder, where it is not written.
    #[serde(default)]
    pub family: String,
    /// How bad it is.
    pub severity: Severity,
    /// Named only where nothing more specific holds.
    #[serde(default)]
    pub catch_all: bool,
    /// What lines alone make possible counts where something names a kubelet or a cluster: any machine has such lines.
    #[serde(default)]
    pub of_cluster: bool,
    /// Sources without which the cause cannot be checked.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What to see where, by name.
    pub signals: BTreeMap<String, Signal>,
    /// Alternatives of which one must hold for `confirmed`.
    #[serde(default, deserialize_with = "short::groups")]
    pub confirmed: Vec<Group>,
    /// Alternatives for `likely`.
    #[serde(default, deserialize_with = "short::groups")]
    pub likely: Vec<Group>,
    /// Alternatives for `possible`.
    #[serde(default, deserialize_with = "short::groups")]
    pub possible: Vec<Group>,
    /// Alternatives that exclude the cause.
    #[serde(default, deserialize_with = "short::groups")]
    pub ruled_out: Vec<Group>,
    /// What ends it: what was said of it before that is over.
    #[serde(default)]
    pub ended_by: Vec<Ending>,
    /// It lasts over a start of the machine: a fault of the hardware, a setting on the disk.
    #[serde(default)]
    pub outlasts_boot: bool,
    /// A component that has this trouble says so again and again: what it has not said for half an hour is no more so. Of
    /// networks, names, images, volumes and scheduling that is taken for granted.
    #[serde(default)]
    pub repeats: bool,
    /// It keeps pods from being made, placed or started. Where a whole cluster was collected and all that fails had been
    /// started, a line about it explains nothing that fails.
    #[serde(default)]
    pub before_start: bool,
    /// It is a trouble of the control plane's own machinery. Where that does its work and a whole cluster was collected, a
    /// line about it explains nothing that fails.
    #[serde(default)]
    pub control_plane: bool,
    /// Signals that are consequences which people notice, not evidence of the cause itself.
    #[serde(default)]
    pub symptoms: Vec<String>,
    /// Causes that are consequences of this one when both are in play.
    #[serde(default)]
    pub explains: Vec<String>,
    /// What happened, one paragraph; may hold `{signal.field}`. A sentence whose facts were not seen
    /// is left out.
    #[serde(default)]
    pub summary: String,
    /// Why this cause produces these symptoms.
    #[serde(default)]
    pub explanation: String,
    /// How to tell it from causes that look alike.
    #[serde(default)]
    pub look_alikes: String,
    /// What speaks against it, and is looked at before it may be confirmed or likely.
    #[serde(default)]
    pub refuted_by: Vec<Refutation>,
    /// Why nothing that a capture holds could speak against it.
    #[serde(default)]
    pub cannot_be_refuted: Option<String>,
    /// What a person can look at on the machine that would speak against it.
    #[serde(default, deserialize_with = "short::texts")]
    pub refuted_by_hand: Vec<String>,
    /// From root to symptom, each step in a few words.
    #[serde(default)]
    pub chain: Vec<[String; 2]>,
    /// The investigation, question by question.
    #[serde(default)]
    pub observations: Vec<ObservationFile>,
    /// Names of tables that explain it.
    #[serde(default)]
    pub tables: Vec<String>,
    /// What to do.
    #[serde(default)]
    pub remedy: RemedyFile,
    /// Source code, documentation or issue that the rule was written from.
    #[serde(default, deserialize_with = "short::texts")]
    pub references: Vec<String>,
    /// Cases that the rule must judge as stated.
    #[serde(default)]
    #[schemars(with = "Vec<Example>")]
    pub examples: Examples,
}

impl RuleFile {
    /// What a refutation is, in words.
    pub fn refutation<'a>(&'a self, one: &'a Refutation) -> &'a str {
        let signal = one.signal.as_ref().and_then(|name| self.signals.get(name));
        signal.map_or_else(
            || one.state.map_or("", State::says),
            |signal| signal.says.as_str(),
        )
    }
}

/// What to see: a fact with certain fields, or a line that matches.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// Kind of fact.
    #[serde(default)]
    pub fact: Option<String>,
    /// Field tests of the fact.
    #[serde(default, rename = "where")]
    pub conditions: BTreeMap<String, Value>,
    /// Expression for the text of a line.
    #[serde(default)]
    pub line: Option<String>,
    /// Message of the vocabulary, as `component/id`.
    #[serde(default)]
    pub message: Option<String>,
    /// Channels of the line; if empty, everything that is said: all but `command` and `file`.
    #[serde(default, rename = "in")]
    pub channels: Vec<Channel>,
    /// Expression for who says it (unit, identifier, pod).
    #[serde(default)]
    pub speaker: Option<String>,
    /// A note is enough: what it looks for is a setting or a step, which its speaker calls information.
    #[serde(default)]
    pub note: bool,
    /// What it means when seen; may hold `{field}` or `{capture}`.
    pub says: String,
}

/// Something that speaks against a cause: a signal of the file or a state of what was collected.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refutation {
    /// The signal that shows it.
    #[serde(default)]
    pub signal: Option<String>,
    /// The state that shows it.
    #[serde(default)]
    pub state: Option<State>,
    /// The signal of a fault that comes and goes: with it, what shows no fault at the collection says nothing of the next
    /// time, and the cause is likely.
    #[serde(default)]
    pub unless: Option<String>,
}

/// A state of what was collected, as it can speak against many causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// nvidia-smi lists every GPU of the PCI bus, and none with a fault.
    GpusListed,
    /// The pods that the evidence is about run and are ready.
    PodWell,
    /// The node that the evidence is about is ready.
    NodeReady,
    /// Every pod and node of the cluster is well.
    AllWell,
    /// Pods were collected, few or many, and nothing that was collected is failing.
    NothingFails,
}

impl State {
    /// The state in words, as it speaks against a cause.
    pub fn says(self) -> &'static str {
        match self {
            Self::GpusListed => {
                "nvidia-smi lists every GPU of the PCI bus, none of them with a fault"
            }
            Self::PodWell => "the pod that the evidence is about runs and is ready",
            Self::NodeReady => "the node that the evidence is about is ready",
            Self::AllWell => "every pod and node of the cluster is healthy",
            Self::NothingFails => "every pod that was collected is healthy",
        }
    }
}

/// Signals that must all be seen, of which one must be seen, and of which none may be seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// All of these.
    #[serde(default)]
    pub all: Vec<String>,
    /// At least one of these.
    #[serde(default)]
    pub any: Vec<String>,
    /// None of these.
    #[serde(default)]
    pub none: Vec<String>,
    /// What the lines of all these signals must share.
    #[serde(default)]
    pub same: Option<Same>,
    /// Whoever said its lines has to be known: the line carries the head of a log or event, or a person pasted it. Without
    /// that the group is no more than possible.
    #[serde(default)]
    pub spoken: bool,
}

/// What the sightings of a group's signals must share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Same {
    /// The node that they are about: by path, by fact, or by the pod's node.
    Node,
    /// The file that they stand in.
    File,
    /// What they are about, such as the pod.
    Subject,
    /// Nothing nearer than the cluster: each is of another part of it.
    Cluster,
}

/// A question of the investigation.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObservationFile {
    /// The question.
    pub ask: String,
    /// The command a person would run.
    pub run: String,
    /// Signals whose lines answer it; left out if none was seen.
    pub shows: Vec<String>,
    /// What follows.
    pub so: String,
    /// What each answer means, where the question may settle the cause: `If ..., this is the cause. If not, ...`.
    #[serde(default)]
    pub answers: Option<String>,
}

/// What to do, as written.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemedyFile {
    /// One line.
    #[serde(default)]
    pub title: String,
    /// Why it is a person's work, as a sentence, where no typed change does it.
    #[serde(default)]
    pub by_person: Option<String>,
    /// Steps.
    #[serde(default)]
    pub steps: Vec<StepFile>,
    /// Files.
    #[serde(default)]
    pub files: Vec<FixFileFile>,
    /// The same as typed changes, which a replay can try on the captured state.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// What the changes decide for somebody or take from him beyond what they say themselves, as a clause: a person
    /// chooses it before a script makes the first of them.
    #[serde(default)]
    pub choice: Option<String>,
    /// What the cause needs to be so in captured files, for causes that only logs tell: a change that ends
    /// one of them ends the cause.
    #[serde(default)]
    pub hinges_on: Vec<Hinge>,
    /// Checks.
    #[serde(default)]
    pub verify: Vec<StepFile>,
    /// Until then.
    #[serde(default, deserialize_with = "short::texts")]
    pub mitigate: Vec<String>,
    /// Afterwards.
    #[serde(default, deserialize_with = "short::texts")]
    pub prevent: Vec<String>,
}

/// A step, as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepFile {
    /// What to do.
    #[serde(rename = "do")]
    pub text: String,
    /// Command.
    #[serde(default)]
    pub run: Option<String>,
    /// What to see.
    #[serde(default)]
    pub expect: Option<String>,
    /// It is told only where one of these signals was seen.
    #[serde(default)]
    pub when: Vec<String>,
    /// It is told only where none of these signals was seen.
    #[serde(default)]
    pub unless: Vec<String>,
}

/// A file of the fix, as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixFileFile {
    /// Name.
    pub name: String,
    /// Language.
    pub language: String,
    /// Content.
    pub content: String,
}

/// A small bundle and what the rule must say of it; how it is written is `casefile_catalogue_files::examples`.
#[derive(Debug, Clone, JsonSchema)]
pub struct Example {
    /// What the case shows.
    pub name: String,
    /// Verdict, or `quiet` if the cause must not appear.
    pub expect: Expect,
    /// Entries by path.
    pub files: BTreeMap<String, String>,
}

/// What an example expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// Fires.
    Confirmed,
    /// Fires.
    Likely,
    /// Fires.
    Possible,
    /// Was so, and is over.
    Past,
    /// Excluded by what is seen.
    RuledOut,
    /// Cannot know.
    NotChecked,
    /// Nothing of it is seen.
    Quiet,
}

impl Expect {
    /// The verdict that fulfils it; none for `quiet`.
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Expect::Confirmed => Some(Verdict::Confirmed),
            Expect::Likely => Some(Verdict::Likely),
            Expect::Possible => Some(Verdict::Possible),
            Expect::Past => Some(Verdict::Past),
            Expect::RuledOut => Some(Verdict::RuledOut),
            Expect::NotChecked => Some(Verdict::NotChecked),
            Expect::Quiet => None,
        }
    }
}
