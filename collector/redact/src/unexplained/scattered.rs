//! Tokens whose signs leave no part long enough to be judged by itself: `u/n0r+9rql3qq2`, `2qr_b-9=a6`, `uW;3i!G#`.

use std::cell::OnceCell;
use std::ops::Range;

use super::super::explained::{
    self, Said, ask_digits, ask_elsewhere, asks, by_place, in_request, named,
};
use super::super::random::signs::{Cost, Mixture, among, bits, surprise};
use super::super::{encoded, escapes};
use super::parts::is_pod_name;
use super::percent;
use super::tokens::{TOKEN, Token, WORD, next_token};
use super::words::{encoded_text, without_escape};

/// Shorter ones are a chance of punctuation, longer ones a line of code.
const LENGTHS: std::ops::RangeInclusive<usize> = 9..=100;
/// What expressions, formats and addresses are made of.
const CODE: [(&[u8], u32); 14] = [
    code(b"A-Z"),
    code(b"a-z"),
    code(b"0-9"),
    code(b"://"),
    code(b"${"),
    code(b"$("),
    code(b"&&"),
    code(b"||"),
    code(b"[^"),
    code(b"%%"),
    code(b"redacted:"),
    code(b"=="),
    code(b"</"),
    code(b".*"),
];

/// A mark with the bits of its signs.
const fn code(mark: &'static [u8]) -> (&'static [u8], u32) {
    (mark, bits(mark))
}

/// Signs that stand around a token in prose, and are rather none of it.
const AROUND: u32 = bits(b"()[]{}<>,;:.");
/// And those in front of one.
const IN_FRONT: u32 = AROUND | bits(b"#=");
/// Signs between names, values and addresses.
const BETWEEN_SIGNS: &[u8] = b",;=&?|:()[]{}<>";
const BETWEEN: u32 = bits(BETWEEN_SIGNS);
/// Signs within names and paths.
const NAME: u32 = bits(b"-./:,_");
/// And those of versions.
const VERSION: u32 = bits(b"-./:,_~+");
/// All of those of names, values and addresses.
const PLAIN: u32 = NAME | BETWEEN;
/// Without others no address stands there.
const NO_ADDRESS: u32 = bits(b"-._=,");
const COLON: u32 = bits(b":");
const DOT: u32 = bits(b".");
const EQUALS: u32 = bits(b"=");
/// What ends an issuer's words.
const ISSUER_MARK: u32 = bits(b"_-.:~");

/// The part of a token that was drawn, signs and all.
pub(super) fn scattered(bytes: &[u8], token: &Token) -> Option<Range<usize>> {
    if !worth(token) {
        return None;
    }
    if percent::any(&bytes[token.place.clone()]) {
        return in_escapes(bytes, token);
    }
    plain(bytes, token)
}

/// Whether a token has what a generator draws: letters and signs, with digits or with letters of both cases.
fn worth(token: &Token) -> bool {
    let mixed = token.lower > 1 && token.upper > 1;
    token.signs > 0 && token.lower + token.upper > 3 && (token.digits > 0 || mixed)
}

/// The same of a token with percent signs in it: what they say is judged, and not how it is written.
fn in_escapes(bytes: &[u8], token: &Token) -> Option<Range<usize>> {
    ask_elsewhere();
    let said = percent::Decoded::of(bytes, &token.place)?;
    let mut at = said.begin;
    while let Some(inner) = next_token(&said.text, at) {
        at = inner.place.end;
        if let Some(found) = plain(&said.text, &inner) {
            return Some(said.written(&found));
        }
    }
    None
}

