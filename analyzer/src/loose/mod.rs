//! Loose evidence: text as people paste it into a ticket, recognised by content and not by file name.
//!
//! [`split`] cuts a text at prompts, fences and file captions; the recognisers find pieces in each
//! section (a `kubectl describe`, a TOML file, `iptables-save`); every piece is then given to the parser
//! that reads the same thing in a bundle. Nothing here knows what a piece means.

mod age;
mod columns;
mod config;
mod dedent;
mod describe;
mod described;
mod headless;
mod headless_events;
mod helm;
mod host;
mod json;
mod machines;
mod marks;
mod object;
mod split;
mod tables;
#[cfg(test)]
mod tests;
mod timed;
mod typed;
mod untitled;
mod yaml;

use std::ops::Range;

use serde_json::Value;

use crate::dress::clock::begins_with_date;
use split::Section;

pub(crate) use config::without_elisions;
pub(crate) use helm::entry as helm_entry;
pub(crate) use host::process_record;
pub(crate) use machines::{composed, machines, openshift};
pub(crate) use marks::marks;
pub(crate) use object::{read as read_object, read_json};
pub(crate) use timed::{is_container_log, newest, timed};
pub(crate) use typed::printed;

/// Words that kubectl's tables and descriptions, and manifests, are recognised by.
pub(crate) const HEADINGS: [&str; 31] = [
    "Allocatable",
    "Allocated",
    "Annotations",
    "Available",
    "Capacity",
    "Conditions",
    "Containers",
    "Controlled",
    "Events",
    "Labels",
    "Message",
    "NAMESPACE",
    "Namespace",
    "RESTARTS",
    "Reason",
    "Restart",
    "Scheduled",
    "Selector",
    "Selectors",
    "Tolerations",
    "VALUES",
    "Volumes",
    "Warning",
    "annotations",
    "apiVersion",
    "containerStatuses",
    "containers",
    "metadata",
    "namespace",
    "ownerReferences",
    "template",
];

/// A text longer than this is searched for lines, but not for pieces, in bytes.
pub const LIMIT: u64 = 4 << 20;
/// Pieces read from one text.
const MOST_PIECES: usize = 20_000;

/// A piece that was recognised.
#[derive(Debug)]
pub struct Piece {
    /// What it is.
    pub what: What,
    /// Line of the text at which it starts, from 1.
    pub line: u32,
    /// How many lines it goes on for at most.
    pub extent: usize,
    /// Its text, without common indentation; line by line as in the original. None of an object, which says all: each row of a
    /// table would hold all rows behind it.
    pub text: String,
    /// Host that a prompt names.
    pub host: Option<String>,
}

/// What a piece is.
#[derive(Debug)]
pub enum What {
    /// A Kubernetes object, as the API server would have given it, as far as the piece tells.
    Object(Value),
    /// Kubernetes JSON, one object or a list.
    Json,
    /// An entry of a node, by its path below `nodes/<node>/`.
    Entry(String),
    /// An entry of the cluster, by its path in a bundle.
    Cluster(String),
    /// Lines that a parser of node entries reads, without being all that the entry would hold.
    Part(&'static str),
    /// A containerd configuration of which it is not known whose it is.
    ContainerdConfig {
        /// Whether it looks like a whole file: then what it does not say is not there.
        whole: bool,
    },
    /// Values of the GPU Operator's chart.
    OperatorValues,
    /// A message that goes over several lines.
    Message,
}

/// What a recogniser says of a place in a section.
enum Taken {
    /// Nothing of its kind starts here.
    No,
    /// It looked at this many lines; none of them starts a piece of its kind.
    Refused(usize),
    /// Pieces, and how many lines they use up.
    Found(Vec<(What, usize)>, usize),
}

impl Taken {
    /// One piece that starts here.
    fn one(what: What, lines: usize) -> Self {
        Taken::Found(vec![(what, 0)], lines)
    }
}

/// Finds one kind of piece.
struct Recogniser {
    take: fn(&Section<'_>, usize) -> Taken,
}

/// All recognisers; the first that finds something at a line has it.
static RECOGNISERS: &[Recogniser] = &[
    Recogniser {
        take: host::named_file,
    },
    Recogniser {
        take: host::nvidia_smi_xml,
    },
    Recogniser { take: helm::values },
    Recogniser {
        take: helm::history,
    },
    Recogniser { take: helm::list },
    Recogniser { take: json::take },
    Recogniser {
        take: describe::take,
    },
    Recogniser { take: tables::take },
    Recogniser {
        take: headless::take,
    },
    Recogniser {
        take: headless_events::take,
    },
    Recogniser {
        take: untitled::take,
    },
    Recogniser {
        take: yaml::objects,
    },
    Recogniser { take: yaml::values },
    Recogniser {
        take: host::iptables_save,
    },
    Recogniser {
        take: host::ufw_status,
    },
    Recogniser {
        take: host::nvidia_smi_table,
    },
    Recogniser {
        take: host::nvidia_smi_query,
    },
    Recogniser {
        take: host::nvidia_smi_list,
    },
    Recogniser { take: host::sysctl },
    Recogniser { take: host::lspci },
    Recogniser {
        take: host::commands,
    },
    Recogniser {
        take: host::processes,
    },
    Recogniser { take: config::take },
    Recogniser {
        take: yaml::message,
    },
];

/// The pieces of a text, in order.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for section in split::sections(text) {
        of_section(&section, &mut found);
    }
    found.truncate(MOST_PIECES);
    found
}

/// A piece that stands in these lines of a section.
fn piece(section: &Section<'_>, what: What, lines: Range<usize>) -> Piece {
    let text = match &what {
        What::Object(_) => String::new(),
        _ => dedent::dedent(&section.range(lines.start, lines.end)),
    };
    Piece {
        what,
        line: section.number(lines.start),
        extent: lines.len(),
        text,
        host: section.host.map(str::to_owned),
    }
}

/// Whether a line begins with a date as RFC 3339 writes it: it is a line of a log, and no piece begins with it.
fn is_of_a_log(line: &str) -> bool {
    begins_with_date(line.as_bytes()) && line.as_bytes()[10] == b'T'
}

fn of_section(section: &Section<'_>, found: &mut Vec<Piece>) {
    let mut refused = vec![0usize; RECOGNISERS.len()];
    // Behind a command or below a file's name any line may be a part of what was printed.
    let is_named = section.command.is_some() || section.file.is_some();
    let mut at = 0;
    'line: while at < section.len() && found.len() < MOST_PIECES && !section.is_exhausted() {
        let line = section.line(at);
        if line.trim().is_empty() || !is_named && is_of_a_log(line) {
            at += 1;
            continue;
        }
        for (recogniser, refused) in RECOGNISERS.iter().zip(&mut refused) {
            if at < *refused {
                continue;
            }
            match (recogniser.take)(section, at) {
                Taken::No => {}
                Taken::Refused(lines) => *refused = at + lines,
                Taken::Found(pieces, lines) => {
                    let lines = lines.max(1);
                    let end = at + lines;
                    let pieces = pieces.into_iter();
                    found.extend(
                        pieces.map(|(what, offset)| piece(section, what, at + offset..end)),
                    );
                    at = end;
                    continue 'line;
                }
            }
        }
        at += 1;
    }
}
