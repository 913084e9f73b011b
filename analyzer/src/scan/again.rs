//! What was scanned, as if some entries held other texts: only those are read again.

use super::patterns::Patterns;
use super::settled::Settling;
use super::spill::Spill;
use super::{Budget, Documents, Gather, Router, Scanned};
use crate::model::Place;

impl Scanned {
    /// The same scan with the texts of `instead` in their entries; the input is not read. None where what
    /// those entries gave cannot be told from what others gave, so that only a new scan can say.
    ///
    /// What derivers added must have been taken out before.
    pub fn again(
        &self,
        patterns: &Patterns,
        router: &Router,
        instead: &Documents,
    ) -> Option<Scanned> {
        let stays = |path: &str| !instead.contains_key(path);
        let shared = self.hits.iter().any(|hit| {
            let mut paths = hit.also.iter().chain([&hit.place.path]);
            hit.is_wide() || (!hit.also.is_empty() && paths.any(|path| !stays(path)))
        });
        if shared || !self.origins.is_empty() {
            return None;
        }
        let (spill, settling) = (Spill::default(), Settling::new(Budget::default()));
        let mut gather = Gather::new(patterns, router, (&spill, &settling));
        gather.facts = self.facts.kept(&|place: &Place| stays(&place.path));
        let hits = self.hits.iter().filter(|hit| stays(&hit.place.path));
        hits.for_each(|hit| settling.lock().loose_hit(hit.clone()));
        let documents = self.documents.iter().filter(|(path, _)| stays(path));
        gather.documents = documents.map(|(a, b)| (a.clone(), b.clone())).collect();
        gather.kept = gather.documents.values().map(String::len).sum();
        let paths = self.paths.iter().filter(|path| stays(path));
        gather.paths = paths.cloned().collect();
        gather.texts(instead);
        gather.paths.sort();
        Some(gather.finish(self.summary.clone()))
    }
}
