//! From what was seen to a verdict: which groups hold, what speaks against them, and what still holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compile::Rule;
use super::file::Refutation;
use super::group::{self, Holding};
use super::sighting::Sighting;
use super::unwell::{self, Unwell};
use super::weigh;
use crate::dress::Voice;
use crate::model::{Place, Verdict};

/// Something that speaks against a cause, and what was found where it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked<'r> {
    /// What it is, as the rule says it.
    pub refutation: &'r Refutation,
    /// Whether it is so; none where nothing of it was collected.
    pub found: Option<bool>,
    /// What was found, or was not collected.
    pub what: String,
    /// Where that stands.
    pub place: Option<Place>,
    /// It was found, and the fault comes and goes.
    pub between: bool,
}

/// Looks at everything that speaks against a cause of which a group holds.
pub(super) fn look<'r>(
    rule: &'r Rule,
    unwell: &Unwell<'_>,
    holding: &Holding<'_>,
    seen: &BTreeMap<&str, Vec<Arc<Sighting>>>,
) -> Vec<Looked<'r>> {
    let shared = holding.shared.as_deref();
    let decisive = unwell::deciding(holding.group, shared, seen);
    let nodes: BTreeSet<&str> = decisive
        .iter()
        .flatten()
        .map(|one| one.node.as_str())
        .collect();
    let about = |one: &&Arc<Sighting>| {
        one.over.is_none()
            && one.voice != Voice::Bare
            && (one.node.is_empty() || nodes.contains("") || nodes.contains(one.node.as_str()))
    };
    let looked = rule.file.refuted_by.iter().map(|refutation| {
        let looked = match (&refutation.signal, refutation.state) {
            (Some(signal), _) => {
                let all = seen.get(signal.as_str()).map_or(&[][..], Vec::as_slice);
                match all.iter().find(about) {
                    Some(one) => unwell::Look::Found(one.says.clone(), Some(one.place.clone())),
                    None => unwell::Look::NotCollected("no line or fact says so"),
                }
            }
            (None, Some(state)) => unwell.look(state, &decisive),
            (None, None) => unwell::Look::NotCollected("nothing that shows it"),
        };
        let (found, what, place) = match looked {
            unwell::Look::Found(what, place) => (Some(true), what, place),
            unwell::Look::Otherwise(what, place) => (Some(false), what, place),
            unwell::Look::NotCollected(what) => (None, what.to_owned(), None),
        };
        Looked {
            refutation,
            found,
            what,
            place,
            between: false,
        }
    });
    looked.map(|one| between(one, seen)).collect()
}

/// What was found of a fault that comes and goes was found between two of its times.
fn between<'r>(one: Looked<'r>, seen: &BTreeMap<&str, Vec<Arc<Sighting>>>) -> Looked<'r> {
    let again = one.refutation.unless.as_deref();
    let again = again.is_some_and(|signal| seen.contains_key(signal));
    match again && one.found == Some(true) {
        true => Looked {
            found: Some(false),
            between: true,
            ..one
        },
        false => one,
    }
}

/// A verdict, what it rests on, and why it is not surer.
#[derive(Default)]
pub(super) struct Judged<'r> {
    pub(super) verdict: Option<Verdict>,
    pub(super) holding: Option<Holding<'r>>,
    pub(super) held_back: Option<String>,
}

