//! What nothing explains, replaced in a text.

use std::borrow::Cow;
use std::ops::Range;

use super::super::alike::Alike;
use super::super::known::Table;
use super::super::marker::Marker;
use super::super::{MAX_DEPTH, clean_text};
use super::hex::as_text;
use super::{CLASS, Found, Looked, next, next_in};

/// Replaces in a text what nothing explains.
pub(crate) fn clean<'a>(text: Cow<'a, str>, depth: usize, marker: &mut Marker) -> Cow<'a, str> {
    if !marker.guesses {
        return text;
    }
    let alike = Alike::of(text.as_bytes());
    let cleaned = next(&alike, 0, marker.known())
        .and_then(|first| clean_from(&alike, &text, first, depth, marker));
    cleaned.map_or(text, Cow::Owned)
}

/// A text in which that was found, with it and all else that nothing explains replaced; none where all stays.
pub(crate) fn clean_from(
    alike: &Alike<'_>,
    text: &str,
    first: Found,
    depth: usize,
    marker: &mut Marker,
) -> Option<String> {
    if !marker.guesses {
        return None;
    }
    let mut out = String::new();
    let (mut copied, mut here) = (0, Some(first));
    let known = marker.shared_known();
    while let Some(found) = here {
        let (Found::Drawn(place) | Found::Hex(place)) = found.clone();
        if let Some(with) = replacement(&found, &text[place.clone()], depth, marker) {
            out.push_str(&text[copied..place.start]);
            out.push_str(&with);
            copied = place.end;
        }
        here = next(alike, place.end, &known);
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// What stands for a place; none where it stays.
fn replacement(found: &Found, text: &str, depth: usize, marker: &mut Marker) -> Option<String> {
    match found {
        Found::Drawn(_) => (!marker.keeps(text)).then(|| marker.stand_in(CLASS, text.as_bytes())),
        Found::Hex(_) if depth >= MAX_DEPTH => None,
        Found::Hex(_) => {
            let inner = as_text(text.as_bytes())?;
            let cleaned = clean_text(&inner, depth + 1, marker);
            (cleaned != inner).then(|| {
                let upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
                let hex = casefile_bundle::hex(cleaned.as_bytes());
                if upper { hex.to_ascii_uppercase() } else { hex }
            })
        }
    }
}

/// The same within a part of a line of JSON, whose names explain what follows them: places, and what stands there
/// instead. The first may be known.
pub(crate) fn replacements(
    alike: &Alike<'_>,
    line: &str,
    part: &Range<usize>,
    first: Option<Found>,
    depth: usize,
    marker: &mut Marker,
) -> Vec<(Range<usize>, String)> {
    let mut all = Vec::new();
    let known = marker.shared_known();
    let next = |from: usize| {
        let part = from..part.end;
        next_in(alike, &part, Table::Run(&known), &mut {
            Looked::WITHOUT_DIGITS
        })
    };
    let mut here = first.or_else(|| next(part.start));
    while let Some(found) = here.filter(|_| marker.guesses) {
        let (Found::Drawn(place) | Found::Hex(place)) = found.clone();
        here = next(place.end);
        let with = replacement(&found, &line[place.clone()], depth, marker);
        all.extend(with.map(|with| (place, with)));
    }
    all
}
