//! Whether the name around a word is one of a secret, and whether it has a value.

use super::super::words::decide;
use super::seen::verdict;

/// Of a name, this much is looked at on each side of the word in it.
const NAME_REACH: usize = 100;
/// An object's end is looked for this far on each side of a member.
const OBJECT_REACH: usize = 2048;

/// Whether the name around a word is one of a secret.
pub(super) fn names_secret(bytes: &[u8], start: usize, end: usize) -> bool {
    let letter = |at: Option<&u8>| at.is_some_and(u8::is_ascii_lowercase);
    // `pat` is a word of its own or none: most are the beginning of a path.
    if end - start == 3
        && bytes[start + 1] | 32 == b'a'
        && letter(bytes.get(end))
        && bytes[end] != b's'
    {
        let pat = bytes[start..end].eq_ignore_ascii_case(b"pat");
        if pat {
            return false;
        }
    }
    let (from, name) = around(bytes, start, end, is_inner);
    let written = match from.checked_sub(1).map(|at| bytes[at]) {
        Some(b'\\') => escaped(name),
        Some(b'[') => coloured(name),
        Some(b'%') => name.get(2..).is_some_and(classified),
        _ => false,
    };
    if written || classified(name) {
        return true;
    }
    // `api key`: two words.
    if name.len() <= SHORT_NAME
        && from > 1
        && bytes[from - 1] == b' '
        && bytes[from - 2].is_ascii_alphanumeric()
    {
        let (_, two) = around(bytes, from - 1, end, is_inner);
        if classified(two) {
            return true;
        }
    }
    // Names of other grammars: `example.com/api/key`, `ns:token`.
    let (_, wide) = around(bytes, start, end, |b| {
        is_inner(b) || matches!(b, b'/' | b':' | b'@' | b'+') || b >= 128
    });
    wide.len() > name.len() && classified(wide)
}

/// Whether a digit stands in what is looked at to say so.
pub(super) fn digit_in_name(bytes: &[u8], start: usize, end: usize) -> bool {
    let wide =
        |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@+[".contains(&byte) || !byte.is_ascii();
    let (from, name) = around(bytes, start, end, wide);
    // A short name may have two words.
    let first = from.checked_sub(1).filter(|at| bytes[*at] == b' ');
    let first = first.filter(|_| around(bytes, start, end, is_inner).1.len() <= SHORT_NAME);
    let first = first.map(|at| around(bytes, at, at, wide).1);
    let mut all = name.iter().chain(first.unwrap_or_default());
    all.any(u8::is_ascii_digit)
}

/// A longer name is one word.
const SHORT_NAME: usize = 4;

/// What names are made of.
fn is_inner(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Behind a backslash the first letter, or five, belong to the escape: `\napi_key`, `\u0026api_key`.
fn escaped(name: &[u8]) -> bool {
    name.get(1..).is_some_and(classified)
        || (name.starts_with(b"u") && name.get(5..).is_some_and(classified))
}

/// Behind `ESC [` the numbers up to `m` are a colour.
fn coloured(name: &[u8]) -> bool {
    let end = name.iter().position(|b| *b == b'm').map_or(0, |at| at + 1);
    classified(&name[end..])
}

fn classified(name: &[u8]) -> bool {
    verdict(name, |name| match std::str::from_utf8(name) {
        Ok(name) => decide(name).is_some(),
        Err(_) => true,
    })
}

/// The run of such bytes around a word, and where it begins.
fn around(bytes: &[u8], start: usize, end: usize, inside: impl Fn(u8) -> bool) -> (usize, &[u8]) {
    let before = bytes[start.saturating_sub(NAME_REACH)..start]
        .iter()
        .rev()
        .take_while(|b| inside(**b))
        .count();
    let behind = bytes[end..]
        .iter()
        .take(NAME_REACH)
        .take_while(|b| inside(**b))
        .count();
    (start - before, &bytes[start - before..end + behind])
}

/// Whether the name around a word has, in JSON, no value of its own and names no other member's.
pub(super) fn holds_nothing(json: &[u8], start: usize, end: usize) -> bool {
    let (from, name) = around(json, start, end, is_inner);
    let before = json[..from].strip_suffix(b"\"");
    let behind = json[from + name.len()..].strip_prefix(b"\"");
    let (Some(before), Some(behind)) = (before, behind) else {
        return false;
    };
    // Inside a string it is another document's name; `"kind":"Secret"` says what the whole line is.
    if before.ends_with(b"\\") || name.eq_ignore_ascii_case(b"secret") {
        return false;
    }
    match behind.first() {
        // `"password":{"value":"x"}` has one all the same.
        Some(b':') => {
            behind.get(1) == Some(&b'{')
                && !has_value(behind[2..].iter().copied(), [b'{', b'['], b"value")
        }
        Some(b',' | b'}') => {
            let key = before.strip_suffix(b"\":").unwrap_or_default();
            let key = &key[key.len() - key.iter().rev().take_while(|b| **b != b'"').count()..];
            let names = key.eq_ignore_ascii_case(b"name") || key.eq_ignore_ascii_case(b"key");
            !(key.is_empty() || names && may_have_value(before, behind))
        }
        _ => false,
    }
}

/// Whether the object around a member has another called `value`, or may have. Both ways begin outside strings.
fn may_have_value(before: &[u8], behind: &[u8]) -> bool {
    // In front stand the member's own key and colon, which are walked over like all else.
    let front = has_value(before.iter().rev().copied(), [b'}', b']'], b"eulav");
    front || has_value(behind.iter().copied(), [b'{', b'['], b"value")
}

/// Walks out of an object, and says whether a string on the way is `value`, as it is spelt in this direction.
fn has_value(bytes: impl Iterator<Item = u8>, opens: [u8; 2], value: &[u8; 5]) -> bool {
    let (mut depth, mut string, mut alike) = (0_usize, false, 0_usize);
    for byte in bytes.take(OBJECT_REACH) {
        match byte {
            b'\\' => return true,
            b'"' if string => {
                if depth == 0 && alike == value.len() {
                    return true;
                }
                string = false;
            }
            b'"' => (string, alike) = (true, 0),
            _ if string => {
                let same = value.get(alike) == Some(&byte.to_ascii_lowercase());
                alike = if same { alike + 1 } else { usize::MAX / 2 };
            }
            _ if opens.contains(&byte) => depth += 1,
            b'{' | b'}' | b'[' | b']' if depth == 0 => return false,
            b'{' | b'}' | b'[' | b']' => depth -= 1,
            _ => {}
        }
    }
    true
}
