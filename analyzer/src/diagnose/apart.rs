//! Loose text of several clusters: each cluster's lines are read and judged by themselves.

use std::path::Path;

use casefile_bundle::Limits;

use super::{AnalyzeError, Analyzer};
use crate::derive;
use crate::join::apart::Apart;
use crate::loose;
use crate::model::{Place, Problem, Unexplained};
use crate::rules::engine::{self, Assessment};
use crate::scan::{self, Documents, Scanned};
use crate::sources::Availability;

/// What the lines of several clusters say, each judged by themselves.
pub(super) struct Judged<'r> {
    /// Of each cause the best verdict that any cluster's own lines give it.
    pub(super) best: Vec<Assessment<'r>>,
    /// What fails in a cluster and no cause of that cluster explains.
    pub(super) left: Vec<Unexplained>,
    /// Which clusters these are.
    pub(super) told: Problem,
}

impl Analyzer {
    /// The best verdict that any cluster's own lines give each cause; none where the input is of one cluster as far
    /// as it says. A bundle is of one.
    pub(super) fn assess_apart(
        &self,
        input: &Path,
        scanned: &Scanned,
    ) -> Result<Option<Judged<'_>>, AnalyzeError> {
        if scanned.summary.header.is_some() {
            return Ok(None);
        }
        let Some(apart) = Apart::of(&scanned.facts, &scanned.paths) else {
            return Ok(None);
        };
        let mut best: Vec<Assessment<'_>> = Vec::new();
        let mut left = Vec::new();
        for (cluster, part) in apart.parts().into_iter().enumerate() {
            let instead = self.others_blank(input, scanned, &apart, part);
            let mut own = scan::scan_with(self.input(input), self.reading(), &instead)
                .map_err(AnalyzeError::Open)?;
            derive::run(&mut own);
            let available = Availability::of(&own.summary, &own.paths);
            let mut judged = engine::assess(&self.set, &own.facts, &own.hits, &available, self.at);
            judged.iter_mut().for_each(|one| one.cluster = cluster);
            left.extend(self.left(&own, &judged));
            if best.is_empty() {
                best = judged;
                continue;
            }
            for (known, other) in best.iter_mut().zip(judged) {
                if surer(&other, known) {
                    *known = other;
                }
            }
        }
        let told = Problem {
            place: Place::default(),
            text: apart.told(),
        };
        Ok(Some(Judged { best, left, told }))
    }

    /// The entries of a folder as if only one part's lines stood there.
    fn others_blank(
        &self,
        input: &Path,
        scanned: &Scanned,
        apart: &Apart,
        part: Option<usize>,
    ) -> Documents {
        let most = usize::try_from(loose::LIMIT).unwrap_or(usize::MAX);
        let text = |path: &str| {
            let limits = Limits::default();
            let bytes = casefile_bundle::read_entry(self.input(input), &limits, path, most);
            let bytes = bytes.ok().flatten().unwrap_or_default();
            scan::plain_text(&bytes)
        };
        let mut instead = Documents::new();
        for path in &scanned.paths {
            match apart.holds(part, path) {
                Some(true) => {}
                Some(false) => {
                    instead.insert(path.clone(), String::new());
                }
                None => {
                    instead.insert(path.clone(), apart.blanked(part, path, &text(path)));
                }
            }
        }
        instead
    }
}

/// Whether one cluster's judgement says more than another's. What speaks against a cause in one cluster does not
/// acquit the other, so what is in play counts before what is ruled out.
fn surer(one: &Assessment<'_>, other: &Assessment<'_>) -> bool {
    match (one.verdict, other.verdict) {
        (Some(one), Some(other)) => one < other,
        (one, other) => one.is_some() && other.is_none(),
    }
}
