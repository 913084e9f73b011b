//! Literals that a line must contain for a pattern to match, so that most lines never meet a regex.

use regex_syntax::Parser;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A pattern needs a literal of at least this many bytes, or it would be tried on every line.
pub const MIN_LITERAL: usize = 3;

/// Sets of at most this many alternatives are kept; a wider alternation counts as having no literal.
const MAX_ALTERNATIVES: usize = 24;

/// Texts of which at least one stands in every line that the pattern matches, in lower case.
///
/// None if there is no such set with every text at least [`MIN_LITERAL`] bytes long. Texts hold
/// neither quotes nor backslashes nor control characters, because a raw journal line escapes those.
pub fn required(pattern: &str) -> Option<Vec<String>> {
    let hir = Parser::new().parse(pattern).ok()?;
    let found = best(&hir)?;
    usable(&found).then_some(found)
}

fn usable(alternatives: &[String]) -> bool {
    !alternatives.is_empty()
        && alternatives.len() <= MAX_ALTERNATIVES
        && alternatives.iter().all(|text| text.len() >= MIN_LITERAL)
}

fn shortest(alternatives: &[String]) -> usize {
    alternatives.iter().map(String::len).min().unwrap_or(0)
}

fn best(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(_) | HirKind::Class(_) => longest_run(std::slice::from_ref(hir)),
        HirKind::Concat(parts) => {
            let inner = parts.iter().filter_map(best);
            let run = longest_run(parts);
            inner
                .chain(run)
                .filter(|found| usable(found))
                .max_by_key(|found| shortest(found))
        }
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(best(part)?);
            }
            all.sort();
            all.dedup();
            usable(&all).then_some(all)
        }
        HirKind::Capture(capture) => best(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => best(&repetition.sub),
        _ => None,
    }
}

/// The longest stretch of neighbouring literals, where a case-insensitive letter counts as one.
fn longest_run(parts: &[Hir]) -> Option<Vec<String>> {
    let mut longest = String::new();
    let mut run = String::new();
    let keep = |run: &mut String, longest: &mut String| {
        if run.len() > longest.len() {
            longest.clone_from(run);
        }
        run.clear();
    };
    for part in parts {
        match part.kind() {
            HirKind::Literal(literal) => {
                for &byte in literal.0.iter() {
                    let plain =
                        (byte.is_ascii_graphic() || byte == b' ') && byte != b'"' && byte != b'\\';
                    if plain {
                        run.push(char::from(byte.to_ascii_lowercase()));
                    } else {
                        keep(&mut run, &mut longest);
                    }
                }
            }
            HirKind::Class(class) => match case_pair(class) {
                Some(letter) => run.push(letter),
                None => keep(&mut run, &mut longest),
            },
            _ => keep(&mut run, &mut longest),
        }
    }
    keep(&mut run, &mut longest);
    (longest.len() >= MIN_LITERAL).then(|| vec![longest])
}

/// The lower-case letter of a class that is one ASCII letter in both cases.
fn case_pair(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else {
        return None;
    };
    // `(?i)s` and `(?i)k` also hold a non-ASCII letter, which no log spells them with.
    let mut letters: Vec<char> = Vec::new();
    for range in class.ranges() {
        if range.start() != range.end() {
            return None;
        }
        if range.start().is_ascii() {
            letters.push(range.start().to_ascii_lowercase());
        }
    }
    letters.dedup();
    (letters.len() == 1).then(|| letters[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, expect: Option<&[&str]>) {
        let found = required(pattern);
        let found: Option<Vec<&str>> = found
            .as_ref()
            .map(|texts| texts.iter().map(String::as_str).collect());
        assert_eq!(found.as_deref(), expect, "{pattern}");
    }

    #[test]
    fn the_longest_text_that_every_match_contains_is_found() {
        check(
            r#"no runtime for "(?P<h>[^"]+)" is configured"#,
            Some(&["no runtime for "]),
        );
        check(r"(?i)fallen off the bus", Some(&["fallen off the bus"]));
        check(
            r"i/o timeout|temporary failure",
            Some(&["i/o timeout", "temporary failure"]),
        );
        check(r"(abc)?defg\d+", Some(&["defg"]));
        check(r"NVRM: Xid.*79", Some(&["nvrm: xid"]));
    }

    #[test]
    fn a_pattern_without_a_literal_is_refused() {
        check(r"\d+", None);
        check(r"ab|cdef", None);
        check(r".*", None);
    }
}
