//! The causal picture: which cause explains which, and what is told as a root.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Place, Verdict};
use crate::rules::compile::Look;
use crate::rules::engine::Assessment;

/// Which live cause another live cause explains: (explained, by).
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Links<'r>(Vec<(&'r str, &'r str)>);

impl<'r> Links<'r> {
    /// Each explained cause with the cause right above it.
    pub(super) fn direct(&self) -> &[(&'r str, &'r str)] {
        &self.0
    }

    /// Each explained cause with the cause at the top of its chain, which it is a symptom of.
    pub(super) fn to_roots(&self) -> Vec<(&'r str, &'r str)> {
        let above: BTreeMap<&str, &'r str> = self.0.iter().copied().collect();
        let root = |mut id: &'r str| {
            // Rules are checked for cycles; the count guards against what was not checked.
            for _ in 0..self.0.len() {
                match above.get(id) {
                    Some(by) => id = by,
                    None => break,
                }
            }
            id
        };
        self.0
            .iter()
            .map(|(effect, by)| (*effect, root(by)))
            .collect()
    }

    fn explains(&self, id: &str) -> bool {
        self.0.iter().any(|(effect, _)| *effect == id)
    }
}

/// Links live causes, of which the ranked list gives the best first.
///
/// A cause explains another only if it is at least as sure. Of several that do, the nearest explains it, so that the picture is a chain.
pub(super) fn links<'r>(ranked: &[&Assessment<'r>]) -> Links<'r> {
    let live: Vec<&Assessment<'r>> = ranked
        .iter()
        .copied()
        .filter(|one| one.verdict.is_some_and(Verdict::is_live))
        .collect();
    let mut found = Vec::new();
    for effect in &live {
        let id = effect.rule.file.id.as_str();
        let names = |cause: &Assessment<'r>, effect: &str| {
            cause.rule.file.explains.iter().any(|one| one == effect)
        };
        let candidates: Vec<&&Assessment<'r>> = live
            .iter()
            .filter(|cause| cause.verdict <= effect.verdict && names(cause, id))
            .collect();
        // One that is itself explained by another candidate is nearer to the effect.
        let nearest = candidates.iter().find(|one| {
            candidates
                .iter()
                .any(|other| names(other, &one.rule.file.id) && other.verdict <= one.verdict)
        });
        if let Some(by) = nearest.or(candidates.first()) {
            found.push((id, by.rule.file.id.as_str()));
        }
    }
    Links(found)
}

/// The causes that are told: those that no other explains, as sure as the best ones, with lines of their own, and a
/// catch-all only where nothing more specific holds.
pub(super) fn roots<'a, 'r>(
    ranked: &[&'a Assessment<'r>],
    links: &Links<'r>,
) -> Vec<&'a Assessment<'r>> {
    let told = unexplained(ranked, links);
    let is_root = |one: &&Assessment<'r>| better(one, &told).is_none();
    told.iter().copied().filter(is_root).collect()
}

/// Causes that are not told because another tells the same better: (cause, by). They are not claimed any more.
pub(super) fn readings<'r>(
    ranked: &[&Assessment<'r>],
    links: &Links<'r>,
) -> Vec<(&'r str, &'r str)> {
    let told = unexplained(ranked, links);
    let by = |one: &&Assessment<'r>| {
        let better = better(one, &told)?;
        Some((one.rule.file.id.as_str(), better.rule.file.id.as_str()))
    };
    told.iter().filter_map(by).collect()
}

/// The causes that no other explains, as sure as the best ones.
fn unexplained<'a, 'r>(
    ranked: &[&'a Assessment<'r>],
    links: &Links<'r>,
) -> Vec<&'a Assessment<'r>> {
    let weakest = weakest_told(ranked);
    ranked
        .iter()
        .copied()
        .filter(|one| one.verdict.is_some_and(|verdict| verdict <= weakest))
        .filter(|one| !links.explains(&one.rule.file.id))
        .collect()
}

/// The cause that tells the same better: a specific one than a catch-all, a surer one of the same lines.
fn better<'a, 'r>(one: &Assessment<'r>, told: &[&'a Assessment<'r>]) -> Option<&'a Assessment<'r>> {
    let specific = |other: &&&Assessment<'r>| {
        // What rests on the line of a catch-all names the same trouble, and may be the less sure name of it.
        let as_sure = other.verdict <= one.verdict && overlap(one, other);
        let is_likely = other.verdict <= Some(Verdict::Likely) && share_a_line(one, other);
        !other.rule.file.catch_all && (as_sure || is_likely)
    };
    let of_same = || told.iter().filter(|other| other.cluster == one.cluster);
    let is_general = one.rule.file.catch_all;
    let specific = of_same().filter(|_| is_general).find(specific);
    let surer = || of_same().find(|other| reads_the_same(one, other));
    specific.or_else(surer).copied()
}

