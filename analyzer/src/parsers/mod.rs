//! Parsers: from an entry of the bundle to facts.
//!
//! A parser states what stands there and judges nothing. It never fails: what it cannot read becomes
//! a [`Problem`] with a place, and the rest is still read. To add one, write a file with a [`Parser`]
//! and name it in the list below.

pub(crate) mod changes;
mod clocks;
mod components;
mod driver_lines;
mod figures;
mod host_lines;
mod kernel_packets;
pub mod marks;
mod pod_json;
mod pod_state;
mod repeated;
mod router;
mod runs;

pub use crate::lines::Channel;
pub(crate) use any_kind::{PRINTED, kind_of, plural, read_as, reader, reading};
use casefile_bundle::Entry;
pub(crate) use cluster_parts::kubeadm;
pub(crate) use driver_lines::QUARTER;
pub use driver_lines::{DriverLine, Says, installed};
pub use figures::Figure;
pub use helm::{HelmChanges, HelmRevision, UnreadValue};
pub use host_json::CertificateRecord;
pub use host_lines::{HostLine, HostSays};
pub use kernel_packets::PacketLine;
pub use node_json::{CapturedFile, InstanceRecord};
pub use repeated::{Repeated, Statement};
pub use router::Router;
pub use runs::ContainerRun;
pub(crate) use scheduling::missing as missing_pods;
pub use templates::PodTemplate;

use chrono::{DateTime, Utc};

use crate::facts::AnyFact;
use crate::lines::LogLine;
use crate::model::{Place, Problem};
use crate::shared::Shared;

/// Makes the modules of the parsers and the list of them.
macro_rules! parsers {
    ($($file:ident: $($parser:ident)+;)*) => {
        $(mod $file;)*

        /// All parsers; the first whose glob matches an entry reads it.
        pub static PARSERS: &[&Parser] = &[$($(&$file::$parser,)+)*];
    };
}

parsers! {
    any_kind: PARSER;
    pods: PARSER;
    events: PARSER;
    nodes: PARSER RUNTIME_CLASSES;
    services: PARSER;
    workloads: PARSER;
    helm: PARSER HISTORY CHANGES;
    templates: CUSTOM;
    scheduling: PARSER CLUSTER;
    cluster_parts: PARSER;
    operators: PARSER;
    node_json: PROCESSES CONTAINERD FILES;
    host_json: PROGRAMS CERTIFICATES;
    machine:
        TASKS HOLDERS NVLINK EVENTS SENSORS EDAC PRESSURE UNITS UNIT_STATUS LINKS PORTS STATS
        GRANTS METRICS OTHER_GPUS GROUPS DISKS DEVICES COUNTERS PATHS PEERS MODULES RECORDED
        HEALTH DOMAIN ADAPTERS ETCD CHECKS FIRST_BOOT CONTAINERS SWITCHES CONFIDENTIAL VIRTUAL;
    nvidia_smi: PARSER;
    net_counters: PARSER;
    nvml: PARSER;
    probe: PARSER;
    proc_driver: PARSER;
    sysctl: PARSER;
    ipvs: PARSER;
    container_rows: PARSER;
    logs: POD_LOGS JOURNAL_KERNEL JOURNAL KERNEL_TEXT DOCKER;
    host_files: LOGS COMMANDS TOML CONFIGS ROOTFS OWN LOOSE;
}

/// A line found inside an object (an event's message, a container's state), for the pattern scan.
#[derive(Debug, Clone)]
pub struct Said {
    /// Where it was said.
    pub channel: Channel,
    /// Who said it, e.g. `pod/default/gpu-textgen`.
    pub subject: Shared,
    /// The text.
    pub text: Shared,
    /// Where it stands.
    pub place: Place,
    /// When.
    pub at: Option<DateTime<Utc>>,
    /// How often (at least 1).
    pub count: u64,
}

/// What a parser made of an entry or of one item of it.
#[derive(Default)]
pub struct Parsed {
    /// Facts.
    pub facts: Vec<AnyFact>,
    /// Texts to search for patterns.
    pub said: Vec<Said>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl Parsed {
    /// A result that says only what is wrong.
    pub fn problem(place: Place, text: impl Into<String>) -> Self {
        Self {
            problems: vec![Problem {
                place,
                text: text.into(),
            }],
            ..Self::default()
        }
    }
}

/// A whole entry as text. Bytes that are not UTF-8 are replaced.
pub struct Document<'a> {
    /// Entry path.
    pub path: &'a str,
    /// Node that the path names; empty for cluster entries.
    pub node: &'a str,
    /// Text.
    pub text: &'a str,
}

impl Document<'_> {
    /// The place of a 1-based line.
    pub fn line(&self, line: u32) -> Place {
        Place {
            path: self.path.into(),
            line: Some(line),
        }
    }

    /// The place of a byte offset.
    pub fn at_offset(&self, offset: usize) -> Place {
        let end = offset.min(self.text.len());
        let lines = memchr::memchr_iter(b'\n', &self.text.as_bytes()[..end]).count();
        self.line(u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1))
    }
}

/// One item of a Kubernetes list: its JSON text and where it stands.
pub struct Item<'a> {
    /// JSON of the object.
    pub json: &'a [u8],
    /// Where it stands.
    pub place: Place,
    /// What objects of its kind are called together, where its path does not tell.
    pub kind: Option<&'a str>,
}

