//! Shapes of lines that were seen before, each with the patterns that can match a line of it. Most lines of a log are of
//! few shapes, and for those nothing has to be looked for that cannot be there.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use casefile_shapes::abstract_match::Follower;
use casefile_shapes::before::Before;
use casefile_shapes::index::Held;
use casefile_shapes::radix::{End, Radix};
use casefile_shapes::shape::{self, Written};

use super::Patterns;
use super::certain::Certain;
use super::known::{Known, Possible};
use super::table::{Met, Table};
use crate::parsers::Channel;

/// Bytes of shapes that are remembered.
const REMEMBERED: usize = 6 << 20;
/// A longer text is none of many.
const LONGEST: usize = 4096;
/// Different shapes of one hash that are told apart.
const SAME_HASH: usize = 4;
/// Places that remember the hash of a shape that was seen a few times, and how often.
const FEW: usize = 1 << 14;
/// So often a shape is seen until it is found out what can match it: that costs as much as so many searches. Also the bits
/// beside a hash in which that is counted.
const WORTH_A_SEARCH: u64 = 7;
/// The same where what was found out was of use so often: most shapes that are seen three times are seen very often then.
const SOONER: u64 = 3;
const OF_USE: u64 = 16;
/// A known shape is met so often before it is proven what can match it: a proof costs as much as that many tries.
const WORTH_A_PROOF: u32 = 12;

