//! Connections: TLS, who asks, the fault if one is due, and the answer on the wire.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::fault::{Fault, Faults};
use super::pki::Users;
use super::{Cluster, objects};
use crate::recording::{Answer, Form, Target, User};

/// Where a client asks what it may do.
const RULES_REVIEW: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

type WireBody = UnsyncBoxBody<Bytes, io::Error>;

/// What all connections share.
pub(super) struct State {
    cluster: Box<dyn Cluster>,
    faults: Faults,
    /// How often a path was asked while it had a fault.
    faulted: Mutex<BTreeMap<String, u32>>,
    /// When the first request came that had a short interruption.
    blip: Mutex<Option<Instant>>,
    users: Users,
    seen: Arc<Mutex<Vec<String>>>,
}

impl State {
    pub(super) fn new(
        cluster: Box<dyn Cluster>,
        faults: Faults,
        users: Users,
        seen: Arc<Mutex<Vec<String>>>,
    ) -> Arc<Self> {
        Arc::new(State {
            cluster,
            faults,
            faulted: Mutex::default(),
            blip: Mutex::default(),
            users,
            seen,
        })
    }
}

/// Accepts connections for ever.
pub(super) async fn accept(
    listener: std::net::TcpListener,
    tls: Arc<ServerConfig>,
    state: Arc<State>,
) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    let acceptor = TlsAcceptor::from(tls);
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(connection(stream, acceptor.clone(), Arc::clone(&state)));
        }
    }
}

async fn connection(stream: TcpStream, acceptor: TlsAcceptor, state: Arc<State>) {
    let Ok(stream) = acceptor.accept(stream).await else {
        return;
    };
    let presented = stream
        .get_ref()
        .1
        .peer_certificates()
        .and_then(<[_]>::first)
        .cloned();
    let certificate_user = presented.and_then(|certificate| {
        let mut known = state.users.certificates.iter();
        known
            .find(|(each, _)| *each == certificate)
            .map(|(_, user)| *user)
    });
    let service = service_fn(move |request| respond(Arc::clone(&state), certificate_user, request));
    let server = auto::Builder::new(TokioExecutor::new());
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(
    state: Arc<State>,
    certificate_user: Option<User>,
    request: Request<Incoming>,
) -> io::Result<Response<WireBody>> {
    let text = request
        .uri()
        .path_and_query()
        .map_or("/", |target| target.as_str());
    if let Ok(mut seen) = state.seen.lock() {
        seen.push(format!("{} {text}", request.method()));
    }
    let target = Target::parse(text);
    let token_user = bearer(&request).and_then(|token| state.users.tokens.get(token).copied());
    let Some(user) = certificate_user.or(token_user) else {
        let status = objects::failure(401, "Unauthorized", "Unauthorized");
        return Ok(whole(Answer::json(401, &status)));
    };
    let review = target.path == RULES_REVIEW && request.method() == Method::POST;
    if request.method() != Method::GET && !review {
        let why = "the replay answers GET only";
        return Ok(whole(Answer::json(
            405,
            &objects::failure(405, "MethodNotAllowed", why),
        )));
    }
    let accept = request
        .headers()
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok());
    let form = Form::of(accept.unwrap_or("*/*"));
    let answer = if review {
        rules(state.cluster.rules(user))
    } else {
        state.cluster.answer(user, &target, form)
    };
    match state.faults.of(&target.path) {
        None => Ok(whole(answer)),
        Some(fault) => state.misbehave(fault, &target, answer).await,
    }
}

/// A SelfSubjectRulesReview as the API server answers it.
fn rules(known: Option<serde_json::Value>) -> Answer {
    let incomplete = known.is_none();
    let rules = known.unwrap_or_else(|| serde_json::json!([]));
    let status = serde_json::json!({"resourceRules": rules, "nonResourceRules": [], "incomplete": incomplete});
    Answer::json(
        201,
        &serde_json::json!({"kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1", "status": status}),
    )
}

impl State {
    fn in_blip(&self) -> bool {
        let Ok(mut blip) = self.blip.lock() else {
            return false;
        };
        blip.get_or_insert_with(Instant::now).elapsed() < Duration::from_millis(300)
    }

