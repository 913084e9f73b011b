//! The parts of a match: which an expression names, and where they stand in a line of which the shape is known.

use regex_automata::nfa::thompson::{Compiler, Config, NFA, WhichCaptures};
use regex_syntax::ParserBuilder;

use super::ascii;
use super::shape::is_open;
use super::track::NOWHERE;

/// Size of an automaton in bytes; a larger one is not followed.
const LARGEST: usize = 1 << 17;

/// An expression that can be followed over shapes.
pub(super) struct Track {
    pub(super) nfa: NFA,
    /// Its named groups, sorted by name.
    names: Vec<(usize, Box<str>)>,
    /// Matches up to this length are those of the expression with all its bounds.
    longest: usize,
}

impl Track {
    /// Of an expression for ASCII, without its wide bounds.
    pub(super) fn of(source: &str) -> Option<Self> {
        let bounds = ascii::wide_bounds(source);
        let narrow = match bounds.first() {
            Some(least) => ascii::without_bounds(source, *least)?,
            None => ascii::narrow(source)?,
        };
        let mut parser = ParserBuilder::new().utf8(false).build();
        let config = Config::new()
            .utf8(false)
            .nfa_size_limit(Some(LARGEST))
            .which_captures(WhichCaptures::All);
        let hir = parser.parse(&narrow).ok()?;
        let nfa = Compiler::new().configure(config).build_from_hir(&hir);
        let nfa = nfa.ok()?;
        let groups = nfa
            .group_info()
            .pattern_names(regex_automata::PatternID::ZERO);
        let names = groups.enumerate();
        let mut names: Vec<(usize, Box<str>)> = names
            .filter_map(|(group, name)| Some((group, Box::from(name?))))
            .collect();
        names.sort_by(|a, b| a.1.cmp(&b.1));
        Some(Self {
            names,
            longest: bounds.first().copied().unwrap_or(usize::MAX),
            nfa,
        })
    }

    /// Whether nothing of a match is asked for, and it is one however long it is.
    pub(super) fn is_certain(&self) -> bool {
        self.names.is_empty() && self.longest == usize::MAX
    }

    /// The texts of the named groups in a line; none where the match is too long for that to be known.
    pub(super) fn named<'t>(
        &'t self,
        parts: &[u32],
        places: &[u32],
        text: &'t str,
    ) -> Option<Vec<(&'t str, &'t str)>> {
        let span = |group: usize| {
            let at = |part: usize| places.get(*parts.get(part)? as usize);
            text.get(*at(2 * group)? as usize..*at(2 * group + 1)? as usize)
        };
        if span(0)?.len() > self.longest {
            return None;
        }
        let named = self.names.iter();
        Some(
            named
                .filter_map(|(group, name)| Some((&**name, span(*group)?)))
                .collect(),
        )
    }
}

/// Where each byte of a shape stands in a line of it, and the line's end; false where that cannot be told.
pub(super) fn align(shape: &[u8], line: &[u8], places: &mut Vec<u32>) -> bool {
    places.clear();
    let mut at = 0;
    for (number, byte) in shape.iter().enumerate() {
        places.push(u32::try_from(at).unwrap_or(NOWHERE));
        if is_open(*byte) {
            let is_word = |byte: &&u8| byte.is_ascii_alphanumeric();
            let word = line
                .get(at..)
                .unwrap_or_default()
                .iter()
                .take_while(is_word)
                .count();
            let beside = shape[number + 1..].iter().take_while(is_word).count();
            at += word.saturating_sub(beside);
        } else if line.get(at) == Some(byte) {
            at += 1;
        } else {
            return false;
        }
    }
    places.push(u32::try_from(at).unwrap_or(NOWHERE));
    at == line.len()
}

/// Whether lines of a shape can be aligned with it: no digits and letters that stand together hold two open places.
pub(super) fn is_alignable(shape: &[u8]) -> bool {
    let is_part = |byte: &u8| is_open(*byte) || byte.is_ascii_alphanumeric();
    shape
        .split(|byte| !is_part(byte))
        .all(|word| word.iter().filter(|byte| is_open(**byte)).count() < 2)
}
