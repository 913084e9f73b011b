//! What goes over the wire: the client, which looks names up by itself, and a stretch of a file as a body.

use std::fs::File;
use std::io::Read as _;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, combinators::UnsyncBoxBody};
use hyper::body::{Body, Frame, SizeHint};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioExecutor;
use tower_service::Service;

use super::UploadError;
use crate::cluster::resolve::addresses;

pub(super) type Sent = UnsyncBoxBody<Bytes, std::io::Error>;
pub(super) type Http = Client<hyper_rustls::HttpsConnector<HttpConnector<Names>>, Sent>;

/// A client that trusts this machine's authorities.
pub(super) fn client() -> Result<Http, UploadError> {
    let mut plain = HttpConnector::new_with_resolver(Names);
    plain.enforce_http(false);
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_native_roots()
        .map_err(UploadError::Roots)?
        .https_or_http()
        .enable_http1()
        .wrap_connector(plain);
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

/// Names by /etc/hosts and /etc/resolv.conf: the C library's own look-up loads plug-ins, which a static binary must not.
#[derive(Clone)]
pub(super) struct Names;

impl Service<Name> for Names {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        Box::pin(async move {
            let found = addresses(name.as_str())
                .await
                .map_err(std::io::Error::other)?;
            let all: Vec<SocketAddr> = found.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect();
            Ok(all.into_iter())
        })
    }
}

pub(super) fn none() -> Sent {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// A location that may lack scheme and host.
pub(super) fn absolute(address: &str, location: &str) -> String {
    if location.contains("://") {
        return location.to_owned();
    }
    let host_from = address.find("://").map_or(0, |at| at + 3);
    let host_to = address[host_from..]
        .find('/')
        .map_or(address.len(), |at| host_from + at);
    if location.starts_with('/') {
        format!("{}{location}", &address[..host_to])
    } else {
        format!("{address}{location}")
    }
}

/// A stretch of the bundle.
pub(super) struct Part {
    pub(super) file: File,
    pub(super) left: u64,
}

impl Body for Part {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        const AT_ONCE: u64 = 64 << 10;
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let wanted = usize::try_from(self.left.min(AT_ONCE)).unwrap_or(0);
        let mut buffer = vec![0; wanted];
        Poll::Ready(Some(match self.file.read(&mut buffer) {
            Ok(0) => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof)),
            Ok(got) => {
                buffer.truncate(got);
                self.left -= got as u64;
                Ok(Frame::data(buffer.into()))
            }
            Err(error) => Err(error),
        }))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
