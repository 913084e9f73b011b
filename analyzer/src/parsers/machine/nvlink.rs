//! `nvidia-smi nvlink --status` and `-e`: states, speeds and errors of each link.

use std::collections::BTreeMap;

use casefile_bundle::{ANY, Entry};

use super::super::{Document, Parsed, Parser, Read};
use super::{stated, with_lines};
use crate::facts::AnyFact;
use crate::facts::machine::NvLink;

/// Reads both outputs.
pub(in crate::parsers) static NVLINK: Parser = Parser {
    id: "nvlink",
    reads: &[
        Entry::Printed(ANY, "nvidia-smi-nvlink"),
        Entry::Printed(ANY, "nvidia-smi-nvlink-errors"),
    ],
    read: Read::Whole(parse),
};

/// A link as its lines say it, and where the first stands.
struct Found<'a> {
    link: NvLink,
    number: u32,
    line: &'a str,
}

fn parse(document: &Document<'_>) -> Parsed {
    let mut facts: Vec<AnyFact> = Vec::new();
    let (mut gpu, mut uuid) = (None, String::new());
    let mut links: BTreeMap<u64, Found<'_>> = BTreeMap::new();
    for (line, number) in document.text.lines().zip(1u32..) {
        let text = line.trim();
        if let Some((index, id)) = head(text) {
            close(document, &mut links, &mut facts);
            (gpu, uuid) = (Some(index), id);
        } else if let Some(((link, said), gpu)) = row(text).zip(gpu) {
            let found = links.entry(link).or_insert_with(|| Found {
                link: NvLink {
                    node: document.node.to_owned(),
                    gpu,
                    uuid: uuid.clone(),
                    link,
                    ..NvLink::default()
                },
                number,
                line,
            });
            if say(&mut found.link, said) {
                (found.number, found.line) = (number, line);
            }
        }
    }
    close(document, &mut links, &mut facts);
    with_lines(document, facts)
}

/// `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)`.
fn head(text: &str) -> Option<(u64, String)> {
    let (index, rest) = text.strip_prefix("GPU ")?.split_once(':')?;
    let uuid = rest.split_once("(UUID: ").map_or("", |(_, id)| id);
    Some((
        index.trim().parse().ok()?,
        uuid.trim_end_matches(')').to_owned(),
    ))
}

/// `Link 3: WHAT`.
fn row(text: &str) -> Option<(u64, &str)> {
    let (link, said) = text.strip_prefix("Link ")?.split_once(':')?;
    Some((link.trim().parse().ok()?, said.trim()))
}

/// Adds what a line says; whether it is an error that the fact should quote.
fn say(link: &mut NvLink, said: &str) -> bool {
    if said
        .trim_matches(['<', '>'])
        .eq_ignore_ascii_case("inactive")
    {
        "inactive".clone_into(&mut link.state);
    } else if let Some(speed) = said.strip_suffix("GB/s") {
        "active".clone_into(&mut link.state);
        link.speed = speed.trim().parse().ok();
    } else if let Some((name, count)) = said.rsplit_once(':') {
        // Counters of traffic (`Tx packets`) stand in the same list.
        let count = count.trim().parse().unwrap_or(0);
        if count > 0 && name.to_ascii_lowercase().contains("error") {
            let first = link.errors.is_empty();
            link.errors.insert(name.trim().to_owned(), count);
            link.error_count = link.error_count.saturating_add(count);
            return first;
        }
    }
    false
}

fn close(document: &Document<'_>, links: &mut BTreeMap<u64, Found<'_>>, facts: &mut Vec<AnyFact>) {
    for found in std::mem::take(links).into_values() {
        facts.push(stated(document, found.number, found.line, found.link));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn an_inactive_link_among_active_ones_is_told_apart() {
        let text = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0a1b)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n\
                    GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-2c3d)\n\t Link 0: 26.562 GB/s\n";
        let links = facts::<NvLink>(&NVLINK, "nodes/n1/commands/nvidia-smi-nvlink.out", text);
        let said: Vec<_> = links
            .iter()
            .map(|link| (link.data.gpu, link.data.link, link.data.state.as_str()))
            .collect();
        assert_eq!(
            said,
            [(0, 0, "active"), (0, 1, "inactive"), (1, 0, "active")]
        );
        assert_eq!(links[0].data.speed, Some(26.562));
        assert_eq!(links[1].place.line, Some(3));
    }

    #[test]
    fn only_counters_of_errors_above_zero_count() {
        let text = "GPU 3: NVIDIA A100-SXM4-40GB (UUID: GPU-0a1b)\n\t Link 0: Replay Errors: 0\n\
                    \t Link 0: Recovery Errors: 0\n\t Link 0: CRC Errors: 0\n\t Link 1: Replay Errors: 12\n\
                    \t Link 1: Recovery Errors: 3\n\t Link 1: Tx packets: 991\n";
        let links = facts::<NvLink>(
            &NVLINK,
            "nodes/n1/commands/nvidia-smi-nvlink-errors.out",
            text,
        );
        let counts: Vec<u64> = links.iter().map(|link| link.data.error_count).collect();
        assert_eq!(counts, [0, 15]);
        assert_eq!(links[1].text, "Link 1: Replay Errors: 12");
        assert_eq!(links[1].data.gpu, 3);
    }
}
