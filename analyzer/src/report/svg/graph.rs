//! The cause graph: root at the top, what it led to below, symptoms at the bottom.

use std::collections::{BTreeMap, BTreeSet};

use super::{Canvas, Svg, wrap};
use crate::model::Incident;
use crate::report::escape;

/// Boxes that are drawn; a longer chain is cut and says so.
const MAX_NODES: usize = 24;
const BOX_WIDTH: i64 = 260;
const LINE: i64 = 18;
const GAP_X: i64 = 24;
const GAP_Y: i64 = 40;
const MARGIN: i64 = 8;
/// Columns of text that fit into a box.
const TEXT_WIDTH: usize = 31;

/// Statements in the order they are first named, with their arrows as indexes.
struct Graph<'a> {
    labels: Vec<&'a str>,
    arrows: BTreeSet<(usize, usize)>,
    left_out: usize,
}

impl<'a> Graph<'a> {
    fn new(incident: &'a Incident) -> Self {
        let mut graph = Graph {
            labels: Vec::new(),
            arrows: BTreeSet::new(),
            left_out: 0,
        };
        let mut index = BTreeMap::new();
        for link in &incident.chain {
            let ends = [link.from.trim(), link.to.trim()].map(|label| {
                if !index.contains_key(label) && graph.labels.len() < MAX_NODES {
                    index.insert(label, graph.labels.len());
                    graph.labels.push(label);
                }
                index.get(label).copied()
            });
            match ends {
                [Some(from), Some(to)] if from != to => {
                    graph.arrows.insert((from, to));
                }
                [Some(_), Some(_)] => {}
                _ => graph.left_out += 1,
            }
        }
        graph
    }

