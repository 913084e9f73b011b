//! One container's log, fetched through the API: the newest lines, each with its time.

use std::time::Duration;

use casefile_bundle::{BundlePath, Entry};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;

use super::api::{Api, ApiError, query_value};
use super::pods::{Reason, Wanted};
use crate::out::{Out, OutError};
use crate::redact::Content;

/// Lines and bytes asked of a healthy container.
const USUAL: (u64, usize) = (5_000, 2 << 20);
/// Lines and bytes asked of one in trouble or on a GPU.
const MORE: (u64, usize) = (20_000, 4 << 20);
/// Bytes taken from around a restart, and how long before it they begin.
const WINDOW: usize = 256 << 10;
const BEFORE: TimeDelta = TimeDelta::seconds(60);

/// What came of one log.
#[derive(Debug)]
pub enum Fetched {
    /// It is in the bundle.
    Written,
    /// There is none, which is no failure: the container has not started, or has had no earlier run.
    None(String),
    /// It should have been there, and nothing of it is.
    Failed(ApiError),
    /// Its beginning is in the bundle.
    Cut(ApiError),
}

/// Where a log lies in the bundle.
pub fn path(wanted: &Wanted, previous: bool) -> BundlePath {
    let suffix = if previous { "-previous" } else { "" };
    let file = format!("{}{suffix}.log", wanted.container);
    let path = format!("{}/{}/{file}", wanted.namespace, wanted.pod);
    Entry::PodLog(&path).into()
}

/// The request for a log.
pub fn request(wanted: &Wanted, previous: bool, lines: u64, since: Option<Duration>) -> String {
    // An earlier run is over, however long ago: what ended it is in its last lines.
    let narrowed = match (previous, since) {
        (true, _) => "&previous=true".to_owned(),
        (false, Some(since)) => format!("&sinceSeconds={}", since.as_secs().max(1)),
        (false, None) => String::new(),
    };
    format!("{}{narrowed}&tailLines={lines}", base(wanted))
}

fn base(wanted: &Wanted) -> String {
    format!(
        "/api/v1/namespaces/{}/pods/{}/log?container={}&timestamps=true",
        query_value(&wanted.namespace),
        query_value(&wanted.pod),
        query_value(&wanted.container),
    )
}

/// Fetches one log, from `since` ago where that is asked for. `limitBytes` is not asked for: the server would keep the oldest bytes, so the cut is made here.
pub async fn fetch(
    api: &Api,
    cancel: &CancellationToken,
    out: &Out,
    wanted: &Wanted,
    previous: bool,
    since: Option<Duration>,
) -> Result<Fetched, OutError> {
    let (lines, keep) = match wanted.reason {
        Reason::System | Reason::Asked => USUAL,
        Reason::Unhealthy | Reason::Gpu => MORE,
    };
    let url = request(wanted, previous, lines, since);
    let asked = tokio::select! {
        asked = api.get(&url, "*/*") => asked,
        () = cancel.cancelled() => Err(ApiError::Stopped),
    };
    let mut body = match asked {
        Ok(body) => body,
        Err(ApiError::Status {
            code: 400, message, ..
        }) => return Ok(Fetched::None(message)),
        // The pod is gone since it was listed.
        Err(ApiError::Status {
            code: 404, message, ..
        }) => return Ok(Fetched::None(message)),
        Err(error) => return Ok(Fetched::Failed(error)),
    };
    let mut entry = out.tail_entry(
        path(wanted, previous),
        Content::Text,
        Some(format!("GET {url}")),
        keep,
    );
    let mut count: u64 = 0;
    let failed = loop {
        let piece = tokio::select! {
            piece = body.piece() => piece,
            () = cancel.cancelled() => Err(ApiError::Stopped),
        };
        match piece {
            Ok(Some(piece)) => {
                count += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
                entry.write(&piece)?;
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    if let Some(error) = &failed {
        entry.truncated(error.to_string());
    } else if count >= lines {
        entry.truncated(format!("the newest {lines} lines were asked for"));
    }
    entry.finish().await?;
    if failed.is_none() && count >= lines && !previous {
        after_restart(api, cancel, out, wanted).await?;
    }
    Ok(failed.map_or(Fetched::Written, Fetched::Cut))
}

/// Where the newest lines no longer reach back to the last restart, what was said around it: a container that comes up
/// wrong says so at its beginning. Silent where the server gives none; the newest lines are there.
async fn after_restart(
    api: &Api,
    cancel: &CancellationToken,
    out: &Out,
    wanted: &Wanted,
) -> Result<(), OutError> {
    let Some(ended) = wanted
        .ended
        .as_deref()
        .and_then(|time| time.parse::<DateTime<Utc>>().ok())
    else {
        return Ok(());
    };
    let since = (ended - BEFORE).to_rfc3339_opts(SecondsFormat::Secs, true);
    let url = format!(
        "{}&sinceTime={}&limitBytes={WINDOW}",
        base(wanted),
        query_value(&since)
    );
    let asked = tokio::select! {
        asked = api.get_all(&url, "*/*", WINDOW + 1) => asked,
        () = cancel.cancelled() => return Ok(()),
    };
    let Ok(text) = asked else { return Ok(()) };
    let file = format!("{}-restart.log", wanted.container);
    let path = format!("{}/{}/{file}", wanted.namespace, wanted.pod);
    let mut entry = out.entry(
        Entry::PodLog(&path).into(),
        Content::Text,
        Some(format!("GET {url}")),
    );
    entry.write(&text)?;
    if text.len() >= WINDOW {
        entry.truncated(format!("the first {WINDOW} bytes after the last restart"));
    }
    entry.finish().await
}
