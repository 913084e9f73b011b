//! Units that fail: by systemd's list, by what it states of each, and by logs that end with their failure.

use std::collections::BTreeSet;

use casefile_bundle::Entry;
use chrono::{DateTime, NaiveDateTime, Utc};

use super::Sources;
use crate::facts::Fact;
use crate::facts::failing::{Failing, UnitEnd};
use crate::facts::machine::Unit;
use crate::model::Place;
use crate::shared::Shared;

/// Units that systemd lists as failed, or that still fail at the end of a log.
pub(super) fn failing(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let mut found = Vec::new();
    let mut known: BTreeSet<(String, String)> = BTreeSet::new();
    let ends = sources.facts.table::<UnitEnd>();
    let end_of = |node: &str, unit: &str| {
        let mut ends = ends.iter();
        ends.find(|end| end.data.unit == unit && end.data.node == node)
    };
    for (path, text) in sources.documents {
        let node = crate::lines::node_of(path);
        if node.is_empty() || !path.ends_with("/commands/systemctl-failed.out") {
            continue;
        }
        for (line, number) in text.lines().zip(1u32..) {
            let Some(unit) = failed_unit(line) else {
                continue;
            };
            let end = end_of(node, unit);
            known.insert((node.to_owned(), unit.to_owned()));
            let place = Place {
                path: path.as_str().into(),
                line: Some(number),
            };
            let listed = (place, line.trim().into());
            found.push(unit_entry(node, unit, end, Some(listed)));
        }
    }
    let stated = sources.facts.table::<Unit>().iter();
    for unit in stated.filter(|unit| is_failed(&unit.data)) {
        let data = &unit.data;
        if known.insert((data.node.clone(), data.name.clone())) {
            let unit = most_telling(sources, unit);
            let end =
                end_of(&data.node, &data.name).filter(|end| is_present(&unit.data, &end.data));
            let stated = (unit.place.clone(), unit.text.clone());
            let mut entry = unit_entry(&data.node, &data.name, end, Some(stated));
            if end.is_none() {
                entry.data.since = since(&unit.data);
                if !unit.data.result.is_empty() {
                    entry.data.state = format!("failed: {}", unit.data.result);
                }
            }
            found.push(entry);
        }
    }
    for end in ends.iter().filter(|end| end.data.again) {
        let key = (end.data.node.clone(), end.data.unit.clone());
        // Where systemd was asked, its list decides.
        let asked = Entry::Printed(&end.data.node, "systemctl-failed").path();
        if !sources.documents.contains_key(&asked) && known.insert(key) {
            found.push(unit_entry(&end.data.node, &end.data.unit, Some(end), None));
        }
    }
    found
}

/// Whether systemd calls a unit failed, or starts it again and again.
fn is_failed(unit: &Unit) -> bool {
    unit.active == "failed" || unit.sub == "auto-restart"
}

/// Of what states that a unit failed, the output that says how: a list only names it.
fn most_telling<'a>(sources: &Sources<'a>, unit: &'a Fact<Unit>) -> &'a Fact<Unit> {
    let own = sources.facts.table::<Unit>().iter().filter(|one| {
        let (one, unit) = (&one.data, &unit.data);
        one.node == unit.node && one.name == unit.name && is_failed(one)
    });
    let says_how = |one: &&Fact<Unit>| !one.data.result.is_empty() && !one.data.since.is_empty();
    own.into_iter().find(says_how).unwrap_or(unit)
}

/// Whether a log's last end of a unit is the one that systemd states: it may tell of an earlier boot, in which the unit
/// failed for another reason.
fn is_present(unit: &Unit, end: &UnitEnd) -> bool {
    let result = format!("result '{}'", unit.result);
    let says_result = |line: &&String| line.contains("Failed with result '");
    let mut results = end.lines.iter().filter(says_result);
    unit.result.is_empty()
        || results
            .next_back()
            .is_none_or(|line| line.contains(&result))
}

/// Since when a unit is as it is, where systemd prints that in UTC: `Thu 2022-02-10 09:51:45 UTC`.
fn since(unit: &Unit) -> Option<DateTime<Utc>> {
    let (_, at) = unit.since.strip_suffix(" UTC")?.split_once(' ')?;
    let at = NaiveDateTime::parse_from_str(at, "%Y-%m-%d %H:%M:%S").ok()?;
    Some(at.and_utc())
}

/// The unit of a row of `systemctl list-units --failed`.
fn failed_unit(line: &str) -> Option<&str> {
    let mut words = line
        .split_whitespace()
        .filter(|word| *word != "●" && *word != "*");
    let unit = words.next().filter(|unit| unit.contains('.'))?;
    let (_, active) = (words.next()?, words.next()?);
    (active == "failed").then_some(unit)
}

fn unit_entry(
    node: &str,
    unit: &str,
    end: Option<&Fact<UnitEnd>>,
    listed: Option<(Place, Shared)>,
) -> Fact<Failing> {
    let (place, text) = match (end, listed) {
        (Some(end), _) => (end.place.clone(), end.text.clone()),
        (None, Some(listed)) => listed,
        (None, None) => (Place::default(), Shared::default()),
    };
    let times = end.map_or(0, |end| end.data.times);
    Fact {
        data: Failing {
            what: "unit".into(),
            subject: format!("unit/{unit}"),
            name: unit.to_owned(),
            node: node.to_owned(),
            state: "failed".into(),
            seen: true,
            ended: true,
            restarts: times.saturating_sub(1),
            words: end.map(|end| end.text.to_string()).unwrap_or_default(),
            message: end.map(|end| end.data.first.clone()).unwrap_or_default(),
            since: end.and_then(|end| end.data.since),
            lines: end.map(|end| end.data.lines.clone()).unwrap_or_default(),
            ..Failing::default()
        },
        place,
        text,
        at: end.and_then(|end| end.at),
    }
}
