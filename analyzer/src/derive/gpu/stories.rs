//! The story of each GPU's Xid messages.

use std::collections::{BTreeMap, BTreeSet};

use super::{Known, gpus};
use crate::facts::gpu::{Gpu, XidStory};
use crate::facts::{AnyFact, Fact};
use crate::gpu::xid::{self, Event, Health};
use crate::parsers::{DriverLine, QUARTER, Says};
use crate::scan::is_of_earlier_boot;
use crate::scan::pasted::UNNAMED_NODE;

pub(super) fn facts(known: &Known<'_>, node: &str, listed: &[Fact<Gpu>]) -> Vec<AnyFact> {
    let lines = lines(known, node);
    let events: Vec<Event> = lines
        .iter()
        .filter_map(|line| event(line, times(known, line)))
        .collect();
    let mut health = BTreeMap::new();
    let mut names = BTreeMap::new();
    // Pasted lines name no node; what was pasted beside them without one may concern the same.
    let beside = if node.is_empty() { UNNAMED_NODE } else { node };
    for gpu in gpus(known, beside, listed) {
        let card = &gpu.data.card;
        if let Some(bus) = xid::bus(&card.bus_id) {
            names.insert(bus.clone(), card.name.clone());
            let state = Health {
                ecc_uncorrectable: card.ecc_uncorrectable,
                remap_pending: card.remap_pending.max(card.retirement_pending),
                remap_failed: card.remap_failed,
                recovery_action: card.recovery_action.clone(),
                slowdowns: card.slowdowns.clone(),
                temperature: card.temperature.zip(card.temperature_slowdown),
                fabric: (card.fabric_state.clone(), card.fabric_status.clone()),
                lanes: card.link_width.zip(card.link_width_max),
                trouble: card.trouble.clone(),
            };
            health.insert(bus, state);
        }
    }
    let stories = xid::stories(&events, &health);
    let facts = stories.into_iter().filter_map(|story| {
        let cause = Says::Xid(story.bus.clone(), story.cause);
        let line = lines.iter().find(|line| line.data.says.what == cause)?;
        let word = serde_json::to_value(story.class).ok()?;
        let data = XidStory {
            node: node.to_owned(),
            name: names.get(&story.bus).cloned().unwrap_or_default(),
            bus_id: story.bus,
            first: story.first,
            cause: story.cause,
            class: word.as_str().unwrap_or_default().to_owned(),
            action: story.advice,
            follows: story.follows,
            count: times(known, line),
            again: is_apart(&moments(known, line)),
            earlier_boot: is_of_earlier_boot(&line.place.path),
            sentence: story.says,
        };
        // A time that names no year or no zone is nowhere but in the line as it stands.
        let text = match line.at {
            Some(_) => line.text.clone(),
            None => line.data.says.shown.as_str().into(),
        };
        let fact = Fact {
            data,
            place: line.place.clone(),
            text,
            at: line.at,
        };
        Some(fact.into())
    });
    facts.collect()
}

/// The node's Xid messages. The kernel log is often captured twice: what this start of the machine said goes before what
/// an earlier one did, what has a time before what counts seconds, the journal before other files, and of those the one that
/// has it more often.
fn lines<'a>(known: &'a Known<'_>, node: &str) -> Vec<&'a Fact<DriverLine>> {
    let of_node = |line: &&Fact<DriverLine>| line.data.node == node;
    let rank = |line: &Fact<DriverLine>| {
        let path = &line.place.path;
        let often = std::cmp::Reverse(line.data.count);
        let undated = line.data.says.moments.is_empty();
        (
            is_of_earlier_boot(path),
            undated,
            !path.contains("/journal/"),
            often,
        )
    };
    let mut kept: Vec<&Fact<DriverLine>> = Vec::new();
    for line in known.facts.table::<DriverLine>().iter().filter(of_node) {
        let same = |other: &&mut &Fact<DriverLine>| other.data.says.what == line.data.says.what;
        match kept.iter_mut().find(same) {
            Some(other) if rank(line) < rank(other) => *other = line,
            Some(_) => {}
            None => kept.push(line),
        }
    }
    kept
}

/// How often a message was logged: a log may hold what another one lacks, as those of earlier boots do, and what two of
/// them hold is told apart by its time.
fn times(known: &Known<'_>, line: &Fact<DriverLine>) -> u64 {
    line.data.count.max(moments(known, line).len() as u64)
}

/// When in a quarter of an hour a message was logged, by all logs.
fn moments(known: &Known<'_>, line: &Fact<DriverLine>) -> BTreeSet<i64> {
    let all = known.facts.table::<DriverLine>().iter();
    let alike = all.filter(|other| {
        other.data.node == line.data.node && other.data.says.what == line.data.says.what
    });
    alike
        .flat_map(|other| other.data.says.moments.iter().copied())
        .collect()
}

/// Whether moments are further apart than two logs write the same message, or the driver one message again. They stand
/// on a circle of a quarter of an hour.
fn is_apart(moments: &BTreeSet<i64>) -> bool {
    const APART: i64 = 60;
    let apart = |first: &i64| {
        moments
            .iter()
            .any(|one| (APART..=QUARTER - APART).contains(&(one - first)))
    };
    moments.first().is_some_and(apart)
}

fn event(line: &Fact<DriverLine>, count: u64) -> Option<Event> {
    let Says::Xid(bus, code) = &line.data.says.what else {
        return None;
    };
    // Of the changes of what the driver asks for only the last one holds.
    let details = match (code, &line.data.says.latest.2) {
        (154, Some(latest)) => BTreeSet::from([latest.clone()]),
        _ => line.data.says.details.clone(),
    };
    Some(Event {
        bus: bus.clone(),
        code: *code,
        at: line.at,
        order: u64::from(line.place.line.unwrap_or(0)),
        count,
        processes: line.data.says.processes.clone(),
        details,
    })
}
