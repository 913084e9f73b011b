//! A fleet that is made up: bundles of many nodes, some with a planted cause, and settings that three causes go with.
//!
//! The same seed gives the same bytes. A cause is planted as the files of an example inside its rule, so the texts are
//! those of real machines; everything else is small, so that 2,000 bundles are made in seconds.

mod machine;
mod plant;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use casefile_bundle::{
    BundlePath, Clock, EntryMeta, FormatVersion, Header, ManifestEnd, Outcome, SourceReport, Writer,
};
use chrono::{DateTime, TimeDelta, Utc};

pub use machine::Machine;
pub use plant::{PLANTED, Planted, planted};

/// Numbers that repeat (xorshift).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice that roll the same for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let sides = u64::try_from(of.len()).unwrap_or(1);
        of[usize::try_from(self.roll(sides)).unwrap_or(0)]
    }
}

/// What a fleet is made of.
#[derive(Debug, Clone, Copy)]
pub struct Fleet {
    /// Bundles, one a node.
    pub bundles: usize,
    /// Nodes of one cluster.
    pub nodes_a_cluster: usize,
    /// Seed.
    pub seed: u64,
    /// Whether three causes go with a setting; else nothing goes with anything.
    pub hidden: bool,
}

/// A cause that goes with a setting in a fleet with hidden correlations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    /// Cause id.
    pub cause: &'static str,
    /// Name of the setting, as the tables have it.
    pub name: &'static str,
    /// Its value.
    pub value: &'static str,
}

/// The three.
pub const HIDDEN: [Hidden; 3] = [
    Hidden {
        cause: PLANTED[0],
        name: "bios_version",
        value: "2.17.1",
    },
    Hidden {
        cause: PLANTED[1],
        name: "vm.max_map_count",
        value: "65530",
    },
    Hidden {
        cause: PLANTED[2],
        name: "gpu-operator toolkit version",
        value: "v1.17.9",
    },
];

/// Makes a fleet into a folder and says which bundle has which cause; nothing for a well one.
///
/// # Errors
/// What the system says, and rules that lack the examples that are planted.
pub fn make(
    fleet: Fleet,
    rules: &Path,
    folder: &Path,
) -> anyhow::Result<BTreeMap<String, Option<String>>> {
    let causes = planted(rules)?;
    let mut dice = Dice::new(fleet.seed);
    let mut truth = BTreeMap::new();
    std::fs::create_dir_all(folder)?;
    let clusters = fleet.bundles.div_ceil(fleet.nodes_a_cluster.max(1));
    let charts: Vec<bool> = (0..clusters).map(|_| dice.roll(3) == 0).collect();
    for number in 0..fleet.bundles {
        let cluster = number / fleet.nodes_a_cluster.max(1);
        let machine = Machine::draw(number, cluster, charts[cluster], &mut dice);
        let cause = draw(&machine, fleet, &causes, &mut dice);
        let name = format!("casefile-{}-{}.tar.gz", machine.node, machine.stamp());
        write(&folder.join(&name), &machine, cause)?;
        truth.insert(name, cause.map(|cause| cause.id.clone()));
    }
    Ok(truth)
}

/// One bundle for each rule that has an example to plant, to see which of them make a cause of their own.
///
/// # Errors
/// As [`make`].
pub fn make_every(rules: &Path, folder: &Path) -> anyhow::Result<BTreeMap<String, Option<String>>> {
    let mut truth = BTreeMap::new();
    let mut dice = Dice::new(1);
    std::fs::create_dir_all(folder)?;
    for (number, cause) in plant::every(rules)?.iter().enumerate() {
        let machine = Machine::draw(number, 0, false, &mut dice);
        let name = format!("casefile-{}-{}.tar.gz", machine.node, machine.stamp());
        write(&folder.join(&name), &machine, Some(cause))?;
        truth.insert(name, Some(cause.id.clone()));
    }
    Ok(truth)
}

/// One bundle in five is sick of a cause drawn at random; with hidden correlations, nodes with the setting often
/// have its cause, others seldom.
fn draw<'c>(
    machine: &Machine,
    fleet: Fleet,
    causes: &'c [Planted],
    dice: &mut Dice,
) -> Option<&'c Planted> {
    let (sick, lot, which) = (dice.roll(100), dice.roll(100), dice.roll(3));
    let any = dice.roll(u64::try_from(causes.len()).unwrap_or(1));
    if fleet.hidden {
        let hidden = HIDDEN[usize::try_from(which).unwrap_or(0)];
        if machine.has(hidden.name, hidden.value) && lot < 60 {
            return causes.iter().find(|cause| cause.id == hidden.cause);
        }
    }
    // A chart's fault does not appear where the chart has not that value.
    let chart = HIDDEN[2];
    let drawn = causes
        .get(usize::try_from(any).unwrap_or(0))
        .filter(|_| sick < 24);
    drawn.filter(|cause| {
        !fleet.hidden || cause.id != chart.cause || machine.has(chart.name, chart.value)
    })
}

/// Writes one bundle.
fn write(path: &Path, machine: &Machine, cause: Option<&Planted>) -> anyhow::Result<()> {
    let mut files = machine.files();
    if let Some(cause) = cause {
        cause.onto(machine, &mut files);
    }
    let header = Header {
        format: FormatVersion::CURRENT,
        tool: "casefile-collector 0.1.0".into(),
        node: machine.node.clone(),
        started: machine.at,
        options: [].into(),
        clock: Clock {
            utc: machine.at,
            monotonic_ns: None,
            timezone: None,
            synchronised: Some(true),
        },
    };
    let top = format!("casefile-{}-{}", machine.node, machine.stamp());
    let out = BufWriter::new(File::create(path)?);
    let mut writer = Writer::new(out, &top, &header)?;
    for (path, text) in &files {
        let meta = EntryMeta {
            path: BundlePath::new(path).map_err(io::Error::other)?,
            source: source_of(path).to_owned(),
            truncated: None,
            redactions: [].into(),
            origin: None,
        };
        writer.append_bytes(meta, text.as_bytes())?;
    }
    writer.finish(end(machine.at))?.flush()?;
    Ok(())
}

fn source_of(path: &str) -> &'static str {
    if path.contains("/journal/") {
        "journal"
    } else if path.starts_with("cluster-resources/events") {
        "cluster_events"
    } else if path.starts_with("cluster-resources/") {
        "cluster_objects"
    } else if path.starts_with("helm/") {
        "helm_releases"
    } else {
        "host_info"
    }
}

fn end(at: DateTime<Utc>) -> ManifestEnd {
    let finished = at + TimeDelta::seconds(9);
    let sources = [
        "cluster_events",
        "cluster_objects",
        "helm_releases",
        "host_info",
        "journal",
    ];
    ManifestEnd {
        finished,
        interrupted: None,
        sources: sources
            .iter()
            .map(|id| SourceReport {
                id: (*id).into(),
                title: (*id).into(),
                outcome: Outcome::Collected,
                why: None,
                started: at,
                finished,
                notes: vec![],
            })
            .collect(),
    }
}
