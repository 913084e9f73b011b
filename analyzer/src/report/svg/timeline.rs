//! The timeline drawing: a lane per subject, a mark per moment, marks of one spot joined.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Canvas, Svg};
use crate::model::Moment;
use crate::report::{escape, words};

/// Lanes that are drawn; the subjects of incidents and the busiest come first.
const MAX_LANES: usize = 8;
const WIDTH: i64 = 836;
const LEFT: i64 = 232;
const RIGHT: i64 = 24;
const LANE: i64 = 30;
const TOP: i64 = 10;
/// Moments closer than this many pixels are one mark.
const SPOT: i64 = 6;

/// The time axis.
struct Axis {
    start: DateTime<Utc>,
    seconds: i64,
}

impl Axis {
    fn new(moments: &[Moment]) -> Option<Self> {
        let start = moments.iter().map(|moment| moment.at).min()?;
        let end = moments.iter().map(|moment| moment.at).max()?;
        Some(Axis {
            start,
            seconds: (end - start).num_seconds().max(0),
        })
    }

    /// The place of a moment on the drawing.
    fn x(&self, at: DateTime<Utc>) -> i64 {
        let room = i128::from(WIDTH - LEFT - RIGHT);
        if self.seconds == 0 {
            return LEFT + (WIDTH - LEFT - RIGHT) / 2;
        }
        let passed = i128::from((at - self.start).num_seconds().clamp(0, self.seconds));
        LEFT + i64::try_from(passed * room / i128::from(self.seconds)).unwrap_or(0)
    }

    /// Moments of the axis to label.
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

/// Moments that share a spot on a lane.
#[derive(Default)]
struct Mark<'a> {
    first: Option<&'a Moment>,
    moments: u64,
    count: u64,
    of_incident: bool,
}

/// Draws the moments.
pub(crate) fn draw(id: &str, moments: &[Moment]) -> Svg {
    let Some(axis) = Axis::new(moments) else {
        return Canvas::new().finish(id, WIDTH, LANE, "Timeline", "No moment is known.");
    };
    let lanes = lanes(moments);
    let left_out = moments
        .iter()
        .filter(|moment| !lanes.contains(&moment.subject.as_str()))
        .count();
    let bottom = TOP + lanes.len() as i64 * LANE;
    let mut canvas = Canvas::new();
    grid(&mut canvas, &axis, bottom);
    for (index, subject) in lanes.iter().enumerate() {
        lane(
            &mut canvas,
            &axis,
            moments,
            subject,
            TOP + index as i64 * LANE + LANE / 2,
        );
    }
    let mut height = bottom + 30;
    if left_out > 0 {
        height += 20;
        let text = format!("{left_out} more moments of other subjects in report.json");
        canvas.text(LEFT, height - 8, "axis", "start", &text);
    }
    let end = moments
        .iter()
        .map(|moment| moment.at)
        .max()
        .unwrap_or(axis.start);
    let description = format!(
        "{} of {} from {} to {}. The table below lists them.",
        words::count(moments.len() as u64, "moment"),
        words::count(lanes.len() as u64, "subject"),
        words::time(axis.start),
        words::time(end)
    );
    canvas.finish(id, WIDTH, height, "When it happened", &description)
}

/// Subjects to draw, in the order they first appear.
fn lanes(moments: &[Moment]) -> Vec<&str> {
    let mut seen: BTreeMap<&str, (bool, usize, usize)> = BTreeMap::new();
    for (index, moment) in moments.iter().enumerate() {
        let entry = seen.entry(&moment.subject).or_insert((false, 0, index));
        entry.0 |= moment.incident.is_some();
        entry.1 += 1;
    }
    let mut order: Vec<(&str, (bool, usize, usize))> = seen.into_iter().collect();
    order.sort_by_key(|(_, (of_incident, number, first))| {
        (!of_incident, std::cmp::Reverse(*number), *first)
    });
    order.truncate(MAX_LANES);
    order.sort_by_key(|(_, (_, _, first))| *first);
    order.into_iter().map(|(subject, _)| subject).collect()
}

fn grid(canvas: &mut Canvas, axis: &Axis, bottom: i64) {
    let ticks = axis.ticks();
    let last = ticks.len().saturating_sub(1);
    for (index, at) in ticks.into_iter().enumerate() {
        let x = axis.x(at);
        canvas.raw(format_args!(
            "<path d=\"M{x} {TOP} V{bottom}\" class=\"grid\"/>"
        ));
        let anchor = if index == last && last > 0 {
            "end"
        } else {
            "middle"
        };
        let shift = if anchor == "end" { RIGHT - 8 } else { 0 };
        canvas.text(x + shift, bottom + 18, "axis", anchor, &axis.label(at));
    }
}

fn lane(canvas: &mut Canvas, axis: &Axis, moments: &[Moment], subject: &str, y: i64) {
    let label = shorten(subject);
    canvas.raw(format_args!(
        "<path d=\"M{LEFT} {y} H{}\" class=\"lane\"/>",
        WIDTH - RIGHT
    ));
    canvas.text(LEFT - 14, y + 4, "label", "end", &label);
    let mut marks: BTreeMap<i64, Mark> = BTreeMap::new();
    for moment in moments.iter().filter(|moment| moment.subject == subject) {
        let mark = marks.entry(axis.x(moment.at) / SPOT).or_default();
        mark.first.get_or_insert(moment);
        mark.moments += 1;
        mark.count = mark.count.saturating_add(moment.count);
        mark.of_incident |= moment.incident.is_some();
    }
    for mark in marks.values() {
        let Some(first) = mark.first else { continue };
        let class = if mark.of_incident { "mark hit" } else { "mark" };
        let radius = if mark.count > 20 {
            7
        } else if mark.count > 1 {
            6
        } else {
            5
        };
        let mut text = format!(
            "{} {}",
            words::time(first.at),
            escape::cut_end(first.text.trim(), 200)
        );
        if mark.moments > 1 {
            text = format!("{text} (and {} more)", mark.moments - 1);
        }
        let text = escape::html(&text);
        let x = axis.x(first.at);
        canvas.raw(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" class=\"{class}\"><title>{text}</title></circle>"));
    }
}

/// A subject that fits beside its lane: the end says more than the beginning.
fn shorten(subject: &str) -> String {
    const ROOM: usize = 28;
    let subject = escape::visible(&escape::one_line(subject), false).into_owned();
    let count = subject.chars().count();
    if count <= ROOM {
        return subject;
    }
    let head: String = subject.chars().take(12).collect();
    let tail: String = subject.chars().skip(count - (ROOM - 13)).collect();
    format!("{head}…{tail}")
}
