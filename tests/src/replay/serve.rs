//! Connections: TLS, who asks, the fault if one is due, and the answer on the wire.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::fault::{Fault, Faults};
use super::pki::Users;
use super::{answer, objects};
use crate::recording::{Answer, Form, Recording, Target, User};

type WireBody = UnsyncBoxBody<Bytes, io::Error>;

/// What all connections share.
pub(super) struct State {
    recording: Recording,
    faults: Faults,
    users: Users,
    seen: Arc<Mutex<Vec<String>>>,
}

impl State {
    pub(super) fn new(
        recording: Recording,
        faults: Faults,
        users: Users,
        seen: Arc<Mutex<Vec<String>>>,
    ) -> Arc<Self> {
        Arc::new(State {
            recording,
            faults,
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
) -> Result<Response<WireBody>, Infallible> {
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
        return Ok(whole(&Answer::json(401, &status)));
    };
    if request.method() != Method::GET {
        let why = "the replay answers GET only";
        return Ok(whole(&Answer::json(
            405,
            &objects::failure(405, "MethodNotAllowed", why),
        )));
    }
    let accept = request
        .headers()
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok());
    let form = Form::of(accept.unwrap_or("*/*"));
    let answer = answer::find(&state.recording, user, &target, form);
    match state.faults.of(&target.path) {
        None => Ok(whole(&answer)),
        Some(Fault::Status(code)) => {
            let body = objects::failure(code, "InternalError", "the replay was told to fail here");
            Ok(whole(&Answer::json(code, &body)))
        }
        Some(Fault::Hang) => std::future::pending().await,
        Some(Fault::Drip) => Ok(broken(&answer, Pace::Drip)),
        Some(Fault::Cut) => Ok(broken(&answer, Pace::Cut)),
    }
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

fn whole(answer: &Answer) -> Response<WireBody> {
    let body = Full::new(Bytes::from(answer.body.clone())).map_err(|never| match never {});
    let built = head(answer).body(body.boxed_unsync());
    built.unwrap_or_else(|_| {
        Response::new(
            Full::default()
                .map_err(|never| match never {})
                .boxed_unsync(),
        )
    })
}

fn broken(answer: &Answer, pace: Pace) -> Response<WireBody> {
    let body = Broken {
        rest: Bytes::from(answer.body.clone()),
        pace,
        sent: false,
        timer: Box::pin(tokio::time::sleep(Duration::ZERO)),
    };
    let built = head(answer).body(body.boxed_unsync());
    built.unwrap_or_else(|_| whole(answer))
}

#[derive(Clone, Copy)]
enum Pace {
    Drip,
    Cut,
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
            Pace::Cut => self.rest.len() / 2,
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
