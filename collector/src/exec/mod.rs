//! The only place that starts a process: a command of the fixed table, by absolute path, in a clean environment and
//! its own process group, its output read apart and within limits, stopped when its time is up and abandoned when it
//! cannot be stopped.

pub mod carried;
mod group;
mod table;

pub use table::{COMMANDS, Spec, find};

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::out::Room;
use group::Group;
pub(crate) use group::kill_all;

/// Where programs are looked for, in this order; never the caller's PATH.
pub const DIRS: [&str; 7] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/snap/bin",
];
/// The user and group that own nothing, on every distribution: the kernel's own number for it.
const NOBODY: u32 = 65_534;
/// What is kept of standard error.
const MAX_STDERR: usize = 256 << 10;
/// Time between asking a process to stop and forcing it, and between forcing it and giving up on it.
const GRACE: Duration = Duration::from_millis(800);

/// For what is left in the pipe of a command that has ended.
const DRAIN: Duration = Duration::from_secs(2);

/// Why a command did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// It is in none of the directories.
    #[error("{program} is not installed (looked in {looked})")]
    NotInstalled {
        /// The program's name.
        program: String,
        /// The directories.
        looked: String,
    },
    /// It would describe this machine, and the files are another's.
    #[error("{line}: not run, because --root names another machine's files")]
    NotLive {
        /// The command line.
        line: String,
    },
    /// The system would not start it.
    #[error("{line}: cannot be started: {source}")]
    Start {
        /// The command line.
        line: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Its time was up.
    #[error("{line}: no end after {seconds} s, {how}")]
    TimedOut {
        /// The command line.
        line: String,
        /// How long it ran.
        seconds: u64,
        /// Stopped, killed or abandoned.
        how: &'static str,
    },
    /// The source was told to stop.
    #[error("{line}: stopped before its end ({how})")]
    Cancelled {
        /// The command line.
        line: String,
        /// Stopped, killed or abandoned.
        how: &'static str,
    },
}

/// One command with its blanks filled in.
#[derive(Debug, Clone)]
pub struct Call {
    spec: &'static Spec,
    program: String,
    args: Vec<String>,
    file_only: bool,
}

impl Call {
    /// A command of the table.
    pub fn new(spec: &'static Spec) -> Self {
        let args = spec.args.iter().map(|arg| (*arg).to_owned()).collect();
        Self {
            spec,
            program: spec.program.to_owned(),
            args,
            file_only: false,
        }
    }

    /// Fills the blank `<name>`; with an empty value an argument that is only the blank falls away.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        let blank = format!("<{name}>");
        self.args.retain(|arg| !(value.is_empty() && *arg == blank));
        for arg in &mut self.args {
            *arg = arg.replace(&blank, value);
        }
        self.program = self.program.replace(&blank, value);
        self
    }

    /// Runs it below another root: the driver container's, which has the only nvidia-smi of many nodes.
    #[must_use]
    pub fn in_root(mut self, root: &str) -> Self {
        let program = std::mem::replace(&mut self.program, "chroot".to_owned());
        self.args.splice(0..0, [root.to_owned(), program]);
        self
    }

    /// Says that the command reads files below the root, so that it may run for another machine's disk too.
    #[must_use]
    pub fn on_files(mut self) -> Self {
        self.file_only = true;
        self
    }

    /// Its entry in the table.
    pub fn spec(&self) -> &'static Spec {
        self.spec
    }
}

/// How a command ended by itself.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it said on standard error, cut at 256 KiB.
    pub stderr: Vec<u8>,
    /// More output came than was wanted; the rest was not read.
    pub cut: bool,
}

impl Ended {
    /// `exit code 1: first line of standard error`.
    pub fn complaint(&self) -> String {
        let said = String::from_utf8_lossy(&self.stderr);
        let first = said
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("")
            .trim()
            .to_owned();
        let first: String = first.chars().take(300).collect();
        let ended = match self.code {
            Some(code) => format!("exit code {code}"),
            None => signalled(self.signal),
        };
        if first.is_empty() {
            ended
        } else {
            format!("{ended}: {first}")
        }
    }
}

