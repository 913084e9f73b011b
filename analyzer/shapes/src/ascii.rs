//! Expressions for texts that are ASCII, as nearly all lines are: several times smaller, and they match the same.
//!
//! Smaller still is one without the bounds on how far its parts may stand apart. `pull.{0,300}unauthorized` has to
//! count from each `pull` on, and its automaton needs a state for each set of counts: a line that holds both words
//! costs a hundred microseconds. `pull.*unauthorized` counts nothing. In a text of up to 300 bytes both match the
//! same, and a longer one that the second does not match the first does not match either.

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind, Look};

/// Fewer repetitions than this are cheap to count.
const FEW: u32 = 12;

/// An expression for ASCII.
pub(crate) fn narrow(source: &str) -> Option<String> {
    Some(narrowed(source)?.to_string())
}

/// The same, for an automaton.
pub(crate) fn narrowed(source: &str) -> Option<Hir> {
    let hir = regex_syntax::parse(source).ok()?;
    Some(rewrite(&hir, &mut |_| false))
}

/// The same without its bounds from `least` on.
pub(crate) fn without_bounds(source: &str, least: usize) -> Option<Hir> {
    let hir = regex_syntax::parse(source).ok()?;
    Some(rewrite(&hir, &mut |most| {
        usize::try_from(most).is_ok_and(|most| most >= least)
    }))
}

/// The same without all its wide bounds, for an automaton.
pub(crate) fn without_any_bounds(source: &str) -> Option<Hir> {
    let hir = regex_syntax::parse(source).ok()?;
    Some(rewrite(&hir, &mut |most| most >= FEW))
}

/// The wide bounds of an expression, the least first.
pub(crate) fn wide_bounds(source: &str) -> Vec<usize> {
    let Ok(hir) = regex_syntax::parse(source) else {
        return Vec::new();
    };
    let mut bounds = Vec::new();
    rewrite(&hir, &mut |most| {
        if most >= FEW {
            bounds.extend(usize::try_from(most));
        }
        false
    });
    bounds.sort_unstable();
    bounds.dedup();
    bounds
}

/// The expression with classes of ASCII only; without the bounds that `drops` names.
fn rewrite(hir: &Hir, drops: &mut dyn FnMut(u32) -> bool) -> Hir {
    match hir.kind() {
        HirKind::Class(class) => Hir::class(Class::Bytes(of_ascii(class))),
        HirKind::Look(look) => Hir::look(of_ascii_words(*look)),
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            repetition.sub = Box::new(rewrite(&repetition.sub, drops));
            repetition.max = repetition.max.filter(|most| !drops(*most));
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => {
            let mut capture = capture.clone();
            capture.sub = Box::new(rewrite(&capture.sub, drops));
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => {
            Hir::concat(parts.iter().map(|one| rewrite(one, drops)).collect())
        }
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.iter().map(|one| rewrite(one, drops)).collect())
        }
        HirKind::Empty | HirKind::Literal(_) => hir.clone(),
    }
}

fn of_ascii(class: &Class) -> ClassBytes {
    const LAST: u8 = 0x7f;
    let ranges: Vec<ClassBytesRange> = match class {
        Class::Unicode(class) => {
            let ranges = class.iter().filter_map(|range| {
                let start = u8::try_from(range.start())
                    .ok()
                    .filter(|start| *start <= LAST)?;
                let end = u8::try_from(range.end()).map_or(LAST, |end| end.min(LAST));
                Some(ClassBytesRange::new(start, end))
            });
            ranges.collect()
        }
        Class::Bytes(class) => class.iter().copied().collect(),
    };
    ClassBytes::new(ranges)
}

fn of_ascii_words(look: Look) -> Look {
    match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use regex::{Regex, bytes};

    use super::*;

    #[test]
    fn wide_bounds_are_left_out_and_narrow_ones_stay() {
        let source = r"(?i)a.{0,300}(?P<n>b.{2,80}c)\d{1,3}";
        assert_eq!(wide_bounds(source), [80, 300]);
        let loose = without_bounds(source, 80).unwrap().to_string();
        let regex = bytes::Regex::new(&loose).unwrap();
        let far = format!("A{}b{}c12", "x".repeat(500), "-".repeat(100));
        let found = regex.captures(far.as_bytes()).unwrap();
        assert_eq!(found.name("n").unwrap().len(), 102);
        assert!(!regex.is_match(b"A b-c12"));
        let near = without_bounds(source, 300).unwrap().to_string();
        assert!(!bytes::Regex::new(&near).unwrap().is_match(far.as_bytes()));
    }

    proptest::proptest! {
        #[test]
        fn both_match_in_ascii_what_the_expression_matches(text in "[aA9k _.\u{20}\u{22}]{0,20}") {
            for source in [
                r"(?i)\bk.{0,40}?(?P<n>\d+)\b", r"['\u{2018}\u{22}]a\S{1,30}", r"^\p{Lu}.{0,20}k$", r"[^\w ]a?\B",
            ] {
                let full = Regex::new(source).unwrap();
                let wanted = full.captures(&text).map(|one| (one.get(0).unwrap().range(), one.name("n").map(|n| n.range())));
                let loose = without_bounds(source, 20).unwrap().to_string();
                for source in [narrow(source).unwrap(), loose] {
                    let found = bytes::Regex::new(&source).unwrap();
                    let found = found.captures(text.as_bytes());
                    let found = found.map(|one| (one.get(0).unwrap().range(), one.name("n").map(|n| n.range())));
                    proptest::prop_assert_eq!(&found, &wanted, "{}", source);
                }
            }
        }
    }
}