/// The same of a token that is written as what it says.
fn plain(bytes: &[u8], token: &Token) -> Option<Range<usize>> {
    if !worth(token) {
        return None;
    }
    let place = without_escape(bytes, token.place.clone());
    // What is left of a token begins behind a sign that ends a part of it.
    let front = &bytes[..place.start];
    let cut = front.last().is_some_and(|byte| TOKEN[usize::from(*byte)])
        && !escapes::behind_letter(front);
    if cut && !among(bytes[place.start], BETWEEN) {
        return None;
    }
    let sorts = Mixture::of(&bytes[place.clone()]);
    // Letters and digits that hardly change places are names, addresses and numbers.
    if sorts.changes < 2 + usize::from(sorts.only(NAME)) && sorts.only(PLAIN) {
        return None;
    }
    if sorts.digits == 0 && sorts.changes < LETTER_CHANGES {
        return None;
    }
    let whole = trimmed(bytes, &place);
    if sorts.signs & COLON != 0 && hex_pair(bytes, &whole) {
        return Some(whole);
    }
    let text = &bytes[whole.clone()];
    let address = !sorts.only(NO_ADDRESS) && holds_scheme(text);
    let value = (sorts.signs & EQUALS != 0).then(|| name_of(text)).flatten();
    let path = address || text[value.unwrap_or(0)..].starts_with(b"/");
    // Of what is no list of values only the whole counts, which its name explains: most ids have one. Where nothing asked
    // for a name yet, the answer is kept for the token wherever it stands.
    if !path && sorts.signs & BETWEEN == 0 && asks() && named(&bytes[..whole.start]) {
        return None;
    }
    let sorts = match whole == place {
        true => sorts,
        false => Mixture::of(text),
    };
    let read = Read {
        bytes,
        whole,
        sorts,
        cost: OnceCell::new(),
    };
    if !path && let Some(place) = read.value(value) {
        return Some(place);
    }
    read.piece(path)
}

/// Whether the mark of an address stands in a text.
fn holds_scheme(text: &[u8]) -> bool {
    memchr::memchr_iter(b':', text).any(|at| text[at..].starts_with(b"://"))
}

/// `e14eb54a:b9178410`: two parts of hexadecimal digits as logins have them, that nothing explains.
fn hex_pair(bytes: &[u8], whole: &Range<usize>) -> bool {
    let text = &bytes[whole.clone()];
    let drawn = |part: &[u8]| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        part.len() >= HALF && digits > 0 && digits < part.len()
    };
    let hex = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    let parts = || text.split(|byte| *byte == b':');
    // Most texts begin with another letter.
    text.iter().all(|byte| *byte == b':' || hex(byte))
        && parts().count() == 2
        && parts().all(drawn)
        && !says_what(bytes, whole)
        && explained::hex(bytes, whole, text.len()) == Said::Nothing
}

/// Each of them has at least so many.
const HALF: usize = 8;

/// Capitals and small letters change places so often in a token without a digit.
const LETTER_CHANGES: usize = 4;

/// An issuer puts so many words in front at most, each of so many letters.
const ISSUER_PARTS: usize = 3;
const ISSUER_LETTERS: usize = 12;
/// So many bits more what stands behind them has.
const ISSUED: i32 = 2;

/// Parts of paths are made unique by fewer letters.
const IN_PATH: usize = 24;

/// Whether a text is made as expressions are, or the same sign stands between names or values again and again: `a|b|c`,
/// `x=1,y=2,z=3`. The bits are those of its signs.
fn structured(text: &[u8], signs: u32) -> bool {
    ask_digits();
    let between = |sign: &u8| among(*sign, signs) && memchr::memchr_iter(*sign, text).count() > 2;
    let holds = |mark: &[u8]| {
        let behind = |at: usize| text[at..].starts_with(mark);
        memchr::memchr_iter(mark[0], text).any(behind)
    };
    BETWEEN_SIGNS.iter().any(between)
        || CODE
            .iter()
            .any(|(mark, of)| of & !signs == 0 && holds(mark))
}

/// Whether names and numbers take turns between signs: `SrcID#0_Ha#1`. A generator puts letters and digits side by side.
fn numbered(text: &[u8]) -> bool {
    text.split(|byte| !WORD[usize::from(*byte)]).all(|part| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        digits == 0 || digits == part.len()
    })
}

