//! Expressions of our own: what a line must look like that a parser or a reader takes.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::{Captures, Match, Regex};

use crate::ascii;

/// An expression that is compiled when it is first needed.
///
/// Twice: nearly all lines are ASCII, and for those an expression that knows nothing else matches the same and is made
/// in a seventh of the time. With all letters and digits of Unicode, the hundred of them cost a small text more than
/// all the rest of its analysis.
pub struct Form {
    source: Source,
    ascii: OnceLock<Option<Regex>>,
    full: OnceLock<Option<Regex>>,
}

enum Source {
    Written(&'static str),
    Made(fn() -> String),
}

impl Form {
    /// An expression as written. One that does not compile matches nothing; tests of its user notice.
    pub const fn new(source: &'static str) -> Self {
        Self::of(Source::Written(source))
    }

    /// An expression that is put together from parts.
    pub const fn made(source: fn() -> String) -> Self {
        Self::of(Source::Made(source))
    }

    const fn of(source: Source) -> Self {
        Self {
            source,
            ascii: OnceLock::new(),
            full: OnceLock::new(),
        }
    }

    /// As it is written.
    pub fn source(&self) -> Cow<'static, str> {
        match self.source {
            Source::Written(source) => Cow::Borrowed(source),
            Source::Made(make) => Cow::Owned(make()),
        }
    }

    /// The expression for a text.
    pub fn on(&self, text: &str) -> Option<&Regex> {
        let compiled = if text.is_ascii() {
            let compile = || Regex::new(&ascii::narrow(&self.source())?).ok();
            self.ascii.get_or_init(compile)
        } else {
            self.full.get_or_init(|| Regex::new(&self.source()).ok())
        };
        compiled.as_ref()
    }

    /// Whether it matches.
    pub fn is_match(&self, text: &str) -> bool {
        self.on(text).is_some_and(|regex| regex.is_match(text))
    }

    /// Where it first matches.
    pub fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.on(text)?.find(text)
    }

    /// What it captures where it first matches.
    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.on(text)?.captures(text)
    }

    /// The same where most texts do not match: nothing is made ready for captures before it is known that there are any.
    pub fn rare_captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        let regex = self.on(text)?;
        regex.is_match(text).then(|| regex.captures(text))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_other_letters_is_matched_by_all_of_them() {
        static NAMED: Form = Form::new(r"^(?P<who>\w+) said (?P<count>\d+)\b.{0,3}$");
        static MADE: Form = Form::made(|| format!("{}+", r"\d"));
        for (text, who) in [("anna said 3 ms", "anna"), ("Jürgen said ٣ µs", "Jürgen")] {
            let found = NAMED.captures(text).unwrap();
            assert_eq!(&found["who"], who);
            assert_eq!(MADE.find(text).unwrap().as_str(), &found["count"]);
        }
        assert!(!NAMED.is_match("anna said 3 long"));
    }
}
