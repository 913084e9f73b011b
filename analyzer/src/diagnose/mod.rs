//! The diagnosis: assessments of all rules become incidents, a differential and their context.

mod about;
mod apart;
mod beside;
mod cited;
mod context;
mod coverage;
mod differential;
mod error;
pub mod examples;
pub(crate) mod fill_in;
mod gpu_map;
mod hami;
mod incident;
mod input;
mod knows;
mod link;
mod naming;
mod no_bmc;
mod no_cluster;
mod own_units;
mod platform;
mod ranking;
mod seen;
mod standing;
mod state;
pub mod steps;
mod taken;
mod timeline;
mod together;
mod typed;
mod unexplained;
mod waiting;

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

pub use error::AnalyzeError;
pub use standing::{Examined, Judged, Proposal, Reading, Standing};

use casefile_bundle::Keys;
use chrono::{DateTime, Utc};

use crate::change::captured::Captured;
use crate::derive::{self, Added};
use crate::facts::text::{NewestDate, TimedLine};
use crate::facts::{Fact, FactType};
use crate::join::{Member, Unit};

use crate::model::{Analysis, Considered, Place, Problem, RulesUsed, Seen, Unexplained, Verdict};
use crate::parsers::{HostLine, HostSays};
use crate::rules::engine::{self, Assessment};
use crate::rules::file::Kind;
use crate::rules::{RuleError, RuleSet};
use crate::scan::patterns::Patterns;
use crate::scan::{self, Budget, Documents, Router, Scanned, joined};
use crate::sources::Availability;
use crate::spread;

/// An analyzer that is ready to read inputs.
pub struct Analyzer {
    set: RuleSet,
    patterns: Patterns,
    router: Router,
    left_out: Vec<Problem>,
    keys: Option<Keys>,
    at: Option<DateTime<Utc>>,
    about: Option<String>,
    budget: Budget,
}

/// One input as it was read and judged.
struct Diagnosed<'r> {
    scanned: Scanned,
    added: Added,
    assessments: Vec<Assessment<'r>>,
    analysis: Analysis,
}

impl Analyzer {
    /// Compiles the rules for reading.
    pub fn new(mut set: RuleSet) -> Result<Self, AnalyzeError> {
        let lines = std::mem::take(&mut set.patterns);
        let (router, patterns) = spread::both(Router::new, || Patterns::new(lines));
        let bug = |error: &dyn std::fmt::Display| AnalyzeError::Patterns(error.to_string());
        Ok(Self {
            patterns: patterns.with_tests(set.tests()),
            router: router.map_err(|error| bug(&error))?,
            set,
            left_out: Vec::new(),
            keys: None,
            at: None,
            about: None,
            budget: Budget::default(),
        })
    }

    /// Notes rule files that could not be used, for the problems of every analysis.
    pub fn without(mut self, faults: &[RuleError]) -> Self {
        let noted = faults.iter().map(|fault| Problem {
            place: Place::default(),
            text: format!("rule file {fault}; this rule is left out, the others ran"),
        });
        self.left_out.extend(noted);
        self
    }

    /// Opens encrypted inputs with these keys.
    pub fn opening_with(mut self, keys: Option<Keys>) -> Self {
        self.keys = keys;
        self
    }

