//! The expressions of rules, and what they say of a line that they match.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use crate::dress::Nature;
use crate::facts::excerpt;
use crate::parsers::Channel;

/// Longest excerpt of a line, in bytes.
const EXCERPT: usize = 700;

/// An expression that is compiled when it is first tried: of more than a thousand, most never are.
#[derive(Debug, Default)]
pub struct Expression {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Expression {
    /// An expression as written. One that does not compile matches nothing; the rule checker and the
    /// tests refuse it before.
    pub fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            compiled: OnceLock::new(),
        }
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    pub(super) fn get(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| Regex::new(&self.source).ok())
            .as_ref()
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
    pub speaker: Option<Regex>,
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

pub(super) fn captures(regex: &Regex, text: &str) -> Option<BTreeMap<String, String>> {
    let matched = regex.captures(text)?;
    let named = regex.capture_names().flatten().filter_map(|name| {
        let value = matched.name(name)?;
        if name.starts_with(SENSITIVE) {
            return Some((name.to_owned(), WITHHELD.to_owned()));
        }
        Some((name.to_owned(), excerpt(value.as_str(), 200)))
    });
    Some(named.collect())
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

/// The line, or of a very long one the part around the match.
pub(super) fn around(regex: &Regex, text: &str) -> String {
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
