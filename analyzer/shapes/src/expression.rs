//! Expressions that are looked for in lines and in shapes of them.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder};

use crate::always::matches_always;
use crate::automaton::Automaton;
use crate::shape::is_open;
use crate::tries::{Compiled, Tries};
use crate::{ascii, captured};

/// Named captures of one text.
pub type Named<'t> = Vec<(&'t str, &'t str)>;

/// What an expression that is no ASCII may remember of its own states on a thread, in bytes.
const STATES: usize = 1 << 20;

/// An expression that is compiled when it is first tried: of more than a thousand, most never are.
///
/// Three times: nearly all lines are ASCII, and for those an expression that knows nothing else is several times
/// smaller and matches the same. Smaller still is one without bounds on how far its parts may stand apart.
#[derive(Debug, Default, Clone)]
pub struct Expression {
    source: String,
    ascii: OnceLock<Option<Arc<Compiled>>>,
    loose: OnceLock<Vec<Loose>>,
    full: OnceLock<Option<Regex>>,
    /// The automaton that tells what it captures in lines of a shape.
    telling: OnceLock<Option<Automaton>>,
}

/// An expression without bounds from this one on: texts up to that length it matches as the whole expression does.
#[derive(Debug, Clone)]
struct Loose {
    least: usize,
    compiled: OnceLock<Option<Arc<Compiled>>>,
    /// The automaton that tells whether it matches every line of a shape.
    automaton: OnceLock<Option<Automaton>>,
}

