//! What the kernel said of hardware in all boots that the journal still has: a GPU that falls off the bus once a month
//! shows nowhere else. Of older boots these lines alone are taken, without the kernel's other chatter.

use aho_corasick::AhoCorasick;
use casefile_bundle::Entry;

use super::call;
use super::query::trouble;
use crate::out::{EntryWriter, OutError, Room};
use crate::redact::Content;
use crate::source::SourceCtx;

/// The most that is kept.
const MAX_BYTES: u64 = 16 << 20;
/// Lines that are no records, after which the program is none that prints a journal: what it prints has no end.
const MAX_FOREIGN: u32 = 1000;
/// A line that is longer is no message of the kernel.
const MAX_LINE: usize = 64 << 10;
/// Words by which drivers and the kernel begin what they say of faulty hardware.
const WORDS: [&str; 18] = [
    "NVRM",
    "Xid",
    "nvidia",
    "nvswitch",
    "nvlink",
    "AER:",
    "pcieport",
    "EDAC",
    "mce:",
    "Machine check",
    "machine check",
    "Hardware Error",
    "GHES",
    "mlx5_core",
    "amdgpu",
    "i915 ",
    "xe 0000:",
    "fallen off",
];

/// Takes them; whether there are any. `covered` are boots whose kernel messages are taken whole.
pub(super) async fn take(
    ctx: &SourceCtx,
    place: &str,
    since: &str,
    covered: &[String],
) -> Result<bool, String> {
    let until = format!("--until={since}");
    let blanks = [
        ("place", place),
        ("match", "_TRANSPORT=kernel"),
        ("since", "@0"),
        ("until", until.as_str()),
        ("boot", ""),
    ];
    let call = blanks
        .iter()
        .fold(call("journal")?, |call, (name, value)| {
            call.with(name, value)
        })
        .on_files();
    let path = ctx.out.path(Entry::Journal, "kernel-older.json");
    let origin = format!("{}, lines about hardware only", ctx.exec.line(&call));
    let mut kept = Kept {
        entry: ctx.out.entry(path, Content::JsonLines, Some(origin)),
        words: AhoCorasick::new(WORDS).map_err(|error| error.to_string())?,
        covered: AhoCorasick::new(covered).map_err(|error| error.to_string())?,
        line: Vec::new(),
        bytes: 0,
        foreign: 0,
    };
    let ran = ctx
        .exec
        .run(&call, &ctx.cancel, |piece| {
            kept.push(piece).unwrap_or(Room::Full)
        })
        .await;
    if kept.foreign > MAX_FOREIGN {
        kept.entry.discard();
        let line = ctx.exec.line(&call);
        return Err(format!(
            "{line}: it prints no records of a journal and was stopped"
        ));
    }
    if kept.bytes == 0 {
        kept.entry.discard();
        return Ok(false);
    }
    let cut = kept.bytes >= MAX_BYTES;
    if cut {
        kept.entry.truncated(format!(
            "byte limit of {MAX_BYTES} bytes; the oldest lines were kept"
        ));
    }
    let trouble = trouble(&ran).filter(|_| !cut);
    if let Some(what) = &trouble {
        kept.entry.truncated(what.clone());
    }
    kept.entry
        .finish()
        .await
        .map_err(|error| error.to_string())?;
    trouble.map_or(Ok(true), Err)
}

struct Kept {
    entry: EntryWriter,
    words: AhoCorasick,
    covered: AhoCorasick,
    line: Vec<u8>,
    bytes: u64,
    /// Lines that are no records.
    foreign: u32,
}

impl Kept {
    fn push(&mut self, piece: &[u8]) -> Result<Room, OutError> {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() < MAX_LINE {
                self.line.extend_from_slice(part);
            }
            if !part.ends_with(b"\n") {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            self.foreign += u32::from(!line.starts_with(b"{"));
            if self.foreign > MAX_FOREIGN {
                return Ok(Room::Full);
            }
            if self.is_wanted(&line) {
                self.bytes += line.len() as u64;
                if self.bytes >= MAX_BYTES || self.entry.write(&line)? == Room::Full {
                    return Ok(Room::Full);
                }
            }
        }
        Ok(Room::More)
    }

    fn is_wanted(&self, line: &[u8]) -> bool {
        line.ends_with(b"\n") && self.words.is_match(line) && !self.covered.is_match(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::testing::sink;

    #[test]
    fn lines_of_hardware_are_kept_and_those_of_covered_boots_are_not() {
        let (out, mut done) = sink("journal", 1 << 20);
        let mut kept = Kept {
            entry: out.entry(out.path(Entry::Node, "k.json"), Content::JsonLines, None),
            words: AhoCorasick::new(WORDS).unwrap(),
            covered: AhoCorasick::new(["b".repeat(32)]).unwrap(),
            line: Vec::new(),
            bytes: 0,
            foreign: 0,
        };
        let line = |boot: &str, message: &str| {
            format!(
                "{{\"_BOOT_ID\":\"{}\",\"MESSAGE\":\"{message}\"}}\n",
                boot.repeat(32)
            )
        };
        let text = [
            line(
                "a",
                "NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.",
            ),
            line("a", "usb 1-1: new device"),
            line("b", "NVRM: Xid (PCI:0000:01:00): 31"),
            line("a", "EDAC MC0: 1 CE memory read error"),
        ]
        .concat();
        for piece in text.as_bytes().chunks(7) {
            kept.push(piece).unwrap();
        }
        let bytes = kept.bytes;
        kept.entry.finish_blocking().unwrap();
        let entry = done.try_recv().unwrap().entry;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        assert_eq!(entry.bytes(), (lines[0].len() + lines[3].len()) as u64);
        assert_eq!(bytes, entry.bytes());
    }
}
