//! Many words searched for at once: no step waits for memory that the step before it chose.
//!
//! Pairs of letters at every second place say whether a word may begin there or beside it ([`Skim`]); where one may,
//! three classes of letters say which.

use std::ops::Range;
use std::sync::LazyLock;

use super::super::forms::{SPECS, Spec};
use super::super::words::STEMS;
use super::names::{digit_in_name, names_secret};
use super::skim::Skim;
use super::{
    FIRST_FORM, NAME_BIT, OTHER_BIT, OTHERS, PROGRAM_BIT, PROGRAMS, STRUCTURE, STRUCTURE_BIT,
};

/// Where a word stands, and its bits.
pub(crate) type Hit = (usize, usize, u128);

/// One word that is searched for.
struct Word {
    text: Box<[u8]>,
    bits: u128,
    counts: Counts,
}

/// What else must hold where a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// Nothing.
    Always,
    /// The name around it is one of a secret.
    InName,
    /// It is, or may be with other digits.
    InNameWithDigits,
    /// So many characters of a token stand behind it.
    Before(usize),
    /// And no word goes on there.
    Begins(usize),
    /// The word in front of it may be the first of a text.
    BehindFirst,
    /// A word and a number stand behind it, and the text may end there.
    BeforeNumber,
    /// Somebody may log in at the address that it is part of.
    Login,
    /// It may be the name of a program in front of its arguments.
    Program,
    /// A list of bytes may go on there.
    Bytes,
}

impl Counts {
    fn of(form: &Spec) -> Self {
        match form.tail {
            _ if form.of_address() => Self::Login,
            _ if form.behind_first_word() => Self::BehindFirst,
            _ if form.ends_in_number() => Self::BeforeNumber,
            0 => Self::Always,
            tail if form.begins_word() => Self::Begins(tail),
            tail => Self::Before(tail),
        }
    }

    /// Of a word that opens something over several lines, or holds a list.
    fn of_other(word: &str) -> Self {
        match word {
            "data:" => Self::Begins(0),
            _ if word.contains('[') => Self::Bytes,
            _ => Self::Always,
        }
    }

    fn of_program(name: &str) -> Self {
        match name.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            true => Self::Program,
            false => Self::Always,
        }
    }
}

/// Letters that mean the same to the search share a class; three classes in a row find the words that may begin there.
/// Other than in an automaton no step waits for memory that the step before it chose.
const CLASS_BITS: u32 = 5;
const TRIPLES: usize = 1 << (3 * CLASS_BITS);

const fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => byte - b'a' + 1,
        b'A'..=b'Z' => byte - b'A' + 1,
        b'0'..=b'9' => 27,
        b'-' => 28,
        b' ' | b'\t' => 29,
        b':' => 30,
        b'"' => 0,
        b'!'..=b'~' => 31,
        _ => 0,
    }
}

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        classes[byte as usize] = class(byte);
        byte += 1;
    }
    classes
};

pub(super) struct Search {
    words: Vec<Word>,
    skim: Skim,
    /// One bit for each three classes with which a word begins.
    begins: Box<[u64; TRIPLES / 64]>,
    /// For each three classes one bit for each class that may follow them; looked at only where a word begins.
    fourths: Vec<u32>,
    /// The words that begin so.
    lists: Vec<Vec<u16>>,
}

/// All that is searched for.
pub(super) static SEARCH: LazyLock<Search> = LazyLock::new(|| Search::of(false));

impl Search {
    /// A search for all words, or for all with a zero for each digit, in texts that are written so.
    pub(super) fn of(zeros: bool) -> Self {
        let mut search = Self {
            words: Vec::new(),
            skim: Skim::new(),
            begins: Box::new([0; TRIPLES / 64]),
            fourths: vec![0; TRIPLES],
            lists: vec![Vec::new(); TRIPLES],
        };
        let mut add = |words: &[&'static str], bit: u32, counts: &dyn Fn(&str) -> Counts| {
            for word in words {
                let text = match zeros {
                    true => word.replace(|letter: char| letter.is_ascii_digit(), "0"),
                    false => (*word).to_owned(),
                };
                search.add(text.as_bytes(), 1 << bit, counts(word));
            }
        };
        let in_name = match zeros {
            true => Counts::InNameWithDigits,
            false => Counts::InName,
        };
        add(&STEMS, NAME_BIT, &|_| in_name);
        add(PROGRAMS, PROGRAM_BIT, &Counts::of_program);
        add(&OTHERS, OTHER_BIT, &Counts::of_other);
        add(&STRUCTURE, STRUCTURE_BIT, &|_| Counts::Always);
        for (form, bit) in SPECS.iter().zip(FIRST_FORM..) {
            add(form.hints, bit, &|_| Counts::of(form));
        }
        search
    }

