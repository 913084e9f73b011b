//! Options of `conntrack` on the connection itself.

use super::values;
use crate::condition::Test;
use crate::connection::TupleSide;
use crate::packet::Protocol;

/// `--ctstatus CONFIRMED,SEEN_REPLY`: any of these bits is set; of `NONE` none ever is.
pub(super) fn status(value: &str) -> Option<Test> {
    let mut mask = 0;
    for name in value.split(',') {
        mask |= match name {
            "NONE" => 0,
            "EXPECTED" => 0x01,
            "SEEN_REPLY" => 0x02,
            "ASSURED" => 0x04,
            "CONFIRMED" => 0x08,
            _ => return None,
        };
    }
    Some(Test::StatusBits(Box::new(mask)))
}

/// `--ctproto`, `--ctdir` and the addresses and ports of a connection; others are not evaluated.
pub(super) fn connection(option: &str, value: &str) -> Option<Test> {
    let words = option.strip_prefix("--ct")?;
    if words == "proto" {
        return Protocol::parse(value).map(Test::TupleProtocol);
    }
    if words == "dir" {
        return match value {
            "ORIGINAL" => Some(Test::Direction { reply: false }),
            "REPLY" => Some(Test::Direction { reply: true }),
            _ => None,
        };
    }
    let (answers, rest) = match words.strip_prefix("orig") {
        Some(rest) => (false, rest),
        None => (true, words.strip_prefix("repl")?),
    };
    let (destination, rest) = match rest.strip_prefix("dst") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix("src")?),
    };
    let side = TupleSide {
        answers,
        destination,
    };
    match rest {
        "" => values::address_list(value).map(|ranges| Test::TupleAddress(side, ranges)),
        "port" => values::ports(value).map(|ranges| Test::TuplePort(side, ranges)),
        _ => None,
    }
}
