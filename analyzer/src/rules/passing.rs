//! The facts that pass the tests of signals.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::compile::{Look, RuleSet, Test};
use super::fields::{entry, passes, top};
use super::sighting::Viewed;
use crate::facts::Facts;
use crate::spread;

/// The facts that signals look for, by rule and signal. A large input has very many facts of which few pass a test, so
/// they are seen one by one and only those few are kept.
pub(super) fn views<'r>(set: &'r RuleSet, facts: &Facts) -> Views<'r> {
    let mut looks: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for rule in &set.rules {
        for (signal, look) in &rule.looks {
            if let Look::Fact { kind, tests } = look {
                let asking = ((rule.file.id.as_str(), signal.as_str()), tests);
                looks.entry(kind).or_default().push(asking);
            }
        }
    }
    // Those of which there are many are seen by several threads.
    let parts = looks.iter().flat_map(|(kind, looks)| {
        let all = facts.count(kind);
        let at_once = (TESTS_AT_ONCE / looks.len()).max(1);
        let rows = move |start| start..all.min(start + at_once);
        let starts = (0..all).step_by(at_once);
        starts.map(move |start| ((*kind, rows(start)), looks))
    });
    let parts: Vec<_> = parts.collect();
    let mut views = Views::new();
    for part in spread::each(&parts, |(rows, looks)| views_of(rows, looks, facts)) {
        for (name, more) in part {
            views.entry(name).or_default().extend(more);
        }
    }
    views
}

/// The facts of one kind that signals look for, of some of them.
fn views_of<'r>(rows: &(&str, Range<usize>), looks: &[Asking<'r>], facts: &Facts) -> Views<'r> {
    let mut views = Views::new();
    let tests = looks.iter().flat_map(|(_, tests)| tests.iter());
    let names: BTreeSet<&str> = tests.map(|(field, _)| top(field)).collect();
    // A signal without tests is seen on every fact.
    let is_open = looks.iter().any(|(_, tests)| tests.is_empty());
    let names: Vec<&str> = names.into_iter().filter(|_| !is_open).collect();
    let passing = |fields: &Value| -> Vec<(&'r str, &'r str)> {
        let passes_all = |tests: &[(String, Test)]| {
            let mut tests = tests.iter();
            tests.all(|(field, test)| passes(test, entry(fields, field)))
        };
        let asking = looks.iter().filter(|(_, tests)| passes_all(tests));
        asking.map(|(name, _)| *name).collect()
    };
    // What passes is asked once, of the fields that are tested.
    let found = RefCell::new(Vec::new());
    let mut wanted = |fields: &Value| {
        found.replace(passing(fields));
        !found.borrow().is_empty()
    };
    let mut last: Option<Arc<Viewed>> = None;
    facts.each_view(rows.clone(), &names, &mut wanted, &mut |view| {
        let asking = match names.is_empty() {
            true => passing(&view.fields),
            false => found.take(),
        };
        let view = Arc::new(Viewed::new(view, last.as_deref()));
        last = Some(Arc::clone(&view));
        for name in asking {
            views.entry(name).or_default().push(Arc::clone(&view));
        }
    });
    views
}

/// So many signals are asked about facts of one kind before another thread may go on with the next facts.
const TESTS_AT_ONCE: usize = 8000;

/// A signal of a rule, and its tests of a fact.
type Asking<'r> = ((&'r str, &'r str), &'r Vec<(String, Test)>);

/// Facts by rule and signal.
pub(super) type Views<'r> = BTreeMap<(&'r str, &'r str), Vec<Arc<Viewed>>>;
