//! Tasks in uninterruptible sleep, with the place in the kernel where each waits, and the processes that hold devices of
//! GPUs: after a fault of a GPU they cannot be killed, and the driver cannot be unloaded while one holds a device.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use casefile_bundle::sources as about;

use crate::files::json_lines;
use crate::host::Host;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::sources::nvidia_smi::put;
use crate::sysfs::attributes;

/// Tasks that are looked at, and links of open files.
const MAX_TASKS: usize = 100_000;
const MAX_LINKS: usize = 300_000;
/// Waiting tasks that are described.
const MAX_WAITING: usize = 500;
/// A task that waits for a disk is gone from this state after a moment; one that hangs is not.
const PAUSE: Duration = Duration::from_secs(1);
/// Lines of one stack.
const MAX_STACK: usize = 40;
/// Devices whose holders are named.
const DEVICES: [&str; 5] = [
    "/dev/nvidia",
    "/dev/dri/",
    "/dev/kfd",
    "/dev/infiniband/",
    "/dev/vfio/",
];

/// Tasks and holders of devices.
pub static SOURCE: Source = Source {
    about: &about::TASKS,
    timeout: Duration::from_secs(30),
    max_bytes: 8 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    if !ctx.options.live() {
        return Vec::new();
    }
    [
        "/proc/*/task/*/stat",
        "/proc/*/task/*/wchan",
        "/proc/*/task/*/stack",
        "/proc/*/comm",
        "/proc/*/cgroup",
        "/proc/*/fd/*",
        "/sys/fs/cgroup/<of holders of GPUs>/*",
    ]
    .map(PlanItem::file)
    .into()
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        if !ctx.host.is_live() {
            return Outcome::skipped("--root names a machine that is not running");
        }
        let first = ctx.host.on_thread(waiting).await.unwrap_or_default();
        if !first.is_empty() {
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = ctx.cancel.cancelled() => {}
            }
        }
        let tally = ctx.files(move |host, out, tally| {
            let tasks = still_waiting(host, first);
            if tasks.len() == MAX_WAITING {
                tally.broken(out, format!("tasks.json: only the first {MAX_WAITING} waiting tasks are in it"));
            }
            put(out, "host/tasks.json", &json_lines("tasks", tasks), tally);
            let (holders, denied) = holders(host);
            let groups = cgroups(host, &holders);
            put(out, "host/cgroups.json", &json_lines("cgroups", groups), tally);
            if denied > 0 {
                tally.broken(out, format!("/proc/*/fd: of {denied} processes the open files may not be read (run as root)"));
            }
            put(out, "host/device-holders.json", &json_lines("processes", holders), tally);
            tally.taken += 1;
        });
        tally.await.outcome("nothing of /proc can be read")
    })
}

/// A task in uninterruptible sleep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Task {
    pid: u32,
    tid: u32,
    comm: String,
    state: char,
    /// Where in the kernel it waits.
    wchan: Option<String>,
    /// It waited in the same place a second before.
    still: bool,
    /// Innermost function first; needs root.
    stack: Vec<String>,
}

/// Pid, tid and place of each task in state D.
fn waiting(host: &Host) -> BTreeMap<(u32, u32), Option<String>> {
    let mut found = BTreeMap::new();
    let mut looked_at = 0;
    for pid in numbers(host, "/proc") {
        for tid in numbers(host, &format!("/proc/{pid}/task")) {
            looked_at += 1;
            if looked_at > MAX_TASKS || found.len() >= MAX_WAITING {
                return found;
            }
            let dir = format!("/proc/{pid}/task/{tid}");
            let stat = host.read_text(&format!("{dir}/stat")).unwrap_or_default();
            if name_and_state(&stat).is_some_and(|(_, state)| state == 'D') {
                found.insert((pid, tid), place(host, &dir));
            }
        }
    }
    found
}

