//! Members of JSON that were looked at before: `"restartPolicy":"Always",` stands in thousands of lines, so the last few
//! thousand are kept by number with what was found in them, and not looked at again.
//!
//! A member begins with a quote that a comma or an opening bracket stands in front of. Nothing that is searched for goes
//! on over such a place, and no word does, so what is in a member does not depend on what stands around it, as far as
//! nothing asked.

use std::cell::RefCell;

use super::super::calm::anew;
use super::super::number;

/// So many are kept.
const CELLS: usize = 1 << 13;
/// A longer member is looked at anew.
pub(super) const LONGEST: usize = 1024;

/// Nothing encoded begins in it, and no escape of a hidden text.
pub(super) const PLAIN: u64 = 1;
/// Nothing that is searched for stands in it.
pub(super) const BARE: u64 = 2;
/// None of its words was drawn, wherever it stands.
pub(super) const WRITTEN: u64 = 4;
const ALL: u64 = PLAIN | BARE | WRITTEN;

thread_local! {
    static KEPT: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Where the member that begins at a place ends.
pub(super) fn end(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from + 1..];
    memchr::memchr3_iter(b',', b'{', b'[', rest)
        .map(|at| from + at + 2)
        .find(|end| bytes.get(*end) == Some(&b'"'))
        .unwrap_or(bytes.len())
}

/// The number that a member is kept by; none where it is too long.
pub(super) fn number(member: &[u8]) -> Option<u64> {
    if member.len() > LONGEST {
        return None;
    }
    Some(number::of_long(member, |eight| eight) & !ALL)
}

/// What is known of the member with a number; nothing of most.
pub(super) fn known(number: u64) -> u64 {
    KEPT.with_borrow(|kept| match kept.get(cell(number)) {
        Some(there) if there & !ALL == number && !anew() => there & ALL,
        _ => 0,
    })
}

/// Keeps what is known of a member.
pub(super) fn note(number: u64, what: u64) {
    KEPT.with_borrow_mut(|kept| {
        kept.resize(CELLS, 0);
        kept[cell(number)] = number | what;
    });
}

/// Adds to what is kept of a member.
pub(super) fn add(number: u64, what: u64) {
    let known = known(number);
    if known > 0 {
        note(number, known | what);
    }
}

fn cell(number: u64) -> usize {
    usize::try_from(number >> 40).unwrap_or(0) % CELLS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_ends_in_front_of_the_quote_of_the_next_one() {
        let line = br#"{"a":{"b":[1,2,{"c":"x, y"}],"d":["e","f"]}}"#;
        let mut parts = Vec::new();
        let mut from = 0;
        while from < line.len() {
            let to = end(line, from);
            parts.push(&line[from..to]);
            from = to;
        }
        let expected: [&[u8]; 6] = [
            b"{\"a\":{",
            b"\"b\":[1,2,{",
            b"\"c\":\"x, y\"}],",
            b"\"d\":[",
            b"\"e\",",
            b"\"f\"]}}",
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn what_is_known_of_a_member_is_known_of_no_other() {
        let numbers: Vec<u64> = (0..300)
            .filter_map(|n| number(&b"x".repeat(n)))
            .chain((0..300).filter_map(|n| number(format!("\"a{n}\":\"bcdefgh\",").as_bytes())))
            .collect();
        let mut apart = numbers.clone();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(apart.len(), numbers.len());
        note(numbers[20], PLAIN);
        assert_eq!((known(numbers[20]), known(numbers[21])), (PLAIN, 0));
        add(numbers[20], WRITTEN);
        add(numbers[21], WRITTEN);
        assert_eq!(
            (known(numbers[20]), known(numbers[21])),
            (PLAIN | WRITTEN, 0)
        );
        assert_eq!(number(&b"x".repeat(LONGEST + 1)), None);
    }
}
