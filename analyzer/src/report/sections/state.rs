//! State at a Glance: nodes, GPUs and the GPU stack at the end of collection, and what was repeated until then.

use super::{Section, SectionCtx, limited};
use crate::model::state::{Activity, ComponentState, NodeState, State};
use crate::model::{Analysis, Figure};
use crate::report::blocks::{Block, Rich};
use crate::report::svg::{activity, gpu_map, layers, nodes, packet_path, packing};
use crate::report::words;

pub(super) static SECTION: Section = Section {
    id: "state",
    title: "State at a Glance",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let state = &analysis.state;
    if state.nodes.is_empty() && state.components.is_empty() {
        return vec![Block::paragraph(
            "The input holds no Node object, no list of GPUs and no GPU workload, so their state is not known.",
        )];
    }
    // A drawing in which all is well tells nobody anything.
    let ill = |part: &ComponentState| !part.troubled.is_empty() || !nodes::is_well(part);
    let tells = state.nodes.iter().any(nodes::in_trouble) || state.components.iter().any(ill);
    let mut blocks = Vec::new();
    if tells {
        blocks.push(Block::Figure {
            title: nodes::TITLE.to_owned(),
            captioned: true,
            svg: nodes::draw("state-figure", state),
            text: String::new(),
        });
    }
    if !state.nodes.is_empty() {
        blocks.extend(node_table(state, ctx));
    }
    let stale = nodes::any_not_ready(state);
    let (ill, well): (Vec<_>, Vec<_>) = state.components.iter().partition(|part| ill(part));
    if !ill.is_empty() {
        blocks.extend(parts(
            "GPU stack: parts that are not ready",
            &ill,
            stale,
            ctx,
        ));
    }
    let mut rest = Vec::new();
    if !well.is_empty() {
        rest.extend(parts("GPU stack: parts that are ready", &well, stale, ctx));
    }
    rest.extend(repeated(analysis, ctx));
    rest.extend(without_a_cause(analysis));
    let summary = match without_a_cause(analysis).is_empty() {
        true => "Parts that are ready, repeated events",
        false => "Parts that are ready, repeated events, effective configuration",
    };
    blocks.extend(Block::folded(summary, rest));
    blocks
}

fn parts(caption: &str, parts: &[&ComponentState], stale: bool, ctx: &SectionCtx) -> Vec<Block> {
    let rows = parts.iter().map(|part| part_row(part, stale, ctx));
    table(
        caption,
        &["Part", "Ready", "Version", "State of its pods", "Source"],
        rows.collect(),
        ctx,
    )
}

fn repeated(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let activity_rows = &analysis.state.activity;
    if activity_rows.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Figure {
        title: activity::TITLE.to_owned(),
        captioned: true,
        svg: activity::draw("activity-figure", activity_rows, analysis.reference_time),
        text: String::new(),
    }];
    let rows = activity_rows.iter().map(|row| activity_row(row, ctx));
    blocks.extend(table(
        "Restarts and warning events",
        &["What", "Object", "How often", "First", "Last", "Source"],
        rows.take(ctx.limits.evidence).collect(),
        ctx,
    ));
    blocks
}

fn table(
    caption: &str,
    columns: &[&str],
    mut rows: Vec<Vec<Rich>>,
    ctx: &SectionCtx,
) -> Vec<Block> {
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let Block::Table { columns, .. } = Block::table(caption, columns, Vec::new()) else {
        return Vec::new();
    };
    let table = Block::Table {
        caption: caption.to_owned(),
        columns,
        rows,
        titled: true,
        row_heads: true,
    };
    std::iter::once(table).chain(more).collect()
}

/// The nodes; of GPUs only where there are any.
fn node_table(state: &State, ctx: &SectionCtx) -> Vec<Block> {
    let gpu = |node: &NodeState| node.gpu || node.capacity.is_some() || !node.cards.is_empty();
    if state.nodes.iter().any(gpu) {
        let rows = state.nodes.iter().map(|node| node_row(node, ctx));
        let columns = ["Node", "State", "GPUs", "Cards", "Source"];
        return table("Nodes", &columns, rows.collect(), ctx);
    }
    let rows = state.nodes.iter().map(|node| {
        let mut row = node_row(node, ctx);
        row.drain(2..4);
        row
    });
    let columns = ["Node", "State", "Source"];
    table("Nodes (no GPUs)", &columns, rows.collect(), ctx)
}