/// Judges what still holds; and where that is nothing, what was.
pub(super) fn judge_now<'r>(
    rule: &'r Rule,
    unwell: Option<&Unwell<'_>>,
    seen: &mut BTreeMap<&'r str, Vec<Arc<Sighting>>>,
    incomplete: bool,
) -> Judged<'r> {
    let is_over = |one: &Arc<Sighting>| one.over.is_some();
    // What this start of the machine shows is told before what an earlier one did, also where that lasts.
    let is_earlier = |one: &Arc<Sighting>| one.earlier_boot;
    seen.values_mut()
        .for_each(|all| all.sort_by_key(is_earlier));
    if !seen.values().flatten().any(is_over) {
        return judge(rule, unwell, seen, incomplete);
    }
    let mut lasting: BTreeMap<&str, Vec<Arc<Sighting>>> = seen.clone();
    lasting
        .values_mut()
        .for_each(|all| all.retain(|one| !is_over(one)));
    lasting.retain(|_, all| !all.is_empty());
    let now = judge(rule, unwell, &lasting, incomplete);
    // What still holds is told first, and fills the sentences.
    seen.values_mut().for_each(|all| all.sort_by_key(is_over));
    if now.verdict.is_some_and(Verdict::is_live) {
        return now;
    }
    let then = judge(rule, None, seen, incomplete);
    if then.verdict.is_some_and(Verdict::is_live) {
        return Judged {
            verdict: Some(Verdict::Past),
            ..then
        };
    }
    now
}

fn judge<'r>(
    rule: &'r Rule,
    unwell: Option<&Unwell<'_>>,
    seen: &BTreeMap<&str, Vec<Arc<Sighting>>>,
    incomplete: bool,
) -> Judged<'r> {
    let file = &rule.file;
    let levels = [
        (Verdict::Confirmed, &file.confirmed),
        (Verdict::RuledOut, &file.ruled_out),
        (Verdict::Likely, &file.likely),
        (Verdict::Possible, &file.possible),
    ];
    let mut best = Judged::default();
    for (level, groups) in levels {
        for holding in groups.iter().filter_map(|one| group::holds(one, seen)) {
            let shared = holding.shared.as_deref();
            if unwell.is_some_and(|unwell| unwell.is_behind(rule, holding.group, shared, seen)) {
                continue;
            }
            let verdict = weigh::capped(level, holding.group, shared, seen);
            let held_back = unwell
                .filter(|_| verdict < Verdict::Possible)
                .and_then(|unwell| held_back(rule, unwell, &holding, seen));
            let (verdict, held_back) = match held_back {
                Some((most, why)) => (verdict.max(most), Some(why)),
                None => (verdict, None),
            };
            let is_better = best.verdict.is_none_or(|known| verdict < known);
            // What speaks against it outweighs what is less than confirmed.
            let rules_out = level == Verdict::RuledOut
                && best.verdict.is_none_or(|known| known > Verdict::Confirmed);
            if is_better || rules_out {
                best = Judged {
                    verdict: Some(verdict),
                    holding: Some(holding),
                    held_back,
                };
            }
            if level == Verdict::RuledOut {
                break;
            }
        }
        if best
            .verdict
            .is_some_and(|known| known <= level || known == Verdict::RuledOut)
        {
            break;
        }
    }
    if best.verdict.is_none() && incomplete {
        best.verdict = Some(Verdict::NotChecked);
    }
    best
}

/// How sure a cause may be of which a group for confirmed or likely holds, where something holds it back, and what.
fn held_back(
    rule: &Rule,
    unwell: &Unwell<'_>,
    holding: &Holding<'_>,
    seen: &BTreeMap<&str, Vec<Arc<Sighting>>>,
) -> Option<(Verdict, String)> {
    let looked = look(rule, unwell, holding, seen);
    let says = |one: &Looked<'_>, what: &str| match &one.place {
        Some(place) => format!("{what}: {} ({place})", one.what),
        None => format!("{what}: {}", one.what),
    };
    let against = looked.iter().find(|one| one.found == Some(true));
    let against = against.map(|one| (Verdict::Possible, says(one, "speaks against it")));
    let nothing = || {
        let why = unwell.explains_nothing(rule, holding.group, holding.shared.as_deref(), seen)?;
        Some((Verdict::Possible, why))
    };
    let between = || {
        let one = looked.iter().find(|one| one.between)?;
        Some((Verdict::Likely, says(one, "it is not so now")))
    };
    against.or_else(nothing).or_else(between)
}
