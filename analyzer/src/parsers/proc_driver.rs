//! `/proc/driver/nvidia/version`: the version and flavour of the loaded kernel module.

use casefile_bundle::{ANY, Entry};

use super::{Document, Parsed, Parser, Read};
use crate::facts::Fact;
use crate::facts::gpu::Driver;
use crate::gpu::stack::Flavour;
use crate::gpu::version::is_version;

/// Reads the NVRM line.
pub(super) static PARSER: Parser = Parser {
    id: "proc-driver",
    reads: &[Entry::Rootfs(ANY, "proc/driver/nvidia/version")],
    read: Read::Whole(parse),
};

fn parse(document: &Document<'_>) -> Parsed {
    let mut parsed = Parsed::default();
    for (line, number) in document.text.lines().zip(1u32..) {
        if !line.starts_with("NVRM version:") {
            continue;
        }
        let version = line.split_whitespace().find(|word| is_version(word));
        let driver = Driver {
            node: document.node.to_owned(),
            module: version.unwrap_or_default().to_owned(),
            flavour: Flavour::of(line)
                .map_or_else(String::new, |flavour| flavour.word().to_owned()),
            ..Driver::default()
        };
        let fact = Fact {
            data: driver,
            place: document.line(number),
            text: line.into(),
            at: None,
        };
        parsed.facts.push(fact.into());
    }
    parsed
}
