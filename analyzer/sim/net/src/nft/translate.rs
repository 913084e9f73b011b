//! Statements that rewrite: `dnat to`, `redirect to`, `masquerade`, `meta mark set`.

use super::chain::Statement;
use super::expression::{Subject, data_words, subjects};
use super::tokens::Token;
use super::values::number;
use crate::condition::lookup::{Lookup, Masked};
use crate::iptables::{
    Nat, NatTo, NewSource, SourceAddress, SourcePort, Target, destination, new_port, source,
};

/// Options behind an address translation that do not say where to.
const OPTIONS: [&str; 4] = [
    "random",
    "fully-random",
    "persistent",
    "random,fully-random",
];

/// Signs that make another value of one.
const CHANGES: [&str; 5] = ["&", "|", "^", "or", "xor"];

/// An address translation.
pub(super) fn nat(statement: &mut Statement<'_, '_, '_>) -> Option<Nat> {
    let start = statement.at;
    let kind = statement.word()?.text;
    let _ = ["ip", "ip6", "inet"].iter().any(|word| statement.eat(word));
    statement.eat("prefix");
    let to = if statement.eat("to") {
        let ranges = |token: Token<'_>| token.text.trim_start_matches(':').contains('-');
        let ranges = statement.peek().is_some_and(ranges);
        let to = target(statement)?;
        match (kind, ranges) {
            ("redirect", true) => NatTo::LocalAny,
            ("redirect", false) => local(to),
            _ => to,
        }
    } else {
        match kind {
            "redirect" => NatTo::Local(None),
            "masquerade" => NatTo::Source(NewSource {
                address: SourceAddress::Own,
                port: SourcePort::Kept,
            }),
            _ => return None,
        }
    };
    while OPTIONS.iter().any(|option| statement.eat(option)) || statement.eat(",") {}
    let words: Vec<&str> = statement.tokens[start..statement.at]
        .iter()
        .map(|token| token.text)
        .collect();
    let to = match kind {
        "snat" | "masquerade" => NatTo::Source(new_source(kind, &words)),
        _ => to,
    };
    Some(Nat {
        text: words.join(" "),
        to,
    })
}

/// The source that `masquerade` or `snat` with these words gives.
fn new_source(kind: &str, words: &[&str]) -> NewSource {
    let to = words.iter().position(|word| *word == "to");
    let target = to.and_then(|at| words.get(at + 1)).copied();
    match (kind, target) {
        ("masquerade", ports) => NewSource {
            address: SourceAddress::Own,
            port: new_port(ports.map(|ports| ports.trim_start_matches(':')), words),
        },
        // A map or a prefix is more than an address.
        (_, Some(target)) if !words.contains(&"map") && !words.contains(&"prefix") => {
            source(target, words)
        }
        _ => NewSource {
            address: SourceAddress::Unknown,
            port: SourcePort::Any,
        },
    }
}

/// The value behind `ct mark set`.
pub(super) fn connmark(statement: &mut Statement<'_, '_, '_>) -> Target {
    let start = statement.at;
    let read = constant(statement)
        .map(|value| Target::SetConnMark {
            value,
            mask: u32::MAX,
        })
        .or_else(|| {
            statement.at = start;
            statement.eat("meta");
            statement.eat("mark").then_some(Target::SaveMark {
                nfmask: u32::MAX,
                ctmask: u32::MAX,
            })
        });
    let goes_on = statement.peek().is_some_and(|next| {
        ["&", "|", "^", "and", "or", "xor", "map", "<<", ">>", "."]
            .iter()
            .any(|sign| next.is(sign))
    });
    match read {
        Some(target) if !goes_on => target,
        _ => {
            statement.at = start;
            statement.skip_value();
            Target::ChangeConnMark
        }
    }
}

fn local(to: NatTo) -> NatTo {
    match to {
        NatTo::Destination(None, port) => NatTo::Local(port),
        NatTo::Map(lookup, all) => NatTo::Map(lookup, all.into_iter().map(local).collect()),
        _ => NatTo::Unknown,
    }
}

/// What stands behind `to`: a constant, or a map of fields.
fn target(statement: &mut Statement<'_, '_, '_>) -> Option<NatTo> {
    let start = statement.at;
    let _ = statement.eat(":");
    if let Some(subjects) = subjects(statement)
        && statement.eat("map")
    {
        return mapped(statement, &subjects);
    }
    statement.at = start;
    let text = statement.word()?.text;
    Some(destination(text))
}

fn mapped(statement: &mut Statement<'_, '_, '_>, subjects: &[Subject]) -> Option<NatTo> {
    let fields: Vec<Masked> = subjects.iter().map(Subject::masked).collect();
    let (set, name, elements) = statement.set(&fields)?;
    let to = elements
        .iter()
        .map(|element| match data_words(element).as_slice() {
            [address] => destination(address),
            [address, port] => match (address.parse(), port.parse()) {
                (Ok(address), Ok(port)) => NatTo::Destination(Some(address), Some(port)),
                _ => NatTo::Unknown,
            },
            _ => NatTo::Unknown,
        })
        .collect();
    Some(NatTo::Map(Box::new(Lookup { fields, set, name }), to))
}

/// The value behind `meta mark set`, as bits that are kept and bits that are flipped.
pub(super) fn mark(statement: &mut Statement<'_, '_, '_>) -> Target {
    let start = statement.at;
    let read = mark_value(statement);
    // A map or a shift behind what was read makes another value of it.
    let more = ["map", "<<", ">>", "."];
    let goes_on = statement
        .peek()
        .is_some_and(|next| more.iter().any(|sign| next.is(sign)));
    match read {
        Some(target) if !goes_on => target,
        _ => {
            statement.at = start;
            statement.skip_value();
            Target::LoseMark
        }
    }
}

fn mark_value(statement: &mut Statement<'_, '_, '_>) -> Option<Target> {
    if statement.eat("ct") {
        if !statement.eat("mark") {
            return None;
        }
        let masked = statement.eat("&") || statement.eat("and");
        let ctmask = if masked {
            constant(statement)?
        } else {
            u32::MAX
        };
        // What else is made of it is not followed.
        let more = statement
            .peek()
            .is_some_and(|next| CHANGES.iter().any(|sign| next.is(sign)));
        return (!more).then_some(Target::RestoreMark {
            nfmask: u32::MAX,
            ctmask,
        });
    }
    // `meta mark`, or `mark` as iptables-nft's rules are shown.
    let (mut keep, mut flip) = if statement.eat("meta") || statement.peek()?.is("mark") {
        if !statement.eat("mark") {
            return None;
        }
        (u32::MAX, 0)
    } else {
        (0, constant(statement)?)
    };
    loop {
        if statement.eat("&") || statement.eat("and") {
            let bits = constant(statement)?;
            keep &= bits;
            flip &= bits;
        } else if statement.eat("|") || statement.eat("or") {
            let bits = constant(statement)?;
            keep &= !bits;
            flip = (flip & !bits) ^ bits;
        } else if statement.eat("^") || statement.eat("xor") {
            flip ^= constant(statement)?;
        } else {
            break;
        }
    }
    Some(Target::SetMark {
        value: flip,
        mask: !keep,
    })
}

fn constant(statement: &mut Statement<'_, '_, '_>) -> Option<u32> {
    u32::try_from(number(statement.word()?.text)?).ok()
}