/// A token without the signs around it and without the name that it is the value of.
fn trimmed(bytes: &[u8], token: &Range<usize>) -> Range<usize> {
    let text = &bytes[token.clone()];
    let front = text.iter().position(|byte| !among(*byte, IN_FRONT));
    let last = text.iter().rposition(|byte| !among(*byte, AROUND));
    let start = token.start + front.unwrap_or(text.len());
    let end = token.start + last.map_or(0, |at| at + 1);
    start..end.max(start)
}

/// The length of a name in front of a value, with the sign between them.
fn name_of(text: &[u8]) -> Option<usize> {
    let part = |byte: &u8| byte.is_ascii_alphabetic() || b"_.-".contains(byte);
    let length = memchr::memchr(b'=', text)?;
    let name = &text[..length];
    (length > 1 && name.iter().all(part)).then_some(length + 1)
}

/// So many bits a name in front of a value is worth.
const NAMED: i32 = 10;

/// A token that is read once, whichever of its ends are judged.
struct Read<'a> {
    bytes: &'a [u8],
    whole: Range<usize>,
    /// What all of it is made of.
    sorts: Mixture,
    cost: OnceCell<Cost<'a>>,
}

impl<'a> Read<'a> {
    /// A whole token, or what stands in it behind a name of this length.
    fn value(&self, name: Option<usize>) -> Option<Range<usize>> {
        let Some(length) = name else {
            let found = self.all_drawn(0).then(|| self.whole.clone());
            return found.or_else(|| self.behind_issuer());
        };
        if self.end_drawn(length, 0) {
            return Some(self.whole.start + length..self.whole.end);
        }
        // With a name in front a whole says less.
        self.all_drawn(NAMED).then(|| self.whole.clone())
    }

    /// What stands behind the words that an issuer puts in front: `zq_live_kX3-a9K+b2Q`. With them a whole looks written.
    fn behind_issuer(&self) -> Option<Range<usize>> {
        let mut front = 0;
        for _ in 0..ISSUER_PARTS {
            let text = &self.bytes[self.whole.start + front..self.whole.end];
            let part = text.iter().take(ISSUER_LETTERS + 1);
            let length = part.take_while(|byte| WORD[usize::from(**byte)]).count();
            let mark = text
                .get(length)
                .is_some_and(|byte| among(*byte, ISSUER_MARK));
            if !mark || !(2..=ISSUER_LETTERS).contains(&length) {
                return None;
            }
            let part = &text[..length];
            if part.iter().any(u8::is_ascii_lowercase) && part.iter().any(u8::is_ascii_uppercase) {
                return None;
            }
            front += length + 1;
            if self.end_drawn(front, ISSUED) {
                let end = self.whole.start + front..self.whole.end;
                return (!says_what(self.bytes, &self.whole)).then_some(end);
            }
        }
        None
    }

    /// A part between signs of a list, or of a path.
    fn piece(&self, path: bool) -> Option<Range<usize>> {
        let whole = &self.whole;
        let slash = if path { bits(b"/") } else { 0 };
        let between = |byte: &u8| among(*byte, BETWEEN | slash);
        let mut at = whole.start;
        while at < whole.end {
            let rest = &self.bytes[at..whole.end];
            let length = rest.iter().position(between).unwrap_or(rest.len());
            let piece = at..at + length;
            if piece != *whole
                && self.drawn(&piece)
                && (!path || length >= IN_PATH || in_request(&self.bytes[..whole.end]))
            {
                return Some(piece);
            }
            at += length + 1;
        }
        None
    }

    /// Whether letters, digits and signs stand there as nobody writes them; `doubt` is how many bits more that takes.
    fn all_drawn(&self, doubt: i32) -> bool {
        let bits = || self.cost().surprise(self.sorts);
        fits(&self.whole) && self.judged(&self.whole, doubt, self.sorts, bits)
    }