/// Whether a cause is only another, less sure reading of lines that a surer one rests on: it has no evidence of its
/// own, so it is no second trouble. A deeper cause is no other reading but the way down.
fn reads_the_same(one: &Assessment<'_>, surer: &Assessment<'_>) -> bool {
    let deeper = surer.rule.file.id.as_str();
    if surer.verdict >= one.verdict || one.rule.file.explains.iter().any(|id| id == deeper) {
        return false;
    }
    let Some(group) = one.decided_by else {
        return false;
    };
    let asked = group.all.iter().chain(&group.any).map(String::as_str);
    let own: Vec<&str> = asked.filter(|name| one.seen.contains_key(name)).collect();
    // Two facts may stand at one place and be different evidence; a line is one.
    let are_lines = own.iter().all(|name| of_line(one, name));
    let known: BTreeSet<&Place> = surer
        .seen
        .iter()
        .filter(|(name, _)| of_line(surer, name))
        .flat_map(|(_, sightings)| sightings.iter().map(|sighting| &sighting.place))
        .collect();
    let mut places = own.iter().flat_map(|name| &one.seen[name]);
    !own.is_empty() && are_lines && places.all(|sighting| known.contains(&sighting.place))
}

fn of_line(one: &Assessment<'_>, signal: &str) -> bool {
    matches!(one.rule.looks.get(signal), Some(Look::Line(_)))
}

