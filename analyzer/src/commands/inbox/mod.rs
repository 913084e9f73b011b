//! `inbox`: every bundle that arrives gets a report, and one page shows them all.

mod page;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use casefile_fleet::entry::{Entry, Index};
use casefile_fleet::hook::{Hooks, Ticket};
use casefile_fleet::inbox::{Inbox, InboxError, Pass, Settings, replace};
use casefile_fleet::store::Store;

use super::Exit;
use super::fleet::{may_pass, note, plural, quiet, work};
use crate::cli::InboxArgs;

pub(super) fn run(
    args: &InboxArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let work = work(&args.work)?;
    let from = Store::open(&args.input, false)?;
    let settings = Settings {
        jobs: work.jobs,
        program: work.program,
        limits: work.limits,
        max_size: work.max_size,
        settle: Duration::from_secs(args.settle),
        judge: work.judge,
    };
    let mut inbox = Inbox::open(&args.output, settings)?;
    let hooks = Hooks {
        command: args.hook.clone(),
        webhook: args.webhook.clone(),
    };
    let mut waits = 0;
    let mut untold = BTreeSet::new();
    loop {
        let mut pass = match inbox.look(&from, &note) {
            Ok(pass) => pass,
            // Somebody who watches an inbox overnight wants it to outlive a server's restart.
            Err(error) if args.follow => {
                writeln!(errors, "warning: {error}; trying again in {} s", args.every)?;
                std::thread::sleep(Duration::from_secs(args.every));
                continue;
            }
            Err(InboxError::Store(error)) if may_pass(&error) => {
                writeln!(errors, "error: {error}")?;
                return Ok(Exit::Input);
            }
            Err(error) => return Err(error.into()),
        };
        let entries = inbox.entries()?;
        tell(&inbox, &hooks, &entries, &mut untold, &mut pass);
        if let Err(error) = publish(&inbox, &entries, &pass) {
            pass.failed
                .insert("index.html".to_owned(), error.to_string());
        }
        tell_pass(&pass, &entries, out)?;
        out.flush()?;
        // A look that only waits is followed by another; an upload without an end does not hold it for ever.
        let waiting = !pass.arriving.is_empty() && waits < WAITS;
        if args.follow {
            std::thread::sleep(Duration::from_secs(args.every));
        } else if waiting {
            waits += 1;
            std::thread::sleep(Duration::from_secs(args.settle.max(1)));
        } else {
            for (input, bytes) in &pass.arriving {
                writeln!(
                    out,
                    "still arriving: {} ({bytes} bytes); run it again when it is there",
                    quiet(input)
                )?;
            }
            return Ok(if pass.failed.is_empty() {
                Exit::Done
            } else {
                Exit::Input
            });
        }
    }
}

/// Looks that a run without `--follow` waits for uploads.
const WAITS: u32 = 3;

fn tell_pass(pass: &Pass, entries: &[Entry], out: &mut dyn Write) -> std::io::Result<()> {
    for id in &pass.written {
        if let Some(entry) = entries.iter().find(|entry| entry.id == *id) {
            writeln!(
                out,
                "{}: {} -> reports/{id}/",
                quiet(&entry.input),
                quiet(&entry.title)
            )?;
        }
    }
    if !pass.quarantined.is_empty() {
        let count = plural(pass.quarantined.len() as u64, "input");
        writeln!(out, "{count} quarantined; index.html has the reasons")?;
    }
    for (what, why) in &pass.failed {
        writeln!(out, "failed: {}: {}", quiet(what), quiet(why))?;
    }
    Ok(())
}

/// Time after which hooks that fail are left to the next look: a receiver that is down must not hold up the analysis.
const TELLING: Duration = Duration::from_secs(60);

/// Tells whoever asked for it of every report that was not told of. Those that failed before come last, so that one
/// ticket which nobody takes does not keep the others back.
fn tell(
    inbox: &Inbox,
    hooks: &Hooks,
    entries: &[Entry],
    untold: &mut BTreeSet<String>,
    pass: &mut Pass,
) {
    if hooks.is_empty() {
        return;
    }
    // The oldest first, as they happened.
    let mut order: Vec<&Entry> = entries.iter().rev().collect();
    order.sort_by_key(|entry| untold.contains(&entry.id));
    let start = Instant::now();
    let (mut failed, mut left) = (false, 0);
    for entry in order {
        let folder = inbox.folder().join("reports").join(&entry.id);
        if hooks.has_told(&folder) {
            continue;
        }
        if failed && start.elapsed() > TELLING {
            left += 1;
            continue;
        }
        match hooks.tell(&folder, &ticket(entry, entries, &folder)) {
            Ok(()) => {
                untold.remove(&entry.id);
            }
            Err(why) => {
                failed = true;
                untold.insert(entry.id.clone());
                pass.failed.insert(format!("hook for {}", entry.input), why);
            }
        }
    }
    if left > 0 {
        let reports = plural(left, "report");
        let why = format!("{reports} not told of yet, as others failed; told with the next look");
        pass.failed.insert("hooks".to_owned(), why);
    }
}

fn ticket<'e>(entry: &'e Entry, entries: &'e [Entry], folder: &Path) -> Ticket<'e> {
    let same = |other: &&Entry| {
        !entry.causes.is_empty()
            && other.fingerprint() == entry.fingerprint()
            && (&other.when, &other.id) < (&entry.when, &entry.id)
    };
    let before = entries.iter().filter(same).map(|other| other.id.as_str());
    Ticket {
        schema: "casefile.inbox-ticket/1",
        id: &entry.id,
        entry,
        seen_before: before.take(20).collect(),
        report: folder.display().to_string(),
        text: std::fs::read_to_string(folder.join("report.txt")).unwrap_or_default(),
    }
}

fn publish(inbox: &Inbox, entries: &[Entry], pass: &Pass) -> anyhow::Result<()> {
    let mut index = Index::of(entries);
    index.quarantine = inbox.quarantined()?;
    index.arriving.clone_from(&pass.arriving);
    index.duplicates.clone_from(&pass.duplicates);
    index.failed.clone_from(&pass.failed);
    let html = page::render(&index)?;
    replace(&inbox.folder().join("index.html"), html.as_bytes())?;
    Ok(())
}