    /// Keeps no more of an input than this.
    pub fn within(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// What reads an input.
    pub(super) fn reading(&self) -> (&Patterns, &Router, Budget) {
        (&self.patterns, &self.router, self.budget)
    }

    /// Judges as of a moment: what was said later is not known yet, and what ended later still holds.
    pub fn as_of(mut self, at: Option<DateTime<Utc>>) -> Self {
        self.at = at;
        self
    }

    /// Answers about this thing first: `pod/<ns>/<name>` or `node/<name>`.
    pub fn asking_about(mut self, subject: Option<String>) -> Self {
        self.about = subject;
        self
    }

    /// An input as this analyzer opens it.
    pub fn input<'a>(&'a self, path: &'a Path) -> casefile_bundle::Input<'a> {
        casefile_bundle::Input::new(path, self.keys.as_ref())
    }

    /// Reads one input and derives what follows, without judging it.
    pub fn read(&self, input: &Path) -> Result<Scanned, AnalyzeError> {
        let mut scanned = scan::scan(self.input(input), &self.patterns, &self.router, self.budget)
            .map_err(AnalyzeError::Open)?;
        derive::run(&mut scanned);
        Ok(scanned)
    }

    /// Reads one input and diagnoses it.
    pub fn analyze(&self, input: &Path) -> Result<Analysis, AnalyzeError> {
        Ok(self.examine(input)?.analysis)
    }

    /// The same for what is analysed as one.
    pub fn analyze_unit(&self, unit: &Unit) -> Result<Analysis, AnalyzeError> {
        let Examined {
            analysis, reading, ..
        } = self.examine_unit(unit)?;
        spread::aside(|| drop(reading));
        Ok(analysis)
    }

    /// The same for the last that a program analyses: what was read ends with the program, for to take it apart is time for
    /// nothing, and what only derivers read of it goes before it is judged.
    pub fn analyze_last(&self, unit: &Unit) -> Result<Analysis, AnalyzeError> {
        match unit {
            Unit::Alone(input) => {
                let Diagnosed {
                    scanned,
                    assessments,
                    analysis,
                    ..
                } = self.diagnosed(input, derive::let_go)?;
                let _lasting = ManuallyDrop::new((scanned, assessments));
                Ok(analysis)
            }
            Unit::Joined(_) => self.analyze_unit(unit),
        }
    }

    /// Reads one input, diagnoses it and fills in the changes that the rules propose.
    pub fn examine(&self, input: &Path) -> Result<Examined, AnalyzeError> {
        let Diagnosed {
            mut scanned,
            added,
            assessments,
            analysis,
        } = self.diagnosed(input, |_| ())?;
        let proposals = standing::proposals(&analysis, &assessments, &[]);
        let separate = added.take_out(&mut scanned);
        Ok(Examined {
            proposals,
            analysis,
            reading: Reading {
                unit: Unit::Alone(input.to_owned()),
                pasted: standing::pasted(&scanned),
                scanned: separate.then_some(scanned),
            },
        })
    }

    /// Reads one input and diagnoses it; `derived` is done with what was read once nothing more is derived from it.
    fn diagnosed(
        &self,
        input: &Path,
        derived: impl FnOnce(&mut Scanned),
    ) -> Result<Diagnosed<'_>, AnalyzeError> {
        let mut scanned = scan::scan(self.input(input), &self.patterns, &self.router, self.budget)
            .map_err(AnalyzeError::Open)?;
        let added = derive::run(&mut scanned);
        let available = Availability::of(&scanned.summary, &scanned.paths);
        let apart = self.assess_apart(input, &scanned)?;
        derived(&mut scanned);
        let (assessments, left, told) = match apart {
            Some(apart) => (apart.best, apart.left, Some(apart.told)),
            None => {
                let all = engine::assess(
                    &self.set,
                    &scanned.facts,
                    &scanned.hits,
                    &available,
                    self.at,
                );
                let left = self.left(&scanned, &all);
                (all, left, None)
            }
        };
        let mut analysis = self.conclude(input, &scanned, &assessments, left, available);
        let unchecked = coverage::leak_check(input, &scanned.summary);
        analysis
            .problems
            .splice(0..0, told.into_iter().chain(unchecked));
        Ok(Diagnosed {
            scanned,
            added,
            assessments,
            analysis,
        })
    }

    /// The same for what is analysed as one.
    pub fn examine_unit(&self, unit: &Unit) -> Result<Examined, AnalyzeError> {
        match unit {
            Unit::Alone(input) => self.examine(input),
            Unit::Joined(members) => self.examine_joined(members),
        }
    }

    /// Judges what was read as if the entries named in `instead` held those texts; the input is read anew
    /// only where it has to be.
    pub fn judge_again(
        &self,
        reading: &Reading,
        instead: &Documents,
    ) -> Result<Judged, AnalyzeError> {
        let scanned = reading.scanned.as_ref();
        match scanned.and_then(|one| one.again(&self.patterns, &self.router, instead)) {
            Some(mut scanned) => {
                scanned.replayed = !instead.is_empty();
                Ok(self.judged(scanned))
            }
            None => match &reading.unit {
                Unit::Alone(input) => self.judge(input, instead),
                Unit::Joined(members) => self.judge_joined(members, instead),
            },
        }
    }

