//! What the driver says in logs that facts are made of: Xid messages, and the version of Fabric Manager.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::{Extracted, Extractor, Repeated, Statement};
use crate::gpu::{version, xid};
use crate::lines::LogLine;

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

/// Reads installed packages of Fabric Manager, as dpkg and rpm list them.
pub(super) static FABRIC_PACKAGE: Extractor = Extractor {
    needle: "nvidia-fabric",
    extract: |line| package(line, "nvidia-fabric").map(Extracted::Driver),
};

/// Reads installed packages of the library that programs load.
pub(super) static LIBRARY_PACKAGE: Extractor = Extractor {
    needle: "libnvidia-compute",
    extract: |line| package(line, "libnvidia-compute").map(Extracted::Driver),
};

/// Processes and details that are kept of alike messages.
const MOST_PROCESSES: usize = 16;

/// Moments that are kept of them.
const MOST_MOMENTS: usize = 256;

/// A line as it is kept, in bytes.
const LONGEST: usize = 400;

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Says {
    /// An Xid message: PCI address and code.
    Xid(String, u32),
    /// Fabric Manager's version.
    FabricManager(String),
    /// An installed package: the beginning of its name, and the driver's version in it.
    Package(&'static str, String),
}

/// A line of the driver, and how many of its like were seen.
pub type DriverLine = Repeated<DriverSays>;

/// What lines of the driver that are alike say together.
#[derive(Debug, Clone)]
pub struct DriverSays {
    /// What each says.
    pub what: Says,
    /// Processes named.
    pub processes: BTreeSet<String>,
    /// What messages of the code say besides.
    pub details: BTreeSet<xid::Detail>,
    /// What the latest of them says besides, and where in time and file it stands.
    pub latest: (Option<DateTime<Utc>>, u32, Option<xid::Detail>),
    /// The first of them as it stands.
    pub shown: String,
    /// When in a quarter of an hour each was said, in seconds: the same line in two logs is one message.
    pub moments: BTreeSet<i64>,
}

impl Statement for DriverSays {
    const KIND: &'static str = "driver-line";
    type Key = Says;
    fn key(&self, _at: Option<DateTime<Utc>>) -> Says {
        self.what.clone()
    }
    fn absorb(&mut self, later: &Self) {
        self.latest = self.latest.clone().max(later.latest.clone());
        for moment in &later.moments {
            if self.moments.len() < MOST_MOMENTS {
                self.moments.insert(*moment);
            }
        }
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

/// A quarter of an hour, in seconds.
pub(crate) const QUARTER: i64 = 15 * 60;

fn line_of(line: &LogLine<'_>, what: Says) -> DriverLine {
    let says = DriverSays {
        what,
        processes: BTreeSet::new(),
        details: BTreeSet::new(),
        latest: (line.at, line.place().line.unwrap_or(0), None),
        shown: crate::facts::excerpt(line.shown(), LONGEST),
        moments: moment(line).into_iter().collect(),
    };
    Repeated::new(line, says, LONGEST)
}

/// When in a quarter of an hour a line was said: logs write the same message with and without a zone, and zones differ
/// by quarters.
fn moment(line: &LogLine<'_>) -> Option<i64> {
    let zoned = line.at.map(|at| at.timestamp());
    let at = line.clock.map(i64::from).or(zoned)?;
    Some(at.rem_euclid(QUARTER))
}

fn xid_line(line: &LogLine<'_>) -> Option<DriverLine> {
    let xid = xid::parse(&line.text)?;
    let mut said = line_of(line, Says::Xid(xid.bus, xid.code));
    let processes = Some(xid.process).filter(|one| !one.is_empty());
    said.says.processes.extend(processes);
    said.says.latest.2 = xid.detail.clone();
    said.says.details.extend(xid.detail);
    Some(said)
}

fn fabric_manager(line: &LogLine<'_>) -> Option<DriverLine> {
    let at = line
        .text
        .to_ascii_lowercase()
        .find("fabric manager version is")?;
    let version = version::find(line.text.get(at..)?)?.to_owned();
    Some(line_of(line, Says::FabricManager(version)))
}

/// `ii  nvidia-fabricmanager-535  535.54.03-1  amd64`, `nvidia-fabricmanager-535 535.54.03-1 ii ` and
/// `nvidia-fabric-manager-535.54.03-1.x86_64`. A package that was removed (`rc`) or never installed (`un`) is none.
fn package(line: &LogLine<'_>, name: &'static str) -> Option<DriverLine> {
    let says = Says::Package(name, installed(&line.text, name)?.to_owned());
    Some(line_of(line, says))
}

/// The driver's version in a line of dpkg's or rpm's list about an installed package whose name begins so.
pub fn installed<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    const INSTALLED: [&str; 2] = ["ii", "hi"];
    let words: Vec<&str> = line.split_whitespace().take(8).collect();
    let at = words.iter().position(|word| word.starts_with(name))?;
    let state = |word: &&&str| word.len() == 2 && word.bytes().all(|b| b.is_ascii_lowercase());
    let states = words[..at].last().into_iter().chain(words.get(at + 2));
    if states.filter(state).any(|word| !INSTALLED.contains(word)) {
        return None;
    }
    let in_name = words[at].split('-').find(|part| version::is_driver(part));
    let behind = words.get(at + 1);
    let behind = behind.and_then(|word| word.split(['-', '~', '+']).next());
    in_name.or(behind.filter(|part| version::is_driver(part)))
}

#[cfg(test)]
mod tests {
    use super::installed;

    #[test]
    fn only_installed_packages_count() {
        for (line, version) in [
            (
                "ii  nvidia-fabricmanager-535  535.54.03-1  amd64  Fabric Manager",
                Some("535.54.03"),
            ),
            (
                "hi  nvidia-fabricmanager-535  535.54.03-1  amd64",
                Some("535.54.03"),
            ),
            (
                "nvidia-fabricmanager-535 535.54.03-1 ii ",
                Some("535.54.03"),
            ),
            ("nvidia-fabricmanager-535 535.54.03-1 rc ", None),
            ("rc  nvidia-fabricmanager-535  535.54.03-1  amd64", None),
            ("un  nvidia-fabricmanager-535  <none>", None),
            (
                "nvidia-fabric-manager-535.54.03-1.x86_64",
                Some("535.54.03"),
            ),
            (
                "nvidia-fabric-manager 535.54.03-1.x86_64 Tue 02 Jan 2024",
                Some("535.54.03"),
            ),
        ] {
            assert_eq!(installed(line, "nvidia-fabric"), version, "{line}");
        }
    }
}
