//! What is told to others when a report is finished: a command with the ticket on its standard input, or a web address
//! that gets it.
//!
//! A hook that failed is run again with the next look. A run that is killed between a hook's success and its mark runs
//! it once more, so tickets carry `id`, by which the other side knows one that it has.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;

use crate::entry::Entry;
use crate::inbox::replace;
use crate::store::without_credentials;

/// Time that a command has to end and a web address to answer: one that hangs must not hold up the inbox.
const TIME: Duration = Duration::from_secs(30);

/// File of a report that was told of.
const MARK: &str = "told.json";

/// How often a command is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Whom to tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Command, run by the shell.
    pub command: Option<String>,
    /// Address that gets a POST.
    pub webhook: Option<String>,
}

/// What is told.
#[derive(Debug, Clone, Serialize)]
pub struct Ticket<'a> {
    /// Version of this form.
    pub schema: &'static str,
    /// Equal for every attempt.
    pub id: &'a str,
    /// The bundle's row of the page.
    pub entry: &'a Entry,
    /// Reports of the same incident that were there before.
    pub seen_before: Vec<&'a str>,
    /// Folder of the report.
    pub report: String,
    /// The first screen of the report.
    pub text: String,
}

impl Hooks {
    /// Whether nobody is told.
    pub fn is_empty(&self) -> bool {
        self.command.is_none() && self.webhook.is_none()
    }

    /// Whether a report's folder says that it was told of.
    pub fn has_told(&self, folder: &Path) -> bool {
        folder.join(MARK).exists()
    }

    /// Tells of a report, unless its folder says that it was told.
    ///
    /// # Errors
    /// Why it failed, without credentials of the address.
    pub fn tell(&self, folder: &Path, ticket: &Ticket<'_>) -> Result<(), String> {
        if self.is_empty() || self.has_told(folder) {
            return Ok(());
        }
        let mark = folder.join(MARK);
        let json = serde_json::to_vec(ticket).map_err(|error| error.to_string())?;
        if let Some(command) = &self.command {
            run(command, &json, folder, TIME)?;
        }
        if let Some(address) = &self.webhook {
            post(address, &json, ticket.id)?;
        }
        replace(&mark, b"{}\n").map_err(|error| format!("{}: {error}", mark.display()))
    }
}

fn run(command: &str, ticket: &[u8], folder: &Path, time: Duration) -> Result<(), String> {
    let failed = |what: String| format!("--hook: {what}");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).env("CASEFILE_REPORT", folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::null());
    // A group of its own, so that what the command started ends with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut child = shell.spawn().map_err(|error| failed(error.to_string()))?;
    if let Some(mut input) = child.stdin.take() {
        let ticket = ticket.to_vec();
        // A command that reads no ticket is none the worse for it, and one that never reads holds nobody up.
        std::thread::spawn(move || input.write_all(&ticket));
    }
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(ended)) if ended.success() => return Ok(()),
            Ok(Some(ended)) => return Err(failed(format!("the command ended with {ended}"))),
            Ok(None) if start.elapsed() < time => std::thread::sleep(LOOK),
            Ok(None) => break,
            Err(error) => return Err(failed(error.to_string())),
        }
    }
    end(&mut child);
    let seconds = time.as_secs();
    Err(failed(format!(
        "the command was not done after {seconds} s and was ended"
    )))
}

fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn post(address: &str, ticket: &[u8], id: &str) -> Result<(), String> {
    let shown = without_credentials(address);
    let failed = |what: String| format!("--webhook {shown}: {what}");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed(error.to_string()))?;
    let sent = runtime.block_on(async {
        let client = reqwest::Client::builder().timeout(TIME).build()?;
        let request = client
            .post(address)
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", id);
        request
            .body(ticket.to_vec())
            .send()
            .await?
            .error_for_status()
    });
    sent.map(drop)
        .map_err(|error| failed(error.without_url().to_string()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_ended_with_what_it_started_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let script = "sleep 60 & echo $! > \"$CASEFILE_REPORT/child\"; wait";
        // More than a pipe holds, and nobody reads it.
        let ticket = vec![b' '; 1 << 20];
        let why = run(script, &ticket, folder.path(), Duration::from_secs(1)).unwrap_err();
        assert!(why.contains("not done after 1 s"), "{why}");
        let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        let start = Instant::now();
        while state().is_ok_and(|stat| !stat.contains(") Z ")) {
            assert!(start.elapsed() < Duration::from_secs(20), "it still runs");
            std::thread::sleep(LOOK);
        }
    }
}
