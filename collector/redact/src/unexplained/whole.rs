//! Tokens that are one id as a whole, where a short look says that they stay: `"uid":"0a1b2c3d-..."`. All that a judgement
//! of such a token would ask is asked here.

use super::super::alike::{UUID, has_form_of_uuid};
use super::super::explained::{self, has_name, named};
use super::super::known::Ids;
use super::super::table::all_hex;
use super::MIN_HEX;
use super::hex::{MIN_SHORT, as_text};
use super::tokens::{TOKEN, Token};

/// What says that a token stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The token, or the name in front of it where both stand in one member of JSON: what stands around that makes no
    /// difference.
    Alone,
    /// The name in front of it.
    ByPlace,
    /// As [`Told::Alone`], but other digits might be those of a text.
    ByDigits,
}

/// Whether a token is an id that has a name, or one that needs none.
#[inline]
pub(super) fn told(bytes: &[u8], token: &Token) -> Option<Told> {
    let formed = match token.signs {
        0 => true,
        4 => token.place.len() == UUID,
        _ => false,
    };
    // Most tokens are none.
    if !formed || token.upper > 0 || token.lower == 0 || token.digits == 0 {
        return None;
    }
    told_of(bytes, token)
}

fn told_of(bytes: &[u8], token: &Token) -> Option<Told> {
    let before = &bytes[..token.place.start];
    let text = &bytes[token.place.clone()];
    // What begins behind such a byte is the rest of something.
    let rest = |byte: &u8| TOKEN[usize::from(*byte)] || matches!(byte, b'\\' | b'\x1b');
    if before.last().is_some_and(rest) {
        return None;
    }
    let name = before.strip_suffix(b"\":\"");
    let member = name
        .and_then(<[u8]>::last)
        .is_some_and(u8::is_ascii_alphanumeric);
    if token.signs > 0 {
        // A UUID has signs, for which it is judged by its name once more.
        let told = member && is_uuid(text) && explained::obvious(before) && named(before);
        return told.then_some(Told::Alone);
    }
    if !all_hex(text) {
        return None;
    }
    if text.len() >= MIN_HEX {
        let told = member && explained::obvious(before) && as_text(text).is_none();
        return told.then_some(Told::ByDigits);
    }
    if text.len() < MIN_SHORT || member {
        return Some(Told::Alone);
    }
    has_name(before).then_some(Told::ByPlace)
}

fn is_uuid(text: &[u8]) -> bool {
    has_form_of_uuid(text) && text.split(|byte| *byte == b'-').all(all_hex)
}

/// A cursor of a journal, whose names say what its parts are: `s=0a1b...;i=1f;b=2c3d...;t=5e6f`. Only what is long
/// enough to be an id is one of this run, and noted as such.
pub(super) fn is_cursor(bytes: &[u8], token: &Token, all: &Ids<'_>) -> bool {
    let text = &bytes[token.place.clone()];
    if token.upper > 0
        || !text.starts_with(b"s=")
        || !bytes[..token.place.start].ends_with(b"\"__CURSOR\":\"")
    {
        return false;
    }
    let parts = || text.split(|byte| *byte == b';');
    let long = |part: &[u8]| part.len() == CURSOR_ID + 2;
    let formed = parts().enumerate().all(|(at, part)| is_part(at, part))
        && parts().all(|part| !long(part) || as_text(&part[2..]).is_none());
    if formed {
        let mut at = token.place.start;
        for part in parts() {
            let id = at + 2..at + part.len();
            if long(part) && !all.has(&id) {
                all.note(&id);
            }
            at += part.len() + 1;
        }
    }
    formed
}

/// `s=` at the beginning and `b=` are ids of 128 bits; all other parts are numbers.
const CURSOR_ID: usize = 32;

fn is_part(at: usize, part: &[u8]) -> bool {
    let [name, b'=', value @ ..] = part else {
        return false;
    };
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let id = if at == 0 { b's' } else { b'b' };
    let formed = match value.len() {
        1..MIN_HEX => true,
        CURSOR_ID => *name == id && digits > 0 && digits < value.len(),
        _ => false,
    };
    formed && name.is_ascii_lowercase() && all_hex(value)
}
