//! The journal: kernel, kubelet, container runtimes, distributions' services and NVIDIA daemons, one file a unit, as
//! JSON lines with chosen fields. Where there is no journal, the end of the old log files.
//!
//! When a unit's journal is larger than its share, the newest part counts: the size of its records is measured from
//! the newest backwards until the share is full, and that many records are then taken in their order. Nothing is held
//! in memory or on disk for it, and the usual case needs one pass.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::exec::{self, Call, ExecError};
use crate::host::Host;
use crate::newest::take_newest;
use crate::out::{Out, Room};
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Scope, Source, SourceCtx};
use crate::take::{Need, Tally};

/// A unit's share.
const UNIT_BYTES: u64 = 48 << 20;
/// An old log file's share.
const FILE_BYTES: u64 = 16 << 20;
/// Read where there is no journal.
const OLD_LOGS: [&str; 6] = [
    "/var/log/kern.log",
    "/var/log/syslog",
    "/var/log/messages",
    "/var/log/ufw.log",
    "/var/log/kubelet.log",
    "/var/log/containerd.log",
];
/// Where journal files lie.
const PLACES: [&str; 2] = ["/var/log/journal", "/run/log/journal"];

/// The journal.
pub static SOURCE: Source = Source {
    id: "journal",
    title: "System journal",
    scope: Scope::Node,
    timeout: Duration::from_secs(120),
    max_bytes: 192 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let ids = ["journal-units", "journal", "journal-newest", "journal-tail"];
    let mut items: Vec<_> = ids.iter().filter_map(|id| ctx.command(id)).collect();
    items.extend(ctx.commands(&["dmesg"]));
    items.extend(
        PLACES
            .iter()
            .map(|place| PlanItem::file(format!("{place}/*"))),
    );
    items.extend(OLD_LOGS.iter().map(|path| PlanItem::file(*path)));
    items
}

/// Whether a unit's messages help to explain a broken GPU node.
fn wanted(unit: &str) -> bool {
    const STEMS: [&str; 24] = [
        "containerd",
        "cri-",
        "crio",
        "docker",
        "dnsmasq",
        "etcd",
        "firewalld",
        "gpu",
        "k0s",
        "k3s",
        "kube",
        "nftables",
        "nv-",
        "nvidia",
        "rke2",
        "snap.k8s.",
        "snap.microk8s.",
        "systemd-networkd",
        "systemd-resolved",
        "systemd-oomd",
        "NetworkManager",
        "ufw",
        "iptables",
        "netfilter",
    ];
    let service = unit.ends_with(".service");
    service
        && (STEMS.iter().any(|stem| unit.starts_with(stem))
            || unit.contains("containerd")
            || unit.contains("kubelet"))
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let mut tally = Tally::default();
        let got = journal(&ctx, &mut tally).await;
        if got == 0 {
            let old = ctx.files(old_logs).await;
            let found = old.taken > 0;
            tally.add(old);
            if found {
                tally.absent(
                    &ctx.out,
                    Need::Wanted,
                    "there is no journal; old log files were taken instead",
                );
            }
        }
        if ctx.host.is_live() {
            ctx.command("dmesg", Need::Optional, &mut tally).await;
        }
        tally.outcome("there is neither a journal nor a log file")
    })
}

/// Takes the journal; says how many units gave something.
async fn journal(ctx: &SourceCtx, tally: &mut Tally) -> usize {
    let Some(place) = place(ctx, tally) else {
        return 0;
    };
    let units = match units(ctx, &place).await {
        Ok(units) => units,
        Err(what) => {
            tally.absent(&ctx.out, Need::Wanted, what);
            return 0;
        }
    };
    let since = since(ctx, &place).await;
    let mut got = 0;
    let kernel = ("kernel".to_owned(), "_TRANSPORT=kernel".to_owned());
    let wanted = units
        .iter()
        .map(|unit| (unit.clone(), format!("--unit={unit}")));
    for (name, matching) in std::iter::once(kernel).chain(wanted) {
        if ctx.cancel.is_cancelled() {
            tally.broken(
                &ctx.out,
                format!("journal of {name}: not read, the time was up"),
            );
            continue;
        }
        let query = Query {
            name: &name,
            matching: &matching,
            place: &place,
            since: &since,
        };
        match query.take(ctx).await {
            Ok(true) => got += 1,
            Ok(false) => ctx
                .out
                .note(format!("journal of {name}: no records in that time")),
            Err(what) => tally.broken(&ctx.out, format!("journal of {name}: {what}")),
        }
    }
    tally.taken += got;
    if got == 0 {
        tally.absent(
            &ctx.out,
            Need::Wanted,
            "journalctl: no records of the kernel or a unit of interest were found",
        );
    }
    got
}

