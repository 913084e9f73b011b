//! Matches with a grammar of their own: sockets, routes, random numbers, raw bytes, options of TCP.

use std::sync::Arc;

use super::chain::Statement;
use super::compare::compare;
use super::expression::{Subject, push};
use crate::condition::field::Field;
use crate::condition::lookup::Masked;
use crate::condition::set::{Element, Piece, Set};
use crate::condition::{RouteBack, Test};
use crate::header::{Bits, Layer};
use crate::packet::{Family, Protocol};

/// What packets are taken not to have.
pub(super) const NO_EXTENSION: &str = "the packet has no IPv6 extension header";
pub(super) const NO_VLAN: &str = "the packet comes without the tag of a VLAN";
pub(super) const NO_IPSEC: &str = "the packet does not pass through IPsec";

/// `socket transparent`, `socket cgroupv2 level 1`: only TCP and UDP have sockets.
pub(super) fn socket(statement: &mut Statement<'_, '_, '_>) -> Option<Subject> {
    let protocols = [Protocol::TCP, Protocol::UDP].map(|proto| {
        let number = u128::from(proto.0);
        Element::new(vec![Piece::Range(number, number)])
    });
    let set = Arc::new(Set::new(protocols.to_vec()));
    let fields = vec![Masked::from(Field::Protocol)];
    push(statement, fields, set, String::new(), false);
    let what = statement.word()?;
    if what.is("cgroupv2") && statement.eat("level") {
        statement.word()?;
    }
    statement.opaque("socket", format!("socket: {}", what.text));
    Some(Subject::Unseen("socket, which `ss -tuan` would show,"))
}

/// `fib daddr type`, `fib daddr . iif type`, `fib saddr . mark . iif oif`.
pub(super) fn fib(statement: &mut Statement<'_, '_, '_>) -> Option<Subject> {
    let destination = match statement.word()?.text {
        "daddr" => true,
        "saddr" => false,
        _ => return None,
    };
    let (mut by_interface, mut marked) = (false, false);
    while statement.eat(".") {
        let word = statement.word()?;
        by_interface |= word.is("iif");
        marked |= word.is("mark");
    }
    let here = destination && by_interface;
    match statement.word()?.text {
        "type" => Some(Subject::Field(Field::AddressType { destination, here })),
        // Since nft 1.1.2 `check` is what `oif` was beside `exists` and `missing`.
        "oif" | "oifname" | "check" if !destination => Some(Subject::RouteBack(RouteBack {
            by_interface,
            marked,
            local: false,
        })),
        _ => None,
    }
}

/// `numgen random mod 3 offset 0`, `jhash ip saddr . tcp sport mod 2`.
pub(super) fn random(statement: &mut Statement<'_, '_, '_>) -> Option<Subject> {
    while !statement.eat("mod") {
        statement.word()?;
    }
    let count: u32 = statement.word()?.text.parse().ok()?;
    while statement.eat("seed") || statement.eat("offset") {
        if !statement.word()?.text.starts_with('0') {
            return Some(Subject::Unseen("random number"));
        }
    }
    Some(Subject::Field(Field::Random(count)))
}

/// `fib saddr . iif oif missing`: reverse path filtering.
pub(super) fn route_back(statement: &mut Statement<'_, '_, '_>, asked: RouteBack) -> Option<()> {
    let negated = statement.eat("!=");
    let missing = match statement.word()?.text {
        "exists" => false,
        "missing" | "0" => true,
        _ => return None,
    };
    statement.test(negated != missing, Test::RouteBack(asked));
    Some(())
}

/// `rt ip nexthop` asks for the packet's route, `rt ipsec` for what becomes of it; other fields are those of a header
/// between IPv6 and the transport.
pub(super) fn of_route(statement: &mut Statement<'_, '_, '_>, field: &str) -> Option<Subject> {
    if matches!(
        field,
        "ip" | "ip6" | "ipsec" | "classid" | "nexthop" | "mtu" | "tcpmss"
    ) {
        // Before a packet is routed there is nothing to ask.
        statement.has(&[Masked::from(Field::RouteClass)]);
    }
    let family = match field {
        "ip" => Family::V4,
        "ip6" => Family::V6,
        "ipsec" => return Some(Subject::Lacks(NO_IPSEC)),
        "classid" => return Some(Subject::Field(Field::RouteClass)),
        "nexthop" | "mtu" | "tcpmss" => return None,
        _ => return Some(Subject::Lacks(NO_EXTENSION)),
    };
    statement
        .eat("nexthop")
        .then_some(Subject::Field(Field::NextHop(family)))
}

/// `@nh,8,8`: bits of a header by their place.
pub(super) fn raw(statement: &mut Statement<'_, '_, '_>, layer: &str) -> Option<Field> {
    let mut number = || {
        statement.eat(",").then_some(())?;
        statement.word()?.text.parse::<u16>().ok()
    };
    let (offset, length) = (number()?, number()?);
    Some(Field::Bits(match layer {
        "@nh" => Bits::network(offset, length),
        "@ih" => Bits {
            layer: Layer::Carried,
            offset,
            length,
        },
        _ => Bits::transport(offset, length),
    }))
}

/// `tcp option maxseg size 1460`, `tcp option sack-perm missing`: without options the header has none of them.
pub(super) fn tcp_option(statement: &mut Statement<'_, '_, '_>) -> Option<()> {
    let presence = |statement: &mut Statement<'_, '_, '_>| {
        let missing = statement.eat("missing");
        (missing || statement.eat("exists")).then_some(missing)
    };
    let missing = match presence(statement) {
        Some(missing) => missing,
        None => {
            // The option's field, if one is named.
            let compares =
                |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || "=!<>{@".contains(c));
            if !compares(statement.peek()?.text) {
                statement.word()?;
            }
            compare(statement, &[Masked::from(Field::Unseen("content"))])?;
            false
        }
    };
    let none = Arc::new(Set::new(vec![Element::new(vec![Piece::Range(0, 0)])]));
    let fields = vec![Masked::from(Field::TcpOptions)];
    push(statement, fields, none, String::new(), !missing);
    Some(())
}

/// A match on something that the packet does not have fails whatever it compares, but for `missing`.
pub(super) fn lacks(statement: &mut Statement<'_, '_, '_>, assumption: &str) -> Option<()> {
    let answer = statement.eat("missing");
    if !answer && !statement.eat("exists") {
        compare(statement, &[Masked::from(Field::Unseen("content"))])?;
    }
    let assumption = assumption.to_owned();
    statement.test(false, Test::Assumed { answer, assumption });
    Some(())
}
