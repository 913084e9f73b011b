//! Counters of the network stack: `/proc/net/netstat`, `snmp` and `snmp6`.

use casefile_bundle::{ANY, Entry};

use super::{Document, Parsed, Parser, Read};
use crate::facts::network::NetCounter;
use crate::facts::{AnyFact, Fact, excerpt};

/// Reads the counters that say why packets were given up.
pub(super) static PARSER: Parser = Parser {
    id: "net-counters",
    reads: &[
        Entry::Rootfs(ANY, "proc/net/netstat"),
        Entry::Rootfs(ANY, "proc/net/snmp"),
        Entry::Rootfs(ANY, "proc/net/snmp6"),
    ],
    read: Read::Whole(parse),
};

/// Of hundreds of counters those that name a cause: sources that fail the reverse path check, and packets that
/// were too large. (`FragOKs`: fragmented; `FragFails`: too large and not to be fragmented.)
const KEPT: [&str; 8] = [
    "IPReversePathFilter",
    "FragOKs",
    "FragFails",
    "ReasmFails",
    "Ip6InTooBigErrors",
    "Ip6FragFails",
    "Ip6ReasmFails",
    "Icmp6OutPktTooBigs",
];

fn parse(document: &Document<'_>) -> Parsed {
    let mut facts = Vec::new();
    let mut heads: Option<&str> = None;
    for (line, number) in document.text.lines().zip(1u32..) {
        // `Ip: NAME NAME`, and below it `Ip: VALUE VALUE`.
        let group = line.split_once(": ").map(|(group, _)| group);
        match (heads, group) {
            (Some(names), Some(group)) if names.split(": ").next() == Some(group) => {
                let pairs = names
                    .split_ascii_whitespace()
                    .zip(line.split_ascii_whitespace());
                facts.extend(pairs.filter_map(|pair| counter(document, pair, line, number)));
                heads = None;
            }
            (_, Some(_)) => heads = Some(line),
            // `NAME   VALUE`.
            (_, None) => {
                let mut words = line.split_ascii_whitespace();
                let pair = words.next().zip(words.next());
                facts.extend(pair.and_then(|pair| counter(document, pair, line, number)));
            }
        }
    }
    Parsed {
        facts,
        ..Parsed::default()
    }
}

fn counter(
    document: &Document<'_>,
    (name, value): (&str, &str),
    line: &str,
    number: u32,
) -> Option<AnyFact> {
    let value: u64 = value.parse().ok()?;
    if value == 0 || !KEPT.contains(&name) {
        return None;
    }
    let fact = Fact {
        data: NetCounter {
            node: document.node.to_owned(),
            name: name.to_owned(),
            value,
        },
        place: document.line(number),
        text: excerpt(line, 300).into(),
        at: None,
    };
    Some(fact.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;

    fn counters(text: &str) -> Vec<(String, u64, Option<u32>)> {
        let document = Document {
            path: "nodes/n1/rootfs/proc/net/netstat",
            node: "n1",
            text,
        };
        let mut facts = Facts::default();
        for fact in parse(&document).facts {
            facts.add(fact);
        }
        let rows = facts.table::<NetCounter>().iter();
        rows.map(|row| (row.data.name.clone(), row.data.value, row.place.line))
            .collect()
    }

    #[test]
    fn a_counter_stands_below_its_name() {
        let text = "TcpExt: SyncookiesSent IPReversePathFilter TCPHPHits\nTcpExt: 4 31 9\nIp: Forwarding FragOKs FragFails\nIp: 1 0 7\n";
        assert_eq!(
            counters(text),
            [
                ("IPReversePathFilter".to_owned(), 31, Some(2)),
                ("FragFails".to_owned(), 7, Some(4))
            ]
        );
    }

    #[test]
    fn of_ipv6_each_line_has_one() {
        let text = "Ip6InReceives                   \t99\nIp6FragFails                    \t3\n";
        assert_eq!(counters(text), [("Ip6FragFails".to_owned(), 3, Some(2))]);
    }

    #[test]
    fn a_file_that_breaks_off_says_nothing_of_what_is_missing() {
        assert_eq!(counters("TcpExt: A IPReversePathFilter\nTcpExt: 4"), []);
        assert_eq!(counters("TcpExt: IPReversePathFilter\nIp: 5\nIp: 6\n"), []);
    }
}
