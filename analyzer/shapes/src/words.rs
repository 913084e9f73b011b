//! What shapes have to show of the texts that are looked for.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::alphabet::are_letters;
use crate::shape::{DIGIT, HEX_LETTER, LETTER, WORD, kind, token_at};

/// The words of the texts that are looked for: those of three letters, and those that could stand in numbers and ids
/// (`x509`, `6443`, `dead`). What holds one of these is no open place.
pub struct Words {
    /// Words of three letters, as a bit each.
    short: Exact,
    /// The others that a text begins and ends with: they may stand anywhere among digits and letters.
    anywhere: Vec<Box<[u8]>>,
    /// Three bytes of each, at its first and its second place: of words of digits, of those that numbers of base 16 may hold,
    /// of all.
    threes: [Hashed; 3],
    /// Four bytes of each, with which it begins.
    begins: Hashed,
    /// The others that a text goes on before or behind with a byte that is neither digit nor letter, so that digits and
    /// letters begin or end with them; by the hash of four bytes at the bounded end, in order.
    bounded: Vec<(u32, Bounded)>,
    /// Four bytes of each, at its bounded end.
    bounds: Hashed,
    /// Numbers of three digits that a text names with a word behind them (`401 unauthorized`), with what they are told by.
    numbers: Vec<Beside>,
    /// For each byte whether it matters what stands behind it where a short number ends before it.
    joins: [bool; 256],
}

/// Three digits, the byte behind them, and three letters of the word behind that, in lower case.
type Beside = [u8; 7];

/// A word that a text goes on beside.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Bounded {
    word: Box<[u8]>,
    /// It does before it.
    begins: bool,
    /// It does behind it.
    ends: bool,
}

/// The shortest word that is told apart in numbers and ids: a good part of all ids holds some shorter one.
pub const SHORTEST: usize = 4;