/// A text of which the shape is asked for.
pub(super) enum Text<'t> {
    /// A line, or what stands before the message and the message.
    Part(&'t [u8]),
    /// The message of a record of JSON, which is ASCII and writes no character as a number; whether something in it is escaped.
    Record(&'t [u8], bool),
    /// A message.
    Message(&'t [u8]),
}

/// The same as it is marked in shapes.
const PART: u8 = 0;
const RECORD: u8 = 1;
const MESSAGE: u8 = 2;

type ByHash<K> = HashMap<u64, Vec<K>, BuildHasherDefault<AsIs>>;

/// What all threads have learnt.
#[derive(Default)]
pub(super) struct Learnt(Mutex<Shared>);

impl Learnt {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct Shared {
    known: ByHash<Arc<Known>>,
    bytes: usize,
    few: Vec<u64>,
}

/// A shape as a thread tells it from all others that it ever knew: how often it had forgotten all, and the number.
pub(super) type Shape = (u32, usize);

/// What one thread knows, so that it need not ask the others.
#[derive(Default)]
pub(super) struct Shapes {
    known: Table,
    bytes: usize,
    /// How often all that is known was forgotten.
    forgotten: u32,
    /// Channel and shape of the present line.
    shape: Vec<u8>,
    /// What kind of text that is: lines of one follow one another.
    kind: Option<([u8; 2], bool)>,
    before: Before<Written>,
    /// Those that are proven.
    proven: Radix,
    said: Vec<u8>,
    held: Held,
    follower: Follower,
    /// How many shapes this thread found out, and how often one was known.
    learnt: u64,
    found: u64,
}

impl Shapes {
    /// What can match a text; none where its shape is not known yet. `is_unproven` where it was looked for in vain among those
    /// that are proven.
    pub(super) fn possible(
        &mut self,
        patterns: &Patterns,
        channel: Channel,
        (text, is_unproven): (&Text<'_>, bool),
    ) -> Option<Possible<'_>> {
        let (form, bytes, is_escaped) = match *text {
            Text::Part(bytes) => (PART, bytes, false),
            Text::Record(bytes, is_escaped) => (RECORD, bytes, is_escaped),
            Text::Message(bytes) => (MESSAGE, bytes, false),
        };
        let found = (!is_unproven).then(|| {
            let text = (bytes, End::Last);
            let head = [channel as u8, form];
            self.proven.find(head, text, patterns.words())
        });
        let at = match found.flatten() {
            Some((at, _)) => at,
            None => self.known(patterns, (channel, form), (bytes, is_escaped))?,
        };
        self.found += 1;
        self.at((self.forgotten, at))
    }

    /// The shape of the message that a text of JSON begins with, and its length, if it is proven what can match it.
    pub(super) fn message(
        &mut self,
        patterns: &Patterns,
        channel: Channel,
        text: &[u8],
    ) -> Option<(Shape, usize)> {
        let head = [channel as u8, RECORD];
        let text = (text, End::Quote);
        let (shape, length) = self.proven.find(head, text, patterns.words())?;
        self.found += 1;
        Some(((self.forgotten, shape), length))
    }

    /// What can match a text of a known shape.
    pub(super) fn at(&self, (_, shape): Shape) -> Option<Possible<'_>> {
        Some(self.known.met.get(shape)?.known.possible())
    }

    /// Where a text's shape stands among the known ones; it is proven once it is met often.
    fn known(
        &mut self,
        patterns: &Patterns,
        (channel, form): (Channel, u8),
        (bytes, is_escaped): (&[u8], bool),
    ) -> Option<usize> {
        let head = [channel as u8, form];
        if bytes.len() > LONGEST || (form != RECORD && !bytes.is_ascii()) {
            return None;
        }
        let kind = (head, is_escaped);
        if self.kind != Some(kind) {
            self.kind = Some(kind);
            self.before.forget();
            self.shape.clear();
            self.shape.extend(head);
        }
        let text = (bytes, is_escaped);
        let shape = (head.len(), &mut self.shape);
        shape::follow(&mut self.before, text, patterns.words(), shape);
        let hash = hash(&self.shape);
        let at = match self.known.find(hash, &self.shape) {
            Some(at) => at,
            None => {
                let known = self.ask(patterns, channel, hash)?;
                if self.bytes > REMEMBERED {
                    self.known.clear();
                    self.proven.clear();
                    self.forgotten += 1;
                    self.bytes = 0;
                }
                self.bytes += known.bytes();
                self.known.insert(Met { hash, known })
            }
        };
        let known = &self.known.met.get(at)?.known;
        if known.is_proven {
            let number = u32::try_from(at).ok()?;
            self.proven.insert(head, text, patterns.words(), number);
        } else if known.times.fetch_add(1, Ordering::Relaxed) >= WORTH_A_PROOF {
            self.prove(patterns, at);
        }
        Some(at)
    }

    /// Finds out which of the patterns whose texts stand in a shape can match a line of it, for all threads.
    fn prove(&mut self, patterns: &Patterns, at: usize) {
        let Some(met) = self.known.met.get(at) else {
            return;
        };
        let (hash, unproven) = (met.hash, Arc::clone(&met.known));
        let same = |shared: &Shared| {
            let at = place(&shared.known, hash, &unproven.shape)?;
            let known = shared.known.get(&hash)?.get(at)?;
            known.is_proven.then(|| Arc::clone(known))
        };
        let others = same(&patterns.learnt.lock());
        let known = others.unwrap_or_else(|| {
            let known = Arc::new(self.proven(patterns, &unproven));
            let mut shared = patterns.learnt.lock();
            if let Some(at) = place(&shared.known, hash, &known.shape)
                && let Some(there) = shared
                    .known
                    .get_mut(&hash)
                    .and_then(|alike| alike.get_mut(at))
            {
                *there = Arc::clone(&known);
            }
            known
        });
        if let Some(met) = self.known.met.get_mut(at) {
            met.known = known;
        }
    }

    /// A shape with what can match a line of it proven.
    fn proven(&mut self, patterns: &Patterns, unproven: &Known) -> Known {
        self.said.clear();
        say(&unproven.shape, &mut self.said);
        let line: Vec<u8> = self.said.iter().map(|byte| shape::sample(*byte)).collect();
        let line = str::from_utf8(&line).unwrap_or_default();
        let is_message = unproven.shape[1] != PART;
        let (mut possible, mut certain) = (Vec::new(), Vec::new());
        for number in unproven.possible.iter().copied() {
            let mut at_once = unproven.certain.iter();
            if let Some(known) = at_once.find(|one| one.number == number) {
                certain.push(known.clone());
                possible.push(number);
                continue;
            }
            let Some(pattern) = patterns.patterns.get(number as usize) else {
                possible.push(number);
                continue;
            };
            let automaton = patterns.automaton(number);
            // What matches one line of the shape may match all of them; of anything else only the automaton tells that it
            // matches none.
            let is_match = pattern.regex.matches(&patterns.tries, line);
            if is_match && is_message {
                let regex = (&pattern.regex, automaton);
                certain.extend(Certain::of_message(number, regex, &self.said));
            }
            let mut may = |automaton| {
                let words = patterns.words();
                self.follower.may_match(automaton, words, &self.said)
            };
            if is_match || automaton.is_none_or(&mut may) {
                possible.push(number);
            }
        }
        let is_certain = |number: u32| {
            let found = certain.binary_search_by_key(&number, |one: &Certain| one.number);
            found.is_ok()
        };
        let is_possible = |number: &u32| possible.binary_search(number).is_ok();
        let open = unproven.open.iter();
        let open = open.filter(|(number, _)| is_possible(number));
        let unsure = unproven.unsure.iter().copied();
        let unsure = unsure.filter(|number| is_possible(number) && !is_certain(*number));
        Known {
            shape: unproven.shape.clone(),
            open: open.cloned().collect(),
            unsure: unsure.collect(),
            possible: possible.into(),
            certain: certain.into(),
            is_proven: true,
            times: AtomicU32::new(0),
        }
    }

    /// What the others know of the present shape. Where it was seen often enough, it is found out.
    fn ask(&mut self, patterns: &Patterns, channel: Channel, hash: u64) -> Option<Arc<Known>> {
        let worth = match self.found >= OF_USE * self.learnt {
            true => SOONER,
            false => WORTH_A_SEARCH,
        };
        {
            let mut shared = patterns.learnt.lock();
            if let Some(at) = place(&shared.known, hash, &self.shape) {
                return shared.known.get(&hash)?.get(at).map(Arc::clone);
            }
            shared.few.resize(FEW, 0);
            let few = &mut shared.few[(hash >> 32) as usize % FEW];
            let seen = match *few & !WORTH_A_SEARCH == hash & !WORTH_A_SEARCH {
                true => *few & WORTH_A_SEARCH,
                false => 0,
            };
            let times = (seen + 1).min(WORTH_A_SEARCH);
            *few = hash & !WORTH_A_SEARCH | times;
            if times < worth {
                return None;
            }
            if shared
                .known
                .get(&hash)
                .is_some_and(|alike| alike.len() >= SAME_HASH)
            {
                return None;
            }
        }
        self.learnt += 1;
        let known = Arc::new(self.learn(patterns, channel)?);
        let mut shared = patterns.learnt.lock();
        if shared.bytes > REMEMBERED {
            shared.known.clear();
            shared.bytes = 0;
        }
        shared.bytes += known.bytes();
        let alike = shared.known.entry(hash).or_default();
        alike.push(Arc::clone(&known));
        Some(known)
    }

    /// Finds out the patterns whose texts may all stand in a line of the present shape.
    fn learn(&mut self, patterns: &Patterns, channel: Channel) -> Option<Known> {
        self.said.clear();
        if !say(&self.shape, &mut self.said) {
            return None;
        }
        self.held.take(&self.said);
        let (mut possible, mut open) = patterns.asking_in_shape(channel, &self.held);
        possible.retain(|number| {
            let clauses = patterns.clauses.get(*number as usize);
            clauses.is_none_or(|clauses| clauses.may_hold(&self.held))
        });
        open.retain(|(number, _)| possible.binary_search(number).is_ok());
        let unsure = possible.iter().copied().filter(|number| {
            let clauses = patterns.clauses.get(*number as usize);
            clauses.is_some_and(|clauses| !clauses.hold(&self.held))
        });
        let unsure: Box<[u32]> = unsure.collect();
        let is_message = self.shape[1] != PART;
        // What a line may lack is most often not tried at all, so that it need not be compiled.
        let is_told = |number: &&u32| {
            let mut open = open.iter();
            !open.any(|(owner, _)| owner == *number) && unsure.binary_search(number).is_err()
        };
        let certain = possible.iter().filter(is_told).filter_map(|number| {
            let regex = &patterns.patterns.get(*number as usize)?.regex;
            let shape = (&*self.said, is_message);
            Certain::at_once(*number, (regex, &patterns.tries), shape)
        });
        let certain = certain.collect();
        Some(Known {
            shape: self.shape.as_slice().into(),
            is_proven: possible.is_empty(),
            unsure,
            certain,
            possible: possible.into(),
            open: open.into(),
            times: AtomicU32::new(0),
        })
    }
}

/// Appends the shape of what a line of a shape says; false where that cannot be said.
fn say(shape: &[u8], said: &mut Vec<u8>) -> bool {
    let (channel, text) = shape.split_at(2.min(shape.len()));
    if channel.last() != Some(&RECORD) {
        said.extend_from_slice(text);
        return true;
    }
    shape::unescape(text, said)
}

fn place(known: &ByHash<Arc<Known>>, hash: u64, shape: &[u8]) -> Option<usize> {
    let mut alike = known.get(&hash)?.iter();
    alike.position(|one| *one.shape == *shape)
}

/// Eight bytes at a time; what has the same hash is compared.
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
    let (eights, rest) = bytes.as_chunks::<8>();
    let mix = |hash: u64, number: u64| (hash.rotate_left(5) ^ number).wrapping_mul(FACTOR);
    let all = eights.iter().map(|eight| u64::from_le_bytes(*eight));
    let hash = all.fold(bytes.len() as u64, mix);
    let hash = rest.iter().map(|byte| u64::from(*byte)).fold(hash, mix);
    hash ^ (hash >> 29)
}

/// A hash that is one already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
