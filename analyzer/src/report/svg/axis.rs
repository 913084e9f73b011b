//! A time axis: where a moment stands, and the labels below it.

use chrono::{DateTime, Utc};

use super::Canvas;

/// Pixels right of the axis that a label may use.
const EDGE: i64 = 20;
const DAY: i64 = 86_400;
/// Spans between round times, in seconds.
const STEPS: [i64; 18] = [
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    2 * 3600,
    3 * 3600,
    6 * 3600,
    12 * 3600,
    DAY,
];

/// A span of time laid out from one pixel to another.
pub(super) struct Axis {
    start: DateTime<Utc>,
    seconds: i64,
    left: i64,
    right: i64,
}

impl Axis {
    pub(super) fn new(start: DateTime<Utc>, end: DateTime<Utc>, left: i64, right: i64) -> Self {
        Axis {
            start,
            seconds: (end - start).num_seconds().max(0),
            left,
            right,
        }
    }

    /// The place of a moment; moments outside stand at the edge.
    pub(super) fn x(&self, at: DateTime<Utc>) -> i64 {
        let room = i128::from(self.right - self.left);
        if self.seconds == 0 {
            return self.left + (self.right - self.left) / 2;
        }
        let passed = i128::from((at - self.start).num_seconds().clamp(0, self.seconds));
        self.left + i64::try_from(passed * room / i128::from(self.seconds)).unwrap_or(0)
    }

    /// Lines from `top` to `bottom` at round times, with the times below.
    pub(super) fn grid(&self, canvas: &mut Canvas, top: i64, bottom: i64) {
        for at in self.ticks() {
            let x = self.x(at);
            canvas.raw(format_args!(
                "<path d=\"M{x} {top} V{bottom}\" class=\"grid\"/>"
            ));
            let label = self.label(at);
            // A label at the edge must not run out of the drawing; half a letter is 3.4 pixels wide.
            let half = i64::try_from(label.len()).unwrap_or(0) * 34 / 10;
            let near_edge = self.right + EDGE - x < half;
            let (anchor, shift) = if near_edge {
                ("end", 16)
            } else {
                ("middle", 0)
            };
            canvas.text(x + shift, bottom + 18, "axis", anchor, &label);
        }
    }

    /// Round times, at most six; where the span is shorter than two of them, its two ends.
    fn ticks(&self) -> Vec<DateTime<Utc>> {
        if self.seconds == 0 {
            return vec![self.start];
        }
        let step = STEPS.iter().find(|step| self.seconds / **step < 6);
        let days = self.seconds / 6 / DAY + 1;
        let step = step.copied().unwrap_or(days * DAY);
        let from = self.start.timestamp();
        let first = from + (step - from.rem_euclid(step)) % step;
        let ticks: Vec<DateTime<Utc>> = (0..=6)
            .map(|nth| first + nth * step)
            .take_while(|at| *at <= from + self.seconds)
            .filter_map(|at| DateTime::from_timestamp(at, 0))
            .collect();
        if ticks.len() > 1 {
            return ticks;
        }
        let ends = [from, from + self.seconds];
        ends.into_iter()
            .filter_map(|at| DateTime::from_timestamp(at, 0))
            .collect()
    }

    fn label(&self, at: DateTime<Utc>) -> String {
        let pattern = match self.seconds {
            0..=7199 => "%H:%M:%S",
            7200..=172_799 => "%m-%d %H:%M",
            _ => "%Y-%m-%d",
        };
        at.format(pattern).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: &str, to: &str) -> Vec<String> {
        let axis = Axis::new(from.parse().unwrap(), to.parse().unwrap(), 0, 600);
        axis.ticks().into_iter().map(|at| axis.label(at)).collect()
    }

    #[test]
    fn the_axis_is_labelled_at_round_times_that_lie_on_it() {
        assert_eq!(
            labels("2026-11-20T08:02:02Z", "2026-11-20T10:15:09Z"),
            ["11-20 08:30", "11-20 09:00", "11-20 09:30", "11-20 10:00"]
        );
        assert_eq!(
            labels("2026-11-20T08:02:02Z", "2026-11-20T08:02:04Z"),
            ["08:02:02", "08:02:03", "08:02:04"]
        );
        let years = labels("1970-01-01T00:00:00Z", "2026-11-20T08:02:04Z");
        assert!((2..=6).contains(&years.len()), "{years:?}");
    }
}
