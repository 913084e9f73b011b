//! Rows of lists: packages, files, symbols, options. One row may be a message; many below one another are a list.

use std::borrow::Cow;

use super::clock::begins_with_date;
use super::document::Kind;
use crate::form::Form;

/// A row is no longer than this, in bytes.
const LONGEST: usize = 400;

/// Whether a line begins as some row does: most lines of a log do not, and meet no expression.
fn may_be_row(text: &[u8]) -> bool {
    match text {
        [b' ' | b'\t', ..] => {
            let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
            matches!(first, Some(b'-' | b'A'..=b'Z'))
        }
        [b'/' | b'.', ..] => !text.contains(&b' '),
        [_, b'r' | b'-' | b'w', b'w' | b'-' | b'x', ..] => true,
        [_, second, third, ..] if *second == b' ' || *third == b' ' => true,
        _ => {
            // A name with a version, a slash or digits; a log has a colon or a bracket before that.
            let word = text
                .split(|byte| byte.is_ascii_whitespace())
                .next()
                .unwrap_or(text);
            let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b".+-_/:,~^".contains(byte);
            // Most lines of a container's log begin with a date, behind which only what happens to a package would be a row.
            let is_clock =
                |byte: &u8| !byte.is_ascii_alphabetic() && *byte != b'/' || *byte == b'Z';
            if begins_with_date(word) && word[19..].iter().all(is_clock) {
                let behind = text[word.len()..].trim_ascii_start();
                return matches!(behind.first(), Some(b'i' | b'd' | b'h'));
            }
            !word.is_empty()
                && word.iter().all(is_name)
                && (word.len() >= 8 || word.contains(&b'/') || text.ends_with(b"install"))
        }
    }
}

/// Rows of one kind that stand below one another before they are taken for a list.
const RUN: usize = 6;

static ROWS: [(Kind, Form); 6] = [
    // dpkg -l; rpm -qa; apt list; dpkg --get-selections.
    (
        Kind::List,
        Form::new(
            r"^(?:[uihrp][ncHUFWti]R? +\S+ +\S+|[\w.+-]+-[\w.+~^:]+-[\w.+~^]+\.(?:x86_64|aarch64|noarch|i686)\b|[\w.+:-]+/[\w,-]+ \S+ (?:amd64|arm64|all)\b|[\w.+:-]+\s+(?:install|deinstall|hold))",
        ),
    ),
    // dpkg -L, find: a path and nothing else.
    (Kind::List, Form::new(r"^\.{0,2}/[\w./@+~:%-]+$")),
    // ls -l, tar -tv.
    (Kind::List, Form::new(r"^[dlbcps-][rwxsStT-]{9}[.+@]? +")),
    // nm, System.map, /proc/kallsyms.
    (
        Kind::List,
        Form::new(r"^[0-9a-f]{8,16} [A-Za-z?] [\w.$]+(?:\t\[\w+\])?$"),
    ),
    // What a driver's build asks the kernel's headers.
    (
        Kind::Source,
        Form::new(
            r"^ *(?:CONFTEST|CC \[M\]|LD \[M\]|CC|LD|AR|MODPOST|BTF \[M\]|SIGN|SYMLINK|HOSTCC)[: ] *\S+$",
        ),
    ),
    (
        Kind::Help,
        Form::new(
            r"^\s{1,12}(?:(?:-\w[, ] *)?--?[\w-]+(?:[ =]\S+){0,2}\s{2,}\S.*[^\\]|-\w, --[\w-]+(?:[ =]\S+)?)$",
        ),
    ),
];

/// Marks runs of rows.
pub(super) fn mark(texts: &[Cow<'_, str>], kinds: &mut [Option<Kind>]) {
    let of = |text: &str| {
        let may = text.len() < LONGEST && may_be_row(text.as_bytes());
        may.then(|| ROWS.iter().position(|(_, form)| form.is_match(text)))
            .flatten()
    };
    let mut at = 0;
    while at < texts.len() {
        let Some(row) = of(&texts[at]) else {
            at += 1;
            continue;
        };
        let kind = ROWS[row].0;
        let (mut end, mut count, mut gap) = (at + 1, 1, 0);
        let mut next = at + 1;
        while next < texts.len() && gap <= 3 {
            if of(&texts[next]) == Some(row) {
                count += 1;
                end = next + 1;
                gap = 0;
            } else if kind == Kind::Help
                && (texts[next].is_empty() || texts[next].starts_with("   "))
            {
                // The text of an option goes on below it.
                gap += 1;
            } else {
                break;
            }
            next += 1;
        }
        if count >= RUN {
            // The text of the last option.
            while kind == Kind::Help && texts.get(end).is_some_and(|text| text.starts_with("    "))
            {
                end += 1;
            }
            kinds[at..end].fill(Some(kind));
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn no_line_is_passed_over_that_begins_with_a_date_and_is_a_row(
            line in "2026-11-30T10:00:00(\\.[0-9]{1,3}|-1\\.x86_64|/main)?Z?( |\t| {2}){0,2}(install|hold|deinstall|stdout|1\\.2|T|[a-z]{1,4})?( amd64| all)?",
        ) {
            let is_row = ROWS.iter().any(|(_, form)| form.is_match(&line));
            proptest::prop_assert!(!is_row || may_be_row(line.as_bytes()), "{:?}", line);
        }
    }
}
