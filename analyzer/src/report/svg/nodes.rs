//! Nodes and GPUs at a glance: a card a node, a square a GPU, and the parts of the GPU stack below.

use super::{Canvas, Svg, columns, wrap};
use crate::model::state::{ComponentState, NodeState, State};
use crate::report::{escape, words};

const WIDTH: i64 = 836;
const CARD: i64 = 265;
const STEP: i64 = CARD + 12;
const HEIGHT: i64 = 112;
/// Nodes that are drawn; those with trouble come first.
const MOST_NODES: usize = 24;
/// Squares of one node.
const MOST_SQUARES: u64 = 16;
/// Parts of the GPU stack that are drawn.
const MOST_PARTS: usize = 24;

/// Draws the state.
pub(crate) fn draw(id: &str, state: &State) -> Svg {
    let mut canvas = Canvas::new();
    let mut nodes: Vec<&NodeState> = state.nodes.iter().collect();
    nodes.sort_by_key(|node| (!in_trouble(node), node.capacity.unwrap_or(0) == 0));
    let shown = nodes.len().min(MOST_NODES);
    for (index, node) in nodes.iter().take(shown).enumerate() {
        let (column, row) = ((index % 3) as i64, (index / 3) as i64);
        card(
            &mut canvas,
            node,
            8 + column * STEP,
            8 + row * (HEIGHT + 12),
        );
    }
    let rows = shown.div_ceil(3) as i64;
    let mut y = 8 + rows * (HEIGHT + 12);
    if nodes.len() > shown {
        let text = format!("{} more nodes in report.json", nodes.len() - shown);
        canvas.text(8, y + 12, "axis", "start", &text);
        y += 26;
    }
    y = parts(&mut canvas, &state.components, any_not_ready(state), y);
    canvas.finish(id, WIDTH, y + 4, TITLE, &description(state))
}

/// Title of the drawing.
pub(crate) const TITLE: &str = "Nodes, GPUs and GPU stack at the end of collection";

/// Whether something about the node is not as it should be.
pub(crate) fn in_trouble(node: &NodeState) -> bool {
    node.ready != Some(true)
        || node.cordoned
        || !node.pressures.is_empty()
        || (node.gpu && node.allocatable.unwrap_or(0) == 0 && node.ready.is_some())
        || matches!((node.capacity, node.allocatable), (Some(all), Some(free)) if free < all)
        || node.cards.iter().any(|card| !card.trouble.is_empty())
}

/// Ready, not ready or unknown, and what else is to be said.
pub(crate) fn condition(node: &NodeState) -> String {
    let mut parts = vec![
        match node.ready {
            Some(true) => "Ready",
            Some(false) => "NotReady",
            None => "readiness unknown",
        }
        .to_owned(),
    ];
    if node.cordoned {
        parts.push("cordoned".to_owned());
    }
    parts.extend(node.pressures.iter().cloned());
    parts.join(", ")
}

/// What can be handed out, what is asked for, what nvidia-smi listed.
pub(crate) fn gpus(node: &NodeState) -> String {
    let mut parts = Vec::new();
    match (node.capacity, node.allocatable) {
        (Some(0) | None, Some(0)) => parts.push("offers 0 GPUs".to_owned()),
        (Some(all), Some(free)) => {
            parts.push(format!(
                "{free} of {} allocatable",
                words::count(all, "GPU")
            ));
        }
        (None, Some(free)) => parts.push(format!("{} allocatable", words::count(free, "GPU"))),
        (Some(all), None) => parts.push(format!("capacity {}", words::count(all, "GPU"))),
        (None, None) => parts.push("offers no GPU".to_owned()),
    }
    if node.taken > 0 {
        parts.push(format!("{} requested", node.taken));
    }
    if !node.cards.is_empty() {
        let cards = words::count(node.cards.len() as u64, "card");
        parts.push(format!("nvidia-smi lists {cards}"));
    }
    parts.join(", ")
}