/// The weakest verdict that is told as an incident. What is merely possible is told only where
/// nothing better is known; it always stands in the differential.
fn weakest_told(ranked: &[&Assessment<'_>]) -> Verdict {
    match ranked.first().and_then(|best| best.verdict) {
        Some(Verdict::Confirmed | Verdict::Likely) => Verdict::Likely,
        _ => Verdict::Possible,
    }
}

fn share_a_line(one: &Assessment<'_>, other: &Assessment<'_>) -> bool {
    let lines = |of| places(of).filter(|place: &&Place| place.line.is_some());
    meet(&lines(one).collect(), lines(other))
}

fn places<'a>(of: &'a Assessment<'_>) -> impl Iterator<Item = &'a Place> {
    of.seen.values().flatten().map(|sighting| &sighting.place)
}

/// Whether two causes are about the same thing: they belong to one family, or rest on one line or subject.
fn overlap(one: &Assessment<'_>, other: &Assessment<'_>) -> bool {
    let known = || places(one).collect::<BTreeSet<&Place>>();
    one.rule.file.family == other.rule.file.family
        || share_a_subject(one, other)
        || meet(&known(), places(other))
}

fn share_a_subject(one: &Assessment<'_>, other: &Assessment<'_>) -> bool {
    let known: BTreeSet<&str> = subjects(one).collect();
    meet(&known, subjects(other))
}

fn subjects<'a>(of: &'a Assessment<'_>) -> impl Iterator<Item = &'a str> {
    let all = of.seen.values().flatten();
    let subjects = all.map(|sighting| sighting.subject.as_str());
    subjects.filter(|subject| !subject.is_empty())
}

fn meet<T: Ord>(known: &BTreeSet<T>, mut others: impl Iterator<Item = T>) -> bool {
    !known.is_empty() && others.any(|other| known.contains(&other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::compile::{Rule, Trust, compile};

    fn rule(id: &str, family: &str, explains: &str, catch_all: bool) -> Rule {
        let text = format!(
            "id: {id}\ntitle: T\nfamily: {family}\nseverity: low\ncatch_all: {catch_all}\nexplains: [{explains}]\nsignals:\n  s:\n    line: broken\n    says: it is\nlikely:\n  - all: [s]\nrefuted_by: [{{ state: all-well }}]\n"
        );
        compile(
            &format!("{id}.yaml"),
            &text,
            Trust::Foreign,
            &crate::rules::messages::Vocabulary::default(),
            &mut Vec::new(),
        )
        .unwrap()
    }

    fn assessed(rule: &Rule, verdict: Verdict) -> Assessment<'_> {
        Assessment {
            rule,
            verdict: Some(verdict),
            seen: BTreeMap::new(),
            missing: Vec::new(),
            decided_by: None,
            held_back: None,
            looked_at: Vec::new(),
            cluster: 0,
        }
    }

    /// The ids of the roots, and each explained cause with its direct and its last explanation.
    fn picture(causes: &[(Rule, Verdict)]) -> (Vec<String>, Vec<String>) {
        let mut all: Vec<Assessment<'_>> = causes
            .iter()
            .map(|(rule, verdict)| assessed(rule, *verdict))
            .collect();
        all.sort_by_key(|one| one.verdict);
        let ranked: Vec<&Assessment<'_>> = all.iter().collect();
        let links = links(&ranked);
        let roots = roots(&ranked, &links);
        let linked = links.direct().iter().zip(links.to_roots());
        (
            roots.iter().map(|one| one.rule.file.id.clone()).collect(),
            linked
                .map(|((effect, by), (_, root))| format!("{effect}<{by}<{root}"))
                .collect(),
        )
    }

    /// What is not claimed since another cause tells it better.
    fn told_as(causes: &[(Rule, Verdict)]) -> Vec<(String, String)> {
        let all: Vec<Assessment<'_>> = causes
            .iter()
            .map(|(rule, verdict)| assessed(rule, *verdict))
            .collect();
        let ranked: Vec<&Assessment<'_>> = all.iter().collect();
        let owned = |(one, by): (&str, &str)| (one.to_owned(), by.to_owned());
        readings(&ranked, &links(&ranked))
            .into_iter()
            .map(owned)
            .collect()
    }

    #[test]
    fn the_deepest_of_a_chain_is_the_root_and_keeps_all_its_effects() {
        let (roots, links) = picture(&[
            (rule("effect", "f", "", false), Verdict::Confirmed),
            (rule("middle", "f", "effect", false), Verdict::Confirmed),
            (
                rule("deep", "f", "middle, effect", false),
                Verdict::Confirmed,
            ),
        ]);
        assert_eq!(roots, ["deep"]);
        assert_eq!(links, ["effect<middle<deep", "middle<deep<deep"]);
    }

    #[test]
    fn a_deeper_cause_that_is_less_sure_does_not_take_over() {
        let (roots, links) = picture(&[
            (rule("effect", "f", "", false), Verdict::Confirmed),
            (rule("deep", "f", "effect", false), Verdict::Possible),
        ]);
        assert_eq!(roots, ["effect"]);
        assert!(links.is_empty());
    }

    #[test]
    fn unrelated_causes_stand_apart() {
        let (roots, _) = picture(&[
            (rule("one", "f", "", false), Verdict::Confirmed),
            (rule("two", "g", "", false), Verdict::Likely),
            (rule("weak", "g", "", false), Verdict::Possible),
        ]);
        assert_eq!(roots, ["one", "two"]);
    }

    #[test]
    fn a_catch_all_is_told_only_where_nothing_specific_holds() {
        let general = || (rule("general", "f", "", true), Verdict::Likely);
        assert_eq!(picture(&[general()]).0, ["general"]);
        let specific = |verdict| (rule("specific", "f", "", false), verdict);
        assert_eq!(
            picture(&[general(), specific(Verdict::Likely)]).0,
            ["specific"]
        );
        assert_eq!(
            picture(&[general(), specific(Verdict::Possible)]).0,
            ["general"]
        );
        assert_eq!(
            told_as(&[general(), specific(Verdict::Likely)]),
            [("general".to_owned(), "specific".to_owned())],
            "it is not claimed beside the specific one"
        );
        let elsewhere = (rule("elsewhere", "g", "", false), Verdict::Likely);
        assert_eq!(picture(&[general(), elsewhere]).0.len(), 2);
    }

    /// What is told of a surer and a weaker cause that rest on lines of `x` with these numbers.
    fn told(surer: (&str, u32), weaker: (&str, u32), explains: &str) -> usize {
        use std::sync::Arc;

        use crate::rules::engine::Sighting;
        let rules = [
            rule(surer.0, "f", "", false),
            rule(weaker.0, "g", explains, false),
        ];
        let seen = |line: u32| {
            let place = Place {
                path: "x".into(),
                line: Some(line),
            };
            Sighting::of_place(place)
        };
        let verdicts = [Verdict::Confirmed, Verdict::Likely];
        let all: Vec<Assessment<'_>> = rules
            .iter()
            .zip(verdicts)
            .zip([surer.1, weaker.1])
            .map(|((rule, verdict), line)| Assessment {
                seen: BTreeMap::from([("s", vec![Arc::new(seen(line))])]),
                decided_by: rule.file.likely.first(),
                ..assessed(rule, verdict)
            })
            .collect();
        let ranked: Vec<&Assessment<'_>> = all.iter().collect();
        roots(&ranked, &links(&ranked)).len()
    }

    #[test]
    fn a_weaker_reading_of_the_same_lines_is_no_second_trouble() {
        assert_eq!(told(("one", 1), ("other", 1), ""), 1);
        assert_eq!(
            told(("one", 1), ("other", 2), ""),
            2,
            "it has a line of its own"
        );
        assert_eq!(
            told(("one", 1), ("deep", 1), "one"),
            2,
            "it is the way down"
        );
    }

    #[test]
    fn what_is_ruled_out_explains_nothing() {
        let (roots, links) = picture(&[
            (rule("effect", "f", "", false), Verdict::Likely),
            (rule("deep", "f", "effect", false), Verdict::RuledOut),
        ]);
        assert_eq!(roots, ["effect"]);
        assert!(links.is_empty());
    }
}
