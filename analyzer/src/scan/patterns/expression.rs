//! The expressions of rules, and what they say of a line that they match.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder};
use regex_automata::nfa::thompson::NFA;

use super::always::matches_always;
use super::certain;
use super::hit::Captures;
use super::shape::{self, is_open};
use super::tries::{Compiled, Tries};
use crate::form::ascii;

use crate::dress::Nature;
use crate::facts::excerpt;
use crate::parsers::Channel;
use crate::shared::Shared;

/// Longest excerpt of a line, in bytes.
const EXCERPT: usize = 700;

/// What an expression that is no ASCII may remember of its own states on a thread, in bytes.
const STATES: usize = 1 << 20;

/// An expression that is compiled when it is first tried: of more than a thousand, most never are.
///
/// Three times: nearly all lines are ASCII, and for those an expression that knows nothing else is several times
/// smaller and matches the same. Smaller still is one without bounds on how far its parts may stand apart.
#[derive(Debug, Default, Clone)]
pub struct Expression {
    source: String,
    ascii: OnceLock<Option<Arc<Compiled>>>,
    loose: OnceLock<Vec<Loose>>,
    full: OnceLock<Option<Regex>>,
    /// The automaton that tells what it captures in lines of a shape.
    telling: OnceLock<Option<NFA>>,
}

/// An expression without bounds from this one on: texts up to that length it matches as the whole expression does.
#[derive(Debug, Clone)]
struct Loose {
    least: usize,
    compiled: OnceLock<Option<Arc<Compiled>>>,
}

