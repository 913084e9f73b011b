//! The nvidia-smi table: read only for the driver version in its header; failures are found by patterns.

use super::{Document, Parsed, Parser, Read};
use crate::facts::Fact;
use crate::facts::gpu::Driver;

/// Reads the header of the table.
pub(super) static PARSER: Parser = Parser {
    id: "nvidia-smi",
    reads: &["nodes/*/commands/nvidia-smi.out"],
    read: Read::Whole(parse),
};

fn parse(document: &Document<'_>) -> Parsed {
    let mut parsed = super::host_files::say_lines(document, super::Channel::Command);
    for (line, number) in document.text.lines().zip(1u32..) {
        let Some(version) = after(line, "Driver Version:") else {
            continue;
        };
        let driver = Driver {
            node: document.node.to_owned(),
            version: version.to_owned(),
            cuda: after(line, "CUDA Version:").unwrap_or_default().to_owned(),
            ..Driver::default()
        };
        let fact = Fact {
            data: driver,
            place: document.line(number),
            text: line.trim().to_owned(),
            at: None,
        };
        parsed.facts.push(fact.into());
        break;
    }
    parsed
}

fn after<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    let rest = &line[line.find(label)? + label.len()..];
    rest.split_whitespace()
        .next()
        .filter(|value| *value != "N/A")
}
