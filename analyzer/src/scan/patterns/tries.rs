//! What is remembered while expressions are tried: the states of automata that were met. Each expression needs little of it,
//! and hundreds of them on several threads would keep more than all facts of a large input take.

use std::sync::atomic::{AtomicUsize, Ordering};

use regex_automata::meta::{Cache, Config, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::util::primitives::PatternID;
use regex_automata::{Input, Match};
use regex_syntax::hir::Hir;

/// What one expression may remember of its own states, in bytes. The crate's own bound is 2 MiB.
const STATES: usize = 1 << 20;
/// An expression is no larger when it is compiled, in bytes: the bound of the crate `regex`.
const LARGEST: usize = 10 << 20;
/// What all expressions together may remember that one thread tries, in bytes; behind it all is forgotten. Tests meet it.
const MOST: usize = if cfg!(test) { 1 << 20 } else { 32 << 20 };

/// How many expressions were compiled.
static COMPILED: AtomicUsize = AtomicUsize::new(0);

/// An expression that was compiled. What it remembers is kept by whoever tries it.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    regex: Regex,
    number: usize,
}

/// What one thread remembers of the expressions that it tries.
#[derive(Default)]
pub(super) struct Tries {
    /// By the numbers of expressions.
    caches: Vec<Option<Box<Cache>>>,
    bytes: usize,
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
    pub(super) fn is_match(&self, tries: &mut Tries, text: &str) -> bool {
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
    pub(super) fn find(&self, tries: &mut Tries, text: &[u8]) -> Option<Match> {
        let input = Input::new(text);
        tries.of(self, |cache| self.regex.search_with(cache, &input))
    }

    /// What its groups match.
    pub(super) fn captures(&self, tries: &mut Tries, text: &str) -> Captures {
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
    pub(super) fn rest(&mut self) {
        const LITTLE: usize = 1 << 20;
        if self.bytes > LITTLE {
            *self = Self::default();
        }
    }

    /// Tries an expression with what is remembered of it.
    fn of<F>(&mut self, compiled: &Compiled, search: impl FnOnce(&mut Cache) -> F) -> F {
        if self.bytes > MOST {
            *self = Self::default();
        }
        let Compiled { regex, number } = compiled;
        if self.caches.len() <= *number {
            self.caches.resize_with(number + 1, || None);
        }
        let known = &mut self.caches[*number];
        let before = known.as_ref().map_or(0, |cache| cache.memory_usage());
        let cache = known.get_or_insert_with(|| Box::new(regex.create_cache()));
        let found = search(cache);
        self.bytes = (self.bytes + cache.memory_usage()).saturating_sub(before);
        found
    }
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
        let (mut tries, mut before, mut forgotten) = (Tries::default(), 0, 0);
        for round in 0..3 {
            for (at, one) in compiled.iter().enumerate() {
                let text = format!("of ITEM - {at}{}xxxy", "abcdefghijklmnop".repeat(1 + round));
                let found = one.captures(&mut tries, &text);
                let fresh = one.captures(&mut Tries::default(), &text);
                assert_eq!(
                    found.get_group_by_name("what"),
                    fresh.get_group_by_name("what")
                );
                assert_eq!(one.is_match(&mut tries, &text), one.is_match_alone(&text));
                assert!(tries.bytes <= MOST + STATES, "{}", tries.bytes);
                forgotten += usize::from(tries.bytes < before);
                before = tries.bytes;
            }
        }
        assert!(forgotten > 1, "{forgotten}");
    }
}