/// The argument that says which journal is meant; empty for the running machine's.
fn place(ctx: &SourceCtx, tally: &mut Tally) -> Option<String> {
    let found = PLACES
        .iter()
        .find(|place| !ctx.host.glob(&format!("{place}/*/*.journal")).is_empty());
    let flat = PLACES
        .iter()
        .find(|place| !ctx.host.glob(&format!("{place}/*.journal")).is_empty());
    match found.or(flat) {
        Some(_) if ctx.host.is_live() => Some(String::new()),
        Some(place) => {
            let real = ctx.host.resolve(place).ok()?;
            Some(format!("--directory={}", real.display()))
        }
        None => {
            let what = "journalctl: no journal files were found (looked in /var/log/journal and /run/log/journal)";
            tally.absent(&ctx.out, Need::Wanted, what);
            None
        }
    }
}

async fn units(ctx: &SourceCtx, place: &str) -> Result<BTreeSet<String>, String> {
    let call = call("journal-units")?.with("place", place).on_files();
    let run = ctx.exec.output(&call, &ctx.cancel, 4 << 20).await;
    let (ended, bytes) = run.map_err(|error| error.to_string())?;
    if ended.code != Some(0) && bytes.is_empty() && !ended.cut {
        return Err(format!("journalctl: {}", ended.complaint()));
    }
    let text = String::from_utf8_lossy(&bytes);
    let units = text
        .lines()
        .map(str::trim)
        .filter(|unit| wanted(unit) && !unit.starts_with('-'));
    Ok(units.map(str::to_owned).collect())
}

fn call(id: &str) -> Result<Call, String> {
    exec::find(id)
        .map(Call::new)
        .ok_or_else(|| format!("{id} is not in the table of commands (a bug)"))
}

/// The earliest time wanted. On another machine's disk it counts from the newest record, for the machine may have
/// died long ago.
async fn since(ctx: &SourceCtx, place: &str) -> String {
    let mut end = Utc::now();
    if !ctx.host.is_live()
        && let Ok(call) = call("journal-tail")
    {
        let call = call
            .with("place", place)
            .with("match", "")
            .with("lines", "1")
            .with("since", "@0")
            .on_files();
        let newest = ctx.exec.output(&call, &ctx.cancel, 1 << 20).await.ok();
        end = newest.and_then(|(_, bytes)| time_of(&bytes)).unwrap_or(end);
    }
    let seconds = i64::try_from(ctx.options.since.as_secs()).unwrap_or(i64::MAX);
    format!("@{}", end.timestamp().saturating_sub(seconds).max(0))
}

fn time_of(record: &[u8]) -> Option<DateTime<Utc>> {
    let value: serde_json::Value =
        serde_json::from_slice(record.split(|b| *b == b'\n').next()?).ok()?;
    let micros: i64 = value.get("__REALTIME_TIMESTAMP")?.as_str()?.parse().ok()?;
    DateTime::from_timestamp_micros(micros)
}

/// One file's worth of journal.
struct Query<'a> {
    name: &'a str,
    matching: &'a str,
    place: &'a str,
    since: &'a str,
}