fn numbers(host: &Host, dir: &str) -> Vec<u32> {
    let names = host.names(dir).unwrap_or_default();
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn place(host: &Host, dir: &str) -> Option<String> {
    let place = host.read_text(&format!("{dir}/wchan")).ok()?;
    Some(place.trim().to_owned()).filter(|place| !place.is_empty() && place != "0")
}

/// Name and state of a line of `stat`; the name may hold spaces and brackets. proc(5).
fn name_and_state(stat: &str) -> Option<(&str, char)> {
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    Some((name, after.trim_start().chars().next()?))
}

fn still_waiting(host: &Host, before: BTreeMap<(u32, u32), Option<String>>) -> Vec<Task> {
    let mut tasks = Vec::new();
    for ((pid, tid), was) in before {
        let dir = format!("/proc/{pid}/task/{tid}");
        let stat = host.read_text(&format!("{dir}/stat")).unwrap_or_default();
        let Some((comm, state)) = name_and_state(&stat) else {
            continue;
        };
        let wchan = place(host, &dir);
        let stack = host.read_text(&format!("{dir}/stack")).unwrap_or_default();
        tasks.push(Task {
            pid,
            tid,
            comm: comm.to_owned(),
            state,
            still: state == 'D' && wchan == was,
            wchan,
            stack: stack.lines().take(MAX_STACK).map(str::to_owned).collect(),
        });
    }
    tasks
}

/// A process that has a GPU's device open.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Holder {
    pid: u32,
    comm: String,
    /// Which container it belongs to.
    cgroup: Option<String>,
    /// How often each device is open.
    devices: BTreeMap<String, u32>,
}

/// Processes with open devices, and of how many processes the open files may not be read.
fn holders(host: &Host) -> (Vec<Holder>, usize) {
    let (mut holders, mut denied, mut links) = (Vec::new(), 0, 0);
    for pid in numbers(host, "/proc") {
        let dir = format!("/proc/{pid}/fd");
        let names = match host.names(&dir) {
            Ok(names) => names,
            Err(error) => {
                denied += usize::from(!error.is_absent());
                continue;
            }
        };
        let mut devices: BTreeMap<String, u32> = BTreeMap::new();
        for name in names {
            links += 1;
            if links > MAX_LINKS {
                break;
            }
            let target = host.read_link(&format!("{dir}/{name}")).unwrap_or_default();
            if DEVICES.iter().any(|device| target.starts_with(device)) {
                *devices.entry(target).or_default() += 1;
            }
        }
        if !devices.is_empty() {
            let text = |name: &str| host.read_text(&format!("/proc/{pid}/{name}")).ok();
            let line = |text: String| text.lines().next().map(str::to_owned);
            holders.push(Holder {
                pid,
                comm: text("comm").unwrap_or_default().trim().to_owned(),
                cgroup: text("cgroup").and_then(line),
                devices,
            });
        }
    }
    (holders, denied)
}

/// Control groups that are described.
const MAX_GROUPS: usize = 200;
/// Limits, use, throttling and waiting, in both versions of control groups.
const OF_GROUP: [&str; 21] = [
    "cpu.max",
    "cpu.stat",
    "cpu.pressure",
    "cpu.cfs_quota_us",
    "cpu.cfs_period_us",
    "cpuset.cpus.effective",
    "io.pressure",
    "memory.max",
    "memory.high",
    "memory.current",
    "memory.peak",
    "memory.events",
    "memory.pressure",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "memory.max_usage_in_bytes",
    "memory.failcnt",
    "memory.oom_control",
    "memory.swap.max",
    "pids.max",
    "pids.current",
];

