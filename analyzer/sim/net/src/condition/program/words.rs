//! `u32`: numbers read from the packet, masked and shifted, against ranges (`net/netfilter/xt_u32.c`).

use super::{Partly, Read, Seen, number};
use crate::condition::Tri;

/// One test: a number read from the packet, and the ranges that it may lie in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct U32 {
    first: u32,
    steps: Vec<(Step, u32)>,
    ranges: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    And,
    Left,
    Right,
    /// Moves on by the number, and reads again.
    At,
}

const SIGNS: [(&str, Step); 4] = [
    ("&", Step::And),
    ("<<", Step::Left),
    (">>", Step::Right),
    ("@", Step::At),
];

impl U32 {
    pub(super) fn parse(text: &str) -> Option<U32> {
        let (location, ranges) = text.split_once('=')?;
        let location: String = location.split_whitespace().collect();
        let mut rest = location.as_str();
        let first = leading(&mut rest)?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (after, step) = SIGNS
                .into_iter()
                .find_map(|(sign, step)| Some((rest.strip_prefix(sign)?, step)))?;
            rest = after;
            steps.push((step, leading(&mut rest)?));
        }
        let ranges = ranges.split(',').map(|range| {
            let (low, high) = range.split_once(':').unwrap_or((range, range));
            Some((number(low.trim())?, number(high.trim())?))
        });
        Some(U32 {
            first,
            steps,
            ranges: ranges.collect::<Option<_>>()?,
        })
    }

    /// A read behind the packet's end fails the match.
    pub(super) fn answer(&self, seen: &Seen) -> Tri {
        let mut from = 0u64;
        let mut read = seen.read(u64::from(self.first), 4);
        for (step, by) in &self.steps {
            let now = match read {
                Read::Bits(now) => now,
                Read::Behind => return Tri::No,
                Read::Unknown => return Tri::Maybe,
            };
            read = match step {
                Step::At => {
                    if now.known != u32::MAX {
                        return Tri::Maybe;
                    }
                    from += u64::from(now.value);
                    seen.read(from + u64::from(*by), 4)
                }
                step => Read::Bits(now.changed(*step, *by)),
            };
        }
        match read {
            Read::Bits(now) => {
                let answers = self.ranges.iter().map(|range| now.within(*range));
                answers.max().unwrap_or(Tri::No)
            }
            Read::Behind => Tri::No,
            Read::Unknown => Tri::Maybe,
        }
    }
}

impl Partly {
    fn changed(self, step: Step, by: u32) -> Partly {
        let shifted = |number: u32| match step {
            Step::Left => number.checked_shl(by).unwrap_or(0),
            Step::Right => number.checked_shr(by).unwrap_or(0),
            Step::And | Step::At => number & by,
        };
        // Bits that a mask takes away and that a shift lets in are zeros.
        Partly {
            value: shifted(self.value),
            known: shifted(self.known) | !shifted(u32::MAX),
        }
    }

    fn within(self, (low, high): (u32, u32)) -> Tri {
        let (least, most) = (self.value & self.known, self.value | !self.known);
        let differs = low == high && (low ^ self.value) & self.known != 0;
        if differs || most < low || least > high {
            Tri::No
        } else if low <= least && most <= high {
            Tri::Yes
        } else {
            Tri::Maybe
        }
    }
}

/// Takes the number off the front of a text.
fn leading(text: &mut &str) -> Option<u32> {
    let digit = |c: char| c.is_ascii_hexdigit() || c == 'x' || c == 'X';
    let end = text.find(|c| !digit(c)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    number(digits)
}
