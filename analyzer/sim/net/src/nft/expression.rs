//! Matches: `ip saddr 10.0.0.0/8`, `tcp dport { 22, 80-90 }`, `ct state != invalid`,
//! `iifname . ip daddr @allowed`, `meta mark & 0xff == 0x10`, `fib daddr type local`.

use std::sync::Arc;

use super::chain::Statement;
use super::conntrack::{ct, status};
use super::set::RawElement;
use super::tokens::Token;
use super::values::{number, piece, single};
use crate::condition::Test;
use crate::condition::field::Field;
use crate::condition::lookup::{Lookup, Masked};
use crate::condition::set::{Element, Piece, Set};
use crate::header::{Bits, Layer, network_field, transport_field, types_with};
use crate::packet::{Family, Protocol};

/// What packets are taken not to have.
const NO_EXTENSION: &str = "the packet has no IPv6 extension header";
const NO_IPSEC: &str = "the packet does not pass through IPsec";

/// What a match reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Field(Field),
    /// Bits of `ct status`.
    Status,
    /// `fib ... oif`: whether, and by which interface, an address is routed.
    RouteBack,
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
        [Subject::RouteBack] => return route_back(statement),
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

enum Compared {
    Set {
        set: Arc<Set>,
        name: String,
        negated: bool,
    },
    /// Bits of a field against a value.
    Flags {
        mask: u128,
        value: u128,
        negated: bool,
    },
}

fn push(
    statement: &mut Statement<'_, '_, '_>,
    fields: Vec<Masked>,
    set: Arc<Set>,
    name: String,
    negated: bool,
) {
    statement.test(negated, Test::Lookup(Lookup { fields, set, name }));
}

fn exactly(value: u128) -> Arc<Set> {
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
        "socket" => return socket(statement),
        word => return meta(word),
    };
    Some(Subject::Field(field))
}

