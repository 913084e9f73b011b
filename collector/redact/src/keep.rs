//! `--keep PATTERN`: which unexplained texts stay in clear.

use regex::{RegexSet, RegexSetBuilder};

/// The most patterns of one run.
const MOST: usize = 50;
/// The most memory that they may take, in bytes.
const MEMORY: usize = 1 << 20;

/// Why a pattern is not taken.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// There are too many.
    #[error("{0} patterns are too many (at most {MOST}): join some with |")]
    Many(usize),
    /// It is no regular expression, or a too large one.
    #[error("a pattern cannot be used: {0}")]
    Expression(#[from] regex::Error),
    /// It would let every random text through.
    #[error(
        "{0:?} would keep nearly every random text, and with them secrets: say how the texts to keep begin"
    )]
    Everything(String),
}

/// Expressions that match whole unexplained texts.
#[derive(Debug)]
pub struct Keep(RegexSet);

impl Keep {
    /// Checks the patterns.
    pub fn new(patterns: &[String]) -> Result<Self, KeepError> {
        if patterns.len() > MOST {
            return Err(KeepError::Many(patterns.len()));
        }
        let whole = |pattern: &String| format!("^(?:{pattern})$");
        for pattern in patterns {
            let one = build(&[whole(pattern)])?;
            let random = probes();
            let kept = random.iter().filter(|text| one.is_match(text)).count();
            if kept * 2 > random.len() {
                return Err(KeepError::Everything(pattern.clone()));
            }
        }
        let all: Vec<String> = patterns.iter().map(whole).collect();
        Ok(Self(build(&all)?))
    }

    /// Whether a text stays in clear.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

fn build(patterns: &[String]) -> Result<RegexSet, regex::Error> {
    RegexSetBuilder::new(patterns).size_limit(MEMORY).build()
}

/// Texts of letters and digits in no order, of many lengths.
fn probes() -> Vec<String> {
    let letters = b"q7ZkP2mXv9Lw4RtB0cYhD6sFjN1aGu8EiKo3MxQbT5WdVnHyzSpJrUeAfIgCl";
    (11_usize..45)
        .map(|length| {
            (0..length)
                .map(|at| char::from(letters[(at * 7 + length * 13) % letters.len()]))
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_keeps_what_it_matches_as_a_whole() {
        let keep = Keep::new(&["vol-[A-Za-z0-9]+".to_owned()]).unwrap();
        assert!(keep.matches("vol-q7ZkP2mXv9Lw4RtB"));
        assert!(!keep.matches("x vol-q7ZkP2mXv9Lw4RtB"));
    }

    #[test]
    fn a_pattern_that_keeps_everything_or_is_none_is_refused() {
        for pattern in [
            ".*",
            "",
            "[A-Za-z0-9]{11,}",
            "(",
            "\\w+|x",
            "(a{1000}){1000}",
        ] {
            let refused = Keep::new(&[pattern.to_owned()]);
            assert!(refused.is_err() || pattern.is_empty(), "{pattern}");
        }
        assert!(Keep::new(&vec!["a".to_owned(); 51]).is_err());
    }
}
