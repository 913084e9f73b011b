//! Restarts and events over time: a bar from the first to the last time, with how often.

use chrono::{DateTime, Utc};

use super::axis::Axis;
use super::{Canvas, Svg};
use crate::model::state::Activity;
use crate::report::{escape, words};

const WIDTH: i64 = 836;
const LEFT: i64 = 300;
const RIGHT: i64 = 70;
const ROW: i64 = 34;
/// Rows that are drawn.
const MOST: usize = 12;

/// Title of the drawing.
pub(crate) const TITLE: &str = "What was repeated, from the first time to the last";

/// Draws the rows; `now` ends the axis where it is later than everything seen.
pub(crate) fn draw(id: &str, rows: &[Activity], now: Option<DateTime<Utc>>) -> Svg {
    let shown = &rows[..rows.len().min(MOST)];
    let mut canvas = Canvas::new();
    let start = shown.iter().map(|row| row.first).min();
    let end = shown.iter().map(|row| row.last).chain(now).max();
    let (Some(start), Some(end)) = (start, end) else {
        return canvas.finish(id, WIDTH, ROW, TITLE, "Nothing was repeated.");
    };
    let axis = Axis::new(start, end, LEFT, WIDTH - RIGHT);
    let bottom = 10 + shown.len() as i64 * ROW;
    axis.grid(&mut canvas, 10, bottom);
    for (index, row) in shown.iter().enumerate() {
        draw_row(&mut canvas, &axis, row, 10 + index as i64 * ROW);
    }
    let mut height = bottom + 30;
    if rows.len() > shown.len() {
        height += 20;
        let text = format!("{} more in report.json", rows.len() - shown.len());
        canvas.text(LEFT, height - 8, "axis", "start", &text);
    }
    let description: Vec<String> = shown.iter().map(sentence).collect();
    canvas.finish(id, WIDTH, height, TITLE, &description.join("; "))
}

fn draw_row(canvas: &mut Canvas, axis: &Axis, row: &Activity, y: i64) {
    let what = escape::cut_end(&row.what, 40).into_owned();
    canvas.text(LEFT - 14, y + 14, "label", "end", &what);
    let subject = super::shorten(&row.subject, 38);
    canvas.text(LEFT - 14, y + 28, "axis", "end", &subject);
    let (from, to) = (axis.x(row.first), axis.x(row.last));
    let class = if row.kind == "restarts" {
        "bar again"
    } else {
        "bar"
    };
    let title = escape::html(&escape::cut_end(&sentence(row), 300));
    canvas.raw(format_args!(
        "<rect x=\"{from}\" y=\"{}\" width=\"{}\" height=\"12\" rx=\"4\" class=\"{class}\"><title>{title}</title></rect>",
        y + 10,
        (to - from).max(6)
    ));
    let text = format!("×{}", row.count);
    canvas.text(WIDTH - RIGHT + 10, y + 21, "strong", "start", &text);
}

/// A row as a sentence.
fn sentence(row: &Activity) -> String {
    let noun = if row.kind == "restarts" {
        "restarts"
    } else {
        "times"
    };
    format!(
        "{} of {}: {} {noun}, {} to {}",
        row.what,
        row.subject,
        row.count,
        words::time(row.first),
        words::time(row.last)
    )
}
