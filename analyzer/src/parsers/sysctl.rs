//! Kernel settings: files under /proc/sys and `sysctl` output.

use casefile_bundle::{ANY, Entry};

use super::{Document, Parsed, Parser, Read};
use crate::facts::Fact;
use crate::facts::node::Setting;

/// Reads `/proc/sys/**` copies, one setting a file, and `name = value` lines.
pub(super) static PARSER: Parser = Parser {
    id: "sysctl",
    reads: &[
        Entry::Rootfs(ANY, "proc/sys/**"),
        Entry::Printed(ANY, "sysctl"),
        Entry::Host(ANY, "sysctl.txt"),
    ],
    read: Read::Whole(parse),
};

fn parse(document: &Document<'_>) -> Parsed {
    let mut parsed = Parsed::default();
    if let Some((_, name)) = document.path.split_once("/rootfs/proc/sys/") {
        let value = document.text.trim();
        parsed
            .facts
            .push(setting(document, &name.replace('/', "."), value, value, 1));
        return parsed;
    }
    for (line, number) in document.text.lines().zip(1u32..) {
        if let Some((name, value)) = line.split_once('=') {
            parsed
                .facts
                .push(setting(document, name.trim(), value.trim(), line, number));
        }
    }
    parsed
}

fn setting(
    document: &Document<'_>,
    name: &str,
    value: &str,
    text: &str,
    line: u32,
) -> crate::facts::AnyFact {
    Fact {
        data: Setting {
            node: document.node.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        },
        place: document.line(line),
        text: text.trim().into(),
        at: None,
    }
    .into()
}
