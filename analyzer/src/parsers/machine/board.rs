//! What the board's own controller (BMC) kept: its event log and its sensors, as `ipmitool` prints them.

use casefile_bundle::{ANY, Entry};
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use super::super::{Document, Parsed, Parser, Read};
use super::{QUOTED, stated, with_lines};
use crate::facts::machine::{BoardEvent, BoardSensor};
use crate::facts::{AnyFact, Fact, excerpt};

/// Reads `ipmitool sel elist`.
pub(in crate::parsers) static EVENTS: Parser = Parser {
    id: "board-events",
    reads: &[Entry::Printed(ANY, "ipmitool-sel")],
    read: Read::Whole(parse_events),
};

/// Reads `ipmitool sdr elist`.
pub(in crate::parsers) static SENSORS: Parser = Parser {
    id: "board-sensors",
    reads: &[Entry::Printed(ANY, "ipmitool-sdr")],
    read: Read::Whole(parse_sensors),
};

fn parse_events(document: &Document<'_>) -> Parsed {
    let rows = document.text.lines().zip(1u32..);
    let facts = rows.filter_map(|(line, number)| event(document, line, number));
    with_lines(document, facts.collect())
}

/// `  2a | 06/10/2014 | 16:13:06 | Power Supply PS1 Status | Power Supply AC lost | Asserted | DETAIL`.
fn event(document: &Document<'_>, line: &str, number: u32) -> Option<AnyFact> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [record, date, time, sensor, rest @ ..] = cells.as_slice() else {
        return None;
    };
    u64::from_str_radix(record, 16).ok()?;
    // Some boards put a bar into the event's own words: `Uncorrectable ECC (UnCorrectable ECC |  DIMMD7)`.
    let direction = rest
        .iter()
        .position(|word| matches!(*word, "Asserted" | "Deasserted"));
    let (event, detail) = rest.split_at(direction.unwrap_or(rest.len()));
    let event = event.join(" | ");
    if event.is_empty() {
        return None;
    }
    let data = BoardEvent {
        node: document.node.to_owned(),
        record: (*record).to_owned(),
        sensor: (*sensor).to_owned(),
        event,
        asserted: detail.first() != Some(&"Deasserted"),
        detail: detail.get(1).copied().unwrap_or_default().to_owned(),
    };
    let fact = Fact {
        data,
        place: document.line(number),
        text: excerpt(line.trim(), QUOTED).into(),
        at: moment(date, time),
    };
    Some(fact.into())
}

/// The controller's own clock, which is taken for UTC: older ipmitools print it so, newer ones name the zone. None before
/// the controller had its time (`Pre-Init`) and in other zones.
fn moment(date: &str, time: &str) -> Option<DateTime<Utc>> {
    // Two digits of the year match `%Y` too, so they are asked for first.
    let two = date.rsplit('/').next().is_some_and(|year| year.len() == 2);
    let form = if two { "%m/%d/%y" } else { "%m/%d/%Y" };
    let date = NaiveDate::parse_from_str(date, form).ok()?;
    let zone = time.rsplit(' ').next().unwrap_or_default();
    let clock = time.trim_end_matches(" UTC").trim_end_matches(" GMT");
    let known = matches!(zone, "UTC" | "GMT" | "AM" | "PM") || zone == time;
    let time = NaiveTime::parse_from_str(clock, "%H:%M:%S")
        .or_else(|_| NaiveTime::parse_from_str(clock, "%I:%M:%S %p"));
    Some(date.and_time(time.ok().filter(|_| known)?).and_utc())
}

fn parse_sensors(document: &Document<'_>) -> Parsed {
    let rows = document.text.lines().zip(1u32..);
    let facts = rows.filter_map(|(line, number)| sensor(document, line, number));
    with_lines(document, facts.collect())
}

/// `PSU2 Status      | 70h | ok  | 10.2 | Presence detected`.
fn sensor(document: &Document<'_>, line: &str, number: u32) -> Option<AnyFact> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, id, status, _, reading] = cells.as_slice() else {
        return None;
    };
    id.strip_suffix('h')?;
    let data = BoardSensor {
        node: document.node.to_owned(),
        name: (*name).to_owned(),
        status: (*status).to_owned(),
        reading: (*reading).to_owned(),
    };
    Some(stated(document, number, line, data))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{facts, read};
    use super::*;

    const LOG: &str = "   1 |  Pre-Init  |0000005906| Fan FAN1 Tach | Lower Critical going low  | Deasserted\n\
        \x20 2a | 06/10/2014 | 16:13:06 | Power Supply PS1 Status | Power Supply AC lost | Asserted\n\
        \x20 3a | 12/14/22 | 11:09:44 PM UTC | Memory #0x88 | Correctable ECC (CPU0_G1) | Asserted\n\
        \x20 3b | 12/14/22 | 23:09:44 CET | Temperature Inlet Temp | Upper Non-critical going high | Asserted | Reading 51 > Threshold 45 degrees C\n\
        \x20 3c | 03/06/2025 | 19:00:55 | Memory #0x02 | Uncorrectable ECC (UnCorrectable ECC |  DIMMD7) | Deasserted\n\
        SEL has no entries\n";

    #[test]
    fn records_keep_their_time_where_its_zone_is_known() {
        let path = "nodes/n1/commands/ipmitool-sel.out";
        let events = facts::<BoardEvent>(&EVENTS, path, LOG);
        let times: Vec<Option<String>> = events
            .iter()
            .map(|event| event.at.map(|at| at.to_rfc3339()))
            .collect();
        let known = |text: &str| Some(format!("{text}+00:00"));
        assert_eq!(
            times,
            [
                None,
                known("2014-06-10T16:13:06"),
                known("2022-12-14T23:09:44"),
                None,
                known("2025-03-06T19:00:55")
            ]
        );
        assert!(!events[0].data.asserted && events[1].data.asserted);
        assert_eq!(events[1].data.event, "Power Supply AC lost");
        assert_eq!(events[3].data.detail, "Reading 51 > Threshold 45 degrees C");
        let of_board = &events[4].data;
        assert_eq!(
            of_board.event,
            "Uncorrectable ECC (UnCorrectable ECC | DIMMD7)"
        );
        assert!(!of_board.asserted);
        assert_eq!(
            read(&EVENTS, path, LOG).said.len(),
            6,
            "lines stay searchable"
        );
    }

    #[test]
    fn sensors_keep_their_status() {
        let text = "Inlet Temp       | 05h | cr  |  7.1 | 51 degrees C\nDIMM Temp        | 33h | ns  |  8.1 | Disabled\n";
        let sensors = facts::<BoardSensor>(&SENSORS, "nodes/n1/commands/ipmitool-sdr.out", text);
        let said: Vec<_> = sensors
            .iter()
            .map(|one| (one.data.name.as_str(), one.data.status.as_str()))
            .collect();
        assert_eq!(said, [("Inlet Temp", "cr"), ("DIMM Temp", "ns")]);
    }
}