    async fn misbehave(
        &self,
        fault: Fault,
        target: &Target,
        answer: Answer,
    ) -> io::Result<Response<WireBody>> {
        Ok(match fault {
            Fault::Status(code) => whole(refusal(code)),
            Fault::Hang => std::future::pending().await,
            Fault::Drip => broken(answer, Pace::Drip),
            Fault::Cut => broken(answer, Pace::Cut),
            Fault::Stall => broken(answer, Pace::Stall),
            Fault::Blip if self.in_blip() => return Err(io::Error::other("closed")),
            Fault::Blip => whole(answer),
            Fault::Close => return Err(io::Error::other("closed")),
            Fault::Garbage => whole(answer.with_body("<html><body>502 Bad Gateway".to_owned())),
            Fault::Huge => whole(huge(answer)),
            Fault::Expired => whole(expired(target, answer)),
            Fault::Busy(code) => {
                let mut faulted = self.faulted.lock().map_err(|_| io::Error::other("lock"))?;
                let count = faulted.entry(target.path.clone()).or_default();
                *count += 1;
                if *count > 2 {
                    return Ok(whole(answer));
                }
                let mut busy = whole(refusal(code));
                busy.headers_mut()
                    .insert(RETRY_AFTER, HeaderValue::from_static("1"));
                busy
            }
        })
    }
}

fn refusal(code: u16) -> Answer {
    let why = "the replay was told to fail here";
    Answer::json(code, &objects::failure(code, "Failure", why))
}

fn huge(answer: Answer) -> Answer {
    let big = "x".repeat(20 << 20);
    let item = format!(
        r#""items":[{{"metadata":{{"name":"huge","namespace":"default"}},"data":"{big}"}},"#
    );
    let body = answer.body.replacen(r#""items":["#, &item, 1);
    answer.with_body(body)
}

fn expired(target: &Target, answer: Answer) -> Answer {
    if target.get("continue").is_some() {
        let why = "The provided continue parameter is too old";
        return Answer::json(410, &objects::failure(410, "Expired", why));
    }
    let Ok(mut list) = serde_json::from_str::<serde_json::Value>(&answer.body) else {
        return answer;
    };
    list["metadata"]["continue"] = "old".into();
    answer.with_body(list.to_string())
}

fn bearer(request: &Request<Incoming>) -> Option<&str> {
    let header = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    header.strip_prefix("Bearer ")
}

fn head(answer: &Answer) -> hyper::http::response::Builder {
    Response::builder()
        .status(answer.status)
        .header(CONTENT_TYPE, answer.content_type.as_str())
}

fn whole(mut answer: Answer) -> Response<WireBody> {
    let text = std::mem::take(&mut answer.body);
    let body = Full::new(Bytes::from(text)).map_err(|never| match never {});
    let built = head(&answer).body(body.boxed_unsync());
    built.unwrap_or_else(|_| {
        Response::new(
            Full::default()
                .map_err(|never| match never {})
                .boxed_unsync(),
        )
    })
}

fn broken(mut answer: Answer, pace: Pace) -> Response<WireBody> {
    let body = Broken {
        rest: Bytes::from(std::mem::take(&mut answer.body)),
        pace,
        sent: false,
        timer: Box::pin(tokio::time::sleep(Duration::ZERO)),
    };
    let built = head(&answer).body(body.boxed_unsync());
    built.unwrap_or_else(|_| whole(answer))
}

#[derive(Clone, Copy)]
enum Pace {
    Drip,
    Cut,
    Stall,
}

/// A body that does not end as a client hopes.
struct Broken {
    rest: Bytes,
    pace: Pace,
    sent: bool,
    timer: Pin<Box<tokio::time::Sleep>>,
}

impl Body for Broken {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.timer = Box::pin(tokio::time::sleep(Duration::from_millis(250)));
        let length = match self.pace {
            Pace::Cut if self.sent => return Poll::Ready(Some(Err(io::Error::other("cut")))),
            Pace::Stall if self.sent => return Poll::Pending,
            Pace::Cut | Pace::Stall => self.rest.len() / 2,
            Pace::Drip => self.rest.len().min(4),
        };
        self.sent = true;
        let piece = self.rest.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(if piece.is_empty() {
            Bytes::from_static(b" ")
        } else {
            piece
        }))))
    }
}