    fn add(&mut self, text: &[u8], bits: u128, counts: Counts) {
        let word = self.words.len();
        let form = bits >= 1 << FIRST_FORM;
        let mut all = self.words.iter_mut();
        if let Some(same) = all.find(|word| form && *word.text == *text && word.counts == counts) {
            // Several forms have this hint.
            same.bits |= bits;
            return;
        }
        self.skim.add(text);
        self.words.push(Word {
            text: text.into(),
            bits,
            counts,
        });
        let class = |at: usize| text.get(at).map(|byte| usize::from(class(*byte)));
        // What a word of two letters ends before may be anything.
        let thirds = class(2).map_or(0..1 << CLASS_BITS, |third| third..third + 1);
        for third in thirds {
            let triple = class(0)
                .into_iter()
                .chain(class(1))
                .chain([third])
                .fold(0, |triple, class| (triple << CLASS_BITS) | class);
            self.begins[triple / 64] |= 1 << (triple % 64);
            self.fourths[triple] |= class(3).map_or(u32::MAX, |fourth| 1 << fourth);
            self.lists[triple].extend(u16::try_from(word));
        }
    }

    /// All words.
    pub(super) fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.words.iter().map(|word| &*word.text)
    }

    /// A word that holds a text.
    #[cfg(test)]
    pub(super) fn holds(&self, text: &str) -> Option<&[u8]> {
        let mut words = self.words.iter().map(|word| &*word.text);
        words.find(|word| memchr::memmem::find(word, text.as_bytes()).is_some())
    }

    /// Calls `hit` with the place and the bits of each find that counts, front to back, until it says stop.
    pub(super) fn run(&self, bytes: &[u8], hit: impl FnMut(usize, usize, u128) -> bool) {
        self.within(bytes, &(0..bytes.len()), hit);
    }

    /// The same for the words that begin within a part.
    pub(super) fn within(
        &self,
        bytes: &[u8],
        part: &Range<usize>,
        mut hit: impl FnMut(usize, usize, u128) -> bool,
    ) {
        let (mut next, mut at) = (part.start, part.start);
        while let Some(near) = self.skim.next(bytes, at, part.end) {
            for start in near.places() {
                let inside = (next..part.end).contains(&start);
                if inside && self.at(bytes, start, &mut hit) {
                    return;
                }
                next = next.max(start + 1);
            }
            at = near.at + 2;
        }
    }

    /// Tries the words that may begin at a place; whether to stop.
    fn at(
        &self,
        bytes: &[u8],
        start: usize,
        hit: &mut impl FnMut(usize, usize, u128) -> bool,
    ) -> bool {
        // A word of two letters may end the text.
        let three = match bytes.get(start..start + 3) {
            Some(three) => [three[0], three[1], three[2]],
            None => match bytes.get(start..) {
                Some([first, second]) => [*first, *second, 0],
                _ => return false,
            },
        };
        let triple = three.into_iter().fold(0, next);
        self.begin(triple)
            && self.goes_on(triple, bytes.get(start + 3))
            && self.candidates(bytes, start, triple, hit)
    }

    fn begin(&self, triple: usize) -> bool {
        self.begins[triple / 64] & (1 << (triple % 64)) != 0
    }

    /// Whether a word that begins so may have this byte next; at the end a word of three letters may stand.
    fn goes_on(&self, triple: usize, byte: Option<&u8>) -> bool {
        byte.is_none_or(|byte| self.fourths[triple] & (1 << CLASSES[usize::from(*byte)]) != 0)
    }

    #[inline(never)]
    fn candidates(
        &self,
        bytes: &[u8],
        start: usize,
        triple: usize,
        hit: &mut impl FnMut(usize, usize, u128) -> bool,
    ) -> bool {
        for word in &self.lists[triple] {
            let word = &self.words[usize::from(*word)];
            let end = start + word.text.len();
            let Some(there) = bytes.get(start..end) else {
                continue;
            };
            // Most words differ at their ends already.
            if word.ends_as(there)
                && there.eq_ignore_ascii_case(&word.text)
                && word.counts(bytes, start, end)
                && hit(start, end, word.bits)
            {
                return true;
            }
        }
        false
    }
}

fn next(triple: usize, byte: u8) -> usize {
    ((triple << CLASS_BITS) | usize::from(CLASSES[usize::from(byte)])) % TRIPLES
}

