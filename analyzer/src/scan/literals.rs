//! Literals that a line must contain for a pattern to match, so that most lines never meet a regex.

use casefile_catalogue_files::clauses;

pub(crate) use clauses::{MIN_LITERAL, clauses_of, is_everyday_text, rare};

/// Clauses of texts in lower case: a line that the pattern matches holds at least one text of every clause. The first
/// clause is the best one to look for.
///
/// Empty if there is no clause with every text at least three bytes long. Texts hold neither quotes nor backslashes nor
/// control characters, because a raw journal line escapes those.
pub fn clauses(pattern: &str) -> Vec<Vec<String>> {
    clauses::clauses(pattern)
}

/// Of the texts of the first clause, those that are looked for in logs.
pub fn looked_for_in_logs(clauses: &[Vec<String>]) -> Vec<String> {
    rare(clauses)
}

/// Texts of which at least one stands in every line that the pattern matches, the best clause; none
/// if the pattern has no clause.
pub(crate) fn required(pattern: &str) -> Option<Vec<String>> {
    clauses(pattern).into_iter().next()
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