impl Expression {
    /// An expression as written. One that does not compile matches nothing; the rule checker and the
    /// tests refuse it before.
    pub fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            ..Self::default()
        }
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    fn full(&self) -> Option<&Regex> {
        let compile = || {
            let mut builder = RegexBuilder::new(&self.source);
            builder.dfa_size_limit(STATES).build().ok()
        };
        self.full.get_or_init(compile).as_ref()
    }

    /// The expression for texts that are ASCII.
    fn ascii(&self) -> Option<&Compiled> {
        let compile = || Compiled::of(&self.source, None).map(Arc::new);
        self.ascii.get_or_init(compile).as_deref()
    }

    /// The expression for texts that are ASCII without its wide bounds, without all of them first.
    fn loose(&self) -> &[Loose] {
        let bounds = || {
            let loose = |least| Loose {
                least,
                compiled: OnceLock::new(),
            };
            ascii::wide_bounds(&self.source)
                .into_iter()
                .map(loose)
                .collect()
        };
        self.loose.get_or_init(bounds)
    }

    fn compiled<'e>(&'e self, loose: &'e Loose) -> Option<&'e Compiled> {
        let compile = || Compiled::of(&self.source, Some(loose.least)).map(Arc::new);
        loose.compiled.get_or_init(compile).as_deref()
    }

    /// The expression that decides whether this text, which is ASCII, is matched; none where it is known not to be.
    fn deciding(
        &self,
        text: &str,
        matches: impl FnOnce(&Compiled, &str) -> bool,
    ) -> Option<&Compiled> {
        let loose = self.loose();
        if let Some(loosest) = loose.first() {
            let regex = self.compiled(loosest)?;
            if text.len() <= loosest.least {
                return Some(regex);
            }
            if !matches(regex, text) {
                return None;
            }
        }
        let exact = loose.iter().find(|one| text.len() <= one.least);
        match exact {
            Some(exact) => self.compiled(exact),
            None => self.ascii(),
        }
    }

    /// The expression without its wide bounds, and up to which length, in bytes, it matches the same; none where it has
    /// captures.
    fn without_captures(&self) -> Option<(&Compiled, usize)> {
        let (regex, longest) = match self.loose().first() {
            Some(loosest) => (self.compiled(loosest)?, loosest.least),
            None => (self.ascii()?, usize::MAX),
        };
        regex.names().next().is_none().then_some((regex, longest))
    }

    /// Where it matches every line of a shape, if it has no captures: what it matches there has no open place in it and
    /// none beside it.
    pub(super) fn matches_shape(&self, tries: &Tries, shape: &[u8]) -> Option<Range<usize>> {
        let (regex, longest) = self.without_captures()?;
        let is_known = |byte: Option<&u8>| byte.is_none_or(|byte| !is_open(*byte));
        let found = regex.find(tries, shape)?;
        // Without its bounds it matches the same where that is no longer than the least of them.
        let is_certain = found.len() <= longest
            && !shape[found.range()].iter().any(|byte| is_open(*byte))
            && is_known(found.start().checked_sub(1).and_then(|at| shape.get(at)))
            && is_known(shape.get(found.end()));
        is_certain.then(|| found.range())
    }

    /// Up to which length, in bytes, it matches every line of a shape, if it has no captures; none where that is not known.
    /// The automaton is its own without wide bounds.
    pub(super) fn matches_always(
        &self,
        tries: &Tries,
        automaton: &NFA,
        shape: &[u8],
    ) -> Option<usize> {
        let (regex, longest) = self.without_captures()?;
        // Most match no line of the shape, which one of them tells.
        let line: Vec<u8> = shape.iter().map(|byte| shape::sample(*byte)).collect();
        let is_match = regex.find(tries, &line).is_some();
        (is_match && matches_always(automaton, shape)).then_some(longest)
    }

    /// What it captures in every line of a shape; none where lines may differ, or where it has no captures.
    pub(super) fn captures_of_shape(&self, shape: &[u8]) -> Option<Captures> {
        let telling = self
            .telling
            .get_or_init(|| certain::automaton(&self.source));
        let found = certain::captured(telling.as_ref()?, shape)?;
        let text = |at: Range<usize>| shape.get(at).and_then(|here| str::from_utf8(here).ok());
        let named: Option<Vec<_>> = found
            .into_iter()
            .map(|(name, at)| Some((name, text(at)?)))
            .collect();
        let caught = sorted(named.filter(|named| !named.is_empty())?.into_iter());
        Some(kept(&caught))
    }

    /// Whether it matches.
    pub fn is_match(&self, text: &str) -> bool {
        if text.is_ascii() {
            let regex = self.deciding(text, Compiled::is_match_alone);
            regex.is_some_and(|regex| regex.is_match_alone(text))
        } else {
            self.full().is_some_and(|regex| regex.is_match(text))
        }
    }

    /// Named captures, where it matches.
    pub(super) fn captures<'t>(&'t self, tries: &Tries, text: &'t str) -> Option<Caught<'t>> {
        if !text.is_ascii() {
            let regex = self.full()?;
            let matched = regex.is_match(text).then(|| regex.captures(text))??;
            let named = regex.capture_names().flatten();
            let named = named.filter_map(|name| Some((name, matched.name(name)?.as_str())));
            return Some(sorted(named));
        }
        let regex = self.deciding(text, |regex, text| regex.is_match(tries, text))?;
        // Looking for captures costs much more than finding out whether it matches, and most have none.
        if regex.names().next().is_none() {
            return regex.is_match(tries, text).then(Caught::new);
        }
        let matched = regex.captures(tries, text);
        let at = |name| matched.get_group_by_name(name);
        let named = regex
            .names()
            .filter_map(|name| Some((name, text.get(at(name)?.range())?)));
        matched.is_match().then(|| sorted(named))
    }

    /// The line, or of a very long one the part around the match, without what a report must not print.
    pub(super) fn around(&self, text: &str) -> Shared {
        let whole = text.trim_end();
        // Nothing is looked for in a short line of which all may be printed, and most expressions never need it.
        if whole.len() <= EXCERPT && !self.source.contains(SENSITIVE) {
            return Shared::alone(whole);
        }
        Shared::alone(&match self.full() {
            Some(regex) => around(regex, text),
            None => excerpt(text, EXCERPT),
        })
    }
}

