//! What explains a word by its place and is written with decimal digits: `sha256:`, `md5`. All else that is looked at around a
//! word says the same with other digits.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::super::alike::{Alike, Others, Zeros};
use super::ids::{ENDS, KEYS, OBJECTS, OF_THE_NODE};
use super::marks::BEFORE;
use super::things::{ALGORITHMS, THINGS};
use super::{BEGINNINGS, NAMES, ORACLE_MARK, VERSION};

/// All of it with a zero for each digit.
static NUMBERED: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let lists = [&NAMES, &OBJECTS, &OF_THE_NODE, &KEYS, &THINGS];
    let words = lists
        .iter()
        .flat_map(|list| list.numbered())
        .map(str::as_bytes);
    let marks = BEFORE.iter().map(|mark| mark.as_bytes());
    let ends = ENDS.into_iter().chain([ORACLE_MARK, VERSION]);
    let all = words
        .chain(marks)
        .chain(ends)
        .chain(BEGINNINGS.iter().copied());
    let algorithms = ALGORITHMS
        .iter()
        .map(|(name, number)| [*name, number].concat());
    let zero = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
    let zeros = all
        .map(<[u8]>::to_vec)
        .chain(algorithms)
        .filter(|word| word.iter().any(u8::is_ascii_digit))
        .map(|word| word.into_iter().map(zero).collect::<Vec<u8>>());
    let mut search = AhoCorasick::builder();
    search.ascii_case_insensitive(true).build(zeros).ok()
});

/// Whether what stands around the words of a text, in a part of it, may explain other words in others of it.
pub(crate) fn digits_may_explain(
    text: &Alike<'_>,
    around: &Range<usize>,
    zeros: &Zeros,
    others: Others,
) -> bool {
    let Some(numbered) = &*NUMBERED else {
        return true;
    };
    let mut found = numbered.find_overlapping_iter(&zeros.text);
    found.any(|found| {
        let place = zeros.place(&found.range());
        place.start < around.end && around.start < place.end && !text.is_fixed(&place, others)
    })
}
