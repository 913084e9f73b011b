//! One container's log, fetched through the API: the newest lines, each with its time.

use casefile_bundle::BundlePath;
use tokio_util::sync::CancellationToken;

use super::api::{Api, ApiError, query_value};
use super::pods::{Reason, Wanted};
use crate::out::{Out, OutError};
use crate::redact::Content;

/// Lines and bytes asked of a healthy container.
const USUAL: (u64, usize) = (5_000, 2 << 20);
/// Lines and bytes asked of one in trouble or on a GPU.
const MORE: (u64, usize) = (20_000, 4 << 20);

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
    BundlePath::from_parts([
        "cluster-resources",
        "pods",
        "logs",
        &wanted.namespace,
        &wanted.pod,
        &file,
    ])
}

/// The request for a log.
pub fn request(wanted: &Wanted, previous: bool, lines: u64) -> String {
    let previous = if previous { "&previous=true" } else { "" };
    format!(
        "/api/v1/namespaces/{}/pods/{}/log?container={}&timestamps=true{previous}&tailLines={lines}",
        query_value(&wanted.namespace),
        query_value(&wanted.pod),
        query_value(&wanted.container),
    )
}

/// Fetches one log. `limitBytes` is not asked for: the server would keep the oldest bytes, so the cut is made here.
pub async fn fetch(
    api: &Api,
    cancel: &CancellationToken,
    out: &Out,
    wanted: &Wanted,
    previous: bool,
) -> Result<Fetched, OutError> {
    let (lines, keep) = if wanted.reason == Reason::System {
        USUAL
    } else {
        MORE
    };
    let url = request(wanted, previous, lines);
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
    Ok(failed.map_or(Fetched::Written, Fetched::Cut))
}
