//! The journal: kernel, kubelet, container runtimes, distributions' services and NVIDIA daemons, one file a unit, as
//! JSON lines with chosen fields. Where there is no journal, the end of the old log files.
//!
//! When a unit's journal is larger than its share, the newest part counts: the size of its records is measured from
//! the newest backwards until the share is full, and the records from there on are then taken in their order. Nothing is held
//! in memory or on disk for it, and the usual case needs one pass.

mod files;
mod older;
mod query;

use std::collections::BTreeSet;
use std::time::Duration;

use casefile_bundle::Entry;
use chrono::{DateTime, Utc};

use casefile_bundle::sources as about;

use crate::exec::{self, Call};
use crate::host::Host;
use crate::out::{OutError, Room};
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::take::{Need, Tally};

use query::{Query, micros_of};

/// A unit's share.
const UNIT_BYTES: u64 = 48 << 20;
/// The share of kernel messages from before the time asked for.
const EARLIER_BYTES: u64 = 16 << 20;
/// Where journal files lie.
const PLACES: [&str; 2] = ["/var/log/journal", "/run/log/journal"];

/// The journal.
pub static SOURCE: Source = Source {
    about: &about::JOURNAL,
    timeout: Duration::from_secs(120),
    max_bytes: 192 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let ids = [
        "journal-units",
        "journal-boots",
        "journal",
        "journal-newest",
    ];
    let mut items: Vec<_> = ids.iter().filter_map(|id| ctx.command(id)).collect();
    items.extend(ctx.commands(&["dmesg"]));
    items.extend(
        PLACES
            .iter()
            .map(|place| PlanItem::file(format!("{place}/*"))),
    );
    items.extend(files::reads().map(PlanItem::file));
    items
}

