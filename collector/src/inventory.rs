//! What most node sources are: a list of files to copy, files to note and commands to run. `plan` and `collect` work
//! on the same list, so that they cannot differ.

use crate::host::{Host, Stat};
use crate::newest::take_newest;
use crate::out::Out;
use crate::source::{PlanCtx, PlanItem, SourceCtx};
use crate::take::{Need, Tally, copy_all};

/// The most of one log file.
pub const LOG_BYTES: u64 = 4 << 20;

/// A source's list.
#[derive(Debug)]
pub struct Inventory {
    /// Ids of commands that every node has a chance to have.
    pub wanted: &'static [&'static str],
    /// Ids of commands that only some nodes have.
    pub optional: &'static [&'static str],
    /// Paths and globs of files that are copied.
    pub files: &'static [&'static str],
    /// Paths and globs of which owner, mode, size and link target are recorded, and never the content.
    pub noted: &'static [&'static str],
    /// Paths and globs of log files, of which the newest [`LOG_BYTES`] are taken.
    pub logs: &'static [&'static str],
}

impl Inventory {
    /// An empty list, to be filled with `..Inventory::EMPTY`.
    pub const EMPTY: Self = Self {
        wanted: &[],
        optional: &[],
        files: &[],
        noted: &[],
        logs: &[],
    };
}

impl Inventory {
    /// Everything on the list.
    pub fn plan(&self, ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
        let commands = ctx.commands(self.wanted).chain(ctx.commands(self.optional));
        let files = self
            .files
            .iter()
            .chain(self.noted)
            .chain(self.logs)
            .map(|path| PlanItem::file(*path));
        commands.chain(files).collect()
    }

    /// Copies, notes and runs everything on the list.
    pub async fn take(&'static self, ctx: &SourceCtx) -> Tally {
        let mut tally = ctx
            .files(|host, out, tally| {
                copy_all(host, out, self.files, tally);
                note_all(host, out, self.noted);
                take_newest(host, out, self.logs, LOG_BYTES, tally);
            })
            .await;
        for (ids, need) in [(self.wanted, Need::Wanted), (self.optional, Need::Optional)] {
            for id in ids {
                if ctx.cancel.is_cancelled() {
                    tally.broken(&ctx.out, format!("{id}: not run, the time was up"));
                    continue;
                }
                ctx.command(id, need, &mut tally).await;
            }
        }
        tally
    }
}

/// Records owner, mode, size, time and link target of everything that these paths and globs name; says how many.
pub fn note_all(host: &Host, out: &Out, patterns: &[&str]) -> usize {
    let mut noted = 0;
    for path in patterns.iter().flat_map(|pattern| host.glob(pattern)) {
        let stat = host.metadata(&path).ok().as_ref().map(Stat::from);
        let link = host.read_link(&path);
        out.files().record(&path, "noted", stat, link);
        noted += 1;
    }
    noted
}
