//! `nvidia-smi conf-compute`: whether GPUs compute confidentially, and whether they take work.

use casefile_bundle::{ANY, Entry};

use super::super::{Document, Parsed, Parser, Read};
use super::{stated, with_lines};
use crate::facts::hardware::ConfidentialComputing;

/// Reads `-f`, `-q` and `-grs`, of which a driver knows two or three.
pub(in crate::parsers) static CONFIDENTIAL: Parser = Parser {
    id: "confidential-computing",
    reads: &[
        Entry::Printed(ANY, "nvidia-smi-conf-compute"),
        Entry::Printed(ANY, "nvidia-smi-conf-compute-q"),
        Entry::Printed(ANY, "nvidia-smi-conf-compute-ready"),
    ],
    read: Read::Whole(parse),
};

/// `CC status: ON`, `CC State : OFF`, `Multi-GPU Mode : Protected PCIe`, `CC GPUs Ready State : Not Ready` and
/// `Confidential Compute GPUs Ready state: not-ready`.
fn parse(document: &Document<'_>) -> Parsed {
    let mut data = ConfidentialComputing {
        node: document.node.to_owned(),
        ..ConfidentialComputing::default()
    };
    // The line about work is the one to quote.
    let mut quote: Option<(u32, &str)> = None;
    for (line, number) in document.text.lines().zip(1u32..) {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let (name, value) = (
            name.trim().to_ascii_lowercase(),
            value.trim().to_ascii_lowercase().replace('-', " "),
        );
        if name.ends_with("gpus ready state") {
            data.work = value;
            quote = Some((number, line));
        } else if name == "cc status" || name == "cc state" {
            data.state = value;
            quote = quote.or(Some((number, line)));
        } else if name == "multi gpu mode" || name == "multi-gpu mode" {
            data.several = if value == "none" {
                String::new()
            } else {
                value
            };
        }
    }
    let fact = quote.map(|(number, line)| stated(document, number, line, data));
    with_lines(document, fact.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    fn read(text: &str) -> Vec<(String, String, String)> {
        let path = "nodes/n1/commands/nvidia-smi-conf-compute-q.out";
        let found = facts::<ConfidentialComputing>(&CONFIDENTIAL, path, text);
        let told = found.into_iter().map(|one| one.data);
        told.map(|one| (one.state, one.several, one.work)).collect()
    }

    #[test]
    fn each_form_says_its_part_and_a_refusal_says_nothing() {
        let said = |state: &str, several: &str, work: &str| {
            vec![(state.to_owned(), several.to_owned(), work.to_owned())]
        };
        assert_eq!(read("CC status: ON\n"), said("on", "", ""));
        assert_eq!(
            read("Confidential Compute GPUs Ready state: not-ready\n"),
            said("", "", "not ready")
        );
        let several = "\n==============NVSMI CONF-COMPUTE LOG==============\n\n    CC State                   : OFF\n    \
            Multi-GPU Mode             : Protected PCIe\n    CPU CC Capabilities        : INTEL TDX\n    \
            CC GPUs Ready State        : Ready\n";
        assert_eq!(read(several), said("off", "protected pcie", "ready"));
        assert!(
            read("Unable to query confidential compute state: Not Supported\n").is_empty(),
            "a refusal"
        );
    }
}
