//! `/proc/net/ip_vs`: the virtual services that kube-proxy fills in IPVS mode.

use casefile_bundle::{ANY, Entry};

use super::{Document, Parsed, Parser, Read};
use crate::facts::ipvs::VirtualServiceFact;
use crate::facts::{AnyFact, Fact};
use crate::firewall::ipvs::{At, Server, VirtualService, VirtualServices};
use crate::firewall::question::CapturedText;
use crate::model::Problem;

/// Reads each virtual service with its real servers.
pub(super) static PARSER: Parser = Parser {
    id: "ipvs",
    reads: &[Entry::Rootfs(ANY, "proc/net/ip_vs")],
    read: Read::Whole(parse),
};

/// Real servers that a fact lists; of more only the count stands there.
const MOST_SERVERS: usize = 64;

fn parse(document: &Document<'_>) -> Parsed {
    let all = VirtualServices::parse(CapturedText {
        path: document.path,
        text: document.text,
    });
    let unread = all.unread.iter().map(|line| Problem {
        place: document.line(*line),
        text: "not a virtual service or real server of IPVS".to_owned(),
    });
    Parsed {
        problems: unread.collect(),
        facts: all.services.iter().map(|one| fact(document, one)).collect(),
        ..Parsed::default()
    }
}

fn fact(document: &Document<'_>, service: &VirtualService) -> AnyFact {
    let (protocol, address, port, mark) = match service.at {
        At::Address(protocol, address, port) => {
            (protocol.to_string(), address.to_string(), port, None)
        }
        At::Mark(mark) => ("fwmark".to_owned(), String::new(), 0, Some(mark)),
    };
    let shown = service.servers.iter().take(MOST_SERVERS).map(in_words);
    Fact {
        data: VirtualServiceFact {
            node: document.node.to_owned(),
            protocol,
            address,
            port,
            mark,
            scheduler: service.scheduler.clone(),
            flags: service.flags.clone(),
            servers: shown.collect(),
            server_count: count(service.servers.len()),
            usable: count(service.usable().count()),
        },
        place: document.line(service.origin.line),
        text: service.text.as_str().into(),
        at: None,
    }
    .into()
}

fn in_words(server: &Server) -> String {
    format!(
        "{} port {} {} weight {}, {} active, {} inactive",
        server.address,
        server.port,
        server.forwarding.word(),
        server.weight,
        server.active,
        server.inactive
    )
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;

    #[test]
    fn a_service_without_a_usable_server_and_an_unread_line_are_stated() {
        let text = "IP Virtual Server version 1.2.1 (size=4096)\nProt LocalAddress:Port Scheduler Flags\n  -> RemoteAddress:Port Forward Weight ActiveConn InActConn\nTCP  0A600001:01BB rr  \n  -> C0000235:192B      Masq    0      2          1         \nTCP  nonsense\n";
        let parsed = parse(&Document {
            path: "nodes/n1/rootfs/proc/net/ip_vs",
            node: "n1",
            text,
        });
        assert_eq!(parsed.problems[0].place.line, Some(6));
        let mut facts = Facts::default();
        for fact in parsed.facts {
            facts.add(fact);
        }
        let service = &facts.table::<VirtualServiceFact>()[0];
        assert_eq!(
            (service.data.address.as_str(), service.data.port),
            ("10.96.0.1", 443)
        );
        assert_eq!((service.data.server_count, service.data.usable), (1, 0));
        assert_eq!(
            service.data.servers,
            ["192.0.2.53 port 6443 Masq weight 0, 2 active, 1 inactive"]
        );
        assert_eq!(service.place.line, Some(4));
    }
}
