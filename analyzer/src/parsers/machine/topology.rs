//! `nvidia-smi topo`: the ways between GPUs and adapters, and whether GPUs may read one another's memory.

use casefile_bundle::{ANY, Entry};

use super::super::{Document, Parsed, Parser, Read};
use super::{stated, with_lines};
use crate::facts::AnyFact;
use crate::facts::hardware::{GpuPath, GpuPeer};

/// Reads `topo -m`.
pub(in crate::parsers) static PATHS: Parser = Parser {
    id: "gpu-paths",
    reads: &[Entry::Printed(ANY, "nvidia-smi-topo")],
    read: Read::Whole(parse_paths),
};

/// Reads `topo -p2p r`.
pub(in crate::parsers) static PEERS: Parser = Parser {
    id: "gpu-peers",
    reads: &[Entry::Printed(ANY, "nvidia-smi-topo-p2p")],
    read: Read::Whole(parse_peers),
};

/// A cell above the diagonal of a matrix.
struct Cell<'a> {
    from: &'a str,
    to: &'a str,
    value: &'a str,
    number: u32,
    line: &'a str,
}

/// Text without the escapes by which newer releases underline the heading.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let rest = part.split_once('m').map_or(part, |(_, rest)| rest);
        all + rest
    })
}

fn cells(text: &str) -> Vec<Cell<'_>> {
    let mut heading: Vec<&str> = Vec::new();
    let mut cells = Vec::new();
    for (line, number) in text.lines().zip(1u32..) {
        let mut words = line.split_ascii_whitespace();
        if heading.is_empty() {
            // After the devices come titles of more than a word.
            heading = words.take_while(|word| *word != "CPU").collect();
            if !heading.first().is_some_and(|word| word.starts_with("GPU")) {
                heading.clear();
            }
            continue;
        }
        let Some(from) = words.next() else { continue };
        let Some(row) = heading.iter().position(|name| *name == from) else {
            continue;
        };
        let values = heading.iter().zip(words).skip(row + 1);
        cells.extend(values.map(|(to, value)| Cell {
            from,
            to,
            value,
            number,
            line,
        }));
    }
    cells
}

/// The adapter's name where the legend has it: `NIC0: mlx5_0`.
fn adapter<'a>(text: &'a str, name: &'a str) -> &'a str {
    let mut lines = text.lines();
    let found = lines.find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'));
    found.map_or(name, str::trim)
}

fn parse_paths(document: &Document<'_>) -> Parsed {
    let text = plain(document.text);
    let facts = cells(&text).into_iter().map(|cell| -> AnyFact {
        let nvlinks = cell
            .value
            .strip_prefix("NV")
            .and_then(|count| count.parse().ok());
        let data = GpuPath {
            node: document.node.to_owned(),
            from: adapter(&text, cell.from).to_owned(),
            to: adapter(&text, cell.to).to_owned(),
            path: cell.value.to_owned(),
            nvlinks: nvlinks.unwrap_or(0),
        };
        stated(document, cell.number, cell.line, data)
    });
    with_lines(document, facts.collect())
}

fn parse_peers(document: &Document<'_>) -> Parsed {
    let text = plain(document.text);
    let facts = cells(&text).into_iter().map(|cell| -> AnyFact {
        let data = GpuPeer {
            node: document.node.to_owned(),
            from: cell.from.to_owned(),
            to: cell.to.to_owned(),
            status: cell.value.to_owned(),
            allowed: cell.value == "OK",
        };
        stated(document, cell.number, cell.line, data)
    });
    with_lines(document, facts.collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn each_pair_is_read_once_and_adapters_by_their_names() {
        let text = "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n\
            GPU0\t X \tNV18\tPIX\t0-55\t0\t\tN/A\nGPU1\tNV18\t X \tSYS\t56-111\t1\t\tN/A\nNIC0\tPIX\tSYS\t X \t\t\t\n\n\
            Legend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n\nNIC Legend:\n\n  NIC0: mlx5_0\n";
        let paths = facts::<GpuPath>(&PATHS, "nodes/n1/commands/nvidia-smi-topo.out", text);
        let said: Vec<_> = paths
            .iter()
            .map(|one| {
                (
                    one.data.from.as_str(),
                    one.data.to.as_str(),
                    one.data.path.as_str(),
                    one.data.nvlinks,
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                ("GPU0", "GPU1", "NV18", 18),
                ("GPU0", "mlx5_0", "PIX", 0),
                ("GPU1", "mlx5_0", "SYS", 0)
            ]
        );
        assert_eq!(paths[0].place.line, Some(2));
    }

    #[test]
    fn one_gpu_has_no_way_to_another() {
        let text = "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-7\t0\t\tN/A\n";
        assert!(facts::<GpuPath>(&PATHS, "nodes/n1/commands/nvidia-smi-topo.out", text).is_empty());
    }

    #[test]
    fn a_pair_that_the_chipset_keeps_apart_is_read() {
        let text = " \tGPU0\tGPU1\tGPU2\t\n GPU0\tX\tCNS\tOK\t\n GPU1\tCNS\tX\tOK\t\n GPU2\tOK\tOK\tX\t\n\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n";
        let peers = facts::<GpuPeer>(&PEERS, "nodes/n1/commands/nvidia-smi-topo-p2p.out", text);
        let allowed: Vec<bool> = peers.iter().map(|one| one.data.allowed).collect();
        assert_eq!(allowed, [false, true, true]);
        assert_eq!(peers[0].data.status, "CNS");
    }
}
