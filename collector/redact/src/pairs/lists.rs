//! Lists and maps under a secret's name: `X-Token = ['a', 'b']`, `tokens: {a: x, b: y}`.

use std::sync::LazyLock;

use regex::Regex;

use super::super::marker::Marker;
use super::super::value::looks_random;
use super::super::words::KeyClass;

static ITEM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?<s>[^\s,\[\]"'\\][^,\[\]"'\\]*)"#).ok());

/// The length of a list of plain values that begins here; none for lists of objects, whose members have names of
/// their own.
pub(super) fn list_length(rest: &str) -> Option<usize> {
    let length = rest
        .strip_prefix('[')?
        .find(']')
        .map_or(rest.len(), |at| at + 2);
    (!rest[..length].contains('{')).then_some(length)
}

/// The length of a map of plain values that begins here, under a name in the plural: `tokens: {a: x, b: y}`.
pub(super) fn map_length(key: &str, rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('{').filter(|_| key.ends_with('s'))?;
    let length = inner.find('}')?;
    (!inner[..length].contains(['{', '['])).then_some(length + 2)
}

static MEMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"[\w.-]+\\*["']?\s*[:=]\s*\\*["']?(?<s>[^\s,"'\\{}]+)"#).ok());

/// A map under the name of secrets: each random value is one.
pub(super) fn clean_map(map: &str, class: KeyClass, marker: &mut Marker) -> String {
    let Some(member) = MEMBER.as_ref() else {
        return String::new();
    };
    let mut out = String::with_capacity(map.len());
    let mut copied = 0;
    for value in member
        .captures_iter(map)
        .filter_map(|found| found.name("s"))
    {
        let text = value.as_str();
        if text.contains("<redacted") || class.spares(text) || !looks_random(text) {
            continue;
        }
        out.push_str(&map[copied..value.start()]);
        out.push_str(&marker.mark(class.name, text.as_bytes()));
        copied = value.end();
    }
    out.push_str(&map[copied..]);
    out
}

/// A list under a secret's name: each of its values is one.
pub(super) fn clean_list(list: &str, class: KeyClass, marker: &mut Marker) -> String {
    let Some(item) = ITEM.as_ref() else {
        return String::new();
    };
    let mut out = String::with_capacity(list.len());
    let mut copied = 0;
    for found in item.find_iter(list) {
        let value = found.as_str().trim_end();
        let redacted = value.contains("<redacted:");
        if redacted || class.spares(value) || (!class.sure && !looks_random(value)) {
            continue;
        }
        out.push_str(&list[copied..found.start()]);
        out.push_str(&marker.mark(class.name, value.as_bytes()));
        copied = found.start() + value.len();
    }
    out.push_str(&list[copied..]);
    out
}
