//! `systemctl show`: blocks of `Name=value`, an empty line between two units.

use casefile_bundle::{ANY, Entry};

use super::super::{Document, Parsed, Parser, Read};
use super::{stated, with_lines};
use crate::facts::AnyFact;
use crate::facts::machine::Unit;

/// Reads the units that matter to containers and GPUs.
pub(in crate::parsers) static UNITS: Parser = Parser {
    id: "units",
    reads: &[Entry::Printed(ANY, "systemctl-show")],
    read: Read::Whole(parse),
};

fn parse(document: &Document<'_>) -> Parsed {
    let mut facts: Vec<AnyFact> = Vec::new();
    let mut block: Vec<(&str, u32)> = Vec::new();
    let lines = document.text.lines().zip(1u32..).chain([("", 0)]);
    for (line, number) in lines {
        if line.trim().is_empty() {
            facts.extend(unit(document, &std::mem::take(&mut block)));
        } else {
            block.push((line, number));
        }
    }
    with_lines(document, facts)
}

fn unit(document: &Document<'_>, block: &[(&str, u32)]) -> Option<AnyFact> {
    let value = |name: &str| {
        let mut pairs = block.iter().filter_map(|(line, _)| line.split_once('='));
        pairs
            .find(|(key, _)| *key == name)
            .map_or("", |(_, value)| value)
    };
    let text = |name: &str| value(name).to_owned();
    // A name that no unit has comes back as a block that says no more than that.
    let name = Some(value("Id")).filter(|name| !name.is_empty())?;
    // Numbers of siginfo_t's si_code: systemd prints them as they are.
    let ended = match value("ExecMainCode") {
        "1" => "exited",
        "2" => "killed",
        "3" => "dumped",
        _ => "",
    };
    let data = Unit {
        node: document.node.to_owned(),
        name: name.to_owned(),
        load: text("LoadState"),
        active: text("ActiveState"),
        sub: text("SubState"),
        result: text("Result"),
        restarts: value("NRestarts").parse().unwrap_or(0),
        ended: ended.to_owned(),
        status: value("ExecMainStatus").parse().unwrap_or(0),
        since: text("ActiveEnterTimestamp"),
        enabled: text("UnitFileState"),
    };
    let said = format!(
        "{}: {} ({}), {} restarts",
        data.name, data.active, data.sub, data.restarts
    );
    let (_, number) = block.iter().find(|(line, _)| line.starts_with("Id="))?;
    Some(stated(document, *number, &said, data))
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn a_unit_that_restarts_again_and_again_says_how_often_and_how_it_ended() {
        let text = "Result=exit-code\nNRestarts=37\nExecMainCode=1\nExecMainStatus=255\nId=kubelet.service\n\
            LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nActiveEnterTimestamp=\n\n\
            Result=success\nNRestarts=0\nExecMainCode=0\nExecMainStatus=0\nId=containerd.service\n\
            LoadState=loaded\nActiveState=active\nSubState=running\n";
        let units = facts::<Unit>(&UNITS, "nodes/n1/commands/systemctl-show.out", text);
        assert_eq!(units.len(), 2);
        let kubelet = &units[0].data;
        assert_eq!((kubelet.restarts, kubelet.status), (37, 255));
        assert_eq!(
            (kubelet.ended.as_str(), kubelet.sub.as_str()),
            ("exited", "auto-restart")
        );
        assert_eq!(units[0].place.line, Some(5));
        assert_eq!(units[1].data.ended, "");
    }
}
