//! `systemctl status UNIT`, as people and other tools print it: a head, then the end of the unit's journal.

use casefile_bundle::{ANY, Entry};
use regex::Captures;

use super::super::{Document, Parsed, Parser, Read};
use super::{stated, with_lines};
use crate::facts::AnyFact;
use crate::facts::machine::Unit;
use crate::form::Form;

/// Reads each unit of such an output.
pub(in crate::parsers) static UNIT_STATUS: Parser = Parser {
    id: "unit-status",
    reads: &[
        Entry::Printed(ANY, "*systemctl-status*"),
        Entry::Printed(ANY, "*systemctl_status*"),
    ],
    read: Read::Whole(parse),
};

static HEAD: Form = Form::new(concat!(
    r"^[^\w\s] (?P<unit>[\w@.:\\-]+\.(?:service|socket|timer|mount|target|path|slice|scope|device|swap))",
    r"(?: - .*)?$",
));
static LOADED: Form =
    Form::new(r"^\s+Loaded: (?P<load>[\w-]+)(?: \((?:[^;)]*; )?(?P<enabled>[\w-]+)?)?");
static ACTIVE: Form = Form::new(concat!(
    r"^\s+Active: (?P<active>[\w-]+)(?: \((?P<sub>[\w-]+)\))?(?: \(Result: (?P<result>[\w-]+)\))?",
    r"(?: since (?P<since>[^;]+))?",
));
static MAIN: Form =
    Form::new(r"^\s+Main PID: \d+ .*\(code=(?P<code>\w+), (?:status|signal)=(?P<status>\d+)?");

fn parse(document: &Document<'_>) -> Parsed {
    let mut facts: Vec<AnyFact> = Vec::new();
    let mut open: Option<(u32, Unit)> = None;
    let lines = document.text.lines().zip(1u32..);
    for (line, number) in lines {
        if let Some(head) = HEAD.captures(line) {
            facts.extend(open.take().and_then(|(at, unit)| fact(document, at, unit)));
            let unit = Unit {
                node: document.node.to_owned(),
                name: part(&head, "unit"),
                ..Unit::default()
            };
            open = Some((number, unit));
        } else if let Some((_, unit)) = open.as_mut() {
            fill(unit, line);
        }
    }
    facts.extend(open.and_then(|(at, unit)| fact(document, at, unit)));
    with_lines(document, facts)
}

/// Takes what one line of the head says; the journal below it begins no line so.
fn fill(unit: &mut Unit, line: &str) {
    if let Some(found) = LOADED.captures(line).filter(|_| unit.load.is_empty()) {
        unit.load = part(&found, "load");
        if unit.load == "loaded" {
            unit.enabled = part(&found, "enabled");
        }
    } else if let Some(found) = ACTIVE.captures(line).filter(|_| unit.active.is_empty()) {
        unit.active = part(&found, "active");
        unit.sub = part(&found, "sub");
        unit.result = part(&found, "result");
        unit.since = part(&found, "since").trim().to_owned();
    } else if let Some(found) = MAIN.captures(line) {
        unit.ended = part(&found, "code");
        unit.status = part(&found, "status").parse().unwrap_or(0);
    }
}

fn fact(document: &Document<'_>, number: u32, unit: Unit) -> Option<AnyFact> {
    let said = match unit.sub.as_str() {
        "" => format!("{}: {}", unit.name, unit.active),
        sub => format!("{}: {} ({sub})", unit.name, unit.active),
    };
    (!unit.active.is_empty()).then(|| stated(document, number, &said, unit))
}

fn part(found: &Captures<'_>, name: &str) -> String {
    found
        .name(name)
        .map_or(String::new(), |one| one.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn units_of_all_states_are_read_and_their_journal_is_not() {
        let text = "\u{25cb} nvidia-fabricmanager.service - NVIDIA fabric manager service\n     \
            Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; disabled; vendor preset: enabled)\n     \
            Active: inactive (dead)\n\n\
            \u{d7} kubelet.service - kubelet: The Kubernetes Node Agent\n     \
            Loaded: loaded (/lib/systemd/system/kubelet.service; enabled; preset: enabled)\n     \
            Active: activating (auto-restart) (Result: exit-code) since Fri 2026-11-20 10:00:00 UTC; 3s ago\n    \
            Process: 812 ExecStart=/usr/bin/kubelet (code=exited, status=1/FAILURE)\n   \
            Main PID: 812 (code=exited, status=1/FAILURE)\n\n\
            Nov 20 10:00:00 n1 kubelet[812]: Active: nonsense\n\
            * gone.service\n   Loaded: not-found (Reason: Unit gone.service not found.)\n   Active: inactive (dead)\n\
            \u{25cf} up.service - Up\n   Loaded: loaded (/x; static)\n   Active: active (running) since Thu\n Main PID: 7 (up)\n";
        let path = "nodes/n1/commands/usr-bin-systemctl-status-x.out";
        let units = facts::<Unit>(&UNIT_STATUS, path, text);
        let told: Vec<(&str, &str, &str, &str)> = units
            .iter()
            .map(|one| &one.data)
            .map(|one| {
                (
                    one.name.as_str(),
                    one.active.as_str(),
                    one.sub.as_str(),
                    one.enabled.as_str(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (
                    "nvidia-fabricmanager.service",
                    "inactive",
                    "dead",
                    "disabled"
                ),
                ("kubelet.service", "activating", "auto-restart", "enabled"),
                ("gone.service", "inactive", "dead", ""),
                ("up.service", "active", "running", "static"),
            ]
        );
        assert_eq!(units[1].data.result, "exit-code");
        assert_eq!(
            (units[1].data.ended.as_str(), units[1].data.status),
            ("exited", 1)
        );
        assert_eq!(units[2].data.load, "not-found");
        assert_eq!(units[0].place.line, Some(1));
    }
}
