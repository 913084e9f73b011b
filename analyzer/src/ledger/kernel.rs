//! What the kernel says of itself in its present boot that no healthy machine says: it crashed, hangs, or cannot reach a
//! disk or a graphics processor. Where no cause explains it, it is told in the kernel's own words.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::Sources;
use crate::facts::failing::{Failing, KernelTrouble};
use crate::facts::{AnyFact, Fact, excerpt};
use crate::lines::Origin;
use crate::model::Place;
use crate::parsers::Channel;

/// Bytes from the end of a log that are read.
const BYTES: usize = 512 << 10;
/// A disk that failed more rarely was pulled out, or answered the next time.
const DISK_TIMES: u32 = 3;
/// A line as it is kept, in bytes.
const LONGEST: usize = 400;

static TROUBLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u)(?P<crash>BUG: (?:unable to handle|kernel NULL|soft lockup)|kernel BUG at|\bOops: |Kernel panic|general protection fault|hard LOCKUP)",
        r"|(?P<gone>nvme\S* .{0,40}(?:Removing after probe failure|Disabling device after reset failure|config space inaccessible))",
        r"|(?P<hang>blocked for more than \d+ seconds|rcu\S* (?:self-)?detected stall|detected expedited stalls on CPUs/tasks: \{[^}]*\} \d{4,} jiffies|GPU HANG: |\bring \S+ timeout, )",
        r"|(?P<hardware>\[Hardware Error\]: .{0,80}(?i:uncorrected|fatal))",
        r"|(?P<disk>I/O error, dev (?:sd|nvme|vd|xvd|md|dm-)\w*|EXT4-fs error \(|XFS \(\S+\): .{0,40}(?:Corruption|Shutting down)|nvme\S* .{0,20}controller is down)",
    ))
    .ok()
});

/// The first such line of the present boot in one piece: what follows is mostly its consequence. A kernel whose patience with
/// an expedited grace period was set to milliseconds reports a stall at every boot, so only one of a thousand ticks counts.
#[derive(Debug, Default)]
pub(super) struct Said {
    offset: u32,
    text: String,
    line: String,
    times: u32,
    is_disk: bool,
}

/// Reads the end of a log that the kernel speaks in.
pub(super) fn of_end(origin: &Origin<'_>, bytes: &[u8], lines: u32) -> Option<Said> {
    if !matches!(
        origin.channel,
        Channel::Kernel | Channel::Journal | Channel::Text
    ) {
        return None;
    }
    let mut begin = bytes.len().saturating_sub(BYTES);
    if begin > 0 {
        begin += memchr::memchr(b'\n', &bytes[begin..]).map_or(0, |at| at + 1);
    }
    if let Some(boot) = memchr::memmem::rfind(&bytes[begin..], b"Linux version ") {
        begin += boot;
        begin = memchr::memrchr(b'\n', &bytes[..begin]).map_or(0, |at| at + 1);
    }
    let tail = &bytes[begin..];
    let form = TROUBLE.as_ref()?;
    if !form.is_match(tail) {
        return None;
    }
    let held = u32::try_from(memchr::memchr_iter(b'\n', tail).count()).unwrap_or(u32::MAX);
    let mut first = Said::default();
    for (raw, offset) in tail
        .split(|byte| *byte == b'\n')
        .zip(lines.saturating_sub(held)..)
    {
        let Some(found) = form.captures(raw) else {
            continue;
        };
        let line = origin.decode(raw, offset);
        let is_disk = found.name("disk").is_some();
        if line.speaker != "kernel" {
            continue;
        }
        // A crash, or a drive that is gone, outweighs the blocks that cannot be read.
        let outranked = first.times > 0 && is_disk != first.is_disk;
        if outranked && is_disk {
            continue;
        }
        if first.times > 0 && !outranked {
            first.times = first.times.saturating_add(1);
            continue;
        }
        first = Said {
            offset,
            text: excerpt(line.text.trim(), LONGEST),
            line: excerpt(String::from_utf8_lossy(raw).trim(), LONGEST),
            times: 1,
            is_disk,
        };
    }
    let least = if first.is_disk { DISK_TIMES } else { 1 };
    (first.times >= least).then_some(first)
}

/// The fact of an entry; `before` lines of it stand before the piece.
pub(super) fn fact(said: Said, path: &str, before: u32) -> AnyFact {
    Fact {
        data: KernelTrouble {
            node: crate::lines::node_of(path).to_owned(),
            times: said.times,
            line: said.line,
        },
        place: Place {
            path: path.into(),
            line: Some(said.offset.saturating_add(before).saturating_add(1)),
        },
        text: said.text.into(),
        at: None,
    }
    .into()
}

/// One entry for each machine; of several logs of it the one that says it most often.
pub(super) fn machines(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let mut found: Vec<(u32, Fact<Failing>)> = Vec::new();
    for told in sources.facts.table::<KernelTrouble>() {
        let data = &told.data;
        let subject = match data.node.as_str() {
            "" | crate::lines::UNNAMED_NODE => "kernel".to_owned(),
            node => format!("kernel/{node}"),
        };
        let entry = Fact {
            data: Failing {
                what: "kernel".into(),
                subject,
                name: data.node.clone(),
                node: data.node.clone(),
                seen: true,
                words: told.text.to_string(),
                lines: vec![data.line.clone()],
                ..Failing::default()
            },
            place: told.place.clone(),
            text: told.text.clone(),
            at: told.at,
        };
        let known = found
            .iter_mut()
            .find(|(_, one)| one.data.subject == entry.data.subject);
        match known {
            Some(known) if known.0 < data.times => *known = (data.times, entry),
            Some(_) => {}
            None => found.push((data.times, entry)),
        }
    }
    found.into_iter().map(|(_, entry)| entry).collect()
}
