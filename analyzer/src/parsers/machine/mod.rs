//! The machine under the GPUs, as its kernel, its board and its tools print it.

mod board;
mod confidential;
mod counts;
mod docker;
mod fabric;
mod gpu_metrics;
mod groups;
mod kubelet;
mod links;
mod memory;
mod nvlink;
mod other_gpus;
mod pci;
#[cfg(test)]
mod recorded;
mod services;
mod switches;
mod tasks;
mod topology;
mod unit_status;
mod units;
mod virtual_gpus;

pub(super) use board::{EVENTS, SENSORS};
pub(super) use confidential::CONFIDENTIAL;
pub(super) use counts::{EDAC, PRESSURE};
pub(super) use docker::CONTAINERS;
pub(super) use fabric::{ADAPTERS, DOMAIN, HEALTH};
pub(super) use gpu_metrics::METRICS;
pub(super) use groups::{DISKS, GROUPS};
pub(super) use kubelet::{GRANTS, STATS};
pub(super) use links::{LINKS, PORTS};
pub(super) use memory::{MODULES, RECORDED};
pub(super) use nvlink::NVLINK;
pub(super) use other_gpus::PARSER as OTHER_GPUS;
pub(super) use pci::{COUNTERS, DEVICES};
pub(super) use services::{CHECKS, ETCD, FIRST_BOOT};
pub(super) use switches::SWITCHES;
pub(super) use tasks::{HOLDERS, TASKS};
pub(super) use topology::{PATHS, PEERS};
pub(super) use unit_status::UNIT_STATUS;
pub(super) use units::UNITS;
pub(super) use virtual_gpus::VIRTUAL;

use super::{Channel, Document, Parsed, host_files};
use crate::facts::{AnyFact, Fact, FactType, excerpt};
use crate::model::Place;

/// A line is quoted up to here, in bytes.
const QUOTED: usize = 300;

/// A fact that an object or a line states, with its beginning as quote.
fn quoted<T: FactType>(place: Place, quote: &str, data: T) -> AnyFact {
    Fact {
        data,
        place,
        text: excerpt(quote, QUOTED).into(),
        at: None,
    }
    .into()
}

/// A fact that one line states.
fn stated<T: FactType>(document: &Document<'_>, number: u32, line: &str, data: T) -> AnyFact {
    quoted(document.line(number), line.trim(), data)
}

/// The output of a command: its lines stay searchable, and these facts stand in it.
fn with_lines(document: &Document<'_>, facts: Vec<AnyFact>) -> Parsed {
    Parsed {
        facts,
        ..host_files::say_lines(document, Channel::Command)
    }
}

#[cfg(test)]
mod testing {
    use super::super::{Document, Parsed, Parser, Read};
    use crate::facts::{Fact, FactType, Facts};

    /// What a parser makes of a text at a path of node `n1`.
    pub(super) fn read(parser: &Parser, path: &str, text: &str) -> Parsed {
        let Read::Whole(parse) = parser.read else {
            panic!("{} reads no whole text", parser.id);
        };
        parse(&Document {
            path,
            node: "n1",
            text,
        })
    }

    /// The facts of one kind.
    pub(super) fn facts<T: FactType>(parser: &Parser, path: &str, text: &str) -> Vec<Fact<T>> {
        let mut all = Facts::default();
        let parsed = read(parser, path, text);
        parsed.facts.into_iter().for_each(|fact| all.add(fact));
        all.table::<T>().iter().cloned().collect()
    }
}
