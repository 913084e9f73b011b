//! How expressions are tried, and what is remembered of it. One that is tried seldom walks through its automaton for each
//! text. One that is tried often remembers the states that it met, which is faster and takes ten times the room: hundreds of
//! them would keep more than all facts of a large input take.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use regex_automata::meta::{Cache, Config, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::util::primitives::PatternID;
use regex_automata::{Input, Match};
use smallvec::SmallVec;

use crate::ascii;

/// What one expression may remember of its own states, in bytes. The crate's own bound is 2 MiB.
const STATES: usize = 1 << 20;
/// An expression is no larger when it is compiled, in bytes: the bound of the crate `regex`.
const LARGEST: usize = 10 << 20;
/// So many expressions remember their states at once: those of a log are few.
const AT_ONCE: usize = 128;
/// Bytes that any other walks over until it does as well: to be compiled anew and to meet them costs as much.
const OFTEN: usize = 12 << 10;
/// Behind each so many of those the next has to walk twice as far: in a text in which every line matches another expression
/// each is tried seldom.
const FURTHER: usize = 32;
/// No further than 12 GiB.
const MOST_DOUBLED: usize = 20;
/// What all expressions together may remember, in bytes; behind it all is forgotten. Tests meet it. It takes up to twice as
/// much memory: what grows doubles its room, and only what is in use is counted.
const MOST: usize = if cfg!(test) { 128 << 10 } else { 16 << 20 };
/// Locks among which the expressions are dealt out.
const SHELVES: usize = 64;

/// How many expressions were compiled.
static COMPILED: AtomicUsize = AtomicUsize::new(0);

/// An expression for texts that are ASCII, compiled. What it remembers is kept in [`Tries`].
#[derive(Debug)]
pub struct Compiled {
    source: Box<str>,
    /// It is without its bounds from this one on.
    least: Option<usize>,
    first: Numbered,
    walked: AtomicUsize,
    /// It remembers its states where the first does not.
    later: OnceLock<Option<Numbered>>,
}

#[derive(Debug)]
struct Numbered {
    regex: Regex,
    number: usize,
    /// Whether it remembers the states that it met.
    remembers: bool,
}

impl Numbered {
    /// An expression, without its bounds from the least on; none where it is too large.
    fn of(source: &str, least: Option<usize>, is_often_tried: bool) -> Option<Self> {
        let number = COMPILED.fetch_add(1, Ordering::Relaxed);
        let remembers = is_often_tried || number < AT_ONCE;
        let hir = match least {
            Some(least) => ascii::without_bounds(source, least),
            None => ascii::narrowed(source),
        };
        let bounds = Config::new()
            .utf8_empty(false)
            .nfa_size_limit(Some(LARGEST))
            .hybrid(remembers)
            .hybrid_cache_capacity(STATES);
        let mut builder = Regex::builder();
        // As it was rewritten: printed and read again it would take twice as long.
        let regex = builder.configure(bounds).build_from_hir(&hir?).ok()?;
        Some(Self {
            regex,
            number,
            remembers,
        })
    }
}

impl Compiled {
    /// An expression, without its bounds from `least` on, if given; none where it is too large.
    pub fn of(source: &str, least: Option<usize>) -> Option<Self> {
        Some(Self {
            source: source.into(),
            least,
            first: Numbered::of(source, least, false)?,
            walked: AtomicUsize::new(0),
            later: OnceLock::new(),
        })
    }

    /// As it is tried on so many bytes.
    fn now(&self, tries: &Tries, bytes: usize) -> &Numbered {
        if self.first.remembers {
            return &self.first;
        }
        if let Some(later) = self.later.get() {
            return later.as_ref().unwrap_or(&self.first);
        }
        let walked = self.walked.fetch_add(bytes, Ordering::Relaxed);
        let doubled = (tries.later.load(Ordering::Relaxed) / FURTHER).min(MOST_DOUBLED);
        if walked >> doubled < OFTEN {
            return &self.first;
        }
        let later = self.later.get_or_init(|| {
            tries.later.fetch_add(1, Ordering::Relaxed);
            Numbered::of(&self.source, self.least, true)
        });
        later.as_ref().unwrap_or(&self.first)
    }

    /// The names of what it captures.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let info = self.first.regex.group_info();
        info.pattern_names(PatternID::ZERO).flatten()
    }

    /// Whether it matches.
    pub fn is_match(&self, tries: &Tries, text: &str) -> bool {
        tries.of(self, text.len(), |one, cache| {
            // One that walks is faster where it need not stop at the earliest end.
            let input = Input::new(text).earliest(one.remembers);
            one.regex.search_half_with(cache, &input).is_some()
        })
    }

    /// The same where it is seldom asked: it keeps what it remembers itself.
    pub fn is_match_alone(&self, text: &str) -> bool {
        let input = Input::new(text);
        self.first.regex.search_half(&input).is_some()
    }

    /// What it matches first.
    pub fn find(&self, tries: &Tries, text: &[u8]) -> Option<Match> {
        let input = Input::new(text);
        tries.of(self, text.len(), |one, cache| {
            one.regex.search_with(cache, &input)
        })
    }

    /// What its groups match.
    pub fn captures(&self, tries: &Tries, text: &str) -> Captures {
        let mut matched = self.first.regex.create_captures();
        let input = Input::new(text);
        tries.of(self, text.len(), |one, cache| {
            one.regex.search_captures_with(cache, &input, &mut matched);
        });
        matched
    }
}

