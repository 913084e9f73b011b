//! The GPUs of a node: a box a card with its memory, its slices and the processes on it, down to pod and owner.

use std::fmt::Write as _;

use super::{Canvas, Svg};
use crate::model::state::{Card, CardClient, GpuHolder, GpuMap};
use crate::report::{escape, words};

const WIDTH: i64 = 836;
const LINE: i64 = 18;
const BAR: i64 = 220;
/// Columns of a line of text in a box.
const COLUMNS: usize = 108;
/// Cards, processes of one card, and pods that are named.
const CARDS: usize = 16;
const CLIENTS: usize = 6;
const HOLDERS: usize = 8;

/// Title of the drawing.
pub(crate) fn title(map: &GpuMap) -> String {
    format!("What runs on the GPUs of {}", map.node)
}

/// Draws the cards.
pub(crate) fn draw(id: &str, map: &GpuMap) -> Svg {
    let mut canvas = Canvas::new();
    let mut y = 8;
    for card in map.cards.iter().take(CARDS) {
        y = draw_card(&mut canvas, card, y) + 10;
    }
    for line in below(map) {
        y += LINE;
        let line = escape::cut_end(&line, COLUMNS);
        canvas.text(12, y, "label", "start", &line);
    }
    let text = text_form(map).replace('\n', "; ");
    canvas.finish(id, WIDTH, y + 14, &title(map), &text)
}

fn draw_card(canvas: &mut Canvas, card: &Card, top: i64) -> i64 {
    let lines = lines(card);
    let height = 16 + LINE * (1 + lines.len() as i64);
    let class = match card.trouble.is_empty() {
        true => "panel",
        false => "bad",
    };
    canvas.rect(8, top, WIDTH - 16, height, class);
    canvas.text(20, top + LINE + 3, "strong", "start", &head(card));
    memory_bar(canvas, card, top + 8);
    for (nth, line) in (2..).zip(&lines) {
        let line = escape::cut_end(line, COLUMNS);
        canvas.text(32, top + LINE * nth + 3, "label", "start", &line);
    }
    top + height
}

/// How much of the memory is used, as a bar with the two numbers before it.
fn memory_bar(canvas: &mut Canvas, card: &Card, y: i64) {
    let (Some(all), Some(used)) = (card.memory_mib, card.memory_used_mib) else {
        return;
    };
    let left = WIDTH - 20 - BAR;
    let share = (i128::from(used.clamp(0, all)) * i128::from(BAR)).checked_div(i128::from(all));
    let share = share
        .and_then(|width| i64::try_from(width).ok())
        .unwrap_or(0);
    canvas.text(left - 10, y + 13, "axis", "end", &memory(card));
    canvas.rect(left, y + 2, BAR, 14, "hollow");
    if share > 0 {
        canvas.rect(left, y + 2, share, 14, "held");
    }
}

fn head(card: &Card) -> String {
    format!("{} {}", card.name, card.bus_id).trim().to_owned()
}

fn memory(card: &Card) -> String {
    match (card.memory_used_mib, card.memory_mib) {
        (Some(used), Some(all)) => format!("{} of {} used", gib(used), gib(all)),
        _ => String::new(),
    }
}

fn gib(mib: i64) -> String {
    let mib = u64::try_from(mib).unwrap_or(0);
    words::bytes(mib.saturating_mul(1 << 20))
}

/// Faults, slices and processes of a card, a line each.
fn lines(card: &Card) -> Vec<String> {
    let mut lines: Vec<String> = card.trouble.clone();
    for slice in &card.slices {
        let memory = slice.memory_mib.map(|mib| format!(", {}", gib(mib)));
        lines.push(format!(
            "slice {}{}",
            slice.instance,
            memory.unwrap_or_default()
        ));
        let own = card.clients.iter();
        let own = own.filter(|one| one.instance == Some(slice.instance));
        lines.extend(own.take(CLIENTS).map(|one| format!("  {}", client(one))));
    }
    let slices: Vec<u64> = card.slices.iter().map(|slice| slice.instance).collect();
    let rest: Vec<&CardClient> = card
        .clients
        .iter()
        .filter(|one| {
            one.instance
                .is_none_or(|instance| !slices.contains(&instance))
        })
        .collect();
    lines.extend(rest.iter().take(CLIENTS).map(|one| client(one)));
    if rest.len() > CLIENTS {
        lines.push(format!("{} more in report.json", rest.len() - CLIENTS));
    }
    lines
}

/// `PID 90113 VLLM::EngineCore, 41.5 GiB: container llm of team-a/llm-0 (statefulset/llm)`.
fn client(one: &CardClient) -> String {
    let mut text = format!("PID {} {}", one.pid, one.name)
        .trim_end()
        .to_owned();
    if let Some(mib) = one.memory_mib {
        let _ = write!(text, ", {}", gib(mib));
    }
    if one.pod.is_empty() {
        text.push_str(": its pod is not known");
        return text;
    }
    text.push_str(": ");
    if !one.container.is_empty() {
        let _ = write!(text, "container {} of ", one.container);
    }
    text.push_str(&one.pod);
    if !one.owner.is_empty() {
        let _ = write!(text, " ({})", one.owner);
    }
    text
}

/// Which pods the scheduler gave GPUs of the node to.
fn below(map: &GpuMap) -> Vec<String> {
    let mut lines = Vec::new();
    if map.cards.len() > CARDS {
        let more = (map.cards.len() - CARDS) as u64;
        lines.push(format!("{} in report.json", words::count_more(more, "GPU")));
    }
    if map.holders.is_empty() {
        return lines;
    }
    let offered = match map.allocatable {
        Some(all) => format!(", which offers {}", words::count(all, "GPU")),
        None => String::new(),
    };
    lines.push(format!(
        "Pods that were given GPUs of {}{offered}:",
        map.node
    ));
    lines.extend(map.holders.iter().take(HOLDERS).map(holder));
    if map.holders.len() > HOLDERS {
        let more = (map.holders.len() - HOLDERS) as u64;
        lines.push(format!("  {}", words::count_more(more, "pod")));
    }
    lines
}

fn holder(one: &GpuHolder) -> String {
    let owner = match one.owner.as_str() {
        "" => String::new(),
        owner => format!(" ({owner})"),
    };
    let gpus = words::count(one.gpus, "GPU");
    format!("  {}{owner}: {gpus}, {}", one.pod, words::ill(&one.state))
}

/// The same as text.
pub(crate) fn text_form(map: &GpuMap) -> String {
    let mut out = Vec::new();
    for card in map.cards.iter().take(CARDS) {
        let memory = memory(card);
        let memory = match memory.is_empty() {
            true => memory,
            false => format!(": {memory}"),
        };
        out.push(format!("{}{memory}", head(card)));
        out.extend(lines(card).iter().map(|line| format!("  {line}")));
    }
    out.extend(below(map));
    let lines = out.iter().map(|line| {
        let indent = line.len() - line.trim_start().len();
        format!("{}{}", " ".repeat(indent), escape::one_line(line))
    });
    lines.collect::<Vec<_>>().join("\n")
}
