//! The GPU troubleshooting view: what a cluster offers, how HAMi and the GPU stack stand, who asks for what.

use serde::Serialize;

use super::blocks::{Block, Rich, StepItem};
use super::sections::SectionCtx;
use super::svg::nodes::is_well;
use super::words;
use crate::model::state::{ComponentState, State};
use crate::model::{Analysis, Severity};

/// The parts of the view, each ready to print.
#[derive(Debug, Serialize)]
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
    let gpu_nodes: Vec<_> = state.nodes.iter().filter(|node| node.gpu).collect();
    let cards: usize = gpu_nodes.iter().map(|node| node.cards.len()).sum();
    let known = |of: fn(&crate::model::state::NodeState) -> Option<u64>| -> Option<u64> {
        let numbers: Vec<u64> = gpu_nodes.iter().filter_map(|node| of(node)).collect();
        (!numbers.is_empty()).then(|| numbers.iter().fold(0, |sum: u64, n| sum.saturating_add(*n)))
    };
    let item =
        |label: &str, text: Rich| Rich::new().strong(format!("{label}:")).text(" ").join(text);
    let devices = if cards > 0 {
        Rich::from(format!("{cards}, as nvidia-smi lists them"))
    } else {
        Rich::from("not known: no output of nvidia-smi in this input")
    };
    let taken: u64 = gpu_nodes.iter().map(|node| node.taken).sum();
    let slots = match known(|node| node.allocatable) {
        Some(all) => Rich::from(format!(
            "{} of {all} allocatable ({taken} asked for by pods that are bound to a node)",
            all.saturating_sub(taken)
        )),
        None => Rich::from("not known: no Node object says what is allocatable"),
    };
    let nodes = if state.nodes.is_empty() {
        Rich::from("not known: no Node object in this input")
    } else {
        Rich::from(gpu_nodes.len().to_string())
    };
    let mut items = vec![
        item("Total GPU nodes", nodes),
        item("Total GPU devices", devices),
        item("Available GPU slots", slots),
    ];
    let Some(hami) = &state.hami else {
        items.push(item("HAMi", Rich::from("not found in this input")));
        return vec![Block::list(items)];
    };
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
    vec![Block::list(items)]
}

fn components(state: &State, ctx: &SectionCtx) -> Vec<Block> {
    let hami: [(&str, &str); 2] = [
        ("Scheduler", "hami-scheduler"),
        ("Device plugin", "hami-device-plugin"),
    ];
    let mut rows = Vec::new();
    for part in &state.components {
        let label = hami
            .iter()
            .find(|(_, component)| *component == part.component)
            .map_or(part.component.as_str(), |(label, _)| label);
        rows.push(component(label, part, ctx));
    }
    if state.hami.is_some() {
        for (label, component) in hami {
            if !state
                .components
                .iter()
                .any(|part| part.component == component)
            {
                rows.push(unseen(label));
            }
        }
        for label in ["Webhook", "Monitor"] {
            rows.push(unseen(label));
        }
    }
    if rows.is_empty() {
        return vec![Block::paragraph(
            "No workload of the GPU stack is in this input.",
        )];
    }
    vec![Block::table(
        "Components",
        &["Component", "Status", "Version", "Where it stands"],
        rows,
    )]
}

fn component(label: &str, part: &ComponentState, ctx: &SectionCtx) -> Vec<Rich> {
    let status = if is_well(part) {
        Rich::from(format!("running, {} of {}", part.ready, part.desired))
    } else {
        let why = if part.troubled.is_empty() {
            String::new()
        } else {
            format!(": {}", part.troubled.join(", "))
        };
        Rich::new().strong(format!("not well, {} of {}{why}", part.ready, part.desired))
    };
    let version = if part.version.is_empty() {
        Rich::from("not said")
    } else {
        Rich::new().code(part.version.clone())
    };
    let place = part.place.as_ref();
    vec![
        Rich::from(label),
        status,
        version,
        place.map_or_else(Rich::new, |place| ctx.place(Rich::new(), place)),
    ]
}

fn unseen(label: &str) -> Vec<Rich> {
    vec![
        Rich::from(label),
        Rich::from("not seen in this input"),
        Rich::from("not known"),
        Rich::new(),
    ]
}

fn issues(analysis: &Analysis) -> Vec<Block> {
    if analysis.incidents.is_empty() {
        return vec![Block::paragraph(
            super::sections::first_screen::nothing_confirmed(analysis),
        )];
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
                .say(&words::sentence(&incident.summary)),
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
    if incident.remedy.steps.is_empty() {
        return Block::paragraph("No fix is known here for this cause.");
    }
    Block::Steps {
        items: super::sections::resolution::steps(&incident.remedy.steps),
    }
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
            |mib| format!("{}.{} GiB", mib / 1024, mib % 1024 * 10 / 1024),
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
            "GPUs asked for",
            "GPU memory asked for by running pods",
        ],
        rows.collect(),
    )]
}

fn actions(analysis: &Analysis) -> Vec<Block> {
    let mut items: Vec<StepItem> = Vec::new();
    for incident in &analysis.incidents {
        if incident.verdict != crate::model::Verdict::Confirmed {
            let settle = incident.would_settle.iter().take(1);
            items.extend(settle.map(|text| action(Rich::from("Settle first: ").say(text))));
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
        text,
        command: None,
        expect: None,
    }
}