/// Whether a unit's messages help to explain a broken GPU node.
fn wanted(unit: &str) -> bool {
    const STEMS: [&str; 29] = [
        "containerd",
        "cri-",
        "crio",
        "docker",
        "chrony",
        "dkms",
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
        "openibd",
        "rke2",
        "snap.k8s.",
        "snap.microk8s.",
        "systemd-networkd",
        "systemd-resolved",
        "systemd-modules-load",
        "systemd-oomd",
        "systemd-timesyncd",
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
        tally.add(ctx.files(files::crashes).await);
        let lasting = ctx
            .host
            .on_thread(|host| !journal_files(host, PLACES[0]).is_empty())
            .await
            .unwrap_or(false);
        if got == 0 || !lasting {
            let old = ctx.files(files::old_logs).await;
            let found = old.taken > 0;
            tally.add(old);
            if found && got == 0 {
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
    let units = match units(ctx, &place, tally).await {
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
            until: "",
            boot: "",
            most: UNIT_BYTES,
        };
        match query.take(ctx).await {
            Ok(true) => got += 1,
            Ok(false) => ctx
                .out
                .note(format!("journal of {name}: no records in that time")),
            Err(what) => tally.broken(&ctx.out, format!("journal of {name}: {what}")),
        }
    }
    got += earlier(ctx, &place, &since, tally).await;
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

/// Kernel messages of this boot and the one before that are older than the time asked for: how the driver was loaded,
/// and what the machine said before it went down. Says how many files that gave.
async fn earlier(ctx: &SourceCtx, place: &str, since: &str, tally: &mut Tally) -> usize {
    let mut got = 0;
    let until = format!("--until={since}");
    let boots = boots(ctx, place, tally).await;
    for (index, boot) in boots.iter().enumerate() {
        if ctx.cancel.is_cancelled() {
            break;
        }
        let (name, boot) = (
            format!("kernel-earlier-{index}"),
            format!("_BOOT_ID={boot}"),
        );
        let query = Query {
            name: &name,
            matching: "_TRANSPORT=kernel",
            place,
            since: "@0",
            until: &until,
            boot: &boot,
            most: EARLIER_BYTES,
        };
        match query.take(ctx).await {
            Ok(found) => got += usize::from(found),
            Err(what) => tally.broken(&ctx.out, format!("journal of {name}: {what}")),
        }
    }
    if !ctx.cancel.is_cancelled() {
        match older::take(ctx, place, since, &boots).await {
            Ok(found) => got += usize::from(found),
            Err(what) => tally.broken(&ctx.out, format!("journal of kernel-older: {what}")),
        }
    }
    got
}

/// The newest boot and the one before it, newest first.
async fn boots(ctx: &SourceCtx, place: &str, tally: &mut Tally) -> Vec<String> {
    let Ok(call) = call("journal-boots") else {
        return Vec::new();
    };
    let call = call.with("place", place).on_files();
    match ctx.exec.output(&call, &ctx.cancel, 1 << 20).await {
        Ok((ended, bytes)) => {
            if ended.cut {
                tally.broken(
                    &ctx.out,
                    format!("{}: its output was cut", ctx.exec.line(&call)),
                );
            }
            let list = String::from_utf8_lossy(&bytes);
            if let Err(error) = keep_boots(ctx, &list).await {
                ctx.out.note(error.to_string());
            }
            newest_boots(&list)
        }
        Err(error) => {
            tally.broken(&ctx.out, error.to_string());
            Vec::new()
        }
    }
}

/// Boots that the bundle names.
const MOST_BOOTS: usize = 200;

/// Writes the newest boots of the list, each with the times of its first and last entry.
async fn keep_boots(ctx: &SourceCtx, list: &str) -> Result<(), OutError> {
    let boots: Vec<&str> = list.lines().rev().take(MOST_BOOTS).collect();
    let mut text: String = boots.iter().rev().flat_map(|line| [*line, "\n"]).collect();
    if newest_boots(list).is_empty() {
        return Ok(());
    }
    text.truncate(text.trim_end().len() + 1);
    let path = ctx.out.path(Entry::Printed, "journal-boots");
    let origin = Some("journalctl --list-boots".to_owned());
    ctx.out
        .put(path, Content::Text, origin, text.as_bytes())
        .await
}

/// The last two of `-1 0123456789abcdef0123456789abcdef Mon 2026-...` lines, newest first.
fn newest_boots(list: &str) -> Vec<String> {
    let ids = list.lines().rev().filter_map(|line| {
        let mut fields = line.split_whitespace();
        fields.next()?.parse::<i64>().ok()?;
        let id = fields.next()?;
        let whole = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        whole.then(|| id.to_owned())
    });
    ids.take(2).collect()
}

/// Journal files at a place, in a machine's folder or beside it.
fn journal_files(host: &Host, place: &str) -> Vec<String> {
    let mut found = host.glob(&format!("{place}/*/*.journal"));
    found.extend(host.glob(&format!("{place}/*.journal")));
    found
}

/// How many folders have journals under another id than this machine's: journalctl by itself shows none of them. A clone's
/// id changes at its first boot, and a container has another id than the node whose journal is mounted into it.
fn of_other_ids(host: &Host, place: &str) -> usize {
    let own = host.read_text("/etc/machine-id").unwrap_or_default();
    let is_id = |name: &str| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let names = host.names(place).unwrap_or_default();
    let others = names
        .iter()
        .filter(|name| is_id(name) && name.as_str() != own.trim());
    others
        .filter(|name| !host.glob(&format!("{place}/{name}/*.journal")).is_empty())
        .count()
}

/// The argument that says which journal is meant; empty for the running machine's.
fn place(ctx: &SourceCtx, tally: &mut Tally) -> Option<String> {
    let found = PLACES
        .iter()
        .find(|place| !journal_files(&ctx.host, place).is_empty());
    match found {
        Some(place) if ctx.host.is_live() => Some(match of_other_ids(&ctx.host, place) {
            0 => String::new(),
            others => {
                let kept = if others == 1 {
                    "one other machine-id is"
                } else {
                    "other machine-ids are"
                };
                ctx.out.note(format!("{place}: journals of {kept} read as well: the id has changed, or the disk is a copy"));
                format!("--directory={place}")
            }
        }),
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

async fn units(
    ctx: &SourceCtx,
    place: &str,
    tally: &mut Tally,
) -> Result<BTreeSet<String>, String> {
    let call = call("journal-units")?.with("place", place).on_files();
    let run = ctx.exec.output(&call, &ctx.cancel, 4 << 20).await;
    let (ended, bytes) = run.map_err(|error| error.to_string())?;
    if ended.code != Some(0) && bytes.is_empty() && !ended.cut {
        return Err(format!("journalctl: {}", ended.complaint()));
    }
    if ended.cut {
        tally.broken(
            &ctx.out,
            format!("{}: its output was cut", ctx.exec.line(&call)),
        );
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
        && let Ok(call) = call("journal-newest")
    {
        let blanks = [("match", ""), ("since", "@0"), ("until", ""), ("boot", "")];
        let call = blanks
            .iter()
            .fold(call.with("place", place), |call, (name, value)| {
                call.with(name, value)
            })
            .on_files();
        let mut first = Vec::new();
        let read = ctx.exec.run(&call, &ctx.cancel, |piece| {
            first.extend_from_slice(piece);
            if first.contains(&b'\n') || first.len() > 1 << 20 {
                Room::Full
            } else {
                Room::More
            }
        });
        // Without an answer the time is now; the queries themselves will say what is wrong.
        let _ = read.await;
        let record = first
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        end = micros_of(record)
            .and_then(|micros| DateTime::from_timestamp_micros(i64::try_from(micros).ok()?))
            .unwrap_or(end);
    }
    let seconds = i64::try_from(ctx.options.since.as_secs()).unwrap_or(i64::MAX);
    format!("@{}", end.timestamp().saturating_sub(seconds).max(0))
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
    fn the_two_newest_boots_are_read_from_the_list() {
        let (one, two, three) = ("a".repeat(32), "b".repeat(32), "c".repeat(32));
        let list = format!(
            "IDX BOOT ID FIRST ENTRY LAST ENTRY\n -2 {one} Mon 2026-11-16 10:00:00 UTC\n -1 {two} Tue\n  0 {three} Wed\n"
        );
        assert_eq!(newest_boots(&list), [three, two]);
        assert_eq!(newest_boots("No journal files were found.\n"), [""; 0]);
    }
}
