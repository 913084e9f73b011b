//! A list asked page by page, its items handed on one at a time.

use tokio_util::sync::CancellationToken;

use super::api::{Api, ApiBody, ApiError};
use super::items::{Envelope, ItemSplitter};
use crate::out::OutError;

/// Items a page; what kubectl asks for.
const PAGE: u32 = 500;
/// An object larger than this is left out: etcd takes 1.5 MiB by default.
const MAX_ITEM: usize = 16 << 20;
/// Times a page or a whole list is asked again after it broke off.
const AGAIN: u32 = 2;
/// No cluster has this many pages; a server that repeats itself does.
const MAX_PAGES: u32 = 20_000;

/// Whether more items are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    More,
    /// A limit is reached.
    Enough,
}

/// Takes the items of a list.
pub trait Items: Send {
    /// One item, as the server wrote it.
    fn item(&mut self, raw: &[u8]) -> impl Future<Output = Result<Flow, OutError>> + Send;
    /// The list begins again: what came so far will come once more, and may be different.
    fn restart(&mut self);
}

/// How a list went.
#[derive(Debug, Default)]
pub struct Listed {
    /// Items that the server sent.
    pub items: u64,
    /// Pages that were read to their end.
    pub pages: u32,
    /// What is missing or odd, in words.
    pub notes: Vec<String>,
    /// Why it ended early.
    pub error: Option<ApiError>,
}

/// Why the reading of a page ended.
enum PageEnd {
    Last,
    Next(String),
    Enough,
    Failed(ApiError),
}

/// Asks for all pages of `path` (with `query`, which may be empty) and hands their items to `sink`.
/// What came before an error has been handed on.
pub async fn list(
    api: &Api,
    cancel: &CancellationToken,
    path: &str,
    query: &str,
    sink: &mut impl Items,
) -> Result<Listed, OutError> {
    let mut listed = Listed::default();
    let mut token: Option<String> = None;
    let (mut restarts, mut repeats, mut skip) = (0, 0, 0);
    while listed.pages < MAX_PAGES {
        let url = page_url(path, query, token.as_deref());
        let mut taken = 0;
        let end = page(api, cancel, &url, skip, &mut taken, sink, &mut listed).await?;
        match end {
            PageEnd::Last | PageEnd::Enough => return Ok(listed),
            PageEnd::Next(next) if Some(&next) == token.as_ref() => {
                listed.error = Some(ApiError::Content(
                    "the server repeats its continue token".to_owned(),
                ));
                return Ok(listed);
            }
            PageEnd::Next(next) => {
                token = Some(next);
                (repeats, skip) = (0, 0);
            }
            PageEnd::Failed(ApiError::Status {
                code: 410,
                next: Some(next),
                ..
            }) => {
                listed.notes.push(
                    "the list expired while it was read: its rest is of a later moment".to_owned(),
                );
                token = Some(next);
                restarts += 1;
                if restarts > AGAIN {
                    listed.error = Some(ApiError::Content("the list keeps expiring".to_owned()));
                    return Ok(listed);
                }
            }
            PageEnd::Failed(ApiError::Status { code: 410, .. }) if restarts < AGAIN => {
                listed
                    .notes
                    .push("the list expired while it was read and was begun again".to_owned());
                listed.items = 0;
                restarts += 1;
                (token, skip) = (None, 0);
                sink.restart();
            }
            PageEnd::Failed(ApiError::Connection(why)) if repeats < AGAIN && taken > skip => {
                listed
                    .notes
                    .push(format!("a page broke off and was asked again ({why})"));
                repeats += 1;
                skip = taken;
            }
            PageEnd::Failed(error) => {
                listed.error = Some(error);
                return Ok(listed);
            }
        }
    }
    listed.error = Some(ApiError::Content(format!("over {MAX_PAGES} pages")));
    Ok(listed)
}

fn page_url(path: &str, query: &str, token: Option<&str>) -> String {
    let mut url = format!("{path}?limit={PAGE}");
    if let Some(token) = token {
        url.push_str("&continue=");
        url.push_str(&super::api::query_value(token));
    }
    if !query.is_empty() {
        url.push('&');
        url.push_str(query);
    }
    url
}

/// Reads one page. `taken` counts its items; the first `skip` of them were handed on by an earlier attempt.
async fn page(
    api: &Api,
    cancel: &CancellationToken,
    url: &str,
    skip: u64,
    taken: &mut u64,
    sink: &mut impl Items,
    listed: &mut Listed,
) -> Result<PageEnd, OutError> {
    let asked = tokio::select! {
        asked = api.get(url, "application/json") => asked,
        () = cancel.cancelled() => Err(ApiError::Stopped),
    };
    let mut body = match asked {
        Ok(body) => body,
        Err(error) => return Ok(PageEnd::Failed(error)),
    };
    let mut splitter = ItemSplitter::new(MAX_ITEM);
    let mut items = Vec::new();
    loop {
        let more = match next_piece(&mut body, cancel).await {
            Ok(Some(piece)) => splitter.push(&piece, &mut items).map(|()| true),
            Ok(None) => Ok(false),
            Err(error) => return Ok(PageEnd::Failed(error)),
        };
        for item in items.drain(..) {
            *taken += 1;
            if *taken <= skip {
                continue;
            }
            listed.items += 1;
            if sink.item(&item).await? == Flow::Enough {
                return Ok(PageEnd::Enough);
            }
        }
        match more {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Ok(PageEnd::Failed(ApiError::Content(error.to_string()))),
        }
    }
    if splitter.oversized() > 0 {
        listed.notes.push(format!(
            "{} objects of over {MAX_ITEM} bytes left out",
            splitter.oversized()
        ));
    }
    Ok(end_of(splitter, listed))
}

fn end_of(splitter: ItemSplitter, listed: &mut Listed) -> PageEnd {
    match splitter.finish() {
        Err(error) => PageEnd::Failed(ApiError::Content(super::api::chain(&error))),
        Ok(Envelope { kind, .. }) if kind == "Status" => PageEnd::Failed(ApiError::Content(
            "the server answered with a Status instead of a list".to_owned(),
        )),
        Ok(envelope) => {
            listed.pages += 1;
            match envelope.metadata.next.filter(|token| !token.is_empty()) {
                Some(token) => PageEnd::Next(token),
                None => PageEnd::Last,
            }
        }
    }
}

async fn next_piece(
    body: &mut ApiBody,
    cancel: &CancellationToken,
) -> Result<Option<bytes::Bytes>, ApiError> {
    tokio::select! {
        piece = body.piece() => piece,
        () = cancel.cancelled() => Err(ApiError::Stopped),
    }
}