/// The control groups of those that hold GPUs: what they may use, what they use, and how often they were held back.
fn cgroups(host: &Host, holders: &[Holder]) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for holder in holders {
        let text = host
            .read_text(&format!("/proc/{}/cgroup", holder.pid))
            .unwrap_or_default();
        for (controllers, path) in text.lines().filter_map(place_of_group) {
            if rows.len() < MAX_GROUPS && seen.insert((controllers.to_owned(), path.to_owned())) {
                let dir = format!("/sys/fs/cgroup{controllers}{path}");
                let mut row = attributes(host, &dir, &OF_GROUP);
                if row.is_empty() {
                    continue;
                }
                row.insert("cgroup".to_owned(), path.into());
                rows.push(Value::Object(row));
            }
        }
    }
    rows
}

/// Folder of the controllers and path of `0::/kubepods.slice/x` or `4:memory:/kubepods/x`; cgroups(7). The root's own
/// limits are the machine's.
fn place_of_group(line: &str) -> Option<(String, &str)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let wanted = ["", "memory", "cpu", "cpu,cpuacct", "pids"];
    let folder = match controllers {
        "" => String::new(),
        other => format!("/{other}"),
    };
    (wanted.contains(&controllers) && path.len() > 1 && !path.contains(".."))
        .then_some((folder, path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join("proc").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("77/task/77/stat", "77 (cuda (main)) S 1 77\n");
        write("77/task/78/stat", "78 (cuda-EvtHandlr) D 1 77\n");
        write("77/task/78/wchan", "rpm_resume");
        write(
            "77/task/78/stack",
            "[<0>] rpm_resume+0x1\n[<0>] nv_open_device+0x2\n",
        );
        write("77/comm", "cuda\n");
        write("77/cgroup", "0::/kubepods.slice/pod1\n");
        write("77/fd/0", "");
        let fd = dir.path().join("proc/77/fd");
        symlink("/dev/nvidia0", fd.join("3")).unwrap();
        symlink("/dev/nvidia0", fd.join("4")).unwrap();
        symlink("/etc/hosts", fd.join("5")).unwrap();
        dir
    }

    #[test]
    fn a_task_that_stays_in_the_same_place_is_said_to() {
        let dir = tree();
        let host = Host::new(dir.path());
        let tasks = still_waiting(&host, waiting(&host));
        assert_eq!(tasks.len(), 1);
        assert_eq!(
            (tasks[0].tid, tasks[0].comm.as_str(), tasks[0].still),
            (78, "cuda-EvtHandlr", true)
        );
        assert_eq!(tasks[0].wchan.as_deref(), Some("rpm_resume"));
        assert_eq!(tasks[0].stack.len(), 2);
    }

    #[test]
    fn the_group_of_a_holder_says_how_often_it_was_held_back() {
        let dir = tree();
        let group = dir.path().join("sys/fs/cgroup/kubepods.slice/pod1");
        std::fs::create_dir_all(&group).unwrap();
        std::fs::write(group.join("cpu.stat"), "nr_periods 10\nnr_throttled 9\n").unwrap();
        std::fs::write(group.join("memory.max"), "8589934592\n").unwrap();
        let host = Host::new(dir.path());
        let (holders, _) = holders(&host);
        let rows = cgroups(&host, &holders);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0]["cgroup"], "/kubepods.slice/pod1");
        assert_eq!(rows[0]["cpu.stat"]["nr_throttled"], 9);
        assert_eq!(rows[0]["memory.max"], "8589934592");
        let old = place_of_group("4:memory:/kubepods/pod2");
        assert_eq!(old, Some(("/memory".to_owned(), "/kubepods/pod2")));
        assert_eq!(place_of_group("0::/"), None);
    }

    #[test]
    fn holders_of_devices_are_named_with_their_container() {
        let dir = tree();
        let (holders, denied) = holders(&Host::new(dir.path()));
        assert_eq!(denied, 0);
        assert_eq!(
            holders[0].devices,
            BTreeMap::from([("/dev/nvidia0".to_owned(), 2)])
        );
        assert_eq!(
            holders[0].cgroup.as_deref(),
            Some("0::/kubepods.slice/pod1")
        );
    }
}
