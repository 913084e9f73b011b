//! Taking parts: how node sources copy a file or keep a command's output, and how they add up what is missing.

use std::collections::BTreeSet;
use std::io::Read;

use casefile_bundle::Entry;

use crate::exec::{self, Call, ExecError};
use crate::host::{Host, HostError, Stat};
use crate::out::{Out, Room};
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{PlanCtx, PlanItem, SourceCtx};

/// The most of one configuration file.
pub const FILE_CAP: u64 = 8 << 20;

/// How much a part matters to its source's outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Its absence makes the source partial.
    Wanted,
    /// Its absence is noted and otherwise normal (not every host has it).
    Optional,
}

/// What a source took and what is missing.
#[derive(Debug, Default)]
pub struct Tally {
    /// Parts taken.
    pub taken: usize,
    /// Parts that are there and could not be taken, or were cut.
    pub broken: Vec<String>,
    /// Wanted parts that are not there.
    pub absent: Vec<String>,
}

impl Tally {
    /// A part could not be taken, or not whole.
    pub fn broken(&mut self, out: &Out, what: impl Into<String>) {
        let what = what.into();
        out.note(what.clone());
        self.broken.push(what);
    }

    /// A part is not there.
    pub fn absent(&mut self, out: &Out, need: Need, what: impl Into<String>) {
        let what = what.into();
        out.note(what.clone());
        if need == Need::Wanted {
            self.absent.push(what);
        }
    }

    /// Another part's tally.
    pub fn add(&mut self, other: Self) {
        self.taken += other.taken;
        self.broken.extend(other.broken);
        self.absent.extend(other.absent);
    }

    /// What all of it comes to. `nothing` says what it means when nothing at all was found.
    pub fn outcome(self, nothing: &str) -> Outcome {
        let missing: Vec<_> = self.broken.iter().chain(&self.absent).collect();
        let first = missing.first().map(|text| text.as_str());
        let more = match missing.len() {
            0 | 1 => String::new(),
            n => format!(" (and {} more, see the notes)", n - 1),
        };
        match (self.taken, first) {
            (0, _) if self.broken.is_empty() => Outcome::skipped(first.map_or_else(
                || nothing.to_owned(),
                |first| format!("{nothing}: {first}{more}"),
            )),
            (0, first) => Outcome::failed(format!("{}{more}", first.unwrap_or(nothing))),
            (_, None) => Outcome::Collected,
            (_, Some(first)) => Outcome::partial(format!("{first}{more}")),
        }
    }
}

/// Copies a host file to `rootfs/`, noting in `files.json` what became of it.
pub fn copy(host: &Host, out: &Out, path: &str, need: Need, tally: &mut Tally) -> bool {
    let log = out.files();
    let link = host.read_link(path);
    if log
        .outcome(path)
        .is_some_and(|known| matches!(known.as_str(), "copied" | "truncated"))
    {
        tally.taken += 1;
        return true;
    }
    match copy_bytes(host, out, path) {
        Ok((stat, cut)) => {
            log.record(
                path,
                if cut { "truncated" } else { "copied" },
                Some(stat),
                link,
            );
            tally.taken += 1;
            if cut {
                tally.broken(out, format!("{path}: only its beginning was taken"));
            }
            true
        }
        Err(error) => {
            log.record(
                path,
                error.word(),
                host.metadata(path).ok().as_ref().map(Stat::from),
                link,
            );
            if error.is_absent() {
                if need == Need::Wanted {
                    tally.absent(out, need, error.sentence());
                }
            } else {
                tally.broken(out, error.sentence());
            }
            false
        }
    }
}

