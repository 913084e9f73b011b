//! The boots of a machine as `journalctl --list-boots` lists them: number, id, first and last entry.

use chrono::{DateTime, NaiveDateTime, Utc};

/// A boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Line of the list, from 1.
    pub line: u32,
    /// When the journal of that boot begins.
    pub began: DateTime<Utc>,
}

/// Lines read of a list.
const MOST: usize = 1000;

/// Reads the list. Times of another zone than UTC are not read: a zone's name does not tell its offset.
#[must_use]
pub fn parse(text: &str) -> Vec<Listed> {
    let lines = (1u32..).zip(text.lines()).take(MOST);
    lines
        .filter_map(|(line, text)| {
            Some(Listed {
                line,
                began: began(text)?,
            })
        })
        .collect()
}

/// `-1 0123… Fri 2026-11-20 10:00:00 UTC—Fri …`; since systemd 254 blanks stand in the place of the dash.
fn began(text: &str) -> Option<DateTime<Utc>> {
    let mut fields = text.split_whitespace();
    fields.next()?.parse::<i64>().ok()?;
    let id = fields.next()?;
    if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let (_day, date, clock) = (fields.next()?, fields.next()?, fields.next()?);
    let zone = fields.next()?.split('—').next()?;
    let at = NaiveDateTime::parse_from_str(&format!("{date} {clock}"), "%Y-%m-%d %H:%M:%S").ok()?;
    matches!(zone, "UTC" | "GMT").then(|| at.and_utc())
}
