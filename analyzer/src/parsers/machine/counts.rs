//! Counters of the kernel in files of their own: memory errors (EDAC) and pressure.

use casefile_bundle::{ANY, Entry};

use super::super::{Document, Parsed, Parser, Read};
use super::stated;
use crate::facts::AnyFact;
use crate::facts::machine::{MemoryErrors, Pressure};

/// Reads the counters of memory controllers and of their modules, one number a file.
pub(in crate::parsers) static EDAC: Parser = Parser {
    id: "memory-errors",
    reads: &[
        Entry::Rootfs(ANY, "sys/devices/system/edac/mc/mc*/*_count"),
        Entry::Rootfs(ANY, "sys/devices/system/edac/mc/mc*/dimm*/*_count"),
    ],
    read: Read::Whole(parse_edac),
};

/// Reads `/proc/pressure/{cpu,memory,io}`.
pub(in crate::parsers) static PRESSURE: Parser = Parser {
    id: "pressure",
    reads: &[Entry::Rootfs(ANY, "proc/pressure/*")],
    read: Read::Whole(parse_pressure),
};

fn parse_edac(document: &Document<'_>) -> Parsed {
    let mut parsed = Parsed::default();
    let mut parts = document.path.rsplit('/');
    let (file, folder, above) = (parts.next(), parts.next(), parts.next());
    let (Some(file), Some(folder), Some(above)) = (file, folder, above) else {
        return parsed;
    };
    let sort = match file.trim_start_matches("dimm_") {
        "ce_count" => "corrected",
        "ue_count" => "uncorrected",
        _ => return parsed,
    };
    let (controller, module) = match folder.starts_with("dimm") {
        true => (above, folder),
        false => (folder, ""),
    };
    match document.text.trim().parse() {
        Ok(count) => {
            let data = MemoryErrors {
                node: document.node.to_owned(),
                controller: controller.to_owned(),
                module: module.to_owned(),
                sort: sort.to_owned(),
                count,
            };
            parsed.facts.push(stated(document, 1, document.text, data));
        }
        Err(error) => {
            let text = format!("memory error count not read: {error}");
            parsed = Parsed::problem(document.line(1), text);
        }
    }
    parsed
}

fn parse_pressure(document: &Document<'_>) -> Parsed {
    let rows = document.text.lines().zip(1u32..);
    Parsed {
        facts: rows
            .filter_map(|(line, number)| pressure(document, line, number))
            .collect(),
        ..Parsed::default()
    }
}

/// `some avg10=0.00 avg60=0.13 avg300=0.35 total=36478`.
fn pressure(document: &Document<'_>, line: &str, number: u32) -> Option<AnyFact> {
    let (scope, rest) = line.split_once(' ')?;
    let value = |name: &str| -> Option<f64> {
        let mut words = rest.split_ascii_whitespace();
        let word = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
        word.parse().ok().filter(|value: &f64| value.is_finite())
    };
    let data = Pressure {
        node: document.node.to_owned(),
        resource: document.path.rsplit('/').next()?.to_owned(),
        scope: scope.to_owned(),
        avg10: value("avg10")?,
        avg60: value("avg60")?,
        avg300: value("avg300")?,
    };
    Some(stated(document, number, line, data))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{facts, read};
    use super::*;

    #[test]
    fn a_count_names_its_controller_and_its_module() {
        let base = "nodes/n1/rootfs/sys/devices/system/edac/mc";
        let of = |path: &str, text: &str| {
            facts::<MemoryErrors>(&EDAC, &format!("{base}/{path}"), text)
                .into_iter()
                .next()
                .map(|fact| fact.data)
                .unwrap()
        };
        let whole = of("mc1/ue_count", "2\n");
        assert_eq!(
            (whole.controller.as_str(), whole.module.as_str()),
            ("mc1", "")
        );
        assert_eq!((whole.sort.as_str(), whole.count), ("uncorrected", 2));
        let part = of("mc0/dimm3/dimm_ce_count", "41\n");
        assert_eq!(
            (part.controller.as_str(), part.module.as_str()),
            ("mc0", "dimm3")
        );
        assert_eq!((part.sort.as_str(), part.count), ("corrected", 41));
        assert_eq!(
            read(&EDAC, &format!("{base}/mc0/ce_count"), "many")
                .problems
                .len(),
            1
        );
    }

    #[test]
    fn pressure_of_both_scopes_is_read() {
        let text = "some avg10=41.28 avg60=12.50 avg300=3.00 total=36478\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        let all = facts::<Pressure>(&PRESSURE, "nodes/n1/rootfs/proc/pressure/io", text);
        assert_eq!(all.len(), 2);
        assert_eq!(
            (all[0].data.resource.as_str(), all[0].data.avg10),
            ("io", 41.28)
        );
        assert_eq!(all[1].data.scope, "full");
    }
}