fn card(canvas: &mut Canvas, node: &NodeState, x: i64, y: i64) {
    let class = match (in_trouble(node), node.ready) {
        (true, Some(_)) => "bad",
        (false, _) => "good",
        (true, None) => "panel",
    };
    canvas.rect(x, y, CARD, HEIGHT, class);
    let name = escape::cut_end(&node.name, 32).into_owned();
    canvas.text(x + 12, y + 22, "strong", "start", &name);
    let state = escape::cut_end(&condition(node), 40).into_owned();
    canvas.text(x + 12, y + 41, "label", "start", &state);
    let all = node
        .capacity
        .unwrap_or(0)
        .max(node.allocatable.unwrap_or(0))
        .max(node.cards.len() as u64);
    let usable = node.allocatable.unwrap_or(0);
    for nth in 0..all.min(MOST_SQUARES) {
        let class = if nth >= usable {
            "gpu out"
        } else if nth < node.taken {
            "gpu taken"
        } else {
            "gpu"
        };
        let left = x + 12 + i64::try_from(nth).unwrap_or(0) * 15;
        canvas.raw(format_args!(
            "<rect x=\"{left}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"2\" class=\"{class}\"/>",
            y + 52
        ));
    }
    for (nth, line) in wrap(&gpus(node), 38, 2).iter().enumerate() {
        canvas.text(x + 12, y + 82 + nth as i64 * 17, "axis", "start", line);
    }
}

fn parts(canvas: &mut Canvas, parts: &[ComponentState], stale: bool, top: i64) -> i64 {
    let (mut x, mut y) = (8, top + 4);
    let parts = by_name(parts);
    for (name, (ready, desired, well)) in parts.iter().take(MOST_PARTS) {
        let text = format!("{name} {ready}/{desired}");
        let width = columns(&text) as i64 * 7 + 24;
        if x + width > WIDTH - 8 {
            x = 8;
            y += 36;
        }
        let class = match (*well, stale) {
            (true, false) => "good",
            (true, true) => "hollow",
            (false, _) => "bad",
        };
        canvas.rect(x, y, width, 28, class);
        canvas.text(x + width / 2, y + 18, "label", "middle", &text);
        x += width + 8;
    }
    if parts.len() > MOST_PARTS {
        let text = format!("{} more in report.json", parts.len() - MOST_PARTS);
        canvas.text(8, y + 52, "axis", "start", &text);
        y += 24;
    }
    if parts.is_empty() { top } else { y + 36 }
}

/// Workloads of one part together: ready, wanted, and whether all is well, in the order of the stack.
fn by_name(parts: &[ComponentState]) -> Vec<(&str, (u64, u64, bool))> {
    let mut sums: Vec<(&str, (u64, u64, bool))> = Vec::new();
    for part in parts {
        let name = part.component.as_str();
        let well = is_well(part);
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, (ready, desired, all))) => {
                *ready += part.ready;
                *desired += part.desired;
                *all &= well;
            }
            None => sums.push((name, (part.ready, part.desired, well))),
        }
    }
    sums
}

/// Whether a node is not ready, so that what its pods last reported may be over.
pub(crate) fn any_not_ready(state: &State) -> bool {
    state.nodes.iter().any(|node| node.ready == Some(false))
}

/// Whether every replica that is wanted is ready and no pod of it is in trouble.
pub(crate) fn is_well(part: &ComponentState) -> bool {
    part.ready >= part.desired && part.troubled.is_empty()
}

fn description(state: &State) -> String {
    let nodes = state.nodes.iter().take(MOST_NODES);
    let nodes = nodes.map(|node| format!("{}: {}, {}", node.name, condition(node), gpus(node)));
    let parts = state.components.iter().take(MOST_PARTS);
    let parts = parts.map(|part| format!("{} {} of {}", part.component, part.ready, part.desired));
    nodes.chain(parts).collect::<Vec<_>>().join("; ")
}
