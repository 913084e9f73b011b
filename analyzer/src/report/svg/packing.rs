//! Where a pod that waits would have to fit: a bar a node, what pods hold of it, and what the pod asks for.

use std::fmt::Write as _;

use super::{Canvas, Svg};
use crate::model::state::{PackedNode, Packing};
use crate::report::{escape, words};

const WIDTH: i64 = 836;
const LEFT: i64 = 240;
const BAR: i64 = 280;
const ROW: i64 = 44;
/// Pods that are named as holders.
const HOLDERS: usize = 4;

/// Title of the drawing.
pub(crate) fn title(packing: &Packing) -> String {
    format!(
        "Where {} would have to fit: it asks for {}",
        packing.pod,
        request(packing)
    )
}

fn request(packing: &Packing) -> String {
    match packing.request.is_empty() {
        true => format!("{} {}", packing.asked, packing.resource),
        false => packing.request.clone(),
    }
}

/// Draws the nodes.
pub(crate) fn draw(id: &str, packing: &Packing) -> Svg {
    let mut canvas = Canvas::new();
    let most = packing
        .nodes
        .iter()
        .map(|node| node.held.max(node.allocatable).max(0));
    // The bars of all nodes and the request have one scale.
    let scale = most.max().unwrap_or(0).max(packing.asked).max(1);
    let wide = |amount: i64| {
        let wide = i128::from(amount.clamp(0, scale)) * i128::from(BAR) / i128::from(scale);
        i64::try_from(wide).unwrap_or(0)
    };
    let mut y = 8;
    canvas.text(LEFT - 14, y + 20, "strong", "end", "the pod asks for");
    canvas.rect(LEFT, y + 8, wide(packing.asked).max(2), 18, "asked");
    let asked = format!("{} of {}", packing.asked, packing.resource);
    canvas.text(LEFT + BAR + 14, y + 22, "label", "start", &asked);
    y += ROW;
    for node in &packing.nodes {
        let name = super::shorten(&node.node, 30);
        canvas.text(LEFT - 14, y + 20, "label", "end", &name);
        canvas.rect(LEFT, y + 8, wide(node.allocatable).max(2), 18, "hollow");
        if node.held > 0 {
            canvas.rect(LEFT, y + 8, wide(node.held).max(2), 18, "held");
        }
        canvas.text(LEFT + BAR + 14, y + 16, "label", "start", &counts(node));
        let why = escape::cut_end(&node.refused, 38);
        canvas.text(LEFT + BAR + 14, y + 32, "axis", "start", &why);
        y += ROW;
    }
    if let Some(rest) = without(packing) {
        canvas.text(LEFT, y + 14, "axis", "start", &rest);
        y += 24;
    }
    let text = text_form(packing).replace('\n', "; ");
    canvas.finish(id, WIDTH, y + 8, &title(packing), &text)
}

fn counts(node: &PackedNode) -> String {
    let free = node.allocatable - node.held;
    format!(
        "{} offered, {} held, {} free",
        node.allocatable,
        node.held,
        free.max(0)
    )
}

fn without(packing: &Packing) -> Option<String> {
    (packing.without > 0).then(|| {
        let nodes = words::count_more(packing.without, "node");
        format!("{nodes}: no {}", packing.resource)
    })
}

/// The same as text.
pub(crate) fn text_form(packing: &Packing) -> String {
    let mut out = format!("{} asks for {}", packing.pod, request(packing));
    for node in &packing.nodes {
        let _ = write!(out, "\n  {}: {}", node.node, counts(node));
        if !node.refused.is_empty() {
            let _ = write!(out, "; {}", escape::one_line(&node.refused));
        }
        for holder in node.holders.iter().take(HOLDERS) {
            let _ = write!(out, "\n    held by {}", escape::one_line(holder));
        }
        let more = node.holders.len().saturating_sub(HOLDERS) as u64;
        if more > 0 {
            let _ = write!(out, "\n    {}", words::count_more(more, "pod"));
        }
    }
    if let Some(rest) = without(packing) {
        let _ = write!(out, "\n  {rest}");
    }
    out
}
