//! Matches on the connection: `ct state`, `ct status dnat`, `ct original ip daddr`.

use std::collections::BTreeSet;

use super::chain::Statement;
use super::expression::Subject;
use crate::condition::Test;
use crate::condition::field::{Counted, Field};
use crate::connection::TupleSide;
use crate::packet::{CtState, Family};

/// What `ct` reads.
pub(super) fn ct(statement: &mut Statement<'_, '_, '_>) -> Option<Subject> {
    Some(match statement.word()?.text {
        "state" => Subject::Field(Field::State),
        "mark" => Subject::Field(Field::ConnMark),
        "status" => Subject::Status,
        "direction" => Subject::Field(Field::Direction),
        // Both directions have the same.
        "protocol" => connected(statement, Field::Protocol),
        "l3proto" => connected(statement, Field::Family),
        "helper" => Subject::Field(Field::Helper),
        "zone" => Subject::Field(Field::Zone),
        "label" => return label(statement),
        "expiration" => Subject::Unseen("connection's time to expire, which `conntrack -L` shows,"),
        "id" => Subject::Unseen("connection's id, which `conntrack -L -o id` shows,"),
        "original" => of_side(statement, false)?,
        "reply" => of_side(statement, true)?,
        word => Subject::Field(Field::Counted(Counted::parse(word)?, None)),
    })
}

/// `ct label 127`: the connection has it; no label has a connection that no rule gives one.
fn label(statement: &mut Statement<'_, '_, '_>) -> Option<Subject> {
    let negated = if statement.eat("!=") { "! " } else { "" };
    let _ = statement.eat("==");
    let label = statement.word()?.text;
    // A list of labels, a mask, or the statement that sets one.
    let plain = |text: &str| !matches!(text, "set" | "{" | "&" | "and") && !text.starts_with('@');
    let next = statement.peek().map_or("", |next| next.text);
    if !plain(label) || matches!(next, "," | "|" | "==" | "!=") {
        return None;
    }
    connected(statement, Field::Status);
    statement.opaque("connlabel", format!("connlabel {negated}--label {label}"));
    Some(Subject::Asked)
}

/// What one direction of a connection has: an address, a port, a count.
fn of_side(statement: &mut Statement<'_, '_, '_>, answers: bool) -> Option<Subject> {
    match Counted::parse(statement.peek()?.text) {
        Some(counted) => {
            statement.word()?;
            Some(Subject::Field(Field::Counted(counted, Some(answers))))
        }
        None => tuple(statement, answers),
    }
}

/// `ct original ip saddr`, `ct reply proto-dst`; without a family (as of old) it is not told which.
fn tuple(statement: &mut Statement<'_, '_, '_>, answers: bool) -> Option<Subject> {
    let family = match statement.peek()?.text {
        "ip" => Some(Family::V4),
        "ip6" => Some(Family::V6),
        _ => None,
    };
    if family.is_some() {
        statement.word()?;
    }
    let side = |destination| TupleSide {
        answers,
        destination,
    };
    Some(match (statement.word()?.text, family) {
        ("saddr", Some(family)) => Subject::Field(Field::TupleAddress(side(false), family)),
        ("daddr", Some(family)) => Subject::Field(Field::TupleAddress(side(true), family)),
        ("zone", None) => Subject::Field(Field::Zone),
        ("protocol", None) => connected(statement, Field::Protocol),
        ("l3proto", None) => connected(statement, Field::Family),
        ("proto-src", None) => Subject::Field(Field::TuplePort(side(false))),
        ("proto-dst", None) => Subject::Field(Field::TuplePort(side(true))),
        _ => Subject::Unseen("connection"),
    })
}

/// `ct status dnat`, also as `ct status & dnat == dnat`; `None` where other bits are asked, which are compared as numbers.
pub(super) fn status(statement: &mut Statement<'_, '_, '_>) -> Option<()> {
    let start = statement.at;
    let read = translated(statement);
    if read.is_none() {
        statement.at = start;
    }
    read
}

/// What the packet has in common with its connection; a packet without one fails.
fn connected(statement: &mut Statement<'_, '_, '_>, field: Field) -> Subject {
    let states = BTreeSet::from([CtState::New, CtState::Established, CtState::Related]);
    let (snat, dnat) = (false, false);
    statement.test(false, Test::States { states, snat, dnat });
    Subject::Field(field)
}

fn translated(statement: &mut Statement<'_, '_, '_>) -> Option<()> {
    let mut negated = statement.eat("!=");
    if !negated && statement.eat("!") {
        negated = true;
    }
    let masked = statement.eat("&");
    let bit = statement.word()?.text;
    if masked {
        let same = statement.eat("==") && statement.eat(bit);
        let unset = !same && statement.eat("!=") && statement.eat("0");
        if !same && !unset {
            return None;
        }
    }
    if statement.peek().is_some_and(|next| next.is(",")) {
        return None;
    }
    if negated {
        // Without a connection the rule breaks off, whatever it asks.
        connected(statement, Field::Status);
    }
    match bit {
        "dnat" => statement.test(negated, Test::Rewritten),
        "snat" => {
            let states = BTreeSet::new();
            let (snat, dnat) = (true, false);
            statement.test(negated, Test::States { states, snat, dnat });
        }
        _ => return None,
    }
    Some(())
}
