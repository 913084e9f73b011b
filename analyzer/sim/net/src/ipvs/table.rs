//! Virtual services as rules: what the kernel does with the first packet of a connection to one.
//!
//! IPVS looks at what is for this host behind the filter's input chain, and at what this host sends before the
//! filter's output chain (`ip_vs_ops` in `net/netfilter/ipvs/ip_vs_core.c`). What it takes leaves through the output
//! chains from their beginning on.

use std::sync::Arc;

use super::{At, Forwarding, Server, VirtualService, VirtualServices};
use crate::condition::{AddressMask, Condition, Test};
use crate::iptables::{Chain, Nat, NatTo, Origin, Policy, Rule, Table, Target, ToServer};
use crate::nft::{Base, NftTable};
use crate::packet::Family;

/// How the table is named in walks.
pub(crate) const IPVS_TITLE: &str = "ipvs";
const INPUT: i32 = 99;
const OUTPUT: i32 = -98;
const CHAIN: &str = "virtual services";
/// What the kernel answers where no server takes a connection (`ip_vs_leave`).
const REFUSAL: &str = "icmp-port-unreachable";

/// The services as a table of one chain, which both hooks pass. A listing that is not whole ends undecided.
pub(crate) fn table(services: &VirtualServices) -> NftTable {
    let mut ordered: Vec<&VirtualService> = services.services.iter().collect();
    // The kernel looks for marks first, and for a service of every port last.
    ordered.sort_by_key(|service| match service.at {
        At::Mark(_) => 0,
        At::Address(.., 0) => 2,
        At::Address(..) => 1,
    });
    let rules = ordered
        .into_iter()
        .flat_map(|service| rules_of(service, services.cut))
        .collect();
    let chain = Chain {
        policy: Some(Policy {
            accept: true,
            text: "ACCEPT".to_owned(),
            counters: None,
            origin: Origin {
                path: Arc::clone(&services.path),
                line: 1,
            },
        }),
        rules,
    };
    let base = |hook: &str, priority| Base {
        chain: CHAIN.to_owned(),
        kind: IPVS_TITLE.to_owned(),
        hook: hook.to_owned(),
        priority,
        devices: Vec::new(),
    };
    NftTable {
        family: "inet".to_owned(),
        name: IPVS_TITLE.to_owned(),
        title: IPVS_TITLE.to_owned(),
        path: Arc::clone(&services.path),
        line: 1,
        rules: Table {
            chains: [(CHAIN.to_owned(), chain)].into(),
            complete: !services.cut,
        },
        bases: vec![base("input", INPUT), base("output", OUTPUT)],
    }
}

/// One rule for each server that takes connections, or one that refuses. Of a listing that is not whole every
/// one is in doubt: a server may be missing.
fn rules_of(service: &VirtualService, cut: bool) -> Vec<Rule> {
    let partly = cut.then_some("the listing of virtual services is not whole");
    let usable: Vec<&Server> = service.usable().collect();
    let Some((last, others)) = usable.split_last() else {
        let target = Target::Reject(REFUSAL.to_owned());
        let text = match service.servers.len() {
            0 => format!("{}, without a real server", service.text),
            count => format!("{}, {count} real server(s) of weight 0", service.text),
        };
        return vec![rule(service, &service.origin, text, partly, target)];
    };
    let choice = format!(
        "the scheduler {} chooses one of {} real servers",
        service.scheduler,
        usable.len()
    );
    let to = |server: &Server, doubt: Option<&str>| {
        let text = words(service, server);
        let target = Target::Nat(Box::new(Nat {
            text: format!("IPVS sends it to {} port {}", server.address, server.port),
            to: NatTo::Server(ToServer {
                address: server.address,
                port: (server.port > 0).then_some(server.port),
                mode: server.forwarding.word(),
                rewrites: server.forwarding == Forwarding::Masq,
                one_packet: service.one_packet(),
            }),
        }));
        rule(service, &server.origin, text, doubt, target)
    };
    let mut rules: Vec<Rule> = others
        .iter()
        .map(|server| to(server, Some(&choice)))
        .collect();
    rules.push(to(last, partly));
    rules
}

fn words(service: &VirtualService, server: &Server) -> String {
    format!(
        "{} -> {} port {} {} weight {}",
        service.text,
        server.address,
        server.port,
        server.forwarding.word(),
        server.weight
    )
}

fn rule(
    service: &VirtualService,
    origin: &Origin,
    text: String,
    doubt: Option<&str>,
    target: Target,
) -> Rule {
    let mut tests = match service.at {
        At::Mark(value) => vec![Test::Mark {
            value,
            mask: u32::MAX,
        }],
        At::Address(proto, address, port) => {
            let mut tests = vec![
                Test::Destination(vec![AddressMask::new(address, u128::MAX)]),
                Test::Protocol(proto),
            ];
            if port > 0 {
                tests.push(Test::DestinationPort(vec![(port, port)]));
            }
            tests
        }
    };
    // A mark stands for services of one family, which their servers show.
    if let (At::Mark(_), Some(server)) = (service.at, service.servers.first()) {
        let family = Family::of(server.address);
        let any = match family {
            Family::V4 => AddressMask::new(std::net::Ipv4Addr::UNSPECIFIED.into(), 0),
            Family::V6 => AddressMask::new(std::net::Ipv6Addr::UNSPECIFIED.into(), 0),
        };
        tests.push(Test::Destination(vec![any]));
    }
    tests.extend(doubt.map(|doubt| Test::Opaque {
        module: IPVS_TITLE.into(),
        text: doubt.into(),
    }));
    let condition = |test| Condition {
        negated: false,
        test,
    };
    Rule {
        origin: origin.clone(),
        text,
        counters: None,
        conditions: tests.into_iter().map(condition).collect(),
        effects: Vec::new(),
        target,
    }
}
