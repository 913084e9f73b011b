//! Versions of drivers and of CUDA, compared number by number.

use std::cmp::Ordering;

/// Longest version that is read.
const LONGEST: usize = 32;

/// Whether a text is a version: numbers joined by points, at least two, of sane length.
pub fn is_version(text: &str) -> bool {
    text.len() <= LONGEST && text.contains('.') && numbers(text).is_some()
}

/// Whether a text is a version of the driver (`470.256.02`): all since 2004 begin with a number above 60. Libraries of other
/// numbering, such as `libcuda.so.1.1` of Jetson, are none.
pub fn is_driver(text: &str) -> bool {
    is_version(text) && major(text).is_some_and(|first| (60..10_000).contains(&first))
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split('.').map(|part| part.parse().ok()).collect()
}

/// The first word of a text that is a version.
pub fn find(text: &str) -> Option<&str> {
    let words =
        text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '"' | '|'));
    words.into_iter().find(|word| is_version(word))
}

/// Compares two versions; a missing number counts as 0. None if one is not readable.
pub fn compare(a: &str, b: &str) -> Option<Ordering> {
    let (a, b) = (numbers(a)?, numbers(b)?);
    let longest = a.len().max(b.len());
    let at = |list: &[u32], index: usize| list.get(index).copied().unwrap_or(0);
    let mut pairs = (0..longest).map(|index| at(&a, index).cmp(&at(&b, index)));
    Some(pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal))
}

/// Whether the first is at least the second.
pub fn at_least(have: &str, want: &str) -> Option<bool> {
    compare(have, want).map(Ordering::is_ge)
}

/// The first number of a version.
pub fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}
