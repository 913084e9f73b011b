//! Matches that are small programs over the bytes of a packet: `u32`, and `bpf` with its byte code. They run on what is
//! known of the bytes; where one that is not known matters, the answer stays open.

mod bpf;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use bpf::Instruction;
pub use text::Pattern;
pub use words::U32;

use super::Tri;
use crate::header::HeaderBytes;
use crate::packet::Packet;

/// A program of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// All of these tests.
    U32(Vec<U32>),
    /// Instructions of the classic packet filter.
    Bpf(Vec<Instruction>),
    /// A text that the packet holds.
    Text(Pattern),
}

impl Program {
    /// `0x6&0xff=0x6&&0x0>>0x16&0x3c@0x0=0x1:0x2,0x5`.
    pub fn u32(text: &str) -> Option<Program> {
        let tests = text.trim_matches('"').split("&&").map(U32::parse);
        tests.collect::<Option<_>>().map(Program::U32)
    }

    /// `4,48 0 0 9,21 0 1 6,6 0 0 1,6 0 0 0`: how many, then a code, two jumps and a value each.
    pub fn bpf(text: &str) -> Option<Program> {
        bpf::parse(text.trim_matches('"')).map(Program::Bpf)
    }

    /// `--string test --algo bm --to 80`.
    pub fn text(options: &str) -> Option<Program> {
        Pattern::parse(options).map(Program::Text)
    }

    /// Whether the packet passes the program.
    pub fn run(&self, packet: &Packet) -> Tri {
        let seen = Seen::new(packet);
        match self {
            Program::U32(tests) => {
                let answers = tests.iter().map(|test| test.answer(&seen));
                answers.min().unwrap_or(Tri::Yes)
            }
            Program::Bpf(instructions) => bpf::run(instructions, &seen),
            Program::Text(pattern) => pattern.answer(&seen),
        }
    }
}

/// The packet as a program sees it, from its IP header on.
struct Seen {
    bytes: Vec<Option<u8>>,
    /// Bytes of the whole packet, where that is known.
    length: Option<u64>,
}

/// What reading gives.
enum Read {
    /// The number, and which of its bits are known.
    Bits(Partly),
    /// It lies behind the packet's end: the kernel ends the program there.
    Behind,
    /// It may lie behind the end.
    Unknown,
}

/// A number of which only some bits are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Partly {
    value: u32,
    known: u32,
}

impl Seen {
    fn new(packet: &Packet) -> Seen {
        let HeaderBytes { network, transport } = HeaderBytes::current(packet);
        let mut bytes = network;
        let head = match (packet.dst.is_ipv4(), bytes.first()) {
            (true, Some(Some(first))) => Some(usize::from(first & 0x0f) * 4),
            (false, Some(_)) => Some(40),
            _ => None,
        };
        // What stands behind the header is placed only where its end is known.
        if let Some(head) = head.filter(|_| packet.fragment == Some(false)) {
            bytes.resize(head, None);
            bytes.extend(transport);
        }
        let length = packet.length.map(u64::from);
        Seen { bytes, length }
    }

    /// A number of 1, 2 or 4 bytes.
    fn read(&self, at: u64, width: u64) -> Read {
        if self.length.is_some_and(|length| at + width > length) {
            return Read::Behind;
        }
        let byte = |at: u64| self.bytes.get(usize::try_from(at).ok()?).copied().flatten();
        let none = Partly {
            value: 0,
            known: u32::MAX,
        };
        let bits = (at..at + width).fold(none, |all, at| {
            let byte = byte(at);
            Partly {
                value: all.value << 8 | u32::from(byte.unwrap_or(0)),
                known: all.known << 8 | u32::from(byte.map_or(0, |_| 0xff_u8)),
            }
        });
        // The bits above a short number are zeros.
        let above = u32::MAX.checked_shl(u32::try_from(width * 8).unwrap_or(32));
        let known = bits.known | above.unwrap_or(0);
        if self.length.is_none() && known != u32::MAX {
            return Read::Unknown;
        }
        let value = bits.value;
        Read::Bits(Partly { value, known })
    }
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
