//! Records that repeat hits. What records of one shape and one speaker come to is found out with the first of them; those behind
//! it are only counted, and added to the hits at last.

use chrono::{DateTime, Utc};
use smallvec::SmallVec;

use super::hit::Hit;
use super::search::FEW;
use super::shapes::Shape;
use crate::lines::{Record, Said};

/// Shapes that are counted at once, each at the place that its number says.
const PLACES: usize = 256;

/// The records of a stretch that only repeat hits.
#[derive(Default)]
pub(super) struct Repeats<'l> {
    places: Vec<Option<Repeated<'l>>>,
}

/// The hits that records of a shape and a speaker repeat, and those that were counted since.
struct Repeated<'l> {
    shape: Shape,
    speaker: Option<&'l [u8]>,
    /// That they do is known of messages up to so many bytes.
    longest: usize,
    hits: SmallVec<[usize; FEW]>,
    counted: Option<Counted<'l>>,
}

/// Records that were counted: they have a time, each.
#[derive(Clone, Copy)]
pub(super) struct Counted<'l> {
    pub(super) count: u64,
    /// The time of the first, in microseconds since 1970.
    first: i64,
    /// The time and the line of the last, counted from 0.
    last: (i64, u32),
    record: Record<'l>,
}

impl<'l> Repeats<'l> {
    /// Counts a record, if what it repeats is known.
    pub(super) fn count(&mut self, shape: Option<Shape>, said: &Said<'l>, number: u32) -> bool {
        let (Some(shape), Said::Record(record)) = (shape, said) else {
            return false;
        };
        let place = self.places.get_mut(place(shape));
        let Some(repeated) = place.and_then(Option::as_mut) else {
            return false;
        };
        let is_alike = repeated.shape == shape
            && repeated.speaker == record.speaker()
            && record.message_length() <= repeated.longest;
        let Some(at) = record.micros().filter(|_| is_alike) else {
            return false;
        };
        let one = Counted {
            count: 1,
            first: at,
            last: (at, number),
            record: *record,
        };
        repeated.counted = match repeated.counted.take() {
            Some(before) => Some(before.with(one)),
            None => Some(one),
        };
        true
    }

    /// Notes the hits that all records of a shape repeat which this one's speaker writes, in messages that are no longer.
    pub(super) fn note(
        &mut self,
        (shape, longest, repeats): (Shape, usize, SmallVec<[usize; FEW]>),
        record: &Record<'l>,
        hits: &mut [Hit],
    ) {
        self.places.resize_with(PLACES, || None);
        let before = self.places[place(shape)].replace(Repeated {
            shape,
            speaker: record.speaker(),
            longest,
            hits: repeats,
            counted: None,
        });
        before.into_iter().for_each(|before| before.settle(hits));
    }

    /// Adds all that was counted to the hits.
    pub(super) fn settle(self, hits: &mut [Hit]) {
        let all = self.places.into_iter().flatten();
        all.for_each(|repeated| repeated.settle(hits));
    }
}

fn place((_, number): Shape) -> usize {
    number % PLACES
}

impl Repeated<'_> {
    fn settle(self, hits: &mut [Hit]) {
        let Some(counted) = self.counted else { return };
        for hit in self.hits {
            hits[hit].repeat_counted(&counted);
        }
    }
}

impl<'l> Counted<'l> {
    fn with(self, later: Self) -> Self {
        let is_last = later.last >= self.last;
        Self {
            count: self.count + later.count,
            first: self.first.min(later.first),
            last: self.last.max(later.last),
            record: if is_last { later.record } else { self.record },
        }
    }

    /// When the first was said.
    pub(super) fn first(&self) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp_micros(self.first)
    }

    /// When the last was said, in which line, counted from 1, and what that record says.
    pub(super) fn last(&self) -> (Option<DateTime<Utc>>, Option<u32>, Record<'l>) {
        let (at, line) = self.last;
        let at = DateTime::from_timestamp_micros(at);
        (at, Some(line.saturating_add(1)), self.record)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{Expression, LinePattern, Patterns};
    use crate::dress::Nature;
    use crate::lines::{Channel, Origin};
    use crate::scan::patterns::Hit;

    fn patterns() -> Patterns {
        let patterns = [
            ("xfs journal shut", None),
            ("xfs journal .{0,40}(?:shut|frozen)", None),
            (r"volume (?P<name>[a-z]+) is mounted", None),
            ("volume .* is mounted", Some(Nature::StartUp)),
        ];
        let patterns = patterns.map(|(expression, nature)| LinePattern {
            regex: Expression::new(expression),
            channels: Vec::new(),
            speaker: None,
            nature,
        });
        Patterns::new(patterns.into())
    }

    /// The hits of lines that are searched one after another, each alone.
    fn alone(patterns: &Patterns, origin: &Origin<'_>, lines: &[String]) -> Vec<Hit> {
        let mut all: BTreeMap<(usize, String, String), Hit> = BTreeMap::new();
        for (line, number) in lines.iter().zip(0u32..) {
            for mut hit in patterns.search(origin, line.as_bytes()).hits {
                hit.place.line = Some(number + 1);
                hit.last_place.line = Some(number + 1);
                let key = (
                    hit.pattern,
                    hit.speaker.to_string(),
                    format!("{:?}", hit.captures),
                );
                match all.get_mut(&key) {
                    Some(known) => known.absorb(hit),
                    None => drop(all.insert(key, hit)),
                }
            }
        }
        let mut hits: Vec<Hit> = all.into_values().collect();
        hits.sort_by_key(|hit| (hit.place.line, hit.pattern));
        hits.iter_mut().for_each(|hit| hit.also.clear());
        hits
    }

    const MESSAGES: [&str; 5] = [
        "xfs journal shut: 7 of 9",
        "xfs journal 17 is frozen",
        "volume data is mounted",
        "volume 17 is mounted",
        "nothing happened",
    ];

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn counted_records_add_up_to_the_same_as_each_alone(
            drawn in proptest::collection::vec((0..MESSAGES.len(), 0..2usize, 0..3u8, 0i64..9, 0..90u8), 200..600),
        ) {
            let record = |(message, speaker, boot, at, odd): &(usize, usize, u8, i64, u8)| {
                let at = match odd {
                    0 => "x".to_owned(),
                    1 => "+759030806218563".to_owned(),
                    _ => (1_759_030_806_000_000 + at).to_string(),
                };
                let level = if *odd == 2 { "ERROR: " } else { "" };
                format!(
                    "{{\"__REALTIME_TIMESTAMP\":\"{at}\",\"_BOOT_ID\":\"{boot}\",\"_HOSTNAME\":\"h{}\",\"_SYSTEMD_UNIT\":\"{}.service\",\"MESSAGE\":\"{level}{}\"}}\n",
                    boot % 2, ["one", "two"][*speaker], MESSAGES[*message],
                )
            };
            let lines: Vec<String> = drawn.iter().map(record).collect();
            let origin = Origin::of("nodes/n/journal/c.json", Channel::Journal);
            let together = patterns().search(&origin, lines.concat().as_bytes()).hits;
            proptest::prop_assert_eq!(together, alone(&patterns(), &origin, &lines));
        }
    }
}