/// Named captures of one line, sorted.
pub(super) type Caught<'t> = Vec<(&'t str, Cow<'t, str>)>;

/// The same to be kept.
pub(super) fn kept(caught: &Caught<'_>) -> Captures {
    let kept = caught.iter();
    kept.map(|(name, value)| ((*name).into(), value.as_ref().into()))
        .collect()
}

fn sorted<'t>(named: impl Iterator<Item = (&'t str, &'t str)>) -> Caught<'t> {
    let mut caught: Caught<'t> = named.map(|(name, value)| capture(name, value)).collect();
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

/// A pattern to look for in lines.
pub struct LinePattern {
    /// Expression, matched against the decoded text.
    pub regex: Expression,
    /// Channels it is looked for in; empty means everything that is said, which commands' output and
    /// files are not: what stands there is data, and is searched only by patterns that ask for it.
    pub channels: Vec<Channel>,
    /// What the message is, where it is one of the vocabulary.
    pub nature: Option<Nature>,
    /// Expression that the speaker (unit, identifier or pod) must match.
    pub speaker: Option<Expression>,
}

impl LinePattern {
    pub(super) fn searches(&self, channel: Channel) -> bool {
        match channel {
            // Text of unknown origin may be anything, so every pattern is tried on it.
            Channel::Text => true,
            Channel::Command | Channel::File => self.channels.contains(&channel),
            _ => self.channels.is_empty() || self.channels.contains(&channel),
        }
    }

    pub(super) fn applies(&self, channel: Channel, speaker: &str) -> bool {
        let here = self.searches(channel);
        let unknown = channel == Channel::Text || speaker.is_empty();
        here && (unknown
            || self
                .speaker
                .as_ref()
                .is_none_or(|regex| regex.is_match(speaker)))
    }
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

#[cfg(test)]
mod tests {
    use super::super::shape;
    use super::super::words::Words;
    use super::*;

    const SOURCES: [&str; 8] = [
        r"(?i)\bNVRM\b|nvidia-(?:smi|device-plugin)|modprobe[^\n]{0,40}\bnvidia",
        r"gpu-operator",
        r"\bpull.{0,20}refused",
        r"^E\d",
        r"plugin$",
        r"gpu\B",
        r"nvidia-device-plugin-[a-z]",
        r"gpu-(?P<part>operator)",
    ];

    proptest::proptest! {
        #[test]
        fn what_matches_a_shape_matches_each_of_its_lines(
            parts in proptest::collection::vec(
                "gpu|gpu-operator|operator|NVRM|modprobe| nvidia|nvidia-device-plugin|-|pull|refused|E|[ .:]|[0-9]{1,3}|[0-9a-z]{1,5}|xxxxxxxxxxxxxxx",
                0..8,
            ),
        ) {
            let line = parts.concat();
            let words = Words::of(["gpu", "pull"].into_iter());
            let shape = shape::of(line.as_bytes(), false, &words).unwrap();
            for source in SOURCES {
                let expression = Expression::new(source);
                if expression.matches_shape(&Tries::default(), &shape).is_some() {
                    proptest::prop_assert!(expression.is_match(&line), "{} {}", source, line);
                    proptest::prop_assert_eq!(expression.captures(&Tries::default(), &line), Some(Caught::new()));
                }
            }
        }
    }

    #[test]
    fn a_line_with_ids_is_matched_by_the_words_beside_them() {
        let words = Words::of(std::iter::empty());
        let line = b"pod gpu-operator/nvidia-device-plugin-0a1b2 is up";
        let shape = shape::of(line, false, &words).unwrap();
        let matched = SOURCES.map(|source| {
            Expression::new(source)
                .matches_shape(&Tries::default(), &shape)
                .is_some()
        });
        assert_eq!(
            matched,
            [true, true, false, false, false, false, false, false]
        );
    }
}