    /// The same of what stands behind a front of this length.
    fn end_drawn(&self, front: usize, doubt: i32) -> bool {
        let end = self.whole.start + front..self.whole.end;
        if !fits(&end) {
            return false;
        }
        let sorts = Mixture::of(&self.bytes[end.clone()]);
        self.judged(&end, doubt, sorts, || self.cost().behind(front, sorts))
    }

    /// The same of a piece.
    fn drawn(&self, place: &Range<usize>) -> bool {
        let text = &self.bytes[place.clone()];
        // Most pieces are words.
        if !fits(place) || text.iter().all(|byte| WORD[usize::from(*byte)]) {
            return false;
        }
        let sorts = Mixture::of(text);
        self.judged(place, 0, sorts, || surprise(text, sorts))
    }

    fn cost(&self) -> &Cost<'a> {
        let read = || Cost::of(&self.bytes[self.whole.clone()]);
        self.cost.get_or_init(read)
    }

    /// The same of a text made of these sorts.
    fn judged(
        &self,
        place: &Range<usize>,
        doubt: i32,
        sorts: Mixture,
        bits: impl FnOnce() -> i32,
    ) -> bool {
        let text = &self.bytes[place.clone()];
        let mixed = sorts.lower > 1 && sorts.upper > 1;
        if sorts.signs == 0 || sorts.lower + sorts.upper < 4 || (sorts.digits == 0 && !mixed) {
            return false;
        }
        // `NROPrPrP-`: a flag of a device.
        let inside = || {
            !text[1..text.len() - 1]
                .iter()
                .all(u8::is_ascii_alphanumeric)
        };
        if sorts.digits == 0 && !inside() {
            return false;
        }
        let versions = sorts.signs & DOT != 0;
        let name = sorts.only(if versions { VERSION } else { NAME });
        let least = doubt
            + match (sorts.lower > 1, sorts.upper > 1) {
                (true, true) if sorts.digits == 0 => 22,
                (true, true) => 14,
                (true, false) if name => 28,
                (true, false) => 20,
                _ => 34,
            };
        if name && sorts.changes < 3 {
            return false;
        }
        let bits = bits();
        bits > least
            && !(name && is_pod_name(text))
            && (bits > least + STRUCTURE
                || !(structured(text, sorts.signs) || sorts.digits > 0 && numbered(text)))
            && !is_escaped(text)
            && !encoded_text(self.bytes, place)
            && !is_short_text(text)
            && !says_what(self.bytes, place)
    }
}

/// Whether a token has a length that is looked at.
fn fits(place: &Range<usize>) -> bool {
    LENGTHS.contains(&place.len())
}

/// Whether a text too short to be looked at as base64 is that of a text.
fn is_short_text(text: &[u8]) -> bool {
    ask_digits();
    let inner = encoded::bytes(text).filter(|_| text.ends_with(b"="));
    inner.is_some_and(|inner| inner.iter().all(|byte| (b' '..=b'~').contains(byte)))
}

/// Whether a text is written as escapes, which were read as what they say: `&#77;&#79;`.
fn is_escaped(text: &[u8]) -> bool {
    ask_digits();
    escapes::first(text).is_some()
}

/// So many bits more has what only looks like code.
const STRUCTURE: i32 = 40;

/// Whether the place of a token, the name in front of it, or what stands in front of the last part of it, says what it
/// is: `KUBE-SVC-NPX46M4PTMTKRN6Y`.
fn says_what(bytes: &[u8], place: &Range<usize>) -> bool {
    let last = bytes[place.clone()]
        .iter()
        .rposition(|byte| !WORD[usize::from(*byte)])
        .map_or(place.start, |at| place.start + at + 1);
    by_place(bytes, &(last..place.end)) || by_place(bytes, place) || named(&bytes[..place.start])
}