/// `ended by signal 7 (bus error)`: which one it was tells a damaged library from a program that somebody stopped.
fn signalled(signal: Option<i32>) -> String {
    let Some(signal) = signal else {
        return "ended by a signal".to_owned();
    };
    let meaning = match Signal::from_named_raw(signal) {
        Some(Signal::ILL) => " (illegal instruction)",
        Some(Signal::ABORT) => " (abort)",
        Some(Signal::BUS) => " (bus error)",
        Some(Signal::KILL) => " (killed)",
        Some(Signal::SEGV) => " (segmentation fault)",
        Some(Signal::TERM) => " (terminated)",
        _ => "",
    };
    format!("ended by signal {signal}{meaning}")
}

/// Starts inspecting commands.
#[derive(Debug, Clone)]
pub struct Exec {
    dirs: Vec<PathBuf>,
    live: bool,
}

impl Exec {
    /// `live` is whether the host's files are those of this machine; `first` is searched before the fixed list.
    pub fn new(live: bool, first: Option<&Path>) -> Self {
        let fixed = DIRS.iter().map(PathBuf::from);
        Self {
            dirs: first
                .map(Path::to_path_buf)
                .into_iter()
                .chain(fixed)
                .collect(),
            live,
        }
    }

    /// The absolute path of a program, if it is installed.
    pub fn resolve(&self, program: &str) -> Option<PathBuf> {
        if program.starts_with('/') {
            return Some(PathBuf::from(program)).filter(|path| executable(path));
        }
        self.dirs
            .iter()
            .map(|dir| dir.join(program))
            .find(|path| executable(path))
    }

    /// The absolute path of a command's program, if it is installed.
    pub fn program(&self, call: &Call) -> Option<PathBuf> {
        self.resolve(&call.program)
    }

