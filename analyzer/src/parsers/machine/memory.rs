//! Modules of the main memory (`dmidecode`) and errors of hardware that rasdaemon recorded (`ras-mc-ctl --errors`).

use casefile_bundle::{ANY, Entry};
use chrono::DateTime;

use super::super::{Document, Parsed, Parser, Read};
use super::{QUOTED, stated, with_lines};
use crate::facts::hardware::{HardwareEvent, MemoryModule};
use crate::facts::{AnyFact, Fact, excerpt};

/// Reads `dmidecode`.
pub(in crate::parsers) static MODULES: Parser = Parser {
    id: "memory-modules",
    reads: &[Entry::Printed(ANY, "dmidecode")],
    read: Read::Whole(parse_modules),
};

/// Reads `ras-mc-ctl --errors`.
pub(in crate::parsers) static RECORDED: Parser = Parser {
    id: "recorded-errors",
    reads: &[Entry::Printed(ANY, "ras-mc-ctl-errors")],
    read: Read::Whole(parse_recorded),
};

fn parse_modules(document: &Document<'_>) -> Parsed {
    let mut facts: Vec<AnyFact> = Vec::new();
    let mut open: Option<(MemoryModule, u32)> = None;
    let mut close = |found: Option<(MemoryModule, u32)>| {
        if let Some((module, number)) = found.filter(|(module, _)| module.size.is_some()) {
            let said = format!("Locator: {}", module.locator);
            facts.push(stated(document, number, &said, module));
        }
    };
    for (line, number) in document.text.lines().zip(1u32..) {
        if line.starts_with("Handle ") {
            close(open.take());
        } else if line.trim_end() == "Memory Device" {
            let module = MemoryModule {
                node: document.node.to_owned(),
                ..MemoryModule::default()
            };
            close(open.replace((module, number)));
        } else if let (Some((module, at)), Some((name, value))) =
            (&mut open, line.trim().split_once(": "))
        {
            if name == "Locator" {
                *at = number;
            }
            say(module, name, value.trim());
        }
    }
    close(open);
    with_lines(document, facts)
}

fn say(module: &mut MemoryModule, name: &str, value: &str) {
    let known = ["Unknown", "Not Specified", "NO DIMM", "None"]
        .iter()
        .all(|none| value != *none);
    let text = || {
        if known {
            value.to_owned()
        } else {
            String::new()
        }
    };
    let number = || {
        value
            .split(' ')
            .next()
            .and_then(|number| number.parse().ok())
    };
    match name {
        "Locator" => module.locator = text(),
        "Bank Locator" => module.bank = text(),
        "Size" => module.size = mib(value),
        "Speed" => module.speed = number(),
        // The name before dmidecode 3.2 is the second.
        "Configured Memory Speed" | "Configured Clock Speed" => module.configured = number(),
        "Manufacturer" => module.maker = text(),
        "Part Number" => module.part = text(),
        _ => {}
    }
}

/// `16384 MB` or `64 GB`; `No Module Installed` is none.
fn mib(value: &str) -> Option<u64> {
    let (count, unit) = value.split_once(' ')?;
    let count: u64 = count.parse().ok()?;
    match unit {
        "MB" => Some(count),
        "GB" => count.checked_mul(1024),
        "TB" => count.checked_mul(1024 * 1024),
        _ => None,
    }
}

fn parse_recorded(document: &Document<'_>) -> Parsed {
    let mut facts: Vec<AnyFact> = Vec::new();
    let mut sort = "";
    for (line, number) in document.text.lines().zip(1u32..) {
        if let Some(head) = line.strip_suffix(':') {
            // `Memory controller events:`, `PCIe AER events:`, `Disk errors`.
            sort = [" events", " errors", " records"]
                .iter()
                .fold(head, |head, end| head.trim_end_matches(end));
        } else if let Some(event) = row(line) {
            facts.push(recorded(document, number, line, sort, event));
        }
    }
    with_lines(document, facts)
}

/// Number, time and text of `3 2026-07-29 11:09:02 -0700 1 Corrected error(s): ...`.
fn row(line: &str) -> Option<(u64, &str, &str)> {
    let (record, rest) = line.split_once(' ')?;
    let record = record.parse().ok()?;
    let end = rest.match_indices(' ').nth(2)?.0;
    let (time, text) = rest.split_at(end);
    time.starts_with(|c: char| c.is_ascii_digit())
        .then_some((record, time, text.trim()))
}

fn recorded(
    document: &Document<'_>,
    number: u32,
    line: &str,
    sort: &str,
    event: (u64, &str, &str),
) -> AnyFact {
    let (record, time, text) = event;
    let at = DateTime::parse_from_str(time, "%Y-%m-%d %H:%M:%S %z").ok();
    let lower = text.to_ascii_lowercase();
    Fact {
        data: HardwareEvent {
            node: document.node.to_owned(),
            record,
            sort: sort.to_owned(),
            text: text.to_owned(),
            corrected: lower.contains("corrected") && !lower.contains("uncorrected"),
        },
        place: document.line(number),
        text: excerpt(line.trim(), QUOTED).into(),
        at: at.map(|at| at.to_utc()),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn modules_in_their_slots_are_read_and_empty_slots_are_not() {
        let text = "# dmidecode 3.3\n\nHandle 0x1100, DMI type 17, 92 bytes\nMemory Device\n\tSize: 64 GB\n\tLocator: A1\n\tBank Locator: Not Specified\n\
            \tType: DDR5\n\tSpeed: 4800 MT/s\n\tManufacturer: X\n\tPart Number: M321R8GA0BB0\n\tConfigured Memory Speed: 4400 MT/s\n\n\
            Handle 0x1101, DMI type 17, 92 bytes\nMemory Device\n\tSize: No Module Installed\n\tLocator: A2\n\n\
            Handle 0x1300, DMI type 19, 31 bytes\nMemory Array Mapped Address\n\tSize: 3 GB\n";
        let found = facts::<MemoryModule>(&MODULES, "nodes/n1/commands/dmidecode.out", text);
        assert_eq!(found.len(), 1);
        let one = &found[0].data;
        assert_eq!(
            (one.locator.as_str(), one.bank.as_str(), one.size),
            ("A1", "", Some(65_536))
        );
        assert_eq!((one.speed, one.configured), (Some(4800), Some(4400)));
        assert_eq!(found[0].place.line, Some(6));
    }

    /// Written by the rules of `ras-mc-ctl` in the sources of rasdaemon.
    #[test]
    fn recorded_errors_have_their_time_and_their_sort() {
        let text = "Memory controller events:\n1 2026-07-29 11:09:02 -0700 1 Corrected error(s): memory read error at CPU_SrcID#0 location: 0:1:0, addr 4096\n\n\
            PCIe AER events:\n4 2026-07-31 08:00:00 -0700 0000:3b:00.0 Uncorrected (Fatal) error: Completion Timeout\n\nNo MCE errors.\n\n";
        let found =
            facts::<HardwareEvent>(&RECORDED, "nodes/n1/commands/ras-mc-ctl-errors.out", text);
        let said: Vec<_> = found
            .iter()
            .map(|one| (one.data.sort.as_str(), one.data.record, one.data.corrected))
            .collect();
        assert_eq!(
            said,
            [("Memory controller", 1, true), ("PCIe AER", 4, false)]
        );
        assert_eq!(
            found[0].at.map(|at| at.to_rfc3339()).as_deref(),
            Some("2026-07-29T18:09:02+00:00")
        );
    }
}