/// `socket transparent`, `socket cgroupv2 level 1`: only TCP and UDP have sockets.
fn socket(statement: &mut Statement<'_, '_, '_>) -> Option<Subject> {
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
        "priority" => return Some(Subject::Unseen("priority")),
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

/// `fib daddr type`, `fib daddr . iif type`, `fib saddr . mark . iif oif`.
fn fib(statement: &mut Statement<'_, '_, '_>) -> Option<Subject> {
    let destination = match statement.word()?.text {
        "daddr" => true,
        "saddr" => false,
        _ => return None,
    };
    while statement.eat(".") {
        statement.word()?;
    }
    match statement.word()?.text {
        "type" => Some(Subject::Field(Field::AddressType { destination })),
        // Since nft 1.1.2 `check` is what `oif` was beside `exists` and `missing`.
        "oif" | "oifname" | "check" => Some(Subject::RouteBack),
        _ => None,
    }
}

/// `numgen random mod 3 offset 0`, `jhash ip saddr . tcp sport mod 2`.
fn random(statement: &mut Statement<'_, '_, '_>) -> Option<Subject> {
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
fn route_back(statement: &mut Statement<'_, '_, '_>) -> Option<()> {
    let negated = statement.eat("!=");
    let answer = match statement.word()?.text {
        "exists" => true,
        "missing" | "0" => false,
        _ => return None,
    };
    let assumption = "reverse path filtering passes: the source is routed through the interface the packet came in by";
    statement.test(
        false,
        Test::Assumed {
            answer: answer != negated,
            assumption: assumption.to_owned(),
        },
    );
    Some(())
}

/// `rt ip nexthop` asks for the packet's route, `rt ipsec` for what becomes of it; other fields are those of a header
/// between IPv6 and the transport.
fn of_route(statement: &mut Statement<'_, '_, '_>, field: &str) -> Option<Subject> {
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
fn raw(statement: &mut Statement<'_, '_, '_>, layer: &str) -> Option<Field> {
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
fn tcp_option(statement: &mut Statement<'_, '_, '_>) -> Option<()> {
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
fn lacks(statement: &mut Statement<'_, '_, '_>, assumption: &str) -> Option<()> {
    let answer = statement.eat("missing");
    if !answer && !statement.eat("exists") {
        compare(statement, &[Masked::from(Field::Unseen("content"))])?;
    }
    let assumption = assumption.to_owned();
    statement.test(false, Test::Assumed { answer, assumption });
    Some(())
}

/// The relation and the right side of a match.
fn compare(statement: &mut Statement<'_, '_, '_>, fields: &[Masked]) -> Option<Compared> {
    let relation = ["==", "!=", "<=", ">=", "<", ">", "!"]
        .into_iter()
        .find(|sign| statement.eat(sign));
    let negated = relation == Some("!=");
    let next = statement.peek()?;
    if next.text.starts_with('@') || next.is("{") {
        let (set, name, _) = statement.set(fields)?;
        return Some(Compared::Set { set, name, negated });
    }
    if let [one] = fields
        && let Some(flags) = flags(statement, one, relation)?
    {
        return Some(flags);
    }
    let key = key(statement, fields)?;
    let key = match (relation, key.as_slice()) {
        (None | Some("==" | "!="), _) => key,
        _ if fields
            .iter()
            .all(|one| matches!(one.field, Field::Unseen(_))) =>
        {
            key
        }
        (Some(sign), [Piece::Range(low, high)]) if low == high => vec![ordered(sign, *low)?],
        _ => return None,
    };
    Some(Compared::Set {
        set: Arc::new(Set::new(vec![Element::new(key)])),
        name: String::new(),
        negated,
    })
}

fn ordered(sign: &str, value: u128) -> Option<Piece> {
    Some(match sign {
        "<" => Piece::Range(0, value.checked_sub(1)?),
        "<=" => Piece::Range(0, value),
        ">" => Piece::Range(value.checked_add(1)?, u128::MAX),
        ">=" => Piece::Range(value, u128::MAX),
        _ => return None,
    })
}

/// One constant for each field, joined by ` . `.
fn key(statement: &mut Statement<'_, '_, '_>, fields: &[Masked]) -> Option<Vec<Piece>> {
    let mut key = Vec::new();
    for (nth, field) in fields.iter().enumerate() {
        if nth > 0 && !statement.eat(".") {
            return None;
        }
        let token = statement.word()?;
        key.push(piece(field.field, &token)?);
    }
    Some(key)
}

/// Comparisons of fields that are bits: states and TCP flags, alone or in lists.
fn flags(
    statement: &mut Statement<'_, '_, '_>,
    field: &Masked,
    relation: Option<&str>,
) -> Option<Option<Compared>> {
    if !matches!(field.field, Field::State | Field::TcpFlags | Field::Status) {
        return Some(None);
    }
    if field.flip != 0 {
        return None;
    }
    let negated = relation == Some("!=");
    let value = value_list(statement, field.field)?;
    if statement.eat("/") {
        let mask = value_list(statement, field.field)?;
        return Some(Some(Compared::Flags {
            mask,
            value,
            negated,
        }));
    }
    let bits = match (relation, field.mask) {
        // A mask and a relation compare the masked bits.
        (_, Some(mask)) => (mask, value, negated),
        // Without a relation any of the bits is enough, with `!` none may be set.
        (None, None) => (value, 0, true),
        (Some("!"), None) => (value, 0, false),
        (Some("==" | "!="), None) => (u128::from(u32::MAX), value, negated),
        _ => return None,
    };
    let (mask, value, negated) = bits;
    Some(Some(Compared::Flags {
        mask,
        value,
        negated,
    }))
}

/// `fin,syn`, `(fin | syn)`, `established | related`, or one number.
fn value_list(statement: &mut Statement<'_, '_, '_>, field: Field) -> Option<u128> {
    let open = statement.eat("(");
    let mut all = 0u128;
    loop {
        let token = statement.word()?;
        all |= match single(field, token.text).or_else(|| number(token.text)) {
            Some(value) => value,
            None => list(field, &token)?,
        };
        if !(statement.eat(",") || statement.eat("|")) {
            break;
        }
    }
    (!open || statement.eat(")")).then_some(all)
}

/// A list in one word: `syn|ack`.
fn list(field: Field, token: &Token<'_>) -> Option<u128> {
    let mut all = 0;
    for part in token.text.split('|') {
        all |= single(field, part)?;
    }
    Some(all)
}

/// The constant of a map element for an address translation: `10.0.0.1`, `10.0.0.1 . 80`.
pub(super) fn data_words<'a>(element: &RawElement<'a>) -> Vec<&'a str> {
    let words = element.data.iter().filter(|token| !token.is("."));
    words.map(|token| token.text).collect()
}