    /// Reads the bundles of a cluster's nodes, newest first, and diagnoses them as one. Each change that the rules
    /// propose is for the nodes that its evidence is about.
    fn examine_joined(&self, members: &[Member]) -> Result<Examined, AnalyzeError> {
        let mut scanned = self.scan_joined(members, &Documents::new())?;
        derive::run(&mut scanned);
        let available = Availability::joined(members).with_leftovers(&scanned.leftovers);
        let mut assessments = engine::assess(
            &self.set,
            &scanned.facts,
            &scanned.hits,
            &available,
            self.at,
        );
        name_nodes(&mut assessments);
        let input = members.first().map_or(Path::new(""), |one| &one.input);
        let left = self.left(&scanned, &assessments);
        let mut analysis = self.conclude(input, &scanned, &assessments, left, available);
        let unchecked = members
            .iter()
            .filter_map(|one| coverage::leak_check(&one.input, &one.summary));
        analysis.problems.splice(0..0, unchecked);
        together::describe(&mut analysis.input, members);
        let nodes: Vec<&str> = members.iter().map(|one| one.node.as_str()).collect();
        Ok(Examined {
            proposals: standing::proposals(&analysis, &assessments, &nodes),
            analysis,
            reading: Reading {
                unit: Unit::Joined(members.to_vec()),
                pasted: Documents::new(),
                scanned: None,
            },
        })
    }

    fn scan_joined(
        &self,
        members: &[Member],
        instead: &Documents,
    ) -> Result<Scanned, AnalyzeError> {
        let keys = self.keys.as_ref();
        joined::scan(members, keys, self.reading(), instead).map_err(AnalyzeError::Open)
    }

    fn judge_joined(
        &self,
        members: &[Member],
        instead: &Documents,
    ) -> Result<Judged, AnalyzeError> {
        let mut scanned = self.scan_joined(members, instead)?;
        scanned.replayed = !instead.is_empty();
        derive::run(&mut scanned);
        let available = Availability::joined(members).with_leftovers(&scanned.leftovers);
        Ok(self.standings(scanned, &available))
    }

    /// What was collected, for changes to be applied to a copy of it.
    pub fn captured(&self, reading: &Reading) -> Result<Captured, AnalyzeError> {
        let captured = match &reading.unit {
            Unit::Alone(input) => Captured::open(self.input(input)).map_err(AnalyzeError::Open)?,
            Unit::Joined(members) => Captured::joined(members, self.keys.as_ref()),
        };
        Ok(captured.with_pasted(reading.pasted.clone()))
    }

    /// Judges the input as if the entries named in `instead` held those texts: once with all that was
    /// said, once on the captured state alone.
    pub fn judge(&self, input: &Path, instead: &Documents) -> Result<Judged, AnalyzeError> {
        let mut scanned = scan::scan_with(self.input(input), self.reading(), instead)
            .map_err(AnalyzeError::Open)?;
        scanned.replayed = !instead.is_empty();
        Ok(self.judged(scanned))
    }

    fn judged(&self, mut scanned: Scanned) -> Judged {
        derive::run(&mut scanned);
        let available = Availability::of(&scanned.summary, &scanned.paths);
        self.standings(scanned, &available)
    }

    fn standings(&self, mut scanned: Scanned, available: &Availability) -> Judged {
        let of = |scanned: &Scanned| -> Vec<Standing> {
            let all = engine::assess(&self.set, &scanned.facts, &scanned.hits, available, self.at);
            all.iter().filter_map(Standing::of).collect()
        };
        let assessments =
            engine::assess(&self.set, &scanned.facts, &scanned.hits, available, self.at);
        let all = assessments.iter().filter_map(Standing::of).collect();
        let left = self.left(&scanned, &assessments).into_iter();
        let unexplained = left.map(|one| one.subject).collect();
        let pods = steps::of(&scanned.facts);
        standing::forget_history(&mut scanned);
        Judged {
            all,
            unexplained,
            pods,
            state: of(&scanned),
        }
    }

