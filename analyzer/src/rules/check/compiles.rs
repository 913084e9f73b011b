//! Whether an expression compiles, told by reading it: to compile it for all letters of Unicode takes ten times as long as
//! all other checks of a rule together, and most expressions are never tried.

use regex_syntax::hir::{Class, Hir, HirKind};
use regex_syntax::utf8::Utf8Sequences;

use crate::rules::compile::regex;

/// The crate `regex` compiles nothing that gets larger, in bytes.
const LARGEST: usize = 10 << 20;
/// At most what a state of its automaton takes while it is built, and each of the ways out of it, in bytes
/// (`regex-automata` 0.4, `nfa::thompson::builder`: 32 and 8).
const STATE: usize = 40;
const WAY: usize = 8;

/// An expression that compiles.
///
/// # Errors
/// Why it does not compile, in a sentence: what is written wrong, or that it is too large.
pub(super) fn read(expression: &str) -> Result<Hir, String> {
    let read = regex_syntax::parse(expression);
    let hir = read.map_err(|error| format!("expression does not compile: {error}"))?;
    if at_most(&hir) > LARGEST {
        regex(expression)?;
    }
    Ok(hir)
}

/// The names of what an expression captures.
pub(super) fn names(expression: &Hir) -> Vec<String> {
    let mut names = Vec::new();
    captured(expression, &mut names);
    names
}

fn captured(hir: &Hir, names: &mut Vec<String>) {
    match hir.kind() {
        HirKind::Capture(capture) => {
            names.extend(capture.name.as_deref().map(str::to_owned));
            captured(&capture.sub, names);
        }
        HirKind::Repetition(repetition) => captured(&repetition.sub, names),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().for_each(|part| captured(part, names));
        }
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => {}
    }
}

/// No less than what its automaton takes, in bytes.
fn at_most(hir: &Hir) -> usize {
    let own = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len().saturating_mul(STATE),
        HirKind::Class(class) => of_class(class),
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(repetition.min).saturating_add(1);
            let copies = usize::try_from(copies).unwrap_or(usize::MAX);
            (at_most(&repetition.sub) + STATE).saturating_mul(copies)
        }
        HirKind::Capture(capture) => {
            let name = capture.name.as_ref().map_or(0, |name| name.len());
            at_most(&capture.sub).saturating_add(2 * (STATE + name))
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            let parts = parts.iter().map(|part| at_most(part).saturating_add(WAY));
            parts.fold(0, usize::saturating_add)
        }
    };
    own.saturating_add(STATE)
}

/// A class is a state for each byte of each stretch of characters whose bytes are alike.
fn of_class(class: &Class) -> usize {
    match class {
        Class::Bytes(class) => class.ranges().len() * WAY,
        Class::Unicode(class) => {
            let ranges = class.iter();
            let stretches = ranges.flat_map(|one| Utf8Sequences::new(one.start(), one.end()));
            stretches
                .map(|stretch| stretch.len() * (STATE + WAY))
                .fold(0, usize::saturating_add)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expression() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "a", "é", r"\w", r"\d", ".", "[^x]", r"\p{L}", r"\b", "(?i)k", "error", "(?:", "[",
            r"\", "*", "",
        ]);
        let leaf = part.prop_map(str::to_owned);
        leaf.prop_recursive(5, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
                prop::collection::vec(inner.clone(), 1..4)
                    .prop_map(|parts| format!("(?:{})", parts.join("|"))),
                (inner.clone(), 0..3u32).prop_map(|(one, least)| format!("(?:{one}){{{least},}}")),
                (inner.clone(), 0..90u32).prop_map(|(one, most)| format!("(?:{one}){{0,{most}}}")),
                (inner, "[ab]").prop_map(|(one, name)| format!("(?P<{name}>{one})")),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_says_what_the_crate_says_that_compiles_it(expression in expression()) {
            let compiled = regex(&expression);
            let read = read(&expression);
            prop_assert_eq!(read.as_ref().err(), compiled.as_ref().err(), "{}", &expression);
            if let (Ok(read), Ok(compiled)) = (read, compiled) {
                let known: Vec<&str> = compiled.capture_names().flatten().collect();
                prop_assert_eq!(names(&read), known, "{}", expression);
            }
        }
    }

    #[test]
    fn what_is_too_large_is_refused_in_the_words_of_the_crate() {
        let large = r"\w{1,200}".repeat(4);
        let refused = read(&large).unwrap_err();
        assert!(refused.contains("size limit"), "{refused}");
        assert_eq!(regex(&large).err(), Some(refused));
        assert_eq!(read("(unclosed").err(), regex("(unclosed").err());
    }
}