impl Words {
    /// Those of the texts that are looked for, which are in lower case.
    pub fn of<'t>(mut texts: impl Iterator<Item = &'t str>) -> Self {
        Self::of_all(&mut texts)
    }

    fn of_all(texts: &mut dyn Iterator<Item = &str>) -> Self {
        let mut short = Exact::default();
        let mut anywhere = BTreeSet::new();
        let mut bounded = BTreeSet::new();
        let mut numbers = BTreeSet::new();
        for text in texts {
            let text = text.as_bytes();
            numbers.extend(numbers_beside(text));
            let runs = text.split(|byte| !byte.is_ascii_alphabetic());
            for letters in runs.filter_map(|run| run.first_chunk().filter(|_| run.len() == 3)) {
                short.set(three(letters));
            }
            for at in others(text) {
                let (begins, ends) = (at.start > 0, at.end < text.len());
                let word: Box<[u8]> = text[at].into();
                match begins || ends {
                    false => anywhere.insert(word),
                    true => bounded.insert(Bounded { word, begins, ends }),
                };
            }
        }
        let (mut threes, mut begins) = (<[Hashed; 3]>::default(), Hashed::default());
        for word in &anywhere {
            let (_, kinds) = token_at(word);
            for threes in &mut threes[held_by(kinds)..] {
                let places = word.windows(3).take(2);
                places
                    .filter_map(|at| at.first_chunk())
                    .for_each(|at| threes.set(hash(folded(at))));
            }
            word.first_chunk()
                .into_iter()
                .for_each(|at| begins.set(four(at)));
        }
        let mut bounds = Hashed::default();
        let hashed = bounded.into_iter().filter_map(|one| {
            let end = match one.begins {
                true => one.word.first_chunk(),
                false => one.word.last_chunk(),
            };
            Some((four(end?), one))
        });
        let mut bounded: Vec<(u32, Bounded)> = hashed.collect();
        bounded.sort_unstable();
        bounded.iter().for_each(|(hash, _)| bounds.set(*hash));
        let mut joins = [false; 256];
        let behind = numbers.iter().map(|[_, _, _, behind, ..]| *behind);
        // Ids and names that are drawn go on behind a hyphen.
        behind
            .chain([b'-'])
            .for_each(|byte| joins[usize::from(byte)] = true);
        Self {
            short,
            anywhere: anywhere.into_iter().collect(),
            threes,
            begins,
            bounded,
            bounds,
            numbers: numbers.into_iter().collect(),
            joins,
        }
    }

    /// Whether it matters what stands behind this byte where a number ends before it that is shorter than all other words.
    #[inline]
    pub fn joins(&self, byte: Option<&u8>) -> bool {
        byte.is_some_and(|byte| self.joins[usize::from(*byte)])
    }

    /// Whether a text begins with a number that is told apart by the word behind it.
    pub fn begin_with_number(&self, text: &[u8]) -> bool {
        let here: Option<&Beside> = text.first_chunk();
        here.is_some_and(|here| {
            self.numbers
                .contains(&here.map(|byte| byte.to_ascii_lowercase()))
        })
    }

    /// Whether a run of these letters stands in shapes as it is, and at no open place of digits and letters.
    pub fn stands_in_shapes(&self, run: [u8; WORD - 1]) -> bool {
        run.iter().any(|byte| kind(*byte) == LETTER) && self.has_short(&run)
    }

    /// Whether three letters are a word.
    pub fn has_short(&self, run: &[u8]) -> bool {
        let letters = run.first_chunk().filter(|_| run.len() == WORD - 1);
        letters.is_some_and(|letters| {
            letters.iter().all(u8::is_ascii_alphabetic) && self.short.has(three(letters))
        })
    }

    /// Whether a part of a name that was drawn holds no word.
    pub fn is_free(&self, drawn: &[u8]) -> bool {
        !self.stand_in(drawn) && !drawn.windows(WORD - 1).any(|three| self.has_short(three))
    }

    /// Whether one of the other words may stand in digits and letters that stand together.
    pub fn stand_in(&self, token: &[u8]) -> bool {
        self.first_in(token, DIGIT | LETTER).is_some()
    }

    /// The same of a number of base 16.
    pub fn stand_in_hex(&self, token: &[u8]) -> bool {
        self.first_in(token, DIGIT | HEX_LETTER).is_some()
    }

    /// Where the first of them stands in digits and letters of these kinds.
    #[inline]
    pub fn first_in(&self, token: &[u8], kinds: u8) -> Option<Range<usize>> {
        let ends = [four(token.first_chunk()?), four(token.last_chunk()?)];
        if ends.into_iter().any(|end| self.is_bounded(token, end)) {
            return Some(0..token.len());
        }
        // A word has three bytes at one of any two places that follow one another.
        let threes = &self.threes[held_by(kinds)];
        let word_by = |at: usize| self.at(token, at - 1).or_else(|| self.at(token, at));
        let mut at = 1;
        // Three such places at once, of which most often none has a word.
        while let Some(eight) = token.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let eight = u64::from_le_bytes(*eight);
            let has = |place: u32| threes.has(hash(low_three((eight >> (8 * place)) as u32)));
            let [first, second, third] = [has(0), has(2), has(4)];
            if first | second | third {
                let places = [(first, at), (second, at + 2), (third, at + 4)];
                let mut places = places.into_iter().filter(|(has, _)| *has);
                if let Some(found) = places.find_map(|(_, at)| word_by(at)) {
                    return Some(found);
                }
            }
            at += 6;
        }
        while let Some(three) = token.get(at..).and_then(first_three) {
            if threes.has(hash(three))
                && let Some(found) = word_by(at)
            {
                return Some(found);
            }
            at += 2;
        }
        None
    }

    /// Whether digits and letters begin or end with a word that is bounded there, which has this hash of four bytes.
    #[inline]
    fn is_bounded(&self, token: &[u8], end: u32) -> bool {
        if !self.bounds.has(end) {
            return false;
        }
        let first = self.bounded.partition_point(|(hash, _)| *hash < end);
        let alike = self.bounded[first..].iter();
        let mut alike = alike.take_while(|(hash, _)| *hash == end);
        alike.any(|(_, one)| one.stands_in(token))
    }

    /// The word that stands anywhere which begins here.
    fn at(&self, token: &[u8], at: usize) -> Option<Range<usize>> {
        let rest = &token[at..];
        if !self.begins.has(four(rest.first_chunk()?)) {
            return None;
        }
        let same = |word: &[u8]| {
            let here = rest.get(..word.len());
            here.is_some_and(|here| here.eq_ignore_ascii_case(word))
        };
        let longest = self
            .anywhere
            .iter()
            .filter(|word| same(word))
            .map(|word| word.len())
            .max();
        longest.map(|length| at..at + length)
    }
}

/// Which of the sets holds the words that digits and letters of these kinds may hold.
fn held_by(kinds: u8) -> usize {
    match kinds {
        DIGIT => 0,
        kinds if kinds & LETTER == 0 => 1,
        _ => 2,
    }
}

impl Bounded {
    fn stands_in(&self, token: &[u8]) -> bool {
        let length = self.word.len();
        let same =
            |here: Option<&[u8]>| here.is_some_and(|here| here.eq_ignore_ascii_case(&self.word));
        match (self.begins, self.ends) {
            (true, true) => same(Some(token)),
            (true, false) => same(token.get(..length)),
            _ => same(token.len().checked_sub(length).map(|from| &token[from..])),
        }
    }
}

/// Where the words of a text stand that could stand in numbers and ids.
fn others(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    tokens(text).into_iter().filter(|at| {
        let token = &text[at.clone()];
        let (length, kinds) = token_at(token);
        let may = kinds & DIGIT != 0 || kinds == HEX_LETTER || are_letters(token);
        length >= SHORTEST && may
    })
}