    /// The command line as `plan` prints it.
    pub fn line(&self, call: &Call) -> String {
        let program = self
            .resolve(&call.program)
            .map_or(call.program.clone(), |p| p.display().to_string());
        std::iter::once(program)
            .chain(call.args.iter().cloned())
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn not_installed(&self, program: &str) -> ExecError {
        let looked: Vec<String> = self
            .dirs
            .iter()
            .map(|dir| dir.display().to_string())
            .collect();
        ExecError::NotInstalled {
            program: program.to_owned(),
            looked: looked.join(", "),
        }
    }

    /// Runs a command. Its standard output goes to `sink` piece by piece until that says [`Room::Full`].
    pub async fn run(
        &self,
        call: &Call,
        cancel: &CancellationToken,
        mut sink: impl FnMut(&[u8]) -> Room + Send,
    ) -> Result<Ended, ExecError> {
        let line = self.line(call);
        let path = self
            .resolve(&call.program)
            .ok_or_else(|| self.not_installed(&call.program))?;
        if !self.live && !call.file_only {
            return Err(ExecError::NotLive { line });
        }
        if cancel.is_cancelled() {
            return Err(ExecError::Cancelled {
                line,
                how: "not started",
            });
        }
        let mut child = command(&path, &call.args, call.spec.as_nobody)
            .spawn()
            .map_err(|source| ExecError::Start {
                line: line.clone(),
                source,
            })?;
        let mut group = Group::of(&child);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let errors = tokio::spawn(read_capped(stderr));
        let deadline = Instant::now() + call.spec.timeout;
        let mut read = std::pin::pin!(read_into(stdout, call.spec.max_bytes, &mut sink));
        let waited = tokio::select! {
            biased;
            cut = &mut read => Waited::Read(cut),
            status = child.wait() => {
                // What it wrote is in the pipe; a child of its own may hold that open for ever.
                let cut = timeout(DRAIN, &mut read).await.unwrap_or(false);
                Waited::Ended(cut, status.ok())
            }
            () = cancel.cancelled() => Waited::Cancelled,
            () = sleep_until(deadline) => Waited::TimedOut,
        };
        let waited = match waited {
            // With its output cut, it would wait for a reader for ever.
            Waited::Read(true) => {
                group.end(&mut child, GRACE).await;
                Waited::Ended(true, None)
            }
            Waited::Read(false) => tokio::select! {
                status = timeout_at(deadline, child.wait()) => match status {
                    Ok(status) => Waited::Ended(false, status.ok()),
                    Err(_) => Waited::TimedOut,
                },
                () = cancel.cancelled() => Waited::Cancelled,
            },
            other => other,
        };
        match waited {
            Waited::Ended(cut, status) => {
                group.finish();
                // A grandchild may hold the pipe open; it is not waited for.
                let stderr = timeout(GRACE, errors)
                    .await
                    .ok()
                    .and_then(Result::ok)
                    .unwrap_or_default();
                Ok(Ended {
                    code: status.and_then(|status| status.code()),
                    signal: status.and_then(|status| status.signal()),
                    stderr,
                    cut,
                })
            }
            Waited::Cancelled => {
                let how = group.end(&mut child, GRACE).await;
                Err(ExecError::Cancelled { line, how })
            }
            _ => {
                let how = group.end(&mut child, GRACE).await;
                Err(ExecError::TimedOut {
                    line,
                    seconds: call.spec.timeout.as_secs(),
                    how,
                })
            }
        }
    }

    /// Runs a command and keeps its output, up to `cap` bytes.
    pub async fn output(
        &self,
        call: &Call,
        cancel: &CancellationToken,
        cap: usize,
    ) -> Result<(Ended, Vec<u8>), ExecError> {
        let mut bytes = Vec::new();
        let ended = self
            .run(call, cancel, |piece| {
                let fits = cap.saturating_sub(bytes.len()).min(piece.len());
                bytes.extend_from_slice(&piece[..fits]);
                if fits < piece.len() {
                    Room::Full
                } else {
                    Room::More
                }
            })
            .await?;
        Ok((ended, bytes))
    }
}

enum Waited {
    /// Standard output is over; true when it was cut.
    Read(bool),
    Ended(bool, Option<std::process::ExitStatus>),
    Cancelled,
    TimedOut,
}

fn command(path: &Path, args: &[String], as_nobody: bool) -> Command {
    let mut command = Command::new(path);
    command
        .args(args)
        .env_clear()
        .env("LC_ALL", "C")
        .env("LANG", "C")
        .env("TZ", "UTC")
        .env("PATH", DIRS.join(":"))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if as_nobody && rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// True when the output was cut.
async fn read_into(
    pipe: Option<impl AsyncRead + Unpin>,
    max_bytes: u64,
    sink: &mut (impl FnMut(&[u8]) -> Room + Send),
) -> bool {
    let Some(mut pipe) = pipe else { return false };
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0_u64;
    loop {
        let Ok(read) = pipe.read(&mut buffer).await else {
            return false;
        };
        if read == 0 {
            return false;
        }
        let fits = usize::try_from(max_bytes.saturating_sub(total))
            .unwrap_or(read)
            .min(read);
        total += fits as u64;
        if sink(&buffer[..fits]) == Room::Full || fits < read {
            return true;
        }
    }
}

/// Reads to the end, so that the child never blocks, and keeps the beginning.
async fn read_capped(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut pipe) = pipe else { return kept };
    let mut buffer = vec![0; 8 << 10];
    while let Ok(read) = pipe.read(&mut buffer).await {
        if read == 0 {
            break;
        }
        let fits = MAX_STDERR.saturating_sub(kept.len()).min(read);
        kept.extend_from_slice(&buffer[..fits]);
    }
    kept
}

#[cfg(test)]
mod tests;
