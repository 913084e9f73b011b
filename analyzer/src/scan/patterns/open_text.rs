//! Texts in lines of one shape: where a part of a text may stand at an open place.

use std::ops::Range;

use memchr::memmem::Finder;

use super::shape;

/// A text of which a part may stand at an open place.
pub(super) struct OpenText {
    text: Box<[u8]>,
    /// What does not: the text without its first or last word, where those may stand at an open place.
    middle: Range<usize>,
    finder: Finder<'static>,
    /// All of it may, or a part in its middle may: it is not looked for.
    anywhere: bool,
}

impl OpenText {
    /// A text in lower case; none where no part of it can stand at an open place.
    pub(super) fn new(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let words = words(bytes);
        let fits = |word: &Range<usize>| shape::may_be_open(&bytes[word.clone()]);
        let first = words.first().filter(|word| word.start == 0 && fits(word));
        let last = words
            .last()
            .filter(|word| word.end == bytes.len() && fits(word));
        let at_end = |word: &Range<usize>| Some(word) == first || Some(word) == last;
        let digits = |word: &&Range<usize>| bytes[(*word).clone()].iter().any(u8::is_ascii_digit);
        let inside = words.iter().filter(digits).any(|word| !at_end(word));
        let from = first.map_or(0, |word| word.end);
        let to = last.map_or(bytes.len(), |word| word.start);
        if !inside && first.is_none() && last.is_none() {
            return None;
        }
        let middle = from.min(to)..to;
        Some(Self {
            finder: Finder::new(&bytes[middle.clone()]).into_owned(),
            anywhere: inside || middle.is_empty(),
            text: bytes.into(),
            middle,
        })
    }

    /// Whether it may stand in a line of a shape, which is given in lower case, a part of it at an open place.
    pub(super) fn may_stand(&self, shape: &[u8]) -> bool {
        if self.anywhere {
            return shape.iter().any(|byte| shape::is_open(*byte));
        }
        let before = &self.text[..self.middle.start];
        let behind = &self.text[self.middle.end..];
        self.finder.find_iter(shape).any(|at| {
            let (left, right) = (&shape[..at], &shape[at + self.middle.len()..]);
            let is_open = |byte: Option<&u8>| byte.is_some_and(|byte| shape::is_open(*byte));
            (left.ends_with(before) || is_open(left.last()))
                && (right.starts_with(behind) || is_open(right.first()))
        })
    }
}

/// Where digits and letters stand together.
fn words(text: &[u8]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, byte) in text.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            continue;
        }
        match words.last_mut().filter(|word| word.end == at) {
            Some(word) => word.end = at + 1,
            None => words.push(at..at + 1),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::shape::{self, Words};
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_text_that_stands_in_a_line_may_stand_in_its_shape(
            parts in proptest::collection::vec(
                "[ .:\"-]|xid|no|to|bad|ipv4|mlx5|x509|pull|[0-9]{1,3}|[0-9a-f]{1,6}|[0-9a-z]{1,6}", 1..9,
            ),
            from in 0..40usize,
            length in 3..14usize,
        ) {
            let line = parts.concat();
            let from = from.min(line.len());
            let to = (from + length).min(line.len());
            let text = &line[from..to];
            let words = Words::of([text].into_iter());
            let mut shape = Vec::new();
            assert!(shape::write(line.as_bytes(), false, &words, &mut shape));
            let there = memchr::memmem::find(&shape, text.as_bytes()).is_some();
            let open = OpenText::new(text).is_some_and(|text| text.may_stand(&shape));
            proptest::prop_assert!(there || open, "{} in {}", text, line);
        }
    }

    #[test]
    fn a_text_does_not_stand_where_its_words_do_not() {
        let words = Words::of(["xid", "x509: certificate has expired"].into_iter());
        let mut shape = Vec::new();
        shape::write(b"pulled x1y2 at 10.0.0.1: no", false, &words, &mut shape);
        for (text, expected) in [
            ("xid", false),
            ("x509: certificate has expired", false),
            ("ed: no", false),
            ("1: no", true),
            ("bad", true),
            ("unauthorized", false),
        ] {
            let open = OpenText::new(text).is_some_and(|text| text.may_stand(&shape));
            assert_eq!(open, expected, "{text}");
        }
    }
}
