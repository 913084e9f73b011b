//! The GPU troubleshooting view: what a cluster offers, how HAMi and the GPU stack stand, who asks for what.

mod components;

use serde::Serialize;

use self::components::{components, standing};
use super::blocks::{Block, Rich, StepItem};
use super::sections::{SectionCtx, limited};
use super::{plan, words};
use crate::model::state::{HamiCard, NodeState, State};
use crate::model::{Analysis, Severity};

/// The parts of the view, each ready to print.
#[derive(Debug, Default, Serialize)]
pub(crate) struct GpuView {
    /// Nodes, devices, slots, memory scaling.
    pub(crate) status: Vec<Block>,
    /// HAMi's parts, or the GPU stack where there is no HAMi.
    pub(crate) components: Vec<Block>,
    /// Causes in play with severity and remediation.
    pub(crate) issues: Vec<Block>,
    /// GPU pods by namespace.
    pub(crate) allocation: Vec<Block>,
    /// What to do, in order.
    pub(crate) actions: Vec<Block>,
}

impl GpuView {
    pub(crate) fn new(analysis: &Analysis, ctx: &SectionCtx) -> Self {
        GpuView {
            status: status(&analysis.state, ctx),
            components: components(&analysis.state, ctx),
            issues: issues(analysis),
            allocation: allocation(&analysis.state),
            actions: actions(analysis),
        }
    }
}

fn status(state: &State, ctx: &SectionCtx) -> Vec<Block> {
    let hami_cards = state.hami.as_ref().map_or(&[][..], |hami| &hami.cards);
    let gpu_nodes: Vec<_> = state.nodes.iter().filter(|node| node.gpu).collect();
    let item =
        |label: &str, text: Rich| Rich::new().strong(format!("{label}:")).text(" ").join(text);
    let nodes = if state.nodes.is_empty() {
        Rich::from("not known: no Node object in this input")
    } else {
        Rich::from(gpu_nodes.len().to_string())
    };
    let mut items = vec![
        item("Total GPU nodes", nodes),
        item("Total GPU devices", devices(&gpu_nodes, hami_cards)),
        item("Available GPU slots", slots(&gpu_nodes, hami_cards)),
    ];
    let Some(hami) = &state.hami else {
        items.push(item("HAMi", Rich::from("not found in this input")));
        return vec![Block::list(items)];
    };
    let standing = standing(state, ctx).into_iter();
    items.extend(standing.map(|(label, text)| item(label, text)));
    if !hami
        .settings
        .iter()
        .any(|one| one.name == "deviceMemoryScaling")
    {
        items.push(item(
            "Device memory scaling",
            Rich::from("not read: no helm values of HAMi name it"),
        ));
    }
    for setting in &hami.settings {
        let name = match setting.name.as_str() {
            "deviceMemoryScaling" => "Device memory scaling",
            other => other,
        };
        let text = Rich::new().code(setting.value.clone()).text(" · ");
        items.push(item(name, ctx.place(text, &setting.place)));
    }
    let mut blocks = vec![Block::list(items)];
    blocks.extend(cards(hami_cards, ctx));
    blocks
}

/// How many cards there are, by whoever counts them: HAMi's registration, else nvidia-smi.
fn devices(gpu_nodes: &[&NodeState], hami: &[HamiCard]) -> Rich {
    let listed: usize = gpu_nodes.iter().map(|node| node.cards.len()).sum();
    if !hami.is_empty() {
        let ill = hami.iter().filter(|card| !card.healthy).count();
        let mut text = format!("{}, as HAMi registered them", hami.len());
        if ill > 0 {
            text = format!("{text}, {ill} of them as not healthy");
        }
        if listed > 0 && listed != hami.len() {
            text = format!("{text}; nvidia-smi lists {listed} on the nodes it was run on");
        }
        return Rich::from(text);
    }
    match listed {
        0 => Rich::from("not known: no output of nvidia-smi in this input"),
        _ => Rich::from(format!("{listed}, as nvidia-smi lists them")),
    }
}

/// What can still be handed out: by HAMi's account of its cards, else of the resource `nvidia.com/gpu`.
fn slots(gpu_nodes: &[&NodeState], hami: &[HamiCard]) -> Rich {
    if !hami.is_empty() {
        let well = || hami.iter().filter(|card| card.healthy);
        let sum = |of: fn(&HamiCard) -> i64| well().map(of).fold(0, i64::saturating_add);
        let (all, held) = (sum(|card| card.slots), sum(|card| card.slots_held));
        let (memory, taken) = (
            sum(|card| card.memory_mib),
            sum(|card| card.memory_held_mib),
        );
        return Rich::from(format!(
            "{} of {all} on healthy cards; device memory left: {} of {}",
            all.saturating_sub(held),
            gib(memory.saturating_sub(taken)),
            gib(memory)
        ));
    }
    let known: Vec<u64> = gpu_nodes
        .iter()
        .filter_map(|node| node.allocatable)
        .collect();
    let total = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0, u64::saturating_add);
    let taken = total(&mut gpu_nodes.iter().map(|node| node.taken));
    if known.is_empty() {
        return Rich::from("not known: no Node object says what is allocatable");
    }
    let all = total(&mut known.iter().copied());
    Rich::from(format!(
        "{} of {all} allocatable ({taken} requested by pods that are bound to a node)",
        all.saturating_sub(taken)
    ))
}