fn copy_bytes(host: &Host, out: &Out, path: &str) -> Result<(Stat, bool), HostError> {
    let failed = |source| HostError::Io {
        path: path.to_owned(),
        source,
    };
    let file = host.open(path)?;
    let stat = Stat::from(&file.metadata().map_err(failed)?);
    let mut limited = file.take(FILE_CAP);
    let content = if path.ends_with(".jsonl") {
        Content::JsonLines
    } else {
        Content::Text
    };
    let mut entry = out.entry(
        out.path(Entry::Rootfs, path),
        content,
        Some(path.to_owned()),
    );
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0_u64;
    loop {
        let read = match limited.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => {
                entry.discard();
                return Err(failed(error));
            }
        };
        total += read as u64;
        match entry.write(&buffer[..read]) {
            Ok(Room::More) => {}
            Ok(Room::Full) | Err(_) => break,
        }
    }
    if total >= FILE_CAP {
        entry.truncated(format!(
            "byte limit of one file reached ({FILE_CAP} bytes); the beginning was kept"
        ));
    }
    let cut = entry.is_truncated();
    entry
        .finish_blocking()
        .map_err(|error| failed(std::io::Error::other(error)))?;
    Ok((stat, cut))
}

/// Copies all files that these paths and globs name. A plain path that is absent is recorded as absent.
pub fn copy_all(host: &Host, out: &Out, patterns: &[&str], tally: &mut Tally) {
    let mut seen = BTreeSet::new();
    for pattern in patterns {
        if !pattern.contains(['*', '?', '[']) {
            if host.metadata(pattern).is_ok_and(|meta| meta.is_dir()) {
                out.files().record(pattern, "noted", None, None);
            } else if seen.insert((*pattern).to_owned()) {
                copy(host, out, pattern, Need::Optional, tally);
            }
            continue;
        }
        for path in host.glob(pattern) {
            let is_file = host.metadata(&path).is_ok_and(|meta| meta.is_file());
            if is_file && seen.insert(path.clone()) {
                copy(host, out, &path, Need::Optional, tally);
            }
        }
    }
}

impl SourceCtx {
    /// Runs blocking work over the host's files on its own thread, with a fresh tally.
    pub async fn files(
        &self,
        work: impl FnOnce(&Host, &Out, &mut Tally) + Send + 'static,
    ) -> Tally {
        let out = self.out.clone();
        let done = self
            .host
            .afresh()
            .on_thread(move |host| {
                let mut tally = Tally::default();
                work(host, &out, &mut tally);
                for path in host.hung() {
                    let named = tally.broken.iter().any(|what| what.contains(&path));
                    if !named {
                        tally.broken(&out, HostError::Hung { path }.sentence());
                    }
                }
                tally
            })
            .await;
        done.unwrap_or_else(|| {
            let mut tally = Tally::default();
            tally.broken(
                &self.out,
                "reading files failed inside the collector (a bug)",
            );
            tally
        })
    }

    /// Runs a command of the table without blanks and keeps its output. True when it ran and succeeded.
    pub async fn command(&self, id: &str, need: Need, tally: &mut Tally) -> bool {
        match exec::find(id) {
            Some(spec) => self.call(&Call::new(spec), need, tally).await,
            None => {
                tally.broken(
                    &self.out,
                    format!("{id} is not in the table of commands (a bug)"),
                );
                false
            }
        }
    }

    /// Runs a command and keeps its output as `commands/<id>.out`, and what it complained of as `<id>.err`.
    pub async fn call(&self, call: &Call, need: Need, tally: &mut Tally) -> bool {
        let spec = call.spec();
        let file = spec
            .file
            .map_or_else(|| format!("{}.out", spec.id), str::to_owned);
        let line = self.exec.line(call);
        let path = self.out.path(Entry::Command, &file);
        let mut entry = self.out.entry(path, Content::Text, Some(line.clone()));
        let mut printed = 0_usize;
        let ran = self
            .exec
            .run(call, &self.cancel, |piece| {
                printed += piece.len();
                entry.write(piece).unwrap_or(Room::Full)
            })
            .await;
        let (good, complaint, stderr) = match &ran {
            Ok(ended) if ended.code == Some(0) => (true, None, ended.stderr.clone()),
            Ok(ended) if ended.cut => {
                entry.truncated(format!(
                    "output limit of {} bytes reached; the beginning was kept",
                    spec.max_bytes
                ));
                (
                    true,
                    Some(format!("{line}: its output was cut")),
                    ended.stderr.clone(),
                )
            }
            Ok(ended) => (
                false,
                Some(format!("{line}: {}", ended.complaint())),
                ended.stderr.clone(),
            ),
            Err(error) => {
                entry.truncated(error.to_string());
                (false, Some(error.to_string()), Vec::new())
            }
        };
        if good || printed > 0 {
            tally.taken += usize::from(good);
            if let Err(error) = entry.finish().await {
                tally.broken(&self.out, format!("{line}: {error}"));
            }
        } else {
            entry.discard();
        }
        self.errors(spec.id, &line, &ran, &stderr).await;
        match (complaint, &ran) {
            (None, _) => {}
            (Some(what), Err(ExecError::NotInstalled { .. } | ExecError::NotLive { .. })) => {
                tally.absent(&self.out, need, what);
            }
            (Some(what), _) if need == Need::Optional && no_such_thing(&stderr) => {
                tally.absent(&self.out, need, what);
            }
            (Some(what), _) => tally.broken(&self.out, what),
        }
        good
    }

