//! Months as journals name them in other languages (`%b` of glibc's locales), told as the English ones.

use std::borrow::Cow;

use casefile_bundle::Entry;

use super::{Capture, Part};

/// English names, as a system log writes them.
const ENGLISH: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Names of other languages by the number of their month, from 1: French, German, Spanish, Italian, Portuguese, Dutch, Swedish,
/// Polish, Czech, Russian, Turkish; Chinese, Japanese and Korean write the number itself.
const OTHERS: &[(u8, &[&str])] = &[
    (
        1,
        &["janv", "jän", "ene", "gen", "sty", "led", "янв", "oca"],
    ),
    (
        2,
        &["févr", "fév", "fev", "febr", "lut", "úno", "фев", "şub"],
    ),
    (3, &["mars", "mär", "mrz", "mrt", "maa", "bře", "мар"]),
    (4, &["avril", "avr", "abr", "kwi", "dub", "апр", "nis"]),
    (
        5,
        &["mai", "mag", "maio", "mei", "maj", "kvě", "мая", "май"],
    ),
    (6, &["juin", "giu", "cze", "čen", "чер", "июн", "haz"]),
    (7, &["juil", "lug", "lip", "čec", "июл", "tem"]),
    (8, &["août", "aoû", "ago", "sie", "srp", "авг", "ağu"]),
    (9, &["sept", "set", "wrz", "zář", "сен", "eyl"]),
    (10, &["okt", "ott", "out", "paź", "říj", "окт", "eki"]),
    (11, &["lis", "ноя", "kas"]),
    (12, &["déc", "dez", "dic", "gru", "pro", "дек", "ara"]),
];

/// The number of a month by its name, from 1.
pub(super) fn number(name: &str) -> Option<u8> {
    if let Some(at) = ENGLISH.iter().position(|known| *known == name) {
        return u8::try_from(at + 1).ok();
    }
    for sign in ['\u{6708}', '\u{c6d4}'] {
        if let Some(digits) = name.strip_suffix(sign) {
            return digits.parse().ok().filter(|month| (1..=12).contains(month));
        }
    }
    let name = name.trim_end_matches('.').to_lowercase();
    let english = ENGLISH
        .iter()
        .position(|known| known.eq_ignore_ascii_case(&name));
    let other = OTHERS
        .iter()
        .find(|(_, names)| names.contains(&name.as_str()));
    let english = english.and_then(|at| u8::try_from(at + 1).ok());
    english.or_else(|| other.map(|(number, _)| *number))
}

/// Whether a line begins with a month that is not written as in English.
pub(super) fn is_foreign(line: &str) -> bool {
    let first = line.split_ascii_whitespace().next().unwrap_or("");
    !ENGLISH.contains(&first) && number(first).is_some()
}

/// The same log with English months: line by line, so that places stay right.
pub(super) fn in_english(capture: &Capture, path: &str, text: &str) -> Vec<Part> {
    let mut english = String::with_capacity(text.len());
    for line in text.lines() {
        english.push_str(&line_in_english(line));
        english.push('\n');
    }
    let node = capture.identity.node.as_deref().unwrap_or(super::UNNAMED);
    let path = Entry::Node(node, &super::host_log::file(path, &english)).path();
    vec![Part {
        path,
        line: 1,
        text: english,
    }]
}

/// A line that begins with a month, a day and a clock, with the month as in English; any other as it is.
pub(super) fn line_in_english(line: &str) -> Cow<'_, str> {
    let told = || {
        let (first, rest) = line.split_once(' ')?;
        let mut words = rest.split_ascii_whitespace();
        let day = words.next()?;
        let clock = words.next()?;
        let is_dated = day.parse::<u8>().is_ok() && clock.matches(':').count() == 2;
        let month = ENGLISH.get(usize::from(number(first).filter(|_| is_dated)?) - 1)?;
        (*month != first).then(|| format!("{month} {rest}"))
    };
    told().map_or(Cow::Borrowed(line), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_of_other_languages_have_their_number() {
        let found = ["août", "Mär", "8月", "дек", "Aug", "ago", "8월", "févr."].map(number);
        assert_eq!(found, [8, 3, 8, 12, 8, 8, 8, 2].map(Some));
        assert_eq!(
            line_in_english("Okt 30 08:56:10 n x"),
            "Oct 30 08:56:10 n x"
        );
        assert_eq!(
            line_in_english("5月 29 17:51:40 n x"),
            "May 29 17:51:40 n x"
        );
        for line in ["set 5 times", "Jul 24 15:05:00 n x", "pro 30 percent 1:2:3"] {
            assert_eq!(line_in_english(line), line);
        }
        assert_eq!(["Then", "13月", "", "kernel:"].map(number), [None; 4]);
    }
}