/// Card by card: what HAMi's scheduler has handed out, and to whom.
fn cards(cards: &[HamiCard], ctx: &SectionCtx) -> Vec<Block> {
    if cards.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<Vec<Rich>> = cards.iter().map(|card| card_row(card, ctx)).collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let mut blocks = vec![Block::Table {
        caption: "Cards by HAMi's account".to_owned(),
        columns: [
            "Card",
            "Node",
            "Slots held",
            "Memory held",
            "Compute held",
            "Held by",
            "Source",
        ]
        .map(Rich::from)
        .into(),
        rows,
        titled: true,
        row_heads: false,
    }];
    blocks.extend(more);
    blocks
}

fn card_row(card: &HamiCard, ctx: &SectionCtx) -> Vec<Rich> {
    const HOLDERS: usize = 4;
    let mut name = Rich::new().code(card.uuid.clone()).text(" ");
    name = if card.healthy {
        name.text(card.kind.clone())
    } else {
        name.text(format!("{}, ", card.kind)).strong("not healthy")
    };
    let mut holders = Rich::new();
    for (nth, holder) in card.holders.iter().take(HOLDERS).enumerate() {
        holders = holders
            .text(if nth == 0 { "" } else { ", " })
            .code(holder.clone());
    }
    if card.holders.len() > HOLDERS {
        holders = holders.text(format!(" and {} more", card.holders.len() - HOLDERS));
    }
    if card.holders.is_empty() {
        holders = Rich::from("no pod");
    }
    let place = card.place.as_ref();
    vec![
        name,
        Rich::new().code(card.node.clone()),
        Rich::from(format!("{} of {}", card.slots_held, card.slots)),
        Rich::from(format!(
            "{} of {}",
            gib(card.memory_held_mib),
            gib(card.memory_mib)
        )),
        Rich::from(format!("{} of {} %", card.cores_held, card.cores)),
        holders,
        place.map_or_else(Rich::new, |place| ctx.place(Rich::new(), place)),
    ]
}

/// MiB as GiB with one digit.
fn gib(mib: i64) -> String {
    let sign = if mib < 0 { "-" } else { "" };
    let mib = mib.unsigned_abs();
    format!("{sign}{}.{} GiB", mib / 1024, mib % 1024 * 10 / 1024)
}

fn issues(analysis: &Analysis) -> Vec<Block> {
    if analysis.incidents.is_empty() {
        return vec![Block::paragraph(super::first_screen::nothing_confirmed(
            analysis,
        ))];
    }
    let mut blocks = Vec::new();
    for (index, incident) in analysis.incidents.iter().enumerate() {
        let severity = match incident.severity {
            Severity::Critical | Severity::High => "High",
            Severity::Medium => "Medium",
            Severity::Low => "Low",
        };
        let title = Rich::from(format!("{}. Issue: ", index + 1)).say(incident.title.trim());
        blocks.push(Block::heading(3, format!("issue-{}", index + 1), title));
        let mut items = vec![
            Rich::new().strong("Severity:").text(format!(" {severity}")),
            Rich::new()
                .strong("Root cause:")
                .text(" ")
                .verdict(incident.verdict)
                .text(" ")
                .say(&words::summary(incident)),
        ];
        let line = incident.evidence.first();
        if let Some(line) = line {
            items.push(
                Rich::new()
                    .strong("Evidence:")
                    .text(" ")
                    .code(line.place.to_string())
                    .text(": ")
                    .say(&words::sentence(&line.says)),
            );
        }
        blocks.push(Block::list(items));
        blocks.push(Block::paragraph(Rich::new().strong("Remediation:")));
        blocks.push(remediation(incident));
    }
    blocks
}

fn remediation(incident: &crate::model::Incident) -> Block {
    let items = plan::of(incident).steps;
    if items.is_empty() {
        return Block::paragraph("No fix is known here for this cause.");
    }
    Block::Steps { items }
}

fn allocation(state: &State) -> Vec<Block> {
    if state.allocation.is_empty() {
        return vec![Block::paragraph(
            "No pod that asks for a GPU is in this input.",
        )];
    }
    let rows = state.allocation.iter().map(|row| {
        let memory = row.memory_mib.map_or_else(
            || "not said".to_owned(),
            |mib| gib(i64::try_from(mib).unwrap_or(i64::MAX)),
        );
        vec![
            Rich::new().code(row.namespace.clone()),
            Rich::from(row.pending.to_string()),
            Rich::from(row.running.to_string()),
            Rich::from(row.failing.to_string()),
            Rich::from(row.gpus.to_string()),
            Rich::from(memory),
        ]
    });
    vec![Block::table(
        "GPU pods by namespace",
        &[
            "Namespace",
            "Pending GPU pods",
            "Running GPU pods",
            "Failing GPU pods",
            "GPUs requested",
            "GPU memory requested by running pods",
        ],
        rows.collect(),
    )]
}

fn actions(analysis: &Analysis) -> Vec<Block> {
    let mut items: Vec<StepItem> = Vec::new();
    for incident in &analysis.incidents {
        if incident.verdict != crate::model::Verdict::Confirmed {
            let settle = incident.would_settle.iter().take(1);
            items.extend(
                settle.map(|text| action(Rich::from("Settle first: ").say(&words::sentence(text)))),
            );
        }
        if !incident.remedy.title.trim().is_empty() {
            items.push(action(Rich::prose(&words::sentence(
                &incident.remedy.title,
            ))));
        }
    }
    let gaps = analysis
        .coverage
        .iter()
        .filter(|source| source.outcome != "collected");
    for source in gaps.take(3) {
        let text = format!("Collect {} ({}).", source.title, source.outcome);
        items.push(action(Rich::prose(&text)));
    }
    if items.is_empty() {
        return vec![Block::paragraph("Nothing follows from what was found.")];
    }
    vec![Block::Steps { items }]
}

fn action(text: Rich) -> StepItem {
    StepItem {
        looks: Vec::new(),
        text,
        command: None,
        expect: None,
    }
}