impl Word {
    fn ends_as(&self, there: &[u8]) -> bool {
        let last = |text: &[u8]| text.last().map(u8::to_ascii_lowercase);
        last(there) == last(&self.text)
    }

    fn counts(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        let token = |b: &u8| b.is_ascii_alphanumeric() || b"_+/=.:~-".contains(b);
        let before = |tail: usize| {
            let behind = bytes.get(end..end + tail);
            behind.is_some_and(|behind| behind.iter().all(token))
        };
        match self.counts {
            Counts::Always => true,
            Counts::InName => names_secret(bytes, start, end),
            Counts::InNameWithDigits => {
                names_secret(bytes, start, end) || digit_in_name(bytes, start, end)
            }
            Counts::Before(tail) => before(tail),
            Counts::Begins(tail) => may_begin(&bytes[..start]) && before(tail),
            Counts::BehindFirst => may_be_first(&bytes[..start]),
            Counts::BeforeNumber => before_number(&bytes[end..]),
            Counts::Login => may_log_in(&bytes[end..]),
            Counts::Program => may_run(bytes, start, end),
            Counts::Bytes => goes_on(&bytes[end..]),
        }
    }
}

/// No escape is written with more letters: `\u000a`, `%250A`, `\x1b[1;31m` behind its last sign.
const LONGEST_ESCAPE: usize = 5;

/// Whether a word may begin behind this: no letter or digit stands there, or it may be the end of an escape.
fn may_begin(before: &[u8]) -> bool {
    let word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let last = before.iter().rev().take(LONGEST_ESCAPE + 1);
    let length = last.take_while(word).count();
    let sign = before.len().checked_sub(length + 1).map(|at| before[at]);
    length == 0 || (length <= LONGEST_ESCAPE && sign.is_some_and(|sign| b"\\%[;&=".contains(&sign)))
}

/// Whether these bytes may end in the first word of a text: nothing stands in front of that, or what ends a prefix, opens a
/// string or begins an escape.
fn may_be_first(before: &[u8]) -> bool {
    let word =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_.*-".contains(byte) || !byte.is_ascii();
    let sign = before.iter().rev().find(|byte| !word(byte));
    sign.is_none_or(|sign| !sign.is_ascii_punctuation() || b"\"'`\\%;&=>".contains(sign))
}

/// Whether a word and a number follow behind blanks, and then no letter.
fn before_number(behind: &[u8]) -> bool {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0b';
    let mut rest = behind;
    let mut next = |of: &dyn Fn(&u8) -> bool| {
        let length = rest.iter().take_while(|byte| of(byte)).count();
        let (part, behind) = rest.split_at(length);
        rest = behind;
        part
    };
    let (front, word) = (next(&blank), next(&|byte| !blank(byte)));
    // Other letters than those of ASCII may be blanks.
    if !word.is_ascii() {
        return true;
    }
    let (between, number) = (next(&blank), next(&u8::is_ascii_digit));
    let parted = !front.is_empty() && !between.is_empty();
    parted && !number.is_empty() && !rest.first().is_some_and(u8::is_ascii_alphanumeric)
}

/// No address is longer.
const LONGEST_LOGIN: usize = 4096;

/// Whether an `@` may stand in an address behind its `://`, in front of the path: itself or as an escape.
fn may_log_in(behind: &[u8]) -> bool {
    let end = |byte: &u8| *byte == b'/' || byte.is_ascii_whitespace();
    let says = behind
        .iter()
        .take(LONGEST_LOGIN)
        .find_map(|byte| match byte {
            b'@' | b'\\' => Some(true),
            byte if end(byte) => Some(false),
            _ => None,
        });
    says.unwrap_or(behind.len() > LONGEST_LOGIN)
}

/// Whether a word with this name in it may be that of a program: no part of a longer name, and the last of a path.
fn may_run(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = &bytes[..start];
    if before.last().is_some_and(|byte| b".-:@+~".contains(byte)) || !may_begin(before) {
        return false;
    }
    let of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._-+".contains(byte);
    let length = bytes[end..].iter().take_while(of_name).count();
    let ends = |byte: &u8| !b"/:@=]()<>".contains(byte);
    bytes[..end].ends_with(b" ") || bytes.get(end + length).is_none_or(ends)
}

/// Whether another number follows behind the first digit of a list of bytes.
fn goes_on(behind: &[u8]) -> bool {
    let digits = behind
        .iter()
        .take(3)
        .take_while(|byte| byte.is_ascii_digit());
    let rest = behind[digits.count()..].trim_ascii_start();
    rest.first() == Some(&b',')
}