/// The numbers of three digits in a text that a word stands behind. What stands between them is no quote and no backslash:
/// either would be two bytes in a record of JSON.
fn numbers_beside(text: &[u8]) -> impl Iterator<Item = Beside> {
    let beside = |at: Range<usize>| {
        let here: &Beside = text.get(at.start..)?.first_chunk()?;
        let [.., behind, _, _, _] = here;
        let is_number = here[..3].iter().all(|byte| kind(*byte) == DIGIT);
        let is_word = here[4..].iter().all(u8::is_ascii_lowercase);
        let joins = behind.is_ascii_graphic() || *behind == b' ';
        let is_beside = at.len() == 3 && is_number && is_word && joins;
        (is_beside && !br#""\"#.contains(behind)).then_some(*here)
    };
    tokens(text).into_iter().filter_map(beside)
}

/// Where digits and letters stand together.
pub fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (length, _) = token_at(&text[at..]);
        if length > 0 {
            found.push(at..at + length);
        }
        at += length.max(1);
    }
    found
}

/// Whether digits and letters of a text that is looked for may stand at an open place, which holds none of its words.
pub fn may_be_open(token: &[u8]) -> bool {
    let (_, kinds) = token_at(token);
    let is_short_word = token.len() + 1 == WORD && kinds & LETTER != 0 && kinds & DIGIT == 0;
    token.len() < SHORTEST && !is_short_word
}

/// From where on letters may be a part of an id of base 16 that is glued to its name; none where a digit shows what they
/// are, or all of them may be.
pub fn glued(letters: &[u8]) -> Option<usize> {
    if letters.iter().any(|byte| kind(*byte) == DIGIT) {
        return None;
    }
    let named = letters.iter().rposition(|byte| kind(*byte) == LETTER)? + 1;
    (named < letters.len()).then_some(named)
}

/// One bit for each of so many times 64 numbers.
struct Bits<const SIXTY_FOURS: usize>(Box<[u64; SIXTY_FOURS]>);

/// For each three letters.
type Exact = Bits<{ 1 << (15 - 6) }>;
/// For each [`hash`]. The sets together are small enough for a core's first cache.
type Hashed = Bits<{ 1 << (HASH - 6) }>;

/// Bits of a hash.
const HASH: u32 = 14;

impl<const SIXTY_FOURS: usize> Default for Bits<SIXTY_FOURS> {
    fn default() -> Self {
        Self(Box::new([0; SIXTY_FOURS]))
    }
}

impl<const SIXTY_FOURS: usize> Bits<SIXTY_FOURS> {
    fn set(&mut self, number: u32) {
        self.0[number as usize / 64] |= 1 << (number % 64);
    }

    #[inline]
    fn has(&self, number: u32) -> bool {
        self.0[number as usize / 64] & (1 << (number % 64)) != 0
    }
}

#[inline]
fn hash(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1) >> (u32::BITS - HASH)
}

/// The first three bytes of a text whatever their case, if it has as many.
#[inline]
fn first_three(text: &[u8]) -> Option<u32> {
    // Most texts go on, and four bytes are read at once.
    match text.first_chunk() {
        Some(four) => Some(low_three(u32::from_le_bytes(*four))),
        None => text.first_chunk().map(folded),
    }
}

/// The same of four bytes.
#[inline]
fn low_three(four: u32) -> u32 {
    (four & 0x00ff_ffff) | FOLD
}

#[inline]
fn folded([first, second, third]: &[u8; 3]) -> u32 {
    u32::from_le_bytes([*first, *second, *third, 0]) | FOLD
}

/// Three bytes with the bit set that tells letters of both cases apart.
const FOLD: u32 = 0x0020_2020;

/// Three letters whatever their case, each in five bits.
#[inline]
fn three([first, second, third]: &[u8; 3]) -> u32 {
    let five = |byte: u8| u32::from(byte & 0x1f);
    five(*first) | five(*second) << 5 | five(*third) << 10
}

/// A hash of four bytes whatever their case.
#[inline]
fn four(bytes: &[u8; 4]) -> u32 {
    hash(u32::from_le_bytes(*bytes) | 0x2020_2020)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_first_word_is_found_where_a_plain_search_finds_it(
            parts in proptest::collection::vec("6443|DEAD|x509|8443|cafe1|10250|[0-9]{1,9}|[0-9a-f]{1,20}|[0-9a-zA-Z]{1,9}", 1..5),
        ) {
            let texts = ["6443", "dead", "x509", "see 8443", "cafe1 bar", "at 10250 of"];
            let words = Words::of(texts.into_iter());
            let token = parts.concat().into_bytes();
            let (length, kinds) = token_at(&token);
            proptest::prop_assert_eq!(length, token.len());
            let is_bounded = words.bounded.iter().any(|(_, one)| one.stands_in(&token));
            let here = |at: usize| {
                let rest = token[at..].to_ascii_lowercase();
                let mut words = words.anywhere.iter();
                let word = words.find(|word| rest.starts_with(word))?;
                Some(at..at + word.len())
            };
            let plainly = match is_bounded {
                true => Some(0..token.len()),
                false => (0..token.len()).find_map(here),
            };
            proptest::prop_assert_eq!(words.first_in(&token, kinds), plainly);
        }
    }
}
