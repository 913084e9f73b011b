//! A packet's path through the captured firewall: every rule it meets, and the one that decides.

use std::fmt::Write as _;

use super::{Canvas, Svg, wrap};
use crate::model::state::{PacketPath, PathStep};
use crate::report::{escape, words};

const WIDTH: i64 = 836;
const RAIL: i64 = 214;
const TEXT: i64 = RAIL + 24;
const LINE: i64 = 17;
const GAP: i64 = 14;
/// Columns of a rule's text.
const COLUMNS: usize = 76;

/// Draws the way of the packet.
pub(crate) fn draw(id: &str, path: &PacketPath) -> Svg {
    let mut canvas = Canvas::new();
    let mut y = 10;
    let packet = wrap(&path.packet, 96, 2);
    canvas.rect(8, y, WIDTH - 16, 16 + packet.len() as i64 * LINE, "panel");
    for line in &packet {
        y += LINE;
        canvas.text(20, y + 4, "mono", "start", line);
    }
    y += 12 + GAP;
    let middle = path.steps.len() / 2;
    let mut rail = y - GAP;
    for (index, step) in path.steps.iter().enumerate() {
        if path.left_out > 0 && index == middle {
            let text = format!(
                "{} left out here",
                words::count(path.left_out, "rule that it met")
            );
            canvas.text(TEXT, y + 14, "axis", "start", &text);
            y += LINE + GAP;
        }
        canvas.raw(format_args!(
            "<path d=\"M{RAIL} {rail} V{}\" class=\"rail\"/>",
            y + 10
        ));
        rail = y + 10;
        let last = index + 1 == path.steps.len();
        y = draw_step(&mut canvas, step, y, last, &path.verdict);
    }
    let (text, class) = verdict(&path.verdict);
    canvas.rect(TEXT - 8, y, 250, 28, class);
    canvas.text(TEXT + 6, y + 19, "strong", "start", &text);
    canvas.finish(
        id,
        WIDTH,
        y + 40,
        &title(path),
        &text_form(path).replace('\n', "; "),
    )
}

fn draw_step(canvas: &mut Canvas, step: &PathStep, top: i64, last: bool, verdict: &str) -> i64 {
    let rule = wrap(&step.rule, COLUMNS, 3);
    let mut y = top;
    for (nth, line) in wrap(&step.chain, 29, 2).iter().enumerate() {
        let down = nth as i64 * LINE;
        canvas.text(RAIL - 16, y + 14 + down, "axis", "end", line);
    }
    let class = match (last, verdict) {
        (true, "dropped" | "rejected" | "black-hole") => "stop bad",
        (true, "accepted") => "stop good",
        _ => "stop",
    };
    canvas.raw(format_args!(
        "<circle cx=\"{RAIL}\" cy=\"{}\" r=\"6\" class=\"{class}\"/>",
        y + 10
    ));
    for line in &rule {
        y += LINE;
        canvas.text(TEXT, y - 3, "mono", "start", line);
    }
    y += LINE;
    let does = step.does.replace('`', "");
    let does = escape::cut_end(&does, 90);
    canvas.text(TEXT, y - 3, "axis", "start", &does);
    y + GAP
}

fn verdict(word: &str) -> (String, &'static str) {
    match word {
        "accepted" => ("the packet passes".to_owned(), "good"),
        "dropped" => ("the packet is dropped".to_owned(), "bad"),
        "rejected" => ("the packet is rejected".to_owned(), "bad"),
        "black-hole" => ("too large; the sender gets no error".to_owned(), "bad"),
        "told" => ("too large; the sender gets an error".to_owned(), "panel"),
        "fragmented" => ("sent on in fragments".to_owned(), "panel"),
        "clamped" => ("TCP is made to fit".to_owned(), "good"),
        other => (format!("not decided ({other})"), "panel"),
    }
}

/// Title of the drawing.
pub(crate) fn title(path: &PacketPath) -> String {
    format!("Packet path: {}", path.question)
}

/// The same as text.
pub(crate) fn text_form(path: &PacketPath) -> String {
    // Writing to a String cannot fail.
    let mut out = escape::one_line(&path.packet);
    let middle = path.steps.len() / 2;
    for (index, step) in path.steps.iter().enumerate() {
        if path.left_out > 0 && index == middle {
            let _ = write!(out, "\n  ... {} rules left out", path.left_out);
        }
        let place = step
            .place
            .as_ref()
            .map(|place| format!("  ({place})"))
            .unwrap_or_default();
        let chain = escape::one_line(&step.chain);
        let rule = escape::one_line(&step.rule);
        let does = escape::one_line(&step.does);
        let _ = write!(out, "\n  -> {chain}: {rule}: {does}{place}");
    }
    let _ = write!(out, "\n  => {}", verdict(&path.verdict).0);
    let decided = matches!(path.verdict.as_str(), "accepted" | "dropped" | "rejected");
    if !decided && !path.decided_by.is_empty() {
        let why = escape::one_line(&path.decided_by);
        let _ = write!(out, "\n     because {why}");
    }
    out
}
