//! Matches: `ip saddr 10.0.0.0/8`, `tcp dport { 22, 80-90 }`, `ct state != invalid`,
//! `iifname . ip daddr @allowed`, `meta mark & 0xff == 0x10`, `fib daddr type local`.

use std::sync::Arc;

use super::chain::Statement;
use super::compare::{Compared, compare, value_list};
use super::conntrack::{ct, status};
use super::set::RawElement;
use super::special::{
    NO_IPSEC, NO_VLAN, fib, lacks, of_route, random, raw, route_back, socket, tcp_option,
};
use crate::condition::field::Field;
use crate::condition::lookup::{Lookup, Masked};
use crate::condition::set::{Element, Piece, Set};
use crate::condition::{RouteBack, Test};
use crate::header::{network_field, transport_field, types_with};
use crate::packet::{Family, Protocol};

/// What a match reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Field(Field),
    /// Bits of `ct status`.
    Status,
    /// `fib ... oif`: whether, and by which interface, an address is routed.
    RouteBack(RouteBack),
    /// Something that a packet has only if it says so, with what is assumed of it.
    Lacks(&'static str),
    /// An option of TCP's header.
    TcpOption,
    /// Something that captures do not show.
    Unseen(&'static str),
    /// Read and compared already.
    Asked,
}

impl Subject {
    /// The field that is compared.
    pub(super) fn masked(&self) -> Masked {
        Masked::from(match self {
            Subject::Field(field) => *field,
            Subject::Status => Field::Status,
            Subject::Unseen(what) => Field::Unseen(what),
            _ => Field::Unseen("content"),
        })
    }
}

/// Reads one match; `None` where it is not understood.
pub(super) fn expression(statement: &mut Statement<'_, '_, '_>) -> Option<()> {
    let subjects = subjects(statement)?;
    match subjects.as_slice() {
        [Subject::Status] if status(statement).is_some() => return Some(()),
        [Subject::RouteBack(asked)] => return route_back(statement, *asked),
        [Subject::Lacks(assumption)] => return lacks(statement, assumption),
        [Subject::TcpOption] => return tcp_option(statement),
        [Subject::Asked] => return Some(()),
        _ => {}
    }
    let mut fields: Vec<Masked> = subjects.iter().map(Subject::masked).collect();
    if statement.eat("vmap") {
        return statement.verdict_map(fields);
    }
    if let [one] = fields.as_mut_slice() {
        changed(statement, one)?;
    }
    let compared = compare(statement, &fields)?;
    if let Compared::Flags {
        mask,
        value,
        negated,
    } = compared
    {
        let field = fields.first()?.field;
        let set = exactly(value);
        let masked = Masked::bits(field, mask);
        push(statement, vec![masked], set, String::new(), negated);
        return Some(());
    }
    if let Compared::Set { set, name, negated } = compared {
        push(statement, fields, set, name, negated);
    }
    Some(())
}

/// What is done to the bits of a field before they are compared: `& 0xff`, `| 0x23`, one behind the other.
fn changed(statement: &mut Statement<'_, '_, '_>, one: &mut Masked) -> Option<()> {
    loop {
        let sign = [("&", "and"), ("|", "or"), ("^", "xor")]
            .into_iter()
            .find(|(sign, word)| statement.eat(sign) || statement.eat(word));
        let Some((sign, _)) = sign else {
            return Some(());
        };
        let bits = value_list(statement, one.field)?;
        let kept = one.mask.unwrap_or(u128::MAX);
        match sign {
            "&" => (one.mask, one.flip) = (Some(kept & bits), one.flip & bits),
            "|" => (one.mask, one.flip) = (Some(kept & !bits), one.flip | bits),
            _ => one.flip ^= bits,
        }
    }
}

pub(super) fn push(
    statement: &mut Statement<'_, '_, '_>,
    fields: Vec<Masked>,
    set: Arc<Set>,
    name: String,
    negated: bool,
) {
    let lookup = Lookup { fields, set, name };
    statement.test(negated, Test::Lookup(Box::new(lookup)));
}

pub(super) fn exactly(value: u128) -> Arc<Set> {
    Arc::new(Set::new(vec![Element::new(vec![Piece::Range(
        value, value,
    )])]))
}

/// The subjects of a match, joined by ` . `.
pub(super) fn subjects(statement: &mut Statement<'_, '_, '_>) -> Option<Vec<Subject>> {
    let mut all = vec![subject(statement)?];
    while statement.eat(".") {
        all.push(subject(statement)?);
    }
    Some(all)
}

fn subject(statement: &mut Statement<'_, '_, '_>) -> Option<Subject> {
    let first = statement.word().filter(|token| !token.quoted)?;
    let field = match first.text {
        "meta" => return meta(statement.word()?.text),
        "ct" => return ct(statement),
        "fib" => return fib(statement),
        "numgen" | "jhash" | "symhash" => return random(statement),
        "@nh" | "@th" | "@ih" => raw(statement, first.text)?,
        "ip" => internet(statement, Family::V4)?,
        "ip6" => internet(statement, Family::V6)?,
        "tcp" | "udp" | "udplite" | "sctp" | "dccp" | "th" => {
            return transport(statement, first.text);
        }
        "icmp" | "icmpv6" => icmp(statement, first.text)?,
        "rt" | "rt0" | "rt2" | "rt4" | "srh" | "hbh" | "dst" | "mh" | "frag" | "exthdr" => {
            let field = statement.word()?.text;
            return of_route(statement, field);
        }
        "ah" | "esp" | "comp" | "igmp" | "gre" => {
            // What the header says is not captured, but only packets of the protocol have it.
            let name = if first.text == "comp" {
                "ipcomp"
            } else {
                first.text
            };
            protocol(statement, Protocol::parse(name)?);
            return None;
        }
        "ether" => match statement.word()?.text {
            "saddr" => Field::SourceMac,
            "daddr" => Field::DestinationMac,
            // Only Ethernet has such a type.
            "type" => {
                let ethernet = Field::InterfaceType { outgoing: false };
                let fields = vec![Masked::from(ethernet)];
                push(statement, fields, exactly(1), String::new(), false);
                Field::Family
            }
            _ => return None,
        },
        "ipsec" => {
            while !statement
                .peek()?
                .text
                .starts_with(|c: char| c.is_ascii_digit() || c == '!')
            {
                statement.word()?;
            }
            return Some(Subject::Lacks(NO_IPSEC));
        }
        "vlan" => {
            statement.word()?;
            return Some(Subject::Lacks(NO_VLAN));
        }
        "socket" => return socket(statement),
        word => return meta(word),
    };
    Some(Subject::Field(field))
}

fn meta(word: &str) -> Option<Subject> {
    Some(Subject::Field(match word {
        "iifname" | "iif" => Field::InInterface,
        "oifname" | "oif" => Field::OutInterface,
        "mark" => Field::Mark,
        "l4proto" => Field::Protocol,
        "nfproto" | "protocol" => Field::Family,
        "pkttype" => Field::PacketType,
        "length" => Field::Length,
        "skuid" | "skgid" | "cgroup" => Field::Sender,
        "priority" => Field::Priority,
        "rtclassid" => Field::RouteClass,
        "iifgroup" => Field::InterfaceGroup { outgoing: false },
        "oifgroup" => Field::InterfaceGroup { outgoing: true },
        "iiftype" => Field::InterfaceType { outgoing: false },
        "oiftype" => Field::InterfaceType { outgoing: true },
        "ipsec" | "secpath" => return Some(Subject::Lacks(NO_IPSEC)),
        "cpu" => return Some(Subject::Unseen("processor")),
        "random" => return Some(Subject::Unseen("random number")),
        "day" | "hour" | "time" => {
            return Some(Subject::Unseen("time, in the zone of the listing,"));
        }
        "iifkind" | "oifkind" => {
            return Some(Subject::Unseen(
                "interface's kind, which `ip -d link` shows,",
            ));
        }
        _ => return None,
    }))
}

impl Statement<'_, '_, '_> {
    /// Asks whether the packet has these fields, whatever they hold: where it has not, the rule breaks off.
    pub(super) fn has(&mut self, fields: &[Masked]) {
        // Every packet has a mark.
        let lacked = |one: &&Masked| one.field != Field::Mark;
        let fields: Vec<Masked> = fields.iter().filter(lacked).copied().collect();
        if fields.is_empty() {
            return;
        }
        let any = Arc::new(Set::new(vec![Element::new(vec![Piece::Any; fields.len()])]));
        push(self, fields, any, String::new(), false);
    }

    /// The value that a statement sets, as far as reading it can break the rule off: a field that the packet does not
    /// have, a map that does not hold it. Leaves off where it began.
    pub(super) fn reads_value(&mut self) {
        let start = self.at;
        if self.peek().is_some_and(|next| next.is("osf")) {
            self.system();
        } else if let Some(subjects) = subjects(self) {
            let fields: Vec<Masked> = subjects.iter().map(Subject::masked).collect();
            match self.eat("map").then(|| self.set(&fields)).flatten() {
                Some((set, name, _)) => push(self, fields, set, name, false),
                None => self.has(&fields),
            }
        }
        self.at = start;
    }

    /// Asks for the family of the packet.
    pub(super) fn of_family(&mut self, family: Family) {
        let number = match family {
            Family::V4 => 2,
            Family::V6 => 10,
        };
        let fields = vec![Masked::from(Field::Family)];
        push(self, fields, exactly(number), String::new(), false);
    }
}

