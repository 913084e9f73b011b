//! Sentences with `{name}` or `{signal.name}` in them.

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
    // Who it is about goes before a colon; where that is not known, the rest says all there is.
    match filled.strip_prefix("(unknown): ") {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => filled,
    }
}

/// Fills a text, or says that it cannot: none if any name has no value.
pub fn fill_whole<'v>(text: &str, value: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
    let known = |name: &str| value(name).is_some_and(|value| !value.is_empty());
    names(text)
        .into_iter()
        .all(known)
        .then(|| fill(text, &value))
}

/// Fills those sentences of a text whose names all have values and drops the others.
pub fn fill_sentences<'v>(text: &str, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let filled = sentences(text).filter_map(|sentence| fill_whole(sentence, &value));
    filled.collect::<Vec<_>>().join(" ")
}

/// Splits after a full stop that a blank follows; names in braces hold no blanks.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(". ")
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

/// Fills a command. A name without a value stays visible as `<name>`, so that nobody runs a guess.
pub fn fill_command<'v>(text: &str, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut filled = String::with_capacity(text.len());
    pieces(text, |piece| match piece {
        Piece::Text(text) => filled.push_str(text),
        Piece::Name(name) => match value(name).filter(|value| !value.is_empty()) {
            Some(value) => filled.push_str(value),
            None => {
                filled.push('<');
                filled.push_str(name.rsplit('.').next().unwrap_or(name));
                filled.push('>');
            }
        },
    });
    filled
}

/// Whether a value can be nothing but one word of a shell. What a bundle says ends up in commands that people
/// copy, so a value that a shell would read as more stays a blank, as if it had not been seen.
pub fn is_shell_word(value: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._-/:=+@,%".contains(c);
    // A leading dash would make a program's option of it.
    !value.is_empty() && !value.starts_with('-') && value.chars().all(plain)
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
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'|'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Fills from a map.
    fn fill_from(text: &str, values: &BTreeMap<String, String>) -> String {
        fill(text, |name| values.get(name).map(String::as_str))
    }

    #[test]
    fn names_are_filled_and_a_missing_one_is_said_to_be_unknown() {
        let values = BTreeMap::from([("a.b".to_owned(), "1".to_owned())]);
        assert_eq!(fill_from("x {a.b} y {c}", &values), "x 1 y (unknown)");
        assert_eq!(fill_from("{c}: it fails", &values), "it fails");
    }

    #[test]
    fn what_a_shell_would_read_as_more_than_a_word_stays_a_blank() {
        let fill = |value: &str| {
            fill_command("cat {s.path}", |_| {
                Some(value).filter(|value| is_shell_word(value))
            })
        };
        assert_eq!(
            fill("/etc/containerd/config.toml"),
            "cat /etc/containerd/config.toml"
        );
        for hostile in [
            "/etc/x; reboot",
            "$(id)",
            "`id`",
            "a b",
            "'",
            "a\nb",
            "-rf",
            "--all",
        ] {
            assert_eq!(fill(hostile), "cat <path>", "{hostile}");
        }
    }

    #[test]
    fn a_sentence_that_would_hold_an_unknown_is_dropped_and_the_rest_stays() {
        let value = |name: &str| (name == "s.a").then_some("x.y");
        let text = "The file is {s.a}. The node is {s.b}. Done.";
        assert_eq!(fill_sentences(text, value), "The file is x.y. Done.");
        assert_eq!(fill_command("cat {s.a} {s.b}", value), "cat x.y <b>");
        assert_eq!(fill_whole(text, value), None);
    }

    #[test]
    fn braces_of_shell_and_json_survive() {
        let none = BTreeMap::new();
        assert_eq!(
            fill_from("awk '{print $1}' {{}} {", &none),
            "awk '{print $1}' {} {"
        );
    }
}