/// What is remembered of the expressions that were tried, by all threads: two of them seldom try the same one at once.
pub struct Tries {
    /// By the number of the expression: the first by its rest, what is behind it by the quotient.
    shelves: [Mutex<Shelf>; SHELVES],
    bytes: AtomicUsize,
    /// How many expressions remember their states that did not at once.
    later: AtomicUsize,
}

/// For each expression what as many threads remember of it as tried it at once.
type Shelf = Vec<SmallVec<[Box<Known>; 1]>>;

/// What is remembered of an expression, and the bytes of it that are counted.
struct Known {
    cache: Cache,
    bytes: usize,
}

impl Default for Tries {
    fn default() -> Self {
        Self {
            shelves: [const { Mutex::new(Vec::new()) }; SHELVES],
            bytes: AtomicUsize::new(0),
            later: AtomicUsize::new(0),
        }
    }
}

impl Tries {
    /// Forgets what takes much room.
    pub fn rest(&self) {
        const LITTLE: usize = 1 << 20;
        if self.bytes.load(Ordering::Relaxed) > LITTLE {
            self.forget();
        }
    }

    /// Tries an expression on so many bytes with what is remembered of it.
    fn of<F>(
        &self,
        compiled: &Compiled,
        bytes: usize,
        search: impl FnOnce(&Numbered, &mut Cache) -> F,
    ) -> F {
        if self.bytes.load(Ordering::Relaxed) > MOST {
            self.forget();
        }
        let now = compiled.now(self, bytes);
        let (shelf, at) = (now.number % SHELVES, now.number / SHELVES);
        let known = lock(&self.shelves[shelf])
            .get_mut(at)
            .and_then(SmallVec::pop);
        let mut known = known.unwrap_or_else(|| {
            let cache = now.regex.create_cache();
            Box::new(Known { cache, bytes: 0 })
        });
        let found = search(now, &mut known.cache);
        let bytes = known.cache.memory_usage();
        if bytes != known.bytes {
            // It wraps around where less is left.
            let more = bytes.wrapping_sub(known.bytes);
            self.bytes.fetch_add(more, Ordering::Relaxed);
            known.bytes = bytes;
        }
        let mut shelf = lock(&self.shelves[shelf]);
        if shelf.len() <= at {
            shelf.resize_with(at + 1, SmallVec::new);
        }
        shelf[at].push(known);
        found
    }

    /// Forgets all that no thread has in use.
    fn forget(&self) {
        for shelf in &self.shelves {
            let forgotten = std::mem::take(&mut *lock(shelf));
            let bytes = forgotten.iter().flatten().map(|known| known.bytes).sum();
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

    #[test]
    fn what_is_remembered_stays_within_its_bound_and_changes_nothing() {
        let sources = (0..400).map(|at| format!(r"(?i)item\W+{at}[a-z]{{1,30}}\w*(?P<what>x+)y"));
        let compiled: Vec<Compiled> = sources
            .filter_map(|source| Compiled::of(&source, None))
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

    #[test]
    fn an_expression_matches_the_same_before_and_after_it_remembers_its_states() {
        let sources =
            (0..AT_ONCE + 1).map(|at| format!(r"unit{at} (?:of|in) \w{{2,40}}x (?P<end>\d+)"));
        let compiled: Vec<Compiled> = sources
            .filter_map(|source| Compiled::of(&source, None))
            .collect();
        let one = &compiled[AT_ONCE];
        assert!(!one.first.remembers);
        let (tries, filling) = (Tries::default(), "-".repeat(200));
        let mut remembers = Vec::new();
        for round in 0..OFTEN / 100 {
            let middle = "ab".repeat(round % 30);
            let text = format!("{filling}unit{AT_ONCE} in {middle}x {round}");
            let matches = (2..=40).contains(&middle.len());
            assert_eq!(one.is_match(&tries, &text), matches, "{text}");
            let end = one.captures(&tries, &text).get_group_by_name("end");
            let end = end.map(|end| &text[end.range()]);
            assert_eq!(end, matches.then(|| round.to_string()).as_deref());
            remembers.push(one.later.get().is_some());
        }
        assert_eq!((remembers[0], remembers.last()), (false, Some(&true)));
    }
}
