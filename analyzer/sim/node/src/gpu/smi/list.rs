//! Lists: `nvidia-smi -L`, and values joined by commas from `--query-gpu` without a header.

use super::Report;
use super::card::Card;
use super::values::{known, number};

/// Reasons for lower clocks as NVML numbers them (`nvml.h`, `nvmlClocksEventReason*`).
const REASONS: [(u64, &str); 5] = [
    (0x8, "hw-slowdown"),
    (0x40, "hw-thermal"),
    (0x80, "hw-power-brake"),
    (0x20, "sw-thermal"),
    (0x4, "sw-power-cap"),
];

/// Whether a line of the text is a GPU of `-L`.
pub(super) fn is_list(text: &str) -> bool {
    text.lines().any(|line| list_line(line).is_some())
}

/// Whether a line of the text names a GPU by UUID or by a mask of reasons, in fields.
pub(super) fn is_csv(text: &str) -> bool {
    text.lines().any(|line| csv_line(line).is_some())
}

/// Reads `-L`; MIG devices count for the GPU above them.
pub(super) fn from_list(text: &str) -> Report {
    let mut report = Report {
        line: 1,
        ..Report::default()
    };
    for (line, number) in text.lines().zip(1_u32..) {
        if let Some(card) = list_line(line) {
            report.cards.push((number, card));
        } else if line.trim_start().starts_with("MIG ")
            && let Some((_, card)) = report.cards.last_mut()
        {
            card.mig_devices = card.mig_devices.saturating_add(1);
        }
    }
    report
}

/// `GPU 0: NVIDIA L4 (UUID: GPU-...)`.
fn list_line(line: &str) -> Option<Card> {
    let (index, rest) = line.trim().strip_prefix("GPU ")?.split_once(':')?;
    let (name, uuid) = rest.split_once("(UUID:")?;
    let uuid = uuid.split_once(')')?.0.trim();
    let name = name.trim();
    if name.is_empty() || !uuid.starts_with("GPU-") {
        return None;
    }
    Some(Card {
        index: Some(index.trim().parse().ok()?),
        name: name.to_owned(),
        uuid: uuid.to_owned(),
        ..Card::default()
    })
}

/// Reads lines of fields.
pub(super) fn from_csv(text: &str) -> Report {
    let lines = text.lines().zip(1_u32..);
    Report {
        line: 1,
        cards: lines
            .filter_map(|(line, number)| Some((number, csv_line(line).or_else(|| nameless(line))?)))
            .collect(),
        ..Report::default()
    }
}

/// Among lines of fields one of a GPU whose UUID was not reported: an index, a name and an amount of memory.
fn nameless(line: &str) -> Option<Card> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let index = fields.first()?.parse().ok()?;
    let name = fields
        .get(1)
        .and_then(|name| known(name))
        .filter(|name| is_name(name))?;
    let memory = fields.iter().find_map(|field| number(field, "MiB"))?;
    Some(Card {
        index: Some(index),
        name: name.to_owned(),
        memory: Some(memory),
        ..Card::default()
    })
}

/// A name begins with a letter; a digit in front is an index whose comma is missing.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && !text.starts_with("GPU-")
}

/// Fields are told by what they look like, since no header names them: an index, a name, a UUID, MiB, a mask.
fn csv_line(line: &str) -> Option<Card> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let uuid = fields.iter().find(|field| field.starts_with("GPU-"));
    let mask = fields.iter().find_map(|field| {
        let hex = field.strip_prefix("0x").filter(|hex| hex.len() == 16)?;
        u64::from_str_radix(hex, 16).ok()
    });
    if fields.len() < 2 || (uuid.is_none() && mask.is_none()) {
        return None;
    }
    let index = fields[0].parse().ok();
    let name = if index.is_some() {
        fields.get(1)
    } else {
        fields.first()
    };
    let name = name
        .and_then(|name| known(name))
        .filter(|name| is_name(name))?;
    let reasons = REASONS
        .iter()
        .filter(|(bit, _)| mask.unwrap_or(0) & bit != 0);
    Some(Card {
        index,
        name: name.to_owned(),
        uuid: uuid.map_or_else(String::new, |uuid| (*uuid).to_owned()),
        memory: fields.iter().find_map(|field| number(field, "MiB")),
        slowdowns: reasons.map(|(_, word)| (*word).to_owned()).collect(),
        ..Card::default()
    })
}
