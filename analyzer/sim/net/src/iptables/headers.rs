//! Matches on bits of headers: `tos`, `dscp`, `ecn`, `tcpmss`, `--tcp-option`.

use std::sync::Arc;

use super::values;
use crate::condition::Test;
use crate::condition::field::{Counted, Field};
use crate::condition::lookup::{Lookup, Masked};
use crate::condition::program::Program;
use crate::condition::set::{Element, Piece, Set};
use crate::header::{Bits, class};
use crate::packet::Family;

/// `devgroup ! --src-group 0x2 --dst-group 0xc/0xc`: holds for interfaces of these groups. Interfaces are in group 0 unless
/// somebody puts them into another, which no capture shows.
pub(super) fn groups(text: &str) -> Option<Test> {
    let mut words = text.split(' ').skip(1).peekable();
    let mut answer = true;
    while words.peek().is_some() {
        let negated = words.next_if(|word| *word == "!").is_some();
        words.next_if(|word| matches!(*word, "--src-group" | "--dst-group"))?;
        let (group, mask) = match words.next()? {
            "default" => (0, u32::MAX),
            value => values::masked(value)?,
        };
        answer &= (group & mask == 0) != negated;
    }
    let assumption = "no interface is in a group of its own".to_owned();
    Some(Test::Assumed { answer, assumption })
}

/// `statistic --mode nth --every 1`, `--mode random --probability 1.0`: what holds for every packet or for none.
pub(super) fn statistic(text: &str) -> Option<bool> {
    let words: Vec<&str> = text.split(' ').filter(|word| *word != "!").collect();
    let value = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1).copied()
    };
    let holds = match value("--mode")? {
        "nth" => (value("--every")? == "1").then_some(true)?,
        "random" => {
            let digits = value("--probability")?.trim_end_matches('0');
            match digits {
                "1." | "1" => true,
                "0." | "" => false,
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(holds != text.contains("! "))
}

/// The match of a module with its options, and whether it is negated.
pub(super) fn read(text: &str, family: Family) -> Option<(bool, Test)> {
    let words: Vec<&str> = text.split(' ').filter(|word| *word != "!").collect();
    let negated = text.contains(" ! ");
    let service = match family {
        Family::V4 => Bits::network(8, 8),
        Family::V6 => Bits::network(4, 8),
    };
    let bits = |field: Field, mask: u128, value: u128| {
        let field = Masked::bits(field, mask);
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
        ["tcpmss", "--mss", _] => some_option(),
        ["realm", "--realm", value] => {
            let (value, mask) = values::masked(value)?;
            bits(Field::RouteClass, mask.into(), value.into())
        }
        ["connbytes", options @ ..] => connbytes(options)?,
        _ => return None,
    };
    Some((negated, test))
}

/// `ecn --ecn-tcp-ece ! --ecn-tcp-cwr --ecn-ip-ect 2`: all that is asked, each with whether it is negated.
pub(super) fn congestion(text: &str, family: Family) -> Option<Vec<(bool, Test)>> {
    let mut all = Vec::new();
    let mut negated = false;
    let mut words = text.split(' ').skip(1);
    while let Some(word) = words.next() {
        let flag = |bit| Test::TcpFlags {
            mask: bit,
            set: bit,
        };
        let test = match word {
            "!" => {
                negated = true;
                continue;
            }
            "--ecn-tcp-ece" => flag(0x40),
            "--ecn-tcp-cwr" => flag(0x80),
            "--ecn-ip-ect" => {
                let from = if family == Family::V4 { 14 } else { 10 };
                let value = u128::from(values::number(words.next()?)?);
                let field = Masked::from(Field::Bits(Bits::network(from, 2)));
                lookup(field, Piece::Range(value, value))
            }
            _ => return None,
        };
        all.push((std::mem::take(&mut negated), test));
    }
    Some(all)
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
    let sought = [" --string ", " --hex-string "];
    let found = sought.into_iter().find_map(|option| text.find(option));
    match found {
        Some(at) => (text[..at].contains('!'), Program::text(&text[at + 1..])),
        None => (false, None),
    }
}

/// `--connbytes 10:20 --connbytes-mode packets --connbytes-dir both`.
fn connbytes(options: &[&str]) -> Option<Test> {
    let value = |name: &str| {
        let at = options.iter().position(|option| *option == name)?;
        options.get(at + 1).copied()
    };
    let counted = Counted::parse(value("--connbytes-mode")?)?;
    let answers = match value("--connbytes-dir")? {
        "original" => Some(false),
        "reply" => Some(true),
        "both" => None,
        _ => return None,
    };
    let (low, high) = value("--connbytes")?
        .split_once(':')
        .unwrap_or((value("--connbytes")?, ""));
    let low: u128 = low.parse().ok()?;
    let high = match high {
        "" => u128::MAX,
        high => high.parse().ok()?,
    };
    let field = Masked::from(Field::Counted(counted, answers));
    (low <= high).then(|| lookup(field, Piece::Range(low, high)))
}

/// The TCP header has options; which they are is not known.
pub(super) fn some_option() -> Test {
    lookup(Masked::from(Field::TcpOptions), Piece::Range(1, u128::MAX))
}

fn lookup(field: Masked, piece: Piece) -> Test {
    Test::Lookup(Box::new(Lookup {
        fields: vec![field],
        set: Arc::new(Set::new(vec![Element::new(vec![piece])])),
        name: String::new(),
    }))
}
