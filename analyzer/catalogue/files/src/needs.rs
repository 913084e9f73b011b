//! Which texts a line must hold for a pattern to match, with what stands beside what: of an alternative all of its texts.

use std::fmt;

use regex_syntax::Parser;
use regex_syntax::hir::{Hir, HirKind};

use crate::clauses::{others, runs};

/// What a line must hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// This text, in lower case.
    Text(String),
    /// Each of these; nothing where there is none.
    All(Vec<Needs>),
    /// One of these.
    Any(Vec<Needs>),
}

/// Texts of this many bytes are looked for where it is known what a line may match: a branch that has no longer one (`PS\d`)
/// would need nothing, and the others beside it as well.
const SHORTEST: usize = 2;

/// How needs are written: texts hold no control characters.
pub mod signs {
    /// Before a text.
    pub const TEXT: char = '\x1e';
    /// Before needs of which each is needed.
    pub const ALL: char = '\x01';
    /// Before needs of which one is needed.
    pub const ANY: char = '\x02';
    /// Behind the last of them.
    pub const END: char = '\x03';
}

impl Needs {
    /// Those of a pattern; nothing where it does not parse.
    pub fn of(pattern: &str) -> Self {
        match Parser::new().parse(pattern) {
            Ok(hir) => Self::of_part(&hir),
            Err(_) => Self::All(Vec::new()),
        }
    }

    /// Those of a pattern that was parsed, or of a part of one.
    pub fn of_part(hir: &Hir) -> Self {
        Self::behind(None, hir)
    }

    /// Those of a part that stands right behind a sign.
    fn behind(before: Option<char>, hir: &Hir) -> Self {
        let mut all = Vec::new();
        collect(hir, before, &mut all);
        all.sort();
        all.dedup();
        match all.len() {
            1 => all.remove(0),
            _ => Self::All(all),
        }
    }

    fn is_nothing(&self) -> bool {
        matches!(self, Needs::All(all) if all.is_empty())
    }
}

fn collect(hir: &Hir, before: Option<char>, all: &mut Vec<Needs>) {
    let texts = |parts: &[Hir]| {
        let runs = runs(SHORTEST, before, parts).into_iter();
        runs.map(Needs::Text)
    };
    match hir.kind() {
        HirKind::Literal(_) | HirKind::Class(_) => all.extend(texts(std::slice::from_ref(hir))),
        HirKind::Concat(parts) => {
            all.extend(texts(parts));
            others(before, parts).for_each(|(part, before)| collect(part, before, all));
        }
        HirKind::Capture(capture) => collect(&capture.sub, before, all),
        HirKind::Repetition(repetition) if repetition.min > 0 => {
            collect(&repetition.sub, None, all);
        }
        HirKind::Alternation(parts) => {
            let any = parts.iter().map(|part| Needs::behind(before, part));
            let mut any: Vec<Needs> = any.collect();
            any.sort();
            any.dedup();
            // A branch that needs nothing may match wherever the others do not.
            if !any.iter().any(Needs::is_nothing) {
                all.push(Needs::Any(any));
            }
        }
        _ => {}
    }
}

impl fmt::Display for Needs {
    /// Writes them with [`signs`].
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, parts) = match self {
            Needs::Text(text) => return write!(out, "{}{text}", signs::TEXT),
            Needs::All(parts) => (signs::ALL, parts),
            Needs::Any(parts) => (signs::ANY, parts),
        };
        write!(out, "{sign}")?;
        parts.iter().try_for_each(|part| write!(out, "{part}"))?;
        write!(out, "{}", signs::END)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alternative_needs_all_of_its_texts() {
        let needs = Needs::of(r"(?i)double bit error|\bDBE\b.{0,40}(?:detected|volatile)|p2p \d");
        let written = needs.to_string();
        let readable: String = written
            .chars()
            .map(|sign| match sign {
                signs::TEXT => ' ',
                signs::ALL => '(',
                signs::ANY => '[',
                signs::END => ')',
                other => other,
            })
            .collect();
        assert_eq!(
            readable,
            "[ double bit error p2p ( dbe[ detected volatile)))"
        );
    }

    #[test]
    fn what_a_branch_does_not_need_is_not_needed() {
        assert_eq!(Needs::of("abcd|"), Needs::All(Vec::new()));
        assert_eq!(Needs::of("(?:abcd|x)efgh"), Needs::Text("efgh".into()));
        assert_eq!(Needs::of("("), Needs::All(Vec::new()));
        assert_eq!(Needs::of("abcd|x"), Needs::All(Vec::new()));
        let any = ["abcd", "xy"].map(|text| Needs::Text(text.into()));
        assert_eq!(Needs::of(r"abcd|xy\d"), Needs::Any(any.into()));
    }

    #[test]
    fn one_of_several_texts_begins_with_the_sign_before_them() {
        let text = |text: &str| Needs::Text(text.into());
        let any = |texts: [&str; 2]| Needs::Any(texts.map(text).into());
        assert_eq!(Needs::of(r"\w:(?:1234|567)\b"), any([":1234", ":567"]));
        assert_eq!(Needs::of(r":\b(?P<port>1234|567)"), any([":1234", ":567"]));
        assert_eq!(Needs::of("x(?:abcd|efg)"), any(["abcd", "efg"]));
        assert_eq!(Needs::of(r":\w(?:abcd|efg)"), any(["abcd", "efg"]));
        assert_eq!(Needs::of(r"(?:: )?(?:abcd|efg)"), any(["abcd", "efg"]));
    }
}