impl<'a> Item<'a> {
    /// An object of the list at its place, whose path tells the kind.
    pub fn listed(json: &'a [u8], place: Place) -> Self {
        Self {
            json,
            place,
            kind: None,
        }
    }

    /// What objects of its kind are called together, in lower case: `pods`.
    pub(crate) fn plural(&self) -> &str {
        let listed = || self.place.path.split('/').nth(1).unwrap_or_default();
        let kind = self.kind.unwrap_or_else(listed);
        kind.trim_end_matches(".json")
    }

    /// The kind of an object that says this of itself, in lower case: `pod`. Items of a list need not say it.
    pub(crate) fn singular(&self, stated: &str) -> String {
        match stated {
            "" => self.plural().trim_end_matches('s').to_owned(),
            stated => stated.to_ascii_lowercase(),
        }
    }

    /// The object as a type; the problem to report where it is none. `what` it is, as in "pod".
    pub(crate) fn object<T: serde::de::DeserializeOwned>(&self, what: &str) -> Result<T, Parsed> {
        self.read().map_err(|error| {
            Parsed::problem(self.place.clone(), format!("{what} not read: {error}"))
        })
    }

    /// The object as a type.
    pub(crate) fn read<T: serde::de::DeserializeOwned>(&self) -> serde_json::Result<T> {
        // Otherwise each of its texts is looked at by itself.
        match str::from_utf8(self.json) {
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(self.json),
        }
    }
}

/// Bytes of a text that takes very many times its size while it is parsed: TOML takes up to 60 times. No configuration is
/// larger.
pub const SMALL: usize = 1 << 20;

/// How an entry is read.
#[derive(Clone, Copy)]
pub enum Read {
    /// A Kubernetes list, item by item.
    Items(fn(&Item<'_>) -> Parsed),
    /// The whole text at once; entries over the size limit are reported and not read.
    Whole(fn(&Document<'_>) -> Parsed),
    /// The same of a text that takes very many times its size while it is parsed; over [`SMALL`] it is reported and not read.
    Small(fn(&Document<'_>) -> Parsed),
    /// Line by line, through the pattern scan and the extractors.
    Lines(Channel),
    /// Text of unknown origin: line by line, and the pieces that are recognised in it by content.
    Loose,
    /// Kept as text for derivers, which read it by path.
    Keep,
    /// Not read: what the collector says of itself, and objects that no parser reads yet. Searching
    /// them for error messages would find scripts and documentation that quote such messages.
    Skip,
}

/// A registered parser.
pub struct Parser {
    /// Name, for problems and docs.
    pub id: &'static str,
    /// The entries that it reads; `*` and `**` in their names as in globs.
    pub reads: &'static [Entry<'static>],
    /// How.
    pub read: Read,
}

/// Turns a line that matched a literal into a fact, e.g. a firewall's log line into a packet.
pub struct Extractor {
    /// Literal that the raw line must contain.
    pub needle: &'static str,
    /// Reads the line.
    pub extract: fn(&LogLine<'_>) -> Option<Extracted>,
}

/// What an extractor made of a line.
pub enum Extracted {
    /// A packet that the kernel logged.
    Packet(PacketLine),
    /// A message of the NVIDIA driver.
    Driver(DriverLine),
    /// Something that happened to the node.
    Host(HostLine),
    /// A text that the stretch is read for by itself.
    Mark(marks::Mark),
}

/// All extractors.
pub static EXTRACTORS: &[&Extractor] = &[
    &kernel_packets::EXTRACTOR,
    &driver_lines::XID,
    &driver_lines::FABRIC_MANAGER,
    &driver_lines::FABRIC_PACKAGE,
    &driver_lines::LIBRARY_PACKAGE,
    &host_lines::MEMORY_KILL,
    &host_lines::MEMORY_KILLED,
    &host_lines::MEMORY_LIMIT,
    &host_lines::BOOT,
    &host_lines::PLEG,
    &host_lines::RUNTIME_DOWN,
    &figures::KUBELET,
    &figures::OLD_KUBELET,
    &figures::DISTRIBUTION,
    &figures::GPU_ON_BUS,
    &figures::GPU_ON_CHIP,
    &figures::MODULE,
    &figures::KERNEL,
    &figures::DCGM_DRIVER,
    &figures::DCGM_GPU,
    &figures::GPUD_DRIVER,
    &figures::GPUD_KERNEL,
    &figures::INSTALLER_KERNEL,
    &figures::INSTALLER_DONE,
    &figures::VIRTUAL,
    &figures::BATTERY,
    &figures::NODE_READY,
    &figures::NODE_NOT_READY,
    &clocks::HARDWARE_CLOCK,
    &clocks::LOG_HEAD,
    &clocks::GO_TIME,
    &clocks::ZONE,
    &clocks::SYSTEMD,
    &clocks::LOCAL_HARDWARE_CLOCK,
    &marks::UNIT_RESULT,
    &marks::UNIT_STATE,
    &marks::KERNEL_START,
    &marks::TEST_RESULT,
    &marks::SECTION,
    &marks::NOT_REGISTERED,
    &marks::NETWORK_NOT_READY,
    &marks::STATUS_NOT_UPDATED,
];
