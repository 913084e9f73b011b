//! Tasks that wait in the kernel and processes that hold devices, as the collector listed them.

use std::collections::BTreeMap;

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;

use super::super::node_json::parse_each;
use super::super::{Document, Parsed, Parser, Read};
use super::quoted;
use crate::facts::machine::{DeviceHolder, WaitingTask};

/// Reads `nodes/<node>/host/tasks.json`.
pub(in crate::parsers) static TASKS: Parser = Parser {
    id: "waiting-tasks",
    reads: &[Entry::Host(ANY, "tasks.json")],
    read: Read::Whole(parse_tasks),
};

/// Reads `nodes/<node>/host/device-holders.json`.
pub(in crate::parsers) static HOLDERS: Parser = Parser {
    id: "device-holders",
    reads: &[Entry::Host(ANY, "device-holders.json")],
    read: Read::Whole(parse_holders),
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Task {
    pid: u64,
    comm: String,
    state: String,
    wchan: Option<String>,
    still: bool,
    stack: Vec<String>,
}

fn parse_tasks(document: &Document<'_>) -> Parsed {
    parse_each(document, "task", |task: Task, place, object, parsed| {
        // It has gone on since the collector first looked.
        if task.state != "D" {
            return;
        }
        let mut modules: Vec<String> = task.stack.iter().filter_map(|line| module(line)).collect();
        modules.sort();
        modules.dedup();
        let data = WaitingTask {
            node: document.node.to_owned(),
            pid: task.pid,
            comm: task.comm,
            wchan: task.wchan.unwrap_or_default(),
            still: task.still,
            innermost: task
                .stack
                .first()
                .map(|line| function(line))
                .unwrap_or_default(),
            modules,
        };
        parsed.facts.push(quoted(place, object, data));
    })
}

/// `[<0>] rpm_resume+0x1/0x20 [nvidia]` gives `rpm_resume`.
fn function(line: &str) -> String {
    let text = line.trim().trim_start_matches("[<0>]").trim_start();
    let end = text.find(['+', ' ']).unwrap_or(text.len());
    text[..end].to_owned()
}

/// The module at the end of a line of a stack.
fn module(line: &str) -> Option<String> {
    let (_, name) = line.trim().strip_suffix(']')?.rsplit_once(" [")?;
    Some(name.to_owned())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Holder {
    pid: u64,
    comm: String,
    cgroup: Option<String>,
    devices: BTreeMap<String, u64>,
}

fn parse_holders(document: &Document<'_>) -> Parsed {
    parse_each(
        document,
        "process",
        |holder: Holder, place, object, parsed| {
            let cgroup = holder.cgroup.unwrap_or_default();
            let data = DeviceHolder {
                node: document.node.to_owned(),
                pid: holder.pid,
                comm: holder.comm,
                in_pod: cgroup.contains("kubepods"),
                cgroup,
                devices: holder.devices.into_keys().collect(),
            };
            parsed.facts.push(quoted(place, object, data));
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{facts, read};
    use super::*;

    const TASKS_TEXT: &str = "{\"tasks\":[\n\
        {\"pid\":77,\"tid\":78,\"comm\":\"cuda-EvtHandlr\",\"state\":\"D\",\"wchan\":\"rpm_resume\",\"still\":true,\
        \"stack\":[\"[<0>] os_acquire_mutex+0x33/0x60 [nvidia]\",\"[<0>] do_syscall_64+0x5b/0x80\"]},\n\
        {\"pid\":80,\"tid\":80,\"comm\":\"jbd2\",\"state\":\"S\",\"wchan\":null,\"still\":false,\"stack\":[]}\n]}\n";

    #[test]
    fn a_task_that_hangs_in_the_driver_names_its_place_and_its_module() {
        let tasks = facts::<WaitingTask>(&TASKS, "nodes/n1/host/tasks.json", TASKS_TEXT);
        assert_eq!(tasks.len(), 1, "one of them went on");
        let task = &tasks[0].data;
        assert_eq!(task.innermost, "os_acquire_mutex");
        assert_eq!(task.modules, ["nvidia"]);
        assert!(task.still && task.wchan == "rpm_resume");
        assert_eq!(tasks[0].place.line, Some(2));
    }

    #[test]
    fn a_holder_says_whether_it_is_a_pods() {
        let text = "{\"processes\":[\n{\"pid\":9,\"comm\":\"python\",\"cgroup\":\"0::/kubepods.slice/pod1\",\
            \"devices\":{\"/dev/nvidia0\":2,\"/dev/nvidiactl\":1}},\n{\"pid\":\"x\"}\n]}\n";
        let path = "nodes/n1/host/device-holders.json";
        let holders = facts::<DeviceHolder>(&HOLDERS, path, text);
        assert_eq!(holders.len(), 1);
        assert!(holders[0].data.in_pod);
        assert_eq!(holders[0].data.devices, ["/dev/nvidia0", "/dev/nvidiactl"]);
        assert_eq!(read(&HOLDERS, path, text).problems.len(), 1);
    }
}
