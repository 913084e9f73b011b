//! How many lines there are over time, in as few numbers as a picture needs.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::dress::Level;

/// Most columns of a chart; beyond that two become one.
const COLUMNS: i64 = 240;

/// Lines of one stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Start, in seconds since 1970.
    pub at: i64,
    /// All lines.
    pub all: u64,
    /// Warnings and errors among them.
    pub loud: u64,
    /// Errors among them.
    pub errors: u64,
}

/// Counts lines by time. Stretches grow with the time that the lines span, so that memory does not.
#[derive(Debug, Clone)]
pub struct Chart {
    seconds: i64,
    columns: BTreeMap<i64, Column>,
}

impl Default for Chart {
    fn default() -> Self {
        Self {
            seconds: 1,
            columns: BTreeMap::new(),
        }
    }
}

impl Chart {
    /// Counts a line.
    pub fn count(&mut self, at: DateTime<Utc>, level: Option<Level>) {
        let start = at.timestamp().div_euclid(self.seconds);
        let column = self.columns.entry(start).or_default();
        column.all += 1;
        column.loud += u64::from(matches!(level, Some(Level::Warning | Level::Error)));
        column.errors += u64::from(level == Some(Level::Error));
        while self.span() > COLUMNS {
            self.seconds *= 2;
            for (start, column) in std::mem::take(&mut self.columns) {
                let wider = self.columns.entry(start.div_euclid(2)).or_default();
                wider.all += column.all;
                wider.loud += column.loud;
                wider.errors += column.errors;
            }
        }
    }

    /// Stretches from the first to the last.
    fn span(&self) -> i64 {
        let first = self.columns.first_key_value().map_or(0, |(at, _)| *at);
        let last = self.columns.last_key_value().map_or(0, |(at, _)| *at);
        last - first + 1
    }

    /// Length of a stretch in seconds.
    pub fn seconds(&self) -> i64 {
        self.seconds
    }

    /// The stretches that have lines, in the order of time.
    pub fn columns(&self) -> Vec<Column> {
        let named = self.columns.iter().map(|(start, column)| Column {
            at: start * self.seconds,
            ..*column
        });
        named.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    #[test]
    fn every_line_is_counted_however_long_the_time_is() {
        let mut chart = Chart::default();
        for minute in 0..100_000 {
            let level = (minute % 10 == 0).then_some(Level::Error);
            chart.count(at(minute * 60), level);
        }
        // A stray line of 1970 or of the next century is one more column, not memory for all between.
        chart.count(at(4_000_000_000), Some(Level::Warning));
        let columns = chart.columns();
        assert!(columns.len() <= 240, "{}", columns.len());
        assert_eq!(columns.iter().map(|one| one.all).sum::<u64>(), 100_001);
        assert_eq!(columns.iter().map(|one| one.errors).sum::<u64>(), 10_000);
        assert_eq!(columns.iter().map(|one| one.loud).sum::<u64>(), 10_001);
        assert!(columns.is_sorted_by_key(|one| one.at));
    }

    #[test]
    fn lines_of_one_minute_are_told_apart_by_the_second() {
        let mut chart = Chart::default();
        for second in [0, 0, 59] {
            chart.count(at(1_000 + second), None);
        }
        assert_eq!(chart.seconds(), 1);
        let counts: Vec<(i64, u64)> = chart
            .columns()
            .iter()
            .map(|one| (one.at, one.all))
            .collect();
        assert_eq!(counts, [(1_000, 2), (1_059, 1)]);
    }
}