/// A field of the internet header, which asks for its family as well.
fn internet(statement: &mut Statement<'_, '_, '_>, family: Family) -> Option<Field> {
    let word = statement.word()?.text;
    if !matches!(word, "saddr" | "daddr") {
        statement.of_family(family);
    }
    Some(match word {
        "saddr" => Field::Source(family),
        "daddr" => Field::Destination(family),
        "protocol" | "nexthdr" => Field::Protocol,
        "ttl" | "hoplimit" => Field::Ttl,
        "length" if family == Family::V4 => Field::Length,
        "length" => Field::PayloadLength,
        name => Field::Bits(network_field(name, family == Family::V4)?),
    })
}

/// A field of a transport header, which asks for its protocol as well.
fn transport(statement: &mut Statement<'_, '_, '_>, name: &str) -> Option<Subject> {
    let field = match statement.word()?.text {
        "sport" => Some(Field::SourcePort),
        "dport" => Some(Field::DestinationPort),
        "flags" if name == "tcp" => Some(Field::TcpFlags),
        "option" if name == "tcp" => {
            statement.word()?;
            return Some(Subject::TcpOption);
        }
        field => transport_field(name, field).map(Field::Bits),
    };
    // A field that is not known asks for its protocol all the same.
    if name != "th" {
        protocol(statement, Protocol::parse(name)?);
    }
    field.map(Subject::Field)
}

