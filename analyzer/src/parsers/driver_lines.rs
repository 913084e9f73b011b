//! What the driver says in logs that facts are made of: Xid messages, and the version of Fabric Manager.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::{Extracted, Extractor, Repeats};
use crate::facts::{FactType, Field};
use crate::gpu::{version, xid};
use crate::lines::LogLine;
use crate::model::Place;

/// Reads Xid messages.
pub(super) static XID: Extractor = Extractor {
    needle: "NVRM: Xid (",
    extract: |line| xid_line(line).map(Extracted::Driver),
};

/// Reads what Fabric Manager says of its version when it starts.
pub(super) static FABRIC_MANAGER: Extractor = Extractor {
    needle: "Fabric Manager version is",
    extract: |line| fabric_manager(line).map(Extracted::Driver),
};

/// Processes and details that are kept of alike messages.
const MOST_PROCESSES: usize = 16;

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Says {
    /// An Xid message: PCI address and code.
    Xid(String, u32),
    /// Fabric Manager's version.
    FabricManager(String),
}

/// A line of the driver, and how many of its like were seen.
#[derive(Debug, Clone)]
pub struct DriverLine {
    /// Node; empty where the path names none.
    pub node: String,
    /// What it says.
    pub says: Says,
    /// Processes named.
    pub processes: BTreeSet<String>,
    /// What messages of the code say besides.
    pub details: BTreeSet<xid::Detail>,
    /// Where the first stands.
    pub place: Place,
    /// Text of the first.
    pub text: String,
    /// Time of the first.
    pub at: Option<DateTime<Utc>>,
    /// How many.
    pub count: u64,
}

impl Repeats for DriverLine {
    type Key = Says;
    fn key(&self) -> Says {
        self.says.clone()
    }
    fn node(&self) -> &str {
        &self.node
    }
    fn place(&self) -> &Place {
        &self.place
    }
    fn place_mut(&mut self) -> &mut Place {
        &mut self.place
    }
    fn stated(&self) -> (&str, Option<DateTime<Utc>>) {
        (&self.text, self.at)
    }
    fn absorb(&mut self, later: &Self) {
        self.count = self.count.saturating_add(later.count);
        self.at = crate::lines::earliest(self.at, later.at);
        for process in &later.processes {
            if self.processes.len() < MOST_PROCESSES {
                self.processes.insert(process.clone());
            }
        }
        for detail in &later.details {
            if self.details.len() < MOST_PROCESSES {
                self.details.insert(detail.clone());
            }
        }
    }
}

impl serde::Serialize for DriverLine {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl FactType for DriverLine {
    const KIND: &'static str = "driver-line";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

fn line_of(line: &LogLine<'_>, says: Says, process: String) -> DriverLine {
    DriverLine {
        node: line.node.to_owned(),
        says,
        processes: Some(process)
            .into_iter()
            .filter(|one| !one.is_empty())
            .collect(),
        details: BTreeSet::new(),
        place: line.place(),
        text: crate::facts::excerpt(&line.text, 400),
        at: line.at,
        count: 1,
    }
}

fn xid_line(line: &LogLine<'_>) -> Option<DriverLine> {
    let xid = xid::parse(&line.text)?;
    let mut said = line_of(line, Says::Xid(xid.bus, xid.code), xid.process);
    said.details.extend(xid.detail);
    Some(said)
}

fn fabric_manager(line: &LogLine<'_>) -> Option<DriverLine> {
    let at = line
        .text
        .to_ascii_lowercase()
        .find("fabric manager version is")?;
    let version = version::find(line.text.get(at..)?)?.to_owned();
    Some(line_of(line, Says::FabricManager(version), String::new()))
}
