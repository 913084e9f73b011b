//! Control groups of those that hold GPUs, and disks, as the collector gathered them.

use casefile_bundle::{ANY, Entry};

use serde::Deserialize;
use serde_json::Value;

use super::super::node_json::parse_each;
use super::super::{Document, Parsed, Parser, Read};
use super::quoted;
use crate::facts::metrics::{ControlGroup, Disk};

/// Reads `nodes/<node>/host/cgroups.json`.
pub(in crate::parsers) static GROUPS: Parser = Parser {
    id: "control-groups",
    reads: &[Entry::Host(ANY, "cgroups.json")],
    read: Read::Whole(parse_groups),
};

/// Reads `nodes/<node>/host/disks.json`.
pub(in crate::parsers) static DISKS: Parser = Parser {
    id: "disks",
    reads: &[Entry::Host(ANY, "disks.json")],
    read: Read::Whole(parse_disks),
};

/// The first version of control groups writes a limit that nobody set as the largest number of pages.
const NO_LIMIT: u64 = 1 << 62;

fn parse_groups(document: &Document<'_>) -> Parsed {
    parse_each(
        document,
        "control group",
        |group: Value, place, object, parsed| {
            let number = |name: &str| -> Option<u64> { group.get(name)?.as_str()?.parse().ok() };
            let inner = |file: &str, name: &str| group.get(file)?.get(name)?.as_u64();
            let path = group
                .get("cgroup")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let periods = inner("cpu.stat", "nr_periods").filter(|periods| *periods > 0);
            let throttled = inner("cpu.stat", "nr_throttled");
            let data = ControlGroup {
                node: document.node.to_owned(),
                path: path.to_owned(),
                in_pod: path.contains("kubepods"),
                memory_max: number("memory.max")
                    .or_else(|| number("memory.limit_in_bytes"))
                    .filter(|most| *most < NO_LIMIT),
                memory: number("memory.current").or_else(|| number("memory.usage_in_bytes")),
                oom_kills: inner("memory.events", "oom_kill")
                    .or_else(|| inner("memory.oom_control", "oom_kill"))
                    .unwrap_or(0),
                throttled_percent: throttled
                    .zip(periods)
                    .map(|(throttled, periods)| throttled.saturating_mul(100) / periods),
            };
            parsed.facts.push(quoted(place, object, data));
        },
    )
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Record {
    disk: String,
    smart: Value,
}

/// Numbers of the attributes that count sectors that are lost, or wait to be.
const LOST: [u64; 4] = [5, 187, 197, 198];

fn parse_disks(document: &Document<'_>) -> Parsed {
    parse_each(document, "disk", |record: Record, place, object, parsed| {
        let smart = &record.smart;
        let nvme = &smart["nvme_smart_health_information_log"];
        let model = smart["model_name"]
            .as_str()
            .or_else(|| smart["scsi_model_name"].as_str());
        let data = Disk {
            node: document.node.to_owned(),
            name: record.disk.clone(),
            model: model.unwrap_or_default().to_owned(),
            passed: smart["smart_status"]["passed"].as_bool(),
            worn_percent: nvme["percentage_used"].as_u64(),
            media_errors: nvme["media_errors"].as_u64().or_else(|| lost(smart)),
            temperature: smart["temperature"]["current"].as_u64(),
        };
        parsed.facts.push(quoted(place, object, data));
    })
}

fn lost(smart: &Value) -> Option<u64> {
    let table = smart["ata_smart_attributes"]["table"].as_array()?;
    let counts = table
        .iter()
        .filter(|one| one["id"].as_u64().is_some_and(|id| LOST.contains(&id)));
    Some(
        counts
            .filter_map(|one| one["raw"]["value"].as_u64())
            .fold(0, u64::saturating_add),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn a_group_that_is_held_back_says_how_often() {
        let text = "{\"cgroups\":[\n{\"cgroup\":\"/kubepods.slice/pod1\",\"cpu.stat\":{\"nr_periods\":200,\"nr_throttled\":150},\
            \"memory.max\":\"8589934592\",\"memory.current\":\"8589930000\",\"memory.events\":{\"oom\":2,\"oom_kill\":1}},\n\
            {\"cgroup\":\"/system.slice\",\"memory.max\":\"max\",\"memory.limit_in_bytes\":\"9223372036854771712\"}\n]}\n";
        let groups = facts::<ControlGroup>(&GROUPS, "nodes/n1/host/cgroups.json", text);
        let one = &groups[0].data;
        assert_eq!(
            (one.throttled_percent, one.oom_kills, one.in_pod),
            (Some(75), 1, true)
        );
        assert_eq!(one.memory_max, Some(8_589_934_592));
        assert_eq!(
            (groups[1].data.memory_max, groups[1].data.throttled_percent),
            (None, None)
        );
    }

    /// After what smartctl 7 prints in JSON for an NVMe and an ATA disk (samples of its own project), numbers changed.
    #[test]
    fn a_disk_that_wears_out_says_so() {
        let text = "{\"disks\":[\n{\"disk\":\"nvme0n1\",\"smart\":{\"json_format_version\":[1,0],\"model_name\":\"X\",\
            \"smart_status\":{\"passed\":false,\"nvme\":{\"value\":4}},\"nvme_smart_health_information_log\":\
            {\"critical_warning\":4,\"percentage_used\":112,\"media_errors\":9},\"temperature\":{\"current\":41}}},\n\
            {\"disk\":\"sda\",\"smart\":{\"smart_status\":{\"passed\":true},\"ata_smart_attributes\":{\"table\":[\
            {\"id\":5,\"name\":\"Reallocated_Sector_Ct\",\"raw\":{\"value\":16}},{\"id\":9,\"raw\":{\"value\":4273}},\
            {\"id\":197,\"name\":\"Current_Pending_Sector\",\"raw\":{\"value\":8}}]}}},\n{\"disk\":\"sdb\",\"smart\":{}}\n]}\n";
        let disks = facts::<Disk>(&DISKS, "nodes/n1/host/disks.json", text);
        let said: Vec<_> = disks
            .iter()
            .map(|one| {
                (
                    one.data.passed,
                    one.data.worn_percent,
                    one.data.media_errors,
                )
            })
            .collect();
        let expected = [
            (Some(false), Some(112), Some(9)),
            (Some(true), None, Some(24)),
            (None, None, None),
        ];
        assert_eq!(said, expected);
    }
}