impl Query<'_> {
    fn call(&self, id: &str) -> Result<Call, String> {
        let call = call(id)?
            .with("place", self.place)
            .with("match", self.matching)
            .with("since", self.since);
        Ok(call.on_files())
    }

    /// True when there were records.
    async fn take(&self, ctx: &SourceCtx) -> Result<bool, String> {
        let share = UNIT_BYTES.min(ctx.out.room());
        if share < 4096 {
            return Err(
                "the byte limit of the source was used up by the units before it".to_owned(),
            );
        }
        match self
            .stream(ctx, &self.call("journal")?, share, None)
            .await?
        {
            Streamed::Nothing => return Ok(false),
            Streamed::Whole => return Ok(true),
            Streamed::TooMuch => {}
        }
        let lines = self.fitting(ctx, share - share / 50).await?;
        let call = self.call("journal-tail")?.with("lines", &lines.to_string());
        let why = format!("byte limit of {share} bytes; the newest {lines} records were kept");
        ctx.out.note(format!("journal of {}: {why}", self.name));
        // Records that came meanwhile may push it over the share again; then its end is cut.
        let streamed = self.stream(ctx, &call, share, Some(&why)).await?;
        Ok(!matches!(streamed, Streamed::Nothing))
    }

    async fn stream(
        &self,
        ctx: &SourceCtx,
        call: &Call,
        share: u64,
        cut: Option<&str>,
    ) -> Result<Streamed, String> {
        let file = format!("{}.json", self.name);
        let path = ctx.out.node_path(["journal", file.as_str()]);
        let mut entry = ctx
            .out
            .entry(path, Content::JsonLines, Some(ctx.exec.line(call)));
        let mut bytes = 0_u64;
        let ran = ctx
            .exec
            .run(call, &ctx.cancel, |piece| {
                bytes += piece.len() as u64;
                let room = entry.write(piece).unwrap_or(Room::Full);
                if bytes > share { Room::Full } else { room }
            })
            .await;
        if let Ok(ended) = &ran
            && ended.cut
            && cut.is_none()
        {
            entry.discard();
            return Ok(Streamed::TooMuch);
        }
        if bytes == 0 {
            entry.discard();
            return match ran {
                Ok(ended) if ended.code == Some(0) => Ok(Streamed::Nothing),
                // Nothing matched: older journalctl says so with 1.
                Ok(ended) if ended.code == Some(1) && ended.stderr.is_empty() => {
                    Ok(Streamed::Nothing)
                }
                Ok(ended) => Err(format!("journalctl: {}", ended.complaint())),
                Err(error) => Err(error.to_string()),
            };
        }
        if let Some(why) = cut {
            entry.truncated(why);
        }
        let trouble = trouble(&ran);
        if let Some(what) = &trouble {
            entry.truncated(what.clone());
        }
        entry.finish().await.map_err(|error| error.to_string())?;
        trouble.map_or(Ok(Streamed::Whole), Err)
    }

    /// How many of the newest records fit into `share` bytes; at least one.
    async fn fitting(&self, ctx: &SourceCtx, share: u64) -> Result<u64, String> {
        let (mut bytes, mut lines) = (0_u64, 0_u64);
        let call = self.call("journal-newest")?;
        let counted = ctx
            .exec
            .run(&call, &ctx.cancel, |piece| {
                bytes += piece.len() as u64;
                if bytes > share {
                    return Room::Full;
                }
                lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
                Room::More
            })
            .await;
        counted.map_err(|error| error.to_string())?;
        Ok(lines.max(1))
    }
}

enum Streamed {
    Nothing,
    Whole,
    TooMuch,
}

fn trouble(ran: &Result<exec::Ended, ExecError>) -> Option<String> {
    match ran {
        Ok(ended) if ended.cut || ended.code == Some(0) => None,
        Ok(ended) => Some(format!("journalctl: {}", ended.complaint())),
        Err(error) => Some(error.to_string()),
    }
}

fn old_logs(host: &Host, out: &Out, tally: &mut Tally) {
    take_newest(host, out, &OLD_LOGS, FILE_BYTES, tally);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_a_gpu_node_are_wanted_and_others_are_not() {
        for unit in [
            "kubelet.service",
            "containerd.service",
            "snap.k8s.containerd.service",
            "k3s-agent.service",
            "nvidia-fabricmanager.service",
            "docker.service",
            "ufw.service",
            "my-containerd.service",
        ] {
            assert!(wanted(unit), "{unit}");
        }
        for unit in [
            "ssh.service",
            "cron.service",
            "kubelet.slice",
            "user@0.service",
            "init.scope",
        ] {
            assert!(!wanted(unit), "{unit}");
        }
    }

    #[test]
    fn the_time_of_a_record_is_read() {
        let record = b"{\"__REALTIME_TIMESTAMP\":\"1700000000000000\"}\n{";
        assert_eq!(
            time_of(record).map(|time| time.timestamp()),
            Some(1_700_000_000)
        );
        assert_eq!(time_of(b"nonsense"), None);
    }
}
