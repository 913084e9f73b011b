//! `string`: a text anywhere in the packet, its headers included (`net/netfilter/xt_string.c`).

use super::Seen;
use crate::condition::Tri;

/// A text that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
    any_case: bool,
}

impl Pattern {
    /// `--string test --algo bm --from 40 --to 80 --icase`, `--hex-string "|0a0b|"`.
    pub(super) fn parse(options: &str) -> Option<Pattern> {
        let option = |name: &str| {
            let (_, rest) = options.split_once(name)?;
            Some(rest.strip_prefix(' ').unwrap_or(rest))
        };
        let number = |name: &str, default: usize| match option(name) {
            Some(rest) => rest.split(' ').next()?.parse().ok(),
            None => Some(default),
        };
        let bytes = match (option("--hex-string"), option("--string")) {
            (Some(rest), _) => hexadecimal(wanted(rest))?,
            (None, Some(rest)) => wanted(rest).as_bytes().to_vec(),
            _ => return None,
        };
        Some(Pattern {
            bytes,
            from: number("--from", 0)?,
            to: number("--to", usize::from(u16::MAX))?,
            any_case: options.split(' ').any(|word| word == "--icase"),
        })
    }

    pub(super) fn answer(&self, seen: &Seen) -> Tri {
        let Some(length) = seen.length.and_then(|length| usize::try_from(length).ok()) else {
            return Tri::Maybe;
        };
        let last = self.to.min(length.saturating_sub(self.bytes.len()));
        if self.bytes.is_empty() || self.bytes.len() > length {
            return Tri::No;
        }
        let answers = (self.from..=last).map(|at| self.stands_at(seen, at));
        answers.max().unwrap_or(Tri::No)
    }

    fn stands_at(&self, seen: &Seen, at: usize) -> Tri {
        let bytes = self.bytes.iter().enumerate();
        let answers =
            bytes.map(
                |(nth, wanted)| match seen.bytes.get(at + nth).copied().flatten() {
                    None => Tri::Maybe,
                    Some(byte) if self.any_case => Tri::of(byte.eq_ignore_ascii_case(wanted)),
                    Some(byte) => Tri::of(byte == *wanted),
                },
            );
        answers.min().unwrap_or(Tri::No)
    }
}

/// The text as written, up to the next option.
fn wanted(rest: &str) -> &str {
    let text = rest.split(" --").next().unwrap_or(rest);
    text.trim_matches('"')
}

/// `abc|0a 0b|def`: what stands between bars is hexadecimal.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for (nth, part) in text.split('|').enumerate() {
        if nth % 2 == 0 {
            bytes.extend(part.bytes());
            continue;
        }
        let digits: String = part.split_whitespace().collect();
        for at in (0..digits.len()).step_by(2) {
            bytes.push(u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?);
        }
    }
    Some(bytes)
}
