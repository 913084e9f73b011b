//! The API server as the collector asks it: raw GET requests with short limits, few retries and streamed bodies. The
//! one POST asks what these credentials may do.

mod error;
mod paths;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::access::{self, Access};

pub use error::{ApiError, chain, user_of};
pub use paths::{core_lists, place, places, query_value};

/// Requests under way at once, all sources together: a sick API server is not made worse.
const MAX_REQUESTS: usize = 8;
/// Times one request is sent before its error counts.
const ATTEMPTS: u32 = 4;
/// The same where the connection breaks or cannot be made: an API server that restarts is back after seconds.
const CONNECTIONS: u32 = 5;
/// Requests in a row without any answer, after which the server counts as gone, when they span a request's patience:
/// those under way at once all fail in the same short interruption.
const MAX_SILENT: u32 = 8;
/// For the answer to what these credentials may do.
const REVIEW: Duration = Duration::from_secs(5);
/// Of that answer; clusters with many roles have long ones.
const MAX_REVIEW: usize = 8 << 20;
/// Namespaces for which it is asked.
const MAX_REVIEWS: usize = 20;
/// Of an error's body.
const MAX_ERROR_BODY: usize = 64 << 10;

/// How long each step of a request may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// From sending a request to the answer's head.
    pub answer: Duration,
    /// Between two pieces of a body.
    pub piece: Duration,
    /// The longest wait that a server may ask for before the next attempt.
    pub retry: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(15),
            piece: Duration::from_secs(10),
            retry: Duration::from_secs(5),
        }
    }
}

/// One API server with the credentials that it accepted.
pub struct Api {
    client: kube::Client,
    patience: Patience,
    slots: Arc<Semaphore>,
    silent: AtomicU32,
    silent_since: Mutex<Option<Instant>>,
    answered: AtomicBool,
    access: Access,
}

/// One request.
struct Ask<'a> {
    method: Method,
    path: &'a str,
    accept: &'a str,
    body: String,
}

impl Api {
    /// Asks through this client.
    pub fn new(client: kube::Client, patience: Patience) -> Self {
        let slots = Arc::new(Semaphore::new(MAX_REQUESTS));
        Self {
            client,
            patience,
            slots,
            silent: AtomicU32::new(0),
            silent_since: Mutex::new(None),
            answered: AtomicBool::new(false),
            access: Access::default(),
        }
    }

    /// Asks what these credentials may do, in the whole cluster and in these namespaces. What is known to be forbidden
    /// is not asked from then on. Returns the server's answers.
    pub async fn learn_access(&mut self, namespaces: &BTreeSet<String>) -> Vec<Vec<u8>> {
        let mut answers = Vec::new();
        let named = namespaces.iter().map(|one| Some(one.as_str()));
        for namespace in std::iter::once(None).chain(named).take(MAX_REVIEWS) {
            let ask = Ask {
                method: Method::POST,
                path: access::PATH,
                accept: "application/json",
                body: access::question(namespace),
            };
            let asked = async { whole(self.ask(&ask).await?, MAX_REVIEW).await };
            // Without an answer everything is asked, and the server refuses it by itself.
            let Ok(Ok(answer)) = timeout(REVIEW, asked).await else {
                break;
            };
            self.access.learn(namespace, &answer);
            answers.push(answer);
        }
        answers
    }

    /// Sends a GET and returns the answer's body, not yet read.
    pub async fn get(&self, path: &str, accept: &str) -> Result<ApiBody, ApiError> {
        if self.access.forbids(path) {
            return Err(ApiError::Status {
                code: 403,
                message: "not among the rules that the server told".to_owned(),
                next: None,
            });
        }
        self.ask(&Ask {
            method: Method::GET,
            path,
            accept,
            body: String::new(),
        })
        .await
    }

