//! Answers on their way out: bodies are sent while they are made, a watch stays open, a text is read as fast as it is taken.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Response};
use hyper::body::Frame;
use tokio::sync::mpsc;

use crate::answer::{Answer, Body};

/// An answer as HTTP.
pub(crate) fn respond(answer: Answer) -> Response<Outgoing> {
    let (code, content_type, headers) = (answer.code, answer.content_type, answer.headers);
    let mut response = Response::new(outgoing(answer.body));
    *response.status_mut() =
        http::StatusCode::from_u16(code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let all = response.headers_mut();
    all.insert(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static(content_type),
    );
    all.insert(
        http::header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, private"),
    );
    all.insert(
        http::header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    // Whatever a capture holds, a browser that shows it runs nothing of it.
    all.insert(
        http::header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox"),
    );
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            all.insert(name, value);
        }
    }
    response
}

/// A body on its way out.
pub(crate) enum Outgoing {
    Whole(Option<Bytes>),
    Pieces(mpsc::Receiver<Bytes>),
}

fn outgoing(body: Body) -> Outgoing {
    let (sender, receiver) = mpsc::channel(2);
    match body {
        Body::Whole(bytes) => return Outgoing::Whole(Some(bytes)),
        Body::Pieces(pieces) => {
            tokio::spawn(async move { send(pieces, &sender).await });
        }
        Body::Watch(pieces, lasts) => {
            tokio::spawn(async move {
                if send(pieces, &sender).await {
                    let _ = tokio::time::timeout(lasts, sender.closed()).await;
                }
            });
        }
        Body::Text(tell) => {
            tokio::task::spawn_blocking(move || {
                tell(&mut |piece| match sender.blocking_send(piece) {
                    Ok(()) => std::ops::ControlFlow::Continue(()),
                    Err(_) => std::ops::ControlFlow::Break(()),
                });
            });
        }
    }
    Outgoing::Pieces(receiver)
}

/// Whether the client took all of it.
async fn send(pieces: crate::answer::Pieces, sender: &mpsc::Sender<Bytes>) -> bool {
    for piece in pieces {
        if sender.send(piece).await.is_err() {
            return false;
        }
    }
    true
}

impl hyper::body::Body for Outgoing {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match &mut *self {
            Outgoing::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Outgoing::Pieces(receiver) => {
                let next = receiver.poll_recv(context);
                next.map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Outgoing::Whole(None))
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match self {
            Outgoing::Whole(bytes) => hyper::body::SizeHint::with_exact(
                bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            ),
            Outgoing::Pieces(_) => hyper::body::SizeHint::default(),
        }
    }
}