    /// What fails and none of the causes explains.
    fn left(&self, scanned: &Scanned, assessments: &[Assessment<'_>]) -> Vec<Unexplained> {
        let causes: Vec<_> = assessments
            .iter()
            .filter(|one| one.rule.file.kind == Kind::Cause)
            .collect();
        let known = |id: &str| {
            let rule = self.set.rules.iter().find(|rule| rule.file.id == id);
            rule.map(|rule| rule.file.title.clone())
        };
        let ranked = ranking::rank(&causes);
        unexplained::entries(&scanned.facts, &ranked, &known)
    }

    fn conclude(
        &self,
        input: &Path,
        scanned: &Scanned,
        assessments: &[Assessment<'_>],
        mut unexplained: Vec<Unexplained>,
        available: Availability,
    ) -> Analysis {
        let (causes, benign): (Vec<_>, Vec<_>) = assessments
            .iter()
            .partition(|one| one.rule.file.kind == Kind::Cause);
        let ranked = ranking::rank(&causes);
        let links = link::links(&ranked);
        let incidents = || {
            let roots = link::roots(&ranked, &links).into_iter();
            let build = |one| incident::build(one, &ranked, &links.to_roots(), scanned);
            let mut incidents: Vec<_> = roots.map(build).collect();
            waiting::attribute(&scanned.facts, &ranked, &mut incidents);
            ranking::by_weight(&scanned.facts, &mut incidents);
            incidents
        };
        let (mut incidents, (state, seen)) = spread::both(incidents, || {
            (state::build(&scanned.facts), seen::seen(scanned))
        });
        let mut differential =
            differential::rows(&ranked, links.direct(), &link::readings(&ranked, &links));
        unexplained::as_possible(&mut unexplained, &mut differential);
        let asked = self.about.as_deref().map(|subject| {
            about::answer(subject, &scanned.facts, &mut incidents, &mut unexplained)
        });
        let reference_time = input::reference_time(scanned, assessments);
        let timeline = timeline::build(scanned, &incidents);
        let not_read: Vec<&str> = crate::scan::not_read(&scanned.problems).collect();
        let mut analysis = Analysis {
            input: input::describe(input, &scanned.summary),
            about: asked,
            reference_time,
            coverage: coverage::complete(
                available
                    .with_pieces(&scanned.origins)
                    .with_captures(&scanned.plan, &scanned.paths, &not_read)
                    .into_coverage(),
                &differential,
                assessments,
            )
            .into_iter()
            .chain(coverage::unsaid(scanned))
            .collect(),
            problems: self
                .left_out
                .iter()
                .cloned()
                .chain(coverage::problems(scanned))
                .collect(),
            impact: context::impact(scanned, &incidents),
            clocks: seen::clocks(scanned),
            environment: context::environment(&scanned.facts),
            benign: benign
                .into_iter()
                .filter_map(differential::benign)
                .collect(),
            incidents,
            differential,
            unexplained,
            timeline,
            state,
            seen,
            digests: BTreeMap::new(),
            rules: RulesUsed {
                count: u64::try_from(self.set.rules.len()).unwrap_or(u64::MAX),
                digest: self.set.digest.clone(),
            },
        };
        if !is_understood(scanned, &analysis) {
            analysis.seen.format = Seen::NOTHING.to_owned();
        }
        analysis.digests = cited::digests(&analysis, &scanned.summary);
        typed::attribute(&scanned.facts, &mut analysis.incidents);
        beside::date(&scanned.facts, &mut analysis);
        naming::name(&mut analysis);
        fill_in::fill(&mut analysis);
        own_units::name(&scanned.facts, &mut analysis);
        platform::name(&scanned.facts, &mut analysis);
        taken::leave_out(&mut analysis);
        no_bmc::leave_out(&mut analysis, scanned);
        no_cluster::leave_out(&mut analysis, scanned);
        analysis
    }
}

/// Whether anything in an input was understood: that no cause was found in it would say nothing otherwise.
fn is_understood(scanned: &Scanned, analysis: &Analysis) -> bool {
    let ours = scanned.summary.header.is_some() || scanned.summary.manifest.is_some();
    let judged = |one: &Considered| one.verdict != Verdict::NotChecked;
    ours || scanned.plan.tells
        || scanned.facts.kinds().any(|kind| tells(kind, scanned))
        || !scanned.documents.is_empty()
        || analysis.differential.iter().any(judged)
        || !analysis.benign.is_empty()
        || !analysis.timeline.is_empty()
}

/// Whether facts of a kind tell anything: that a line has a time, or dates others, is nothing yet.
fn tells(kind: &str, scanned: &Scanned) -> bool {
    let is_clock = |line: &Fact<HostLine>| matches!(line.data.says, HostSays::Clock(_));
    match kind {
        TimedLine::KIND | NewestDate::KIND => false,
        HostLine::KIND => !scanned.facts.table::<HostLine>().iter().all(is_clock),
        _ => true,
    }
}

/// Says of each line which node it is about, where several were collected and its sentence does not.
fn name_nodes(assessments: &mut [Assessment<'_>]) {
    let sightings = assessments.iter_mut().flat_map(|one| one.seen.values_mut());
    for sighting in sightings.flatten() {
        if !sighting.node.is_empty() && !sighting.says.contains(sighting.node.as_str()) {
            let sighting = Arc::make_mut(sighting);
            sighting.says = format!("{} (node {})", sighting.says, sighting.node);
        }
    }
}
