//! Sentences with `{name}` or `{signal.name}` in them.

use std::collections::BTreeMap;

/// Names in braces in a sentence, in order. Double braces are literal braces.
pub fn names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    pieces(text, |piece| {
        if let Piece::Name(name) = piece {
            names.push(name);
        }
    });
    names
}

/// Fills a sentence. A name without a value becomes `(unknown)`: unknown is said, never left out.
pub fn fill<'v>(text: &str, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut filled = String::with_capacity(text.len());
    pieces(text, |piece| match piece {
        Piece::Text(text) => filled.push_str(text),
        Piece::Name(name) => match value(name) {
            Some(value) if !value.is_empty() => filled.push_str(value),
            _ => filled.push_str("(unknown)"),
        },
    });
    filled
}

/// Fills from a map.
pub fn fill_from(text: &str, values: &BTreeMap<String, String>) -> String {
    fill(text, |name| values.get(name).map(String::as_str))
}

enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
}

fn pieces<'a>(text: &'a str, mut each: impl FnMut(Piece<'a>)) {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        each(Piece::Text(&rest[..at]));
        let brace = &rest[at..at + 1];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            each(Piece::Text(brace));
            rest = after;
            continue;
        }
        let end = rest.find('}').filter(|_| brace == "{");
        match end.filter(|end| is_name(&rest[..*end])) {
            Some(end) => {
                each(Piece::Name(&rest[..end]));
                rest = &rest[end + 1..];
            }
            None => each(Piece::Text(brace)),
        }
    }
    each(Piece::Text(rest));
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_and_a_missing_one_is_said_to_be_unknown() {
        let values = BTreeMap::from([("a.b".to_owned(), "1".to_owned())]);
        assert_eq!(fill_from("x {a.b} y {c}", &values), "x 1 y (unknown)");
    }

    #[test]
    fn braces_of_shell_and_json_survive() {
        let none = BTreeMap::new();
        assert_eq!(fill_from("awk '{print $1}' {{}} {", &none), "awk '{print $1}' {} {");
    }
}