fn protocol(statement: &mut Statement<'_, '_, '_>, proto: Protocol) {
    let set = exactly(u128::from(proto.0));
    push(
        statement,
        vec![Masked::from(Field::Protocol)],
        set,
        String::new(),
        false,
    );
}

fn icmp(statement: &mut Statement<'_, '_, '_>, name: &str) -> Option<Field> {
    let family = if name == "icmp" {
        Family::V4
    } else {
        Family::V6
    };
    Some(match statement.word()?.text {
        "type" => Field::IcmpType(family),
        "code" => Field::IcmpCode(family),
        field => {
            let of = |family| match family {
                Family::V4 => Protocol::ICMP,
                Family::V6 => Protocol::ICMPV6,
            };
            protocol(statement, of(family));
            let bits = transport_field(name, field)?;
            if let Some(types) = types_with(name, field) {
                let keys = types
                    .iter()
                    .map(|one| Element::new(vec![Piece::Range(*one, *one)]));
                let set = Arc::new(Set::new(keys.collect()));
                let fields = vec![Masked::from(Field::IcmpType(family))];
                push(statement, fields, set, String::new(), false);
            }
            Field::Bits(bits)
        }
    })
}

/// The constant of a map element for an address translation: `10.0.0.1`, `10.0.0.1 . 80`.
pub(super) fn data_words<'a>(element: &RawElement<'a>) -> Vec<&'a str> {
    let words = element.data.iter().filter(|token| !token.is("."));
    words.map(|token| token.text).collect()
}
