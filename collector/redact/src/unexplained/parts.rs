//! Tokens of several parts, each too short to be judged by itself.

use std::ops::Range;

use super::super::explained::{self, Said, by_place};
use super::super::random::{Sorts, surprise};
use super::hex::{hex_parts, uuid};
use super::{Found, WORD};

/// Parts of a token that are too short to be looked at by themselves: `b1llz300-qb33nsh_3p8ta8z33`.
pub(super) fn strange(bytes: &[u8], run: &Range<usize>, sorts: Sorts) -> Option<Found> {
    let text = &bytes[run.clone()];
    let marks = text.len() - text.len().min(sorts.lower + sorts.upper + sorts.digits);
    if run.len() < MIN_RUN || marks == 0 {
        return None;
    }
    if marks > 2 && sorts.lower == 0 && licence(text) {
        return Some(Found::Drawn(run.clone()));
    }
    let cased = sorts.digits > 0 && sorts.upper > 3 && sorts.lower > 3;
    let few = sorts.digits < 4 && !cased;
    if few || (sorts.digits + marks) * 5 > text.len() * 4 || is_pod_name(text) {
        return None;
    }
    let hex = |part: &&[u8]| part.iter().all(u8::is_ascii_hexdigit);
    let parts = || {
        text.split(|byte| !WORD[usize::from(*byte)])
            .filter(|part| part.len() > 1)
    };
    if parts().all(|part| hex(&part)) {
        return hex_parts(bytes, run).then(|| Found::Drawn(run.clone()));
    }
    // Hexadecimal digits were judged by themselves.
    let others = || parts().filter(|part| !hex(part));
    let bits: i32 = others().map(|part| surprise(part, Sorts::of(part))).sum();
    if let Some(uuid) = uuid(bytes, run).filter(|_| bits > 0 && others().count() > 1) {
        let said = explained::hex(bytes, &uuid, 36);
        return (said == Said::Nothing).then(|| Found::Drawn(run.clone()));
    }
    // `SWX-8cdf9499-...`: the kind of a thing and its id, which was judged by itself.
    let kind = others().count() == 1 && others().all(|part| part.len() < 6);
    if kind && uuid(bytes, run).is_some_and(|uuid| uuid.end == run.end) {
        return None;
    }
    let written = others().any(|part| {
        part.len() > 4
            && part.iter().all(u8::is_ascii_lowercase)
            && surprise(part, Sorts::of(part)) < -3
    });
    // `KUBE-SVC-NPX46M4PTMTKRN6Y`: what stands in front of the last part may explain it.
    let last = text
        .iter()
        .rposition(|byte| !WORD[usize::from(*byte)])
        .map_or(run.start, |at| run.start + at + 1);
    let explained = || by_place(bytes, run) || by_place(bytes, &(last..run.end));
    (bits > STRANGE && !written && !explained()).then(|| Found::Drawn(run.clone()))
}

/// `IZAT6SA-AJUQES1-BZWZYWJ-VDIXPVG`: four or more parts of one length, of capitals and digits, that are no words.
fn licence(text: &[u8]) -> bool {
    let parts = || text.split(|byte| !WORD[usize::from(*byte)]);
    let length = parts().next().map_or(0, <[u8]>::len);
    let capitals = text.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let hex = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    (4..9).contains(&length)
        && parts().all(|part| part.len() == length)
        && parts().count() > 3
        && capitals > 7
        && !text.iter().all(hex)
        && parts()
            .map(|part| surprise(part, Sorts::of(part)))
            .sum::<i32>()
            > LICENCE
}

/// Bits from which such parts are no words.
const LICENCE: i32 = 6;

/// A token of several parts has at least so many letters.
const MIN_RUN: usize = 22;
/// And so many bits more than a written one would have.
const STRANGE: i32 = 10;

/// Whether a name ends as Kubernetes makes it unique: `-x2x4z`, of letters that form no words.
fn is_pod_name(text: &[u8]) -> bool {
    let unique = |part: &[u8]| {
        part.iter()
            .all(|byte| b"bcdfghjklmnpqrstvwxz2456789".contains(byte))
    };
    text.len() > 6
        && text[text.len() - 6] == b'-'
        && unique(&text[text.len() - 5..])
        && text
            .iter()
            .all(|byte| !byte.is_ascii_uppercase() && *byte != b'_')
}