    async fn ask(&self, ask: &Ask<'_>) -> Result<ApiBody, ApiError> {
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        let slot = slot.map_err(|_| ApiError::Gone)?;
        let mut attempt = 0;
        loop {
            attempt += 1;
            if self.is_gone() {
                return Err(ApiError::Gone);
            }
            let (error, wait) = match self.send(ask).await {
                Ok(answer) if answer.status().is_success() => {
                    let piece = self.patience.piece;
                    return Ok(ApiBody {
                        body: answer.into_body(),
                        piece,
                        _slot: slot,
                    });
                }
                Ok(answer) => {
                    let code = answer.status().as_u16();
                    let again = matches!(code, 429 | 500 | 502 | 503 | 504);
                    let wait = again.then(|| self.wait(answer.headers(), attempt));
                    (self.refusal(code, answer.into_body()).await, wait)
                }
                // Where nobody has ever answered, asking again only costs time.
                Err(error @ ApiError::Connection(_)) if self.answered.load(Ordering::Relaxed) => {
                    (error, Some(backoff(attempt)))
                }
                Err(error) => (error, None),
            };
            let attempts = match error {
                ApiError::Connection(_) => CONNECTIONS,
                _ => ATTEMPTS,
            };
            match wait {
                Some(wait) if attempt < attempts => tokio::time::sleep(wait).await,
                _ => return Err(error),
            }
        }
    }

    fn is_gone(&self) -> bool {
        let since = *self
            .silent_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.silent.load(Ordering::Relaxed) >= MAX_SILENT
            && since.is_some_and(|since| since.elapsed() >= self.patience.answer)
    }

    fn was_silent(&self) {
        self.silent.fetch_add(1, Ordering::Relaxed);
        let mut since = self
            .silent_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        since.get_or_insert_with(Instant::now);
    }

    fn was_answered(&self) {
        self.silent.store(0, Ordering::Relaxed);
        self.answered.store(true, Ordering::Relaxed);
        *self
            .silent_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// A whole JSON or text answer of at most `limit` bytes.
    pub async fn get_all(
        &self,
        path: &str,
        accept: &str,
        limit: usize,
    ) -> Result<Vec<u8>, ApiError> {
        whole(self.get(path, accept).await?, limit).await
    }

    async fn send(&self, ask: &Ask<'_>) -> Result<Response<Body>, ApiError> {
        let mut request = Request::builder()
            .method(ask.method.clone())
            .uri(ask.path)
            .header(ACCEPT, ask.accept);
        if !ask.body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request
            .body(Body::from(ask.body.clone().into_bytes()))
            .map_err(|error| ApiError::Content(error.to_string()))?;
        match timeout(self.patience.answer, self.client.send(request)).await {
            Err(_) => {
                self.was_silent();
                Err(ApiError::Silent {
                    seconds: self.patience.answer.as_secs(),
                })
            }
            Ok(Ok(answer)) => {
                self.was_answered();
                Ok(answer)
            }
            Ok(Err(error)) => {
                self.was_silent();
                Err(ApiError::Connection(chain(&error)))
            }
        }
    }

    fn wait(&self, headers: &HeaderMap, attempt: u32) -> Duration {
        let asked = headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        match asked.and_then(|value| value.trim().parse().ok()) {
            Some(seconds) => Duration::from_secs(seconds).min(self.patience.retry),
            None => backoff(attempt),
        }
    }

    async fn refusal(&self, code: u16, mut body: Body) -> ApiError {
        let mut bytes = Vec::new();
        while bytes.len() < MAX_ERROR_BODY
            && let Ok(Some(Ok(frame))) = timeout(self.patience.piece, body.frame()).await
        {
            bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
        }
        bytes.truncate(MAX_ERROR_BODY);
        let status: ServerStatus = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = || String::from_utf8_lossy(&bytes).trim().to_owned();
        ApiError::Status {
            code,
            message: status
                .message
                .filter(|message| !message.is_empty())
                .unwrap_or_else(text),
            next: status.metadata.and_then(|meta| meta.next),
        }
    }
}

/// A whole body of at most `limit` bytes.
async fn whole(mut body: ApiBody, limit: usize) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.piece().await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > limit {
            return Err(ApiError::Content(format!(
                "the answer is over {limit} bytes"
            )));
        }
    }
    Ok(bytes)
}

/// The answer's body as it arrives.
pub struct ApiBody {
    body: Body,
    piece: Duration,
    _slot: OwnedSemaphorePermit,
}

impl ApiBody {
    /// The next bytes; none at the end.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            match timeout(self.piece, self.body.frame()).await {
                Err(_) => {
                    return Err(ApiError::Stalled {
                        seconds: self.piece.as_secs(),
                    });
                }
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(ApiError::Connection(chain(&error))),
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

#[derive(Debug, Default, serde::Deserialize)]
struct ServerStatus {
    message: Option<String>,
    metadata: Option<crate::cluster::items::ListMeta>,
}

fn backoff(attempt: u32) -> Duration {
    Duration::from_millis(200) * 2_u32.saturating_pow(attempt.saturating_sub(1))
}