    /// The row of each box: one below the lowest box that leads to it. Loops are cut by the bound on rounds.
    fn rows(&self) -> Vec<usize> {
        let mut rows = vec![0; self.labels.len()];
        for _ in 0..self.labels.len() {
            let mut changed = false;
            for &(from, to) in &self.arrows {
                let wanted = (rows[from] + 1).min(self.labels.len().saturating_sub(1));
                if rows[to] < wanted {
                    rows[to] = wanted;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let used: BTreeSet<usize> = rows.iter().copied().collect();
        let dense: BTreeMap<usize, usize> = used
            .into_iter()
            .enumerate()
            .map(|(n, row)| (row, n))
            .collect();
        rows.iter()
            .map(|row| dense.get(row).copied().unwrap_or(0))
            .collect()
    }

    fn leads_on(&self, node: usize) -> bool {
        self.arrows.iter().any(|&(from, _)| from == node)
    }

    /// Below the middle of what leads to the box from rows above, else the middle of the drawing.
    fn wanted_x(&self, node: usize, rows: &[usize], spots: &[Spot], width: i64) -> i64 {
        let above: Vec<i64> = self
            .arrows
            .iter()
            .filter(|&&(from, to)| to == node && rows[from] < rows[node])
            .map(|&(from, _)| spots[from].x)
            .collect();
        if above.is_empty() {
            return (width - BOX_WIDTH) / 2;
        }
        above.iter().sum::<i64>() / above.len() as i64
    }

    fn is_root(&self, node: usize) -> bool {
        !self.arrows.iter().any(|&(_, to)| to == node)
    }
}

/// Where a box stands.
#[derive(Clone, Copy)]
struct Spot {
    x: i64,
    y: i64,
    height: i64,
}

/// Draws the chain of an incident.
pub(crate) fn draw(id: &str, incident: &Incident) -> Svg {
    let graph = Graph::new(incident);
    let rows = graph.rows();
    let texts: Vec<Vec<String>> = graph
        .labels
        .iter()
        .map(|label| wrap(&label.replace('`', ""), TEXT_WIDTH, 5))
        .collect();
    let (spots, width, mut height) = place(&graph, &rows, &texts);
    let mut canvas = Canvas::new();
    canvas.raw(format_args!(
        "<defs><marker id=\"{id}-tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto-start-reverse\"><path d=\"M0 0 10 5 0 10z\" class=\"arrow-tip\"/></marker></defs>"
    ));
    for &(from, to) in &graph.arrows {
        arrow(&mut canvas, id, spots[from], spots[to]);
    }
    for (node, lines) in texts.iter().enumerate() {
        let class = match (graph.is_root(node), graph.leads_on(node)) {
            (true, true) => "node root",
            (_, false) => "node symptom",
            _ => "node",
        };
        node_box(&mut canvas, spots[node], class, lines, graph.labels[node]);
    }
    if graph.left_out > 0 {
        height += 24;
        let text = format!("{} more arrows in report.json", graph.left_out);
        canvas.text(width / 2, height - 10, "label", "middle", &text);
    }
    let title = format!("How {} led to what people notice", incident.cause);
    canvas.finish(
        id,
        width,
        height,
        &title,
        &text(incident).replace('\n', "; "),
    )
}

/// Rows from top to bottom; each box as near below what leads to it as its neighbours allow.
fn place(graph: &Graph<'_>, rows: &[usize], texts: &[Vec<String>]) -> (Vec<Spot>, i64, i64) {
    const STEP: i64 = BOX_WIDTH + GAP_X;
    let mut by_row: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, row) in rows.iter().enumerate() {
        by_row.entry(*row).or_default().push(node);
    }
    let most = by_row.values().map(Vec::len).max().unwrap_or(1);
    let width = most as i64 * STEP - GAP_X + 2 * MARGIN;
    let mut spots = vec![
        Spot {
            x: 0,
            y: 0,
            height: 0
        };
        rows.len()
    ];
    let mut y = MARGIN;
    for nodes in by_row.values() {
        let tallest = nodes
            .iter()
            .map(|&node| texts[node].len().max(1))
            .max()
            .unwrap_or(1);
        let height = tallest as i64 * LINE + 18;
        let mut wanted: Vec<(i64, usize)> = nodes
            .iter()
            .map(|&node| (graph.wanted_x(node, rows, &spots, width), node))
            .collect();
        wanted.sort_unstable();
        let mut least = MARGIN;
        for (index, (x, node)) in wanted.iter().enumerate() {
            // Room must remain for the boxes to the right.
            let most = width - MARGIN - BOX_WIDTH - (wanted.len() - 1 - index) as i64 * STEP;
            let x = (*x).max(least).min(most);
            spots[*node] = Spot { x, y, height };
            least = x + STEP;
        }
        y += height + GAP_Y;
    }
    (spots, width, (y - GAP_Y + MARGIN).max(2 * MARGIN))
}

fn arrow(canvas: &mut Canvas, id: &str, from: Spot, to: Spot) {
    let (x1, y1) = (from.x + BOX_WIDTH / 2, from.y + from.height);
    let (x2, y2) = (to.x + BOX_WIDTH / 2, to.y - 2);
    let middle = (y2 - GAP_Y / 2).max(y1.min(y2));
    canvas.raw(format_args!(
        "<path d=\"M{x1} {y1} V{middle} H{x2} V{y2}\" class=\"arrow\" marker-end=\"url(#{id}-tip)\"/>"
    ));
}

fn node_box(canvas: &mut Canvas, spot: Spot, class: &str, lines: &[String], label: &str) {
    let whole = escape::html(&escape::cut_end(label, 600));
    canvas.raw(format_args!("<g class=\"{class}\"><title>{whole}</title>"));
    canvas.raw(format_args!(
        "<rect x=\"{}\" y=\"{}\" width=\"{BOX_WIDTH}\" height=\"{}\" rx=\"6\"/>",
        spot.x, spot.y, spot.height
    ));
    let first = spot.y + (spot.height - lines.len() as i64 * LINE) / 2 + 13;
    for (index, line) in lines.iter().enumerate() {
        canvas.text(
            spot.x + BOX_WIDTH / 2,
            first + index as i64 * LINE,
            "label",
            "middle",
            line,
        );
    }
    canvas.raw(format_args!("</g>"));
}

/// The same chain as text: one line per path start, arrows in the order they were found.
pub(crate) fn text(incident: &Incident) -> String {
    let mut out = String::new();
    let mut last: Option<&str> = None;
    // A cause with several consequences is written once, above all of them.
    let mut head: Option<&str> = None;
    for link in incident.chain.iter().take(MAX_NODES * 2) {
        let (from, to) = (link.from.trim(), link.to.trim());
        if last != Some(from) && head != Some(from) {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&escape::one_line(from));
            head = Some(from);
        }
        out.push_str("\n  -> ");
        out.push_str(&escape::one_line(to));
        last = Some(to);
    }
    out
}