fn node_row(node: &NodeState, ctx: &SectionCtx) -> Vec<Rich> {
    let mut cards = Rich::new();
    for (index, card) in node.cards.iter().take(8).enumerate() {
        cards = cards
            .text(if index == 0 { "" } else { "; " })
            .text(format!("{} ", card.name))
            .code(card.bus_id.clone());
        if let Some(degrees) = card.temperature {
            cards = cards.text(format!(" {degrees} °C"));
        }
        for trouble in &card.trouble {
            cards = cards.text(", ").strong(trouble.clone());
        }
    }
    if node.cards.is_empty() {
        cards = Rich::from("not listed: no output of nvidia-smi");
    } else if node.cards.len() > 8 {
        cards = cards.text(format!("; {} more in report.json", node.cards.len() - 8));
    }
    let place = node
        .place
        .as_ref()
        .or(node.cards.first().and_then(|card| card.place.as_ref()));
    vec![
        Rich::new().code(node.name.clone()),
        Rich::from(nodes::condition(node)),
        Rich::from(nodes::gpus(node)),
        cards,
        place.map_or_else(Rich::new, |place| ctx.place(Rich::new(), place)),
    ]
}

fn part_row(part: &ComponentState, stale: bool, ctx: &SectionCtx) -> Vec<Rich> {
    let ready = format!("{} of {}", part.ready, part.desired);
    let state = if part.troubled.is_empty() && nodes::is_well(part) {
        // The kubelet of a node that is not ready reports nothing any more.
        Rich::from(if stale {
            "ready when last reported"
        } else {
            "ready"
        })
    } else if part.troubled.is_empty() {
        Rich::new().strong("replicas are missing")
    } else {
        let states: Vec<String> = part.troubled.iter().map(|one| words::ill(one)).collect();
        Rich::new().strong(states.join(", "))
    };
    vec![
        Rich::new().code(part.subject.clone()),
        Rich::from(ready),
        if part.version.is_empty() {
            Rich::from("not known")
        } else {
            Rich::new().code(part.version.clone())
        },
        state,
        part.place
            .as_ref()
            .map_or_else(Rich::new, |place| ctx.place(Rich::new(), place)),
    ]
}

fn activity_row(row: &Activity, ctx: &SectionCtx) -> Vec<Rich> {
    let what = if row.kind == "restarts" {
        format!("restarts ({})", row.what)
    } else {
        row.what.clone()
    };
    vec![
        Rich::from(what),
        Rich::new().code(row.subject.clone()),
        Rich::from(row.count.to_string()),
        Rich::from(words::time(row.first)),
        // Of restarts only the number is known where no time of the last one was written down.
        if row.kind == "restarts" && row.last == row.first {
            Rich::from("not known")
        } else {
            Rich::from(words::time(row.last))
        },
        ctx.place(Rich::new(), &row.place),
    ]
}

/// Drawings of what was resolved where no cause is known: who looks for one wants to see how it is set up. Beside a
/// cause they would only say what it is not.
fn without_a_cause(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !analysis.incidents.is_empty() {
        return blocks;
    }
    for (nth, one) in analysis.state.runtime_layers.iter().take(4).enumerate() {
        let figure = Figure::RuntimeLayers(one.clone());
        blocks.push(draw(&figure, &format!("state-layers-{}", nth + 1)));
    }
    for (nth, one) in analysis.state.packet_paths.iter().take(1).enumerate() {
        let figure = Figure::PacketPath(one.clone());
        blocks.push(draw(&figure, &format!("state-path-{}", nth + 1)));
    }
    blocks
}

/// A drawing of the model as a block.
pub(super) fn draw(figure: &Figure, id: &str) -> Block {
    match figure {
        Figure::PacketPath(path) => Block::Figure {
            title: packet_path::title(path),
            captioned: true,
            svg: packet_path::draw(id, path),
            text: packet_path::text_form(path),
        },
        Figure::RuntimeLayers(one) => Block::Figure {
            title: layers::title(one),
            captioned: true,
            svg: layers::draw(id, one),
            text: layers::text_form(one),
        },
        Figure::GpuMap(map) => Block::Figure {
            title: gpu_map::title(map),
            captioned: true,
            svg: gpu_map::draw(id, map),
            text: gpu_map::text_form(map),
        },
        Figure::Packing(packing) => Block::Figure {
            title: packing::title(packing),
            captioned: true,
            svg: packing::draw(id, packing),
            text: packing::text_form(packing),
        },
    }
}