impl Expression {
    /// An expression as written. One that does not compile matches nothing; the rule checker and the
    /// tests refuse it before.
    pub fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            ..Self::default()
        }
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The expression for texts of any letters; none where it does not compile.
    pub fn full(&self) -> Option<&Regex> {
        let compile = || {
            let mut builder = RegexBuilder::new(&self.source);
            builder.dfa_size_limit(STATES).build().ok()
        };
        self.full.get_or_init(compile).as_ref()
    }

    /// The expression for texts that are ASCII.
    fn ascii(&self) -> Option<&Compiled> {
        let compile = || Compiled::of(&self.source, None).map(Arc::new);
        self.ascii.get_or_init(compile).as_deref()
    }

    /// The expression for texts that are ASCII without its wide bounds, without all of them first.
    fn loose(&self) -> &[Loose] {
        let bounds = || {
            let loose = |least| Loose {
                least,
                compiled: OnceLock::new(),
                automaton: OnceLock::new(),
            };
            ascii::wide_bounds(&self.source)
                .into_iter()
                .map(loose)
                .collect()
        };
        self.loose.get_or_init(bounds)
    }

    fn compiled<'e>(&'e self, loose: &'e Loose) -> Option<&'e Compiled> {
        let compile = || Compiled::of(&self.source, Some(loose.least)).map(Arc::new);
        loose.compiled.get_or_init(compile).as_deref()
    }

    /// The expression that decides whether this text, which is ASCII, is matched; none where it is known not to be.
    fn deciding(
        &self,
        text: &str,
        matches: impl FnOnce(&Compiled, &str) -> bool,
    ) -> Option<&Compiled> {
        let loose = self.loose();
        if let Some(loosest) = loose.first() {
            let regex = self.compiled(loosest)?;
            if text.len() <= loosest.least {
                return Some(regex);
            }
            if !matches(regex, text) {
                return None;
            }
        }
        let exact = loose.iter().find(|one| text.len() <= one.least);
        match exact {
            Some(exact) => self.compiled(exact),
            None => self.ascii(),
        }
    }

    /// The expression without its wide bounds, and up to which length, in bytes, it matches the same; none where it has
    /// captures.
    fn without_captures(&self) -> Option<(&Compiled, usize)> {
        let (regex, longest) = match self.loose().first() {
            Some(loosest) => (self.compiled(loosest)?, loosest.least),
            None => (self.ascii()?, usize::MAX),
        };
        regex.names().next().is_none().then_some((regex, longest))
    }

    /// Where it matches every line of a shape, if it has no captures: what it matches there has no open place in it and
    /// none beside it.
    pub fn matches_shape(&self, tries: &Tries, shape: &[u8]) -> Option<Range<usize>> {
        let (regex, longest) = self.without_captures()?;
        let is_known = |byte: Option<&u8>| byte.is_none_or(|byte| !is_open(*byte));
        let found = regex.find(tries, shape)?;
        // Without its bounds it matches the same where that is no longer than the least of them.
        let is_certain = found.len() <= longest
            && !shape[found.range()].iter().any(|byte| is_open(*byte))
            && is_known(found.start().checked_sub(1).and_then(|at| shape.get(at)))
            && is_known(shape.get(found.end()));
        is_certain.then(|| found.range())
    }

    /// Up to which length, in bytes, it matches every line of a shape, if it has no captures; none where that is not known.
    /// The automaton is its own without wide bounds.
    pub fn matches_always(&self, automaton: &Automaton, shape: &[u8]) -> Option<usize> {
        let (_, longest) = self.without_captures()?;
        if !matches_always(automaton, shape) {
            return None;
        }
        let wider = (longest < 2 * shape.len()).then(|| self.wide_enough(shape.len()));
        let wider = wider.flatten().filter(|one| {
            let automaton = one.automaton.get_or_init(|| {
                let expression = ascii::without_bounds(&self.source, one.least)?;
                Automaton::without_captures(&expression)
            });
            let automaton = automaton.as_ref();
            automaton.is_some_and(|automaton| matches_always(automaton, shape))
        });
        Some(wider.map_or(longest, |one| one.least))
    }

    /// The expression without bounds that most lines of a shape are shorter than: these are less than twice as long. Where no
    /// bound is as wide, without the widest, if the shape itself is shorter.
    fn wide_enough(&self, shape: usize) -> Option<&Loose> {
        // Up to the least bound it is known already.
        let (_, wider) = self.loose().split_first()?;
        let widest = || wider.last().filter(|one| one.least > shape);
        wider
            .iter()
            .find(|one| one.least >= 2 * shape)
            .or_else(widest)
    }

    /// What it captures in every line of a shape; none where lines may differ, or where it has no captures.
    pub fn captures_of_shape<'s>(&'s self, shape: &'s [u8]) -> Option<Named<'s>> {
        let telling = self
            .telling
            .get_or_init(|| captured::automaton(&self.source));
        let found = captured::captured(telling.as_ref()?, shape)?;
        let text = |at: Range<usize>| shape.get(at).and_then(|here| str::from_utf8(here).ok());
        let named: Option<Named<'s>> = found
            .into_iter()
            .map(|(name, at)| Some((name, text(at)?)))
            .collect();
        named.filter(|named| !named.is_empty())
    }

    /// Whether it matches a text that is ASCII.
    pub fn matches(&self, tries: &Tries, text: &str) -> bool {
        let is_match = |regex: &Compiled, text: &str| regex.is_match(tries, text);
        self.deciding(text, is_match)
            .is_some_and(|regex| is_match(regex, text))
    }

    /// Whether it matches.
    pub fn is_match(&self, text: &str) -> bool {
        if text.is_ascii() {
            let regex = self.deciding(text, Compiled::is_match_alone);
            regex.is_some_and(|regex| regex.is_match_alone(text))
        } else {
            self.full().is_some_and(|regex| regex.is_match(text))
        }
    }

    /// Named captures, where it matches.
    pub fn captures<'t>(&'t self, tries: &Tries, text: &'t str) -> Option<Named<'t>> {
        if !text.is_ascii() {
            let regex = self.full()?;
            let matched = regex.is_match(text).then(|| regex.captures(text))??;
            let named = regex.capture_names().flatten();
            let named = named.filter_map(|name| Some((name, matched.name(name)?.as_str())));
            return Some(named.collect());
        }
        let regex = self.deciding(text, |regex, text| regex.is_match(tries, text))?;
        // Looking for captures costs much more than finding out whether it matches, and most have none.
        if regex.names().next().is_none() {
            return regex.is_match(tries, text).then(Named::new);
        }
        let matched = regex.captures(tries, text);
        let at = |name| matched.get_group_by_name(name);
        let named = regex
            .names()
            .filter_map(|name| Some((name, text.get(at(name)?.range())?)));
        matched.is_match().then(|| named.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape;
    use crate::words::Words;

    const SOURCES: [&str; 9] = [
        r"(?i)\bNVRM\b|nvidia-(?:smi|device-plugin)|modprobe[^\n]{0,40}\bnvidia",
        r"gpu-operator",
        r"\bpull.{0,20}refused",
        r"^E\d",
        r"plugin$",
        r"gpu\B",
        r"nvidia-device-plugin-[a-z]",
        r"gpu-(?P<part>operator)",
        r"gpu.{0,13}operator|pull.{0,24}(?:refused|-)",
    ];

    proptest::proptest! {
        #[test]
        fn what_matches_a_shape_matches_each_of_its_lines(
            parts in proptest::collection::vec(
                "gpu|gpu-operator|operator|NVRM|modprobe| nvidia|nvidia-device-plugin|-|pull|refused|E|[ .:]|[0-9]{1,3}|[0-9a-z]{1,5}|xxxxxxxxxxxxxxx",
                0..8,
            ),
        ) {
            let line = parts.concat();
            let words = Words::of(["gpu", "pull"].into_iter());
            let shape = shape::of(line.as_bytes(), false, &words).unwrap();
            for source in SOURCES {
                let expression = Expression::new(source);
                if expression.matches_shape(&Tries::default(), &shape).is_some() {
                    proptest::prop_assert!(expression.is_match(&line), "{} {}", source, line);
                    proptest::prop_assert_eq!(expression.captures(&Tries::default(), &line), Some(Named::new()));
                }
                let automaton = Automaton::of(source).unwrap();
                let longest = expression.matches_always(&automaton, &shape);
                if longest.is_some_and(|longest| line.len() <= longest) {
                    proptest::prop_assert!(expression.is_match(&line), "{} {}", source, line);
                }
            }
        }
    }

    #[test]
    fn what_always_matches_does_up_to_a_bound_that_is_wide_enough_for_most_lines() {
        let words = Words::of(["unauthorized"].into_iter());
        let line = b"pull of 17 images for web-12 from registry: 4 unauthorized";
        let shape = shape::of(line, false, &words).unwrap();
        let longest = |source: &str| {
            let automaton = Automaton::of(source)?;
            let expression = Expression::new(source);
            expression.matches_always(&automaton, &shape)
        };
        assert_eq!(longest("pull.{0,300}unauthorized"), Some(300));
        assert_eq!(
            longest("push.{0,80}denied|pull.{0,300}unauthorized"),
            Some(300)
        );
        assert_eq!(
            longest("pull.{0,80}unauthorized|pull.{0,300} denied"),
            Some(80)
        );
        assert_eq!(
            longest("push.{0,20}denied|pull.{0,90}unauthorized"),
            Some(90)
        );
        assert_eq!(
            longest("push.{0,20}denied|pull.{0,30}unauthorized"),
            Some(20)
        );
        assert_eq!(longest("pull.*unauthorized"), Some(usize::MAX));
        assert_eq!(longest("pull.{0,300}denied"), None);
    }

    #[test]
    fn a_line_with_ids_is_matched_by_the_words_beside_them() {
        let words = Words::of(std::iter::empty());
        let line = b"pod gpu-operator/nvidia-device-plugin-0a1b2 is up";
        let shape = shape::of(line, false, &words).unwrap();
        let matched = SOURCES.map(|source| {
            Expression::new(source)
                .matches_shape(&Tries::default(), &shape)
                .is_some()
        });
        assert_eq!(
            matched,
            [true, true, false, false, false, false, false, false, true]
        );
    }
}
