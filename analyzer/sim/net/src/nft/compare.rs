//! The relation and the right side of a match: `== 22`, `!= { 80, 443 }`, `& 0xff == 0x10`, `established,related`.

use std::sync::Arc;

use super::chain::Statement;
use super::tokens::Token;
use super::values::{number, piece, single};
use crate::condition::field::Field;
use crate::condition::lookup::Masked;
use crate::condition::set::{Element, Piece, Set};

pub(super) enum Compared {
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

/// The relation and the right side of a match.
pub(super) fn compare(
    statement: &mut Statement<'_, '_, '_>,
    fields: &[Masked],
) -> Option<Compared> {
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
pub(super) fn value_list(statement: &mut Statement<'_, '_, '_>, field: Field) -> Option<u128> {
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
