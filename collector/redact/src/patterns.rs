//! Secrets that give themselves away by their own form, wherever they stand.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::forms::{Check, SPECS};
use super::marker::Marker;
use super::scan::Hints;
use super::value::{harmless, looks_random};

/// The expression of each form, read when it is needed for the first time: most runs need a few.
static FORMS: LazyLock<Vec<OnceLock<Option<Regex>>>> =
    LazyLock::new(|| SPECS.iter().map(|_| OnceLock::new()).collect());

fn expression(index: usize) -> Option<&'static Regex> {
    let read = || Regex::new(SPECS[index].regex).ok();
    FORMS[index].get_or_init(read).as_ref()
}

/// Replaces every secret that has a form of its own, as far as the hints allow any.
pub(crate) fn replace<'a>(text: Cow<'a, str>, hints: Hints, marker: &mut Marker) -> Cow<'a, str> {
    let mut text = text;
    for index in hints.forms() {
        if let Some(form) = expression(index).filter(|form| form.is_match(&text)) {
            text = replace_form(index, form, &text, marker).into();
        }
    }
    text
}

fn replace_form(index: usize, form: &Regex, text: &str, marker: &mut Marker) -> String {
    let spec = SPECS[index];
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for found in form.captures_iter(text).filter_map(|captures| {
        ["s", "t", "u"]
            .iter()
            .find_map(|group| captures.name(group))
    }) {
        let secret = found.as_str();
        let counts = match spec.check {
            Check::Sure => true,
            Check::Random => looks_random(secret) && !harmless(secret),
            Check::NotHarmless => !harmless(secret),
            Check::Mixed => {
                secret.bytes().any(|b| b.is_ascii_digit())
                    && secret.bytes().any(|b| b.is_ascii_lowercase())
            }
        };
        let before = &text[..found.start()];
        let inside = before
            .rfind("<redacted:")
            .is_some_and(|at| !before[at..].contains('>'));
        if !counts || inside || secret.contains("<redacted:") {
            continue;
        }
        out.push_str(&text[copied..found.start()]);
        out.push_str(&marker.mark(spec.class, secret.as_bytes()));
        copied = found.end();
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use crate::scan::hints;

    fn clean(text: &str) -> String {
        replace(
            text.into(),
            hints(text.as_bytes()),
            &mut Marker::new(Key::fixed()),
        )
        .into_owned()
    }

    #[test]
    fn every_form_compiles() {
        assert!((0..SPECS.len()).all(|index| expression(index).is_some()));
    }

    #[test]
    fn what_an_address_holds_ends_with_an_at() {
        let mut of_addresses = SPECS.iter().filter(|spec| spec.of_address());
        assert!(of_addresses.all(|spec| spec.regex.contains('@') && !spec.regex.contains("@?")));
        let login = |text: &str| !hints(text.as_bytes()).none();
        for none in [
            "tcp://10.0.0.1",
            "see http://h/a@b",
            "http://h:1 a@b",
            "x://",
        ] {
            assert!(!login(none), "{none}");
        }
        for some in [
            "x://a:b@h/",
            r"x://DOMAIN\a:b@h",
            "https://me@h",
            r"x://a:b\u0040h",
        ] {
            assert!(login(some), "{some}");
        }
    }

    #[test]
    fn secrets_with_a_form_of_their_own_are_found_in_prose() {
        for (text, secret) in [
            (
                "got Authorization: Bearer abc123def456 from",
                "abc123def456",
            ),
            ("pull https://user:p4ss@nvcr.io/v2", "p4ss"),
            ("id AKIAIOSFODNN7EXAMPLE used", "AKIAIOSFODNN7EXAMPLE"),
            (
                "NGC nvapi-0123456789abcdefABCDEF_x",
                "nvapi-0123456789abcdefABCDEF_x",
            ),
            (
                "jwt eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJl.c2lnbmF0dXJl end",
                "eyJpc3MiOiJrdWJl",
            ),
        ] {
            assert!(!clean(text).contains(secret), "{text}");
            assert!(clean(text).contains("<redacted:"), "{text}");
        }
    }

    #[test]
    fn words_and_public_parts_are_left_alone() {
        for text in [
            "bearer authentication is on",
            "Basic authorization failed",
            "https://nvcr.io:443/v2/",
            "ssh://git@github.com/x",
            "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=",
        ] {
            assert_eq!(clean(text), text);
        }
    }
}
