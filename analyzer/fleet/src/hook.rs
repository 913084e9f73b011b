//! What is told to others when a report is finished: a command with the ticket on its standard input, or a web address
//! that gets it.
//!
//! A hook that failed is run again with the next look. A run that is killed between a hook's success and its mark runs
//! it once more, so tickets carry `id`, by which the other side knows one that it has.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Serialize;

use crate::entry::Entry;
use crate::inbox::replace;
use crate::store::without_credentials;

/// Time that a web address has to answer.
const TIME: Duration = Duration::from_secs(30);

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

    /// Tells of a report, unless its folder says that it was told.
    ///
    /// # Errors
    /// Why it failed, without credentials of the address.
    pub fn tell(&self, folder: &Path, ticket: &Ticket<'_>) -> Result<(), String> {
        let mark = folder.join("told.json");
        if self.is_empty() || mark.exists() {
            return Ok(());
        }
        let json = serde_json::to_vec(ticket).map_err(|error| error.to_string())?;
        if let Some(command) = &self.command {
            run(command, &json, folder)?;
        }
        if let Some(address) = &self.webhook {
            post(address, &json, ticket.id)?;
        }
        replace(&mark, b"{}\n").map_err(|error| format!("{}: {error}", mark.display()))
    }
}

fn run(command: &str, ticket: &[u8], folder: &Path) -> Result<(), String> {
    let failed = |what: String| format!("--hook: {what}");
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .env("CASEFILE_REPORT", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    if let Some(mut input) = child.stdin.take() {
        // A command that reads no ticket is none the worse for it.
        let _ = input.write_all(ticket);
    }
    let ended = child.wait().map_err(|error| failed(error.to_string()))?;
    if ended.success() {
        Ok(())
    } else {
        Err(failed(format!("the command ended with {ended}")))
    }
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
