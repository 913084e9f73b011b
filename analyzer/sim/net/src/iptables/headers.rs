//! Matches on bits of headers: `tos`, `dscp`, `ecn`, `tcpmss`, `--tcp-option`.

use std::sync::Arc;

use super::values;
use crate::condition::Test;
use crate::condition::field::Field;
use crate::condition::lookup::{Lookup, Masked};
use crate::condition::program::Program;
use crate::condition::set::{Element, Piece, Set};
use crate::header::{Bits, class};
use crate::packet::Family;

/// The match of a module with its options, and whether it is negated.
pub(super) fn read(text: &str, family: Family) -> Option<(bool, Test)> {
    let words: Vec<&str> = text.split(' ').filter(|word| *word != "!").collect();
    let negated = text.contains(" ! ");
    let service = match family {
        Family::V4 => Bits::network(8, 8),
        Family::V6 => Bits::network(4, 8),
    };
    let bits = |field: Field, mask: u128, value: u128| {
        let field = Masked {
            field,
            mask: Some(mask),
        };
        lookup(field, Piece::Range(value, value))
    };
    let test = match words.as_slice() {
        ["tos", "--tos", value] => {
            let (value, mask) = values::masked(value)?;
            // Without a mask the bits of congestion count as well.
            let mask = if mask == u32::MAX { 0xff } else { mask };
            bits(Field::Bits(service), mask.into(), value.into())
        }
        ["dscp", "--dscp", value] => {
            let value: u128 = values::number(value)?.into();
            bits(Field::Bits(service), 0xfc, value << 2)
        }
        ["dscp", "--dscp-class", name] => bits(Field::Bits(service), 0xfc, class(name)? << 2),
        ["ecn", "--ecn-ip-ect", value] => {
            bits(Field::Bits(service), 0x03, values::number(value)?.into())
        }
        ["tcpmss", "--mss", _] => some_option(),
        _ => return None,
    };
    Some((negated, test))
}

/// `ttl --ttl-eq 1`, `hl --hl-lt 5` and their kin.
pub(super) fn ttl(text: &str) -> Option<Test> {
    let words: Vec<&str> = text.split(' ').filter(|word| *word != "!").collect();
    let [_, option, value] = words.as_slice() else {
        return None;
    };
    let value: u8 = value.parse().ok()?;
    match option
        .trim_start_matches("--ttl-")
        .trim_start_matches("--hl-")
    {
        "eq" => Some(Test::Ttl(value, value)),
        "lt" => value.checked_sub(1).map(|high| Test::Ttl(0, high)),
        "gt" => value.checked_add(1).map(|low| Test::Ttl(low, u8::MAX)),
        _ => None,
    }
}

/// The program of `u32` or `bpf`, and whether it is negated.
pub(super) fn program(text: &str) -> (bool, Option<Program>) {
    for (option, read) in [
        (" --u32 ", Program::u32 as fn(&str) -> Option<Program>),
        (" --bytecode ", Program::bpf),
    ] {
        if let Some((before, program)) = text.split_once(option) {
            return (before.contains('!'), read(program.trim()));
        }
    }
    (false, None)
}

/// The TCP header has options; which they are is not known.
pub(super) fn some_option() -> Test {
    lookup(Masked::from(Field::TcpOptions), Piece::Range(1, u128::MAX))
}

fn lookup(field: Masked, piece: Piece) -> Test {
    Test::Lookup(Lookup {
        fields: vec![field],
        set: Arc::new(Set::new(vec![Element::new(vec![piece])])),
        name: String::new(),
    })
}