    /// Keeps standard error, and where a command did not end by itself, the sentence that says so.
    async fn errors(
        &self,
        id: &str,
        line: &str,
        ran: &Result<exec::Ended, ExecError>,
        stderr: &[u8],
    ) {
        let text = match ran {
            Err(ExecError::NotInstalled { .. } | ExecError::NotLive { .. }) => return,
            Err(error) => format!("{error}\n").into_bytes(),
            Ok(_) if stderr.is_empty() => return,
            Ok(_) => stderr.to_vec(),
        };
        let file = format!("{id}.err");
        let path = self.out.path(Entry::Command, &file);
        if let Err(error) = self
            .out
            .put(path, Content::Text, Some(line.to_owned()), &text)
            .await
        {
            self.out
                .note(format!("{line}: its error output is lost: {error}"));
        }
    }
}

/// Whether a command's complaint says that its subject does not exist on this host (no systemd, no such table in the
/// kernel) rather than that it may not be seen.
fn no_such_thing(stderr: &[u8]) -> bool {
    const SAYS: &[&str] = &[
        "not been booted with systemd",
        "Failed to connect to bus: No such file",
        "Failed to connect to system scope bus",
        "system_bus_socket: No such file",
        "Table does not exist",
        "do you need to insmod",
        "FirewallD is not running",
        "Protocol not supported",
        "Cannot talk to daemon",
        "Cannot connect to the Docker daemon",
        "EFI variables are not supported",
        "Module nvidia not found",
        "resolve1.service not found",
        "Failed to activate service 'org.freedesktop.resolve1'",
        "cannot communicate with server",
        // Hardware that this machine does not have, and daemons that do not run here.
        "Failed to connect to devlink",
        "Could not open device at /dev/ipmi",
        "No memory controller data",
        "No sensors found",
        "No SMBIOS nor DMI entry point",
        "unable to establish a connection to the specified host",
        "Failed to open NETLINK_RDMA socket",
    ];
    let text = String::from_utf8_lossy(stderr);
    !text.contains("Permission denied")
        && !text.contains("ermitted")
        && SAYS.iter().any(|said| text.contains(said))
}

impl PlanCtx<'_> {
    /// A command of the table as the plan shows it, its blanks as blanks.
    pub fn command(&self, id: &str) -> Option<PlanItem> {
        let spec = exec::find(id);
        debug_assert!(spec.is_some(), "{id} is not in the table of commands");
        let spec = spec?;
        Some(self.call(&Call::new(spec)))
    }

    /// A command with its blanks filled in, as the plan shows it.
    pub fn call(&self, call: &Call) -> PlanItem {
        PlanItem::Command {
            program: self.exec.program(call),
            line: self.exec.line(call),
        }
    }

    /// Several commands; none for another machine's disk, where none would run.
    pub fn commands<'a>(&'a self, ids: &'a [&'a str]) -> impl Iterator<Item = PlanItem> + 'a {
        let ids = if self.options.live() { ids } else { &[] };
        ids.iter().filter_map(|id| self.command(id))
    }
}
