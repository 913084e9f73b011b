//! Texts in lines of one shape: where a part of a text may stand at an open place.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::{shape, words};

/// A text of which parts may stand at open places.
pub(crate) struct OpenText {
    text: Box<[u8]>,
    /// The longest stretch of it that may not.
    middle: Range<usize>,
    finder: Finder<'static>,
}

impl OpenText {
    /// A text in lower case; none where no part of it can stand at an open place.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        // Between other bytes only what has a digit is an open place; at an end of the text it may have one outside.
        let may_be_open = |word: &Range<usize>| {
            let digits = bytes[word.clone()].iter().any(u8::is_ascii_digit);
            let at_end = word.start == 0 || word.end == bytes.len();
            words::may_be_open(&bytes[word.clone()]) && (digits || at_end)
        };
        let tokens = words::tokens(bytes);
        // What the text ends with may go on as an id that is glued to its name.
        let last = tokens.last().filter(|last| last.end == bytes.len());
        let glued = last.and_then(|last| Some(last.start + words::glued(&bytes[last.clone()])?));
        let mut open: Vec<Range<usize>> = tokens.into_iter().filter(may_be_open).collect();
        open.extend(glued.map(|from| from..bytes.len()));
        if open.is_empty() {
            return None;
        }
        open.insert(0, 0..0);
        open.push(bytes.len()..bytes.len());
        let pairs = open
            .windows(2)
            .max_by_key(|pair| pair[1].start.saturating_sub(pair[0].end))?;
        let middle = pairs[0].end..pairs[1].start;
        Some(Self {
            finder: Finder::new(&bytes[middle.clone()]).into_owned(),
            text: bytes.into(),
            middle,
        })
    }

    /// The longest stretch of it that may stand at no open place.
    pub(crate) fn middle(&self) -> &[u8] {
        &self.text[self.middle.clone()]
    }

    /// Whether it may stand in a line of a shape, which is given in lower case, a part of it at an open place.
    pub(crate) fn may_stand(&self, shape: &[u8]) -> bool {
        let before = || self.text[..self.middle.start].iter().rev();
        let behind = || self.text[self.middle.end..].iter();
        self.finder.find_iter(shape).any(|at| {
            let (left, right) = (&shape[..at], &shape[at + self.middle.len()..]);
            may_go_on(behind(), right.iter()) && may_go_on(before(), left.iter().rev())
        })
    }
}

/// Whether a text may go on as a shape does: a stretch of it may stand at an open place whose kind it is of.
fn may_go_on<'b>(
    mut text: impl Iterator<Item = &'b u8> + Clone,
    mut shape: impl Iterator<Item = &'b u8> + Clone,
) -> bool {
    while let Some(byte) = text.next() {
        let Some(here) = shape.next() else {
            return false;
        };
        if shape::is_open(*here) {
            return may_go_on_open((byte, *here), text, shape);
        }
        if here != byte {
            return false;
        }
    }
    true
}

/// The same from an open place on. Where the stretch that stands there ends is not known: each of its ends is tried.
fn may_go_on_open<'b>(
    (first, place): (&'b u8, u8),
    mut text: impl Iterator<Item = &'b u8> + Clone,
    shape: impl Iterator<Item = &'b u8> + Clone,
) -> bool {
    let mut stretch = Some(first);
    while stretch.is_some_and(|byte| shape::may_stand_at(*byte, place)) {
        if may_go_on(text.clone(), shape.clone()) {
            return true;
        }
        stretch = text.next();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Words;

    proptest::proptest! {
        #[test]
        fn a_text_that_stands_in_a_line_may_stand_in_its_shape(
            parts in proptest::collection::vec(
                "[ .:\"-]|xid|no|to|bad|401| unauthorized|ipv4|mlx5|x509|pull|[0-9]{1,3}|[0-9a-f]{1,6}|[0-9a-z]{1,6}|-[b-d2-9]{5}|5m0s|30T00|[a-z]{2,5}[0-9a-f]{6,9}|[0-9]{2}6443[0-9a-f]{2}|(pod)?[0-9a-f]{8}-[0-9]{4}-[a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", 1..9,
            ),
            from in 0..40usize,
            length in 2..14usize,
        ) {
            let line = parts.concat();
            let from = from.min(line.len());
            let to = (from + length).min(line.len());
            let text = &line[from..to];
            let words = Words::of([text, "6443", "401 unauthorized"].into_iter());
            let shape = shape::of(line.as_bytes(), false, &words).unwrap();
            let there = memchr::memmem::find(&shape, text.as_bytes()).is_some();
            let open = OpenText::new(text).is_some_and(|text| text.may_stand(&shape));
            proptest::prop_assert!(there || open, "{} in {}", text, line);
        }
    }

    #[test]
    fn a_text_does_not_stand_where_its_words_do_not() {
        let words = Words::of(["xid", "x509: certificate has expired"].into_iter());
        let shape = shape::of(b"pulled x1y2z3w at 10.0.0.1: no", false, &words).unwrap();
        for (text, expected) in [
            ("xid", false),
            ("x509: certificate has expired", false),
            ("ed: yes", false),
            ("1: no", true),
            ("10.", true),
            ("bad", true),
            ("10.0.1", true),
            ("10.0.0-", false),
            ("at 10.b", false),
            ("x1y", true),
            ("dead", false),
            ("unauthorized", false),
        ] {
            let open = OpenText::new(text).is_some_and(|text| text.may_stand(&shape));
            assert_eq!(open, expected, "{text}");
        }
    }
}
