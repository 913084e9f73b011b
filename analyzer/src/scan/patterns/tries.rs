//! What is remembered while expressions are tried: the states of automata that were met. Each expression needs little of it,
//! and hundreds of them on several threads would keep more than all facts of a large input take.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use regex_automata::meta::{Cache, Config, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::util::primitives::PatternID;
use regex_automata::{Input, Match};
use regex_syntax::hir::Hir;
use smallvec::SmallVec;

/// What one expression may remember of its own states, in bytes. The crate's own bound is 2 MiB.
const STATES: usize = 1 << 20;
/// An expression is no larger when it is compiled, in bytes: the bound of the crate `regex`.
const LARGEST: usize = 10 << 20;
/// What all expressions together may remember, in bytes; behind it all is forgotten. Tests meet it. It takes up to twice as
/// much memory: what grows doubles its room, and only what is in use is counted.
const MOST: usize = if cfg!(test) { 1 << 20 } else { 24 << 20 };
/// Locks among which the expressions are dealt out.
const SHELVES: usize = 64;

/// How many expressions were compiled.
static COMPILED: AtomicUsize = AtomicUsize::new(0);

/// An expression that was compiled. What it remembers is kept by whoever tries it.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    regex: Regex,
    number: usize,
}

/// What is remembered of the expressions that were tried, by all threads: two of them seldom try the same one at once.
pub(super) struct Tries {
    /// By the number of the expression: the first by its rest, what is behind it by the quotient.
    shelves: [Mutex<Shelf>; SHELVES],
    bytes: AtomicUsize,
}

/// For each expression what as many threads remember of it as tried it at once.
type Shelf = Vec<SmallVec<[Box<Cache>; 1]>>;

impl Default for Tries {
    fn default() -> Self {
        Self {
            shelves: [const { Mutex::new(Vec::new()) }; SHELVES],
            bytes: AtomicUsize::new(0),
        }
    }
}

impl Compiled {
    /// Compiled as it was rewritten: printed and read again it would take twice as long. None where it is too large.
    pub(super) fn of(hir: &Hir) -> Option<Self> {
        let bounds = Config::new()
            .utf8_empty(false)
            .nfa_size_limit(Some(LARGEST))
            .hybrid_cache_capacity(STATES);
        let mut builder = Regex::builder();
        let regex = builder.configure(bounds).build_from_hir(hir).ok()?;
        let number = COMPILED.fetch_add(1, Ordering::Relaxed);
        Some(Self { regex, number })
    }

    /// The names of what it captures.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let info = self.regex.group_info();
        info.pattern_names(PatternID::ZERO).flatten()
    }

    /// Whether it matches.
    pub(super) fn is_match(&self, tries: &Tries, text: &str) -> bool {
        let input = Input::new(text).earliest(true);
        tries.of(self, |cache| {
            self.regex.search_half_with(cache, &input).is_some()
        })
    }

    /// The same where it is seldom asked: it keeps what it remembers itself.
    pub(super) fn is_match_alone(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// What it matches first.
    pub(super) fn find(&self, tries: &Tries, text: &[u8]) -> Option<Match> {
        let input = Input::new(text);
        tries.of(self, |cache| self.regex.search_with(cache, &input))
    }

    /// What its groups match.
    pub(super) fn captures(&self, tries: &Tries, text: &str) -> Captures {
        let mut matched = self.regex.create_captures();
        let input = Input::new(text);
        tries.of(self, |cache| {
            self.regex.search_captures_with(cache, &input, &mut matched);
        });
        matched
    }
}

impl Tries {
    /// Forgets what takes much room.
    pub(super) fn rest(&self) {
        const LITTLE: usize = 1 << 20;
        if self.bytes.load(Ordering::Relaxed) > LITTLE {
            self.forget();
        }
    }

    /// Tries an expression with what is remembered of it.
    fn of<F>(&self, compiled: &Compiled, search: impl FnOnce(&mut Cache) -> F) -> F {
        if self.bytes.load(Ordering::Relaxed) > MOST {
            self.forget();
        }
        let Compiled { regex, number } = compiled;
        let (shelf, at) = (number % SHELVES, number / SHELVES);
        let known = lock(&self.shelves[shelf])
            .get_mut(at)
            .and_then(SmallVec::pop);
        let before = known.as_ref().map_or(0, |cache| cache.memory_usage());
        let mut cache = known.unwrap_or_else(|| Box::new(regex.create_cache()));
        let found = search(&mut cache);
        let more = cache.memory_usage().wrapping_sub(before);
        if more != 0 {
            // It wraps around where a search left less.
            self.bytes.fetch_add(more, Ordering::Relaxed);
        }
        let mut shelf = lock(&self.shelves[shelf]);
        if shelf.len() <= at {
            shelf.resize_with(at + 1, SmallVec::new);
        }
        shelf[at].push(cache);
        found
    }

    /// Forgets all that no thread has in use.
    fn forget(&self) {
        for shelf in &self.shelves {
            let forgotten = std::mem::take(&mut *lock(shelf));
            let caches = forgotten.iter().flatten();
            let bytes = caches.map(|cache| cache.memory_usage()).sum();
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::ascii;

    #[test]
    fn what_is_remembered_stays_within_its_bound_and_changes_nothing() {
        let sources = (0..400).map(|at| format!(r"(?i)item\W+{at}[a-z]{{1,30}}\w*(?P<what>x+)y"));
        let compiled: Vec<Compiled> = sources
            .filter_map(|source| Compiled::of(&ascii::narrowed(&source)?))
            .collect();
        assert_eq!(compiled.len(), 400);
        let (tries, mut before, mut forgotten) = (Tries::default(), 0, 0);
        for round in 0..3 {
            for (at, one) in compiled.iter().enumerate() {
                let text = format!("of ITEM - {at}{}xxxy", "abcdefghijklmnop".repeat(1 + round));
                let found = one.captures(&tries, &text);
                let fresh = one.captures(&Tries::default(), &text);
                assert_eq!(
                    found.get_group_by_name("what"),
                    fresh.get_group_by_name("what")
                );
                assert_eq!(one.is_match(&tries, &text), one.is_match_alone(&text));
                let bytes = tries.bytes.load(Ordering::Relaxed);
                assert!(bytes <= MOST + STATES, "{bytes}");
                forgotten += usize::from(bytes < before);
                before = bytes;
            }
        }
        assert!(forgotten > 1, "{forgotten}");
    }
}
