//! A time axis: where a moment stands, and the labels below it.

use chrono::{DateTime, TimeDelta, Utc};

use super::Canvas;

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

    /// Lines from `top` to `bottom` with their times below.
    pub(super) fn grid(&self, canvas: &mut Canvas, top: i64, bottom: i64) {
        let ticks = self.ticks();
        let last = ticks.len().saturating_sub(1);
        for (index, at) in ticks.into_iter().enumerate() {
            let x = self.x(at);
            canvas.raw(format_args!(
                "<path d=\"M{x} {top} V{bottom}\" class=\"grid\"/>"
            ));
            let (anchor, shift) = if index == last && last > 0 {
                ("end", 16)
            } else {
                ("middle", 0)
            };
            canvas.text(x + shift, bottom + 18, "axis", anchor, &self.label(at));
        }
    }

    fn ticks(&self) -> Vec<DateTime<Utc>> {
        if self.seconds == 0 {
            return vec![self.start];
        }
        (0..=4)
            .filter_map(|nth| {
                let passed = i128::from(self.seconds) * nth / 4;
                let delta = TimeDelta::try_seconds(i64::try_from(passed).ok()?)?;
                self.start.checked_add_signed(delta)
            })
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
