//! What is kept of a line that an expression matches: its captures, and the line as a report may print it.

use std::borrow::Cow;
use std::ops::Range;

use casefile_shapes::expression::{Expression, Named};
use regex::Regex;

use super::hit::Captures;
use crate::facts::excerpt;
use crate::shared::Shared;

/// Longest excerpt of a line, in bytes.
const EXCERPT: usize = 700;

/// Named captures of one line, sorted.
pub(super) type Caught<'t> = Vec<(&'t str, Cow<'t, str>)>;

/// The same to be kept.
pub(super) fn kept(caught: &Caught<'_>) -> Captures {
    let kept = caught.iter();
    kept.map(|(name, value)| ((*name).into(), value.as_ref().into()))
        .collect()
}

/// What a report may print of what was captured.
pub(super) fn sorted(named: Named<'_>) -> Caught<'_> {
    let named = named.into_iter();
    let mut caught: Caught<'_> = named.map(|(name, value)| capture(name, value)).collect();
    caught.sort();
    caught
}

fn capture<'t>(name: &'t str, value: &'t str) -> (&'t str, Cow<'t, str>) {
    const LONGEST: usize = 200;
    let value = if name.starts_with(SENSITIVE) {
        Cow::Borrowed(WITHHELD)
    } else if value.len() <= LONGEST {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(whole_words(&excerpt(value, LONGEST)))
    };
    (name, value)
}

/// A sentence that was cut, without the piece of a word at its end and marked; what has no blank stays.
fn whole_words(cut: &str) -> String {
    match cut.rsplit_once(' ') {
        Some((whole, _)) => format!("{} …", whole.trim_end_matches([' ', ',', ':'])),
        None => cut.to_owned(),
    }
}

/// A capture whose name begins so holds what no report may print.
const SENSITIVE: &str = "sensitive_";

/// What is printed instead.
const WITHHELD: &str = "<withheld>";

/// The line, or of a very long one the part around the match, without what a report must not print.
pub(super) fn shown(regex: &Expression, text: &str) -> Shared {
    let whole = text.trim_end();
    // Nothing is looked for in a short line of which all may be printed, and most expressions never need it.
    if whole.len() <= EXCERPT && !regex.as_str().contains(SENSITIVE) {
        return Shared::alone(whole);
    }
    Shared::alone(&match regex.full() {
        Some(regex) => around(regex, text),
        None => excerpt(text, EXCERPT),
    })
}

/// A line without what a rule's captures mark as sensitive: nothing that quotes it may print that.
fn without_sensitive<'a>(regex: &Regex, text: &'a str) -> Cow<'a, str> {
    let mut names = regex.capture_names().flatten();
    if !names.any(|name| name.starts_with(SENSITIVE)) {
        return Cow::Borrowed(text);
    }
    let mut spans: Vec<Range<usize>> = Vec::new();
    for matched in regex.captures_iter(text) {
        for name in regex.capture_names().flatten() {
            let value = matched.name(name).filter(|_| name.starts_with(SENSITIVE));
            spans.extend(value.map(|value| value.range()));
        }
    }
    let mut cleaned = text.to_owned();
    // The value may stand elsewhere in the same line as well.
    let mut values: Vec<&str> = spans.into_iter().map(|span| &text[span]).collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    for value in values.into_iter().filter(|value| !value.is_empty()) {
        cleaned = cleaned.replace(value, WITHHELD);
    }
    Cow::Owned(cleaned)
}

fn around(regex: &Regex, text: &str) -> String {
    let at = regex.find(text).map_or(0, |found| found.start());
    let cleaned = without_sensitive(regex, text.trim_end());
    let text = cleaned.as_ref();
    if text.len() <= EXCERPT {
        return text.to_owned();
    }
    let mut start = at.min(text.len()).saturating_sub(120);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    excerpt(&text[start..], EXCERPT)
}
