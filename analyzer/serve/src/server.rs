//! The server: HTTP over TLS on an address of this machine, with a certificate and a token made for the run.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use ring::rand::SecureRandom;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::answer::Answer;
use crate::ask::{Ask, Query};
use crate::gate::Gate;
use crate::kubeconfig::path_of;
use crate::outgoing::{Outgoing, respond};
use crate::page::{self, Desk};
use crate::status::Status;
use crate::store::Store;

/// Largest body of a request; only reviews have one.
const LARGEST_REQUEST: usize = 1 << 20;
/// Connections at a time.
const CONNECTIONS: usize = 1024;
/// Questions of the page that read the capture, at a time; others wait.
const READERS: usize = 2;
/// Time that answers have to end when the server does.
const PARTING: Duration = Duration::from_millis(200);
/// Time that a client has for its handshake and for the head of a request.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address cannot be had.
    #[error(
        "cannot listen on {0}: {1}; name another with --listen, or 127.0.0.1:0 for any free port"
    )]
    Listen(SocketAddr, io::Error),
    /// No certificate could be made.
    #[error("cannot make a certificate for this run: {0}")]
    Certificate(String),
    /// The system gives no threads or sockets.
    #[error("cannot start the server: {0}")]
    Start(#[from] io::Error),
}

/// What a client needs.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// Where the server listens.
    pub address: SocketAddr,
    /// The token of the run.
    pub token: String,
    /// The authority of the run's certificate, in PEM.
    pub certificate_authority: String,
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    credentials: Credentials,
    tls: TlsAcceptor,
}

/// A server that answers, for as long as this is held.
pub struct Running {
    runtime: Option<tokio::runtime::Runtime>,
}

impl Drop for Running {
    /// What is being read for somebody is not waited for.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(PARTING);
        }
    }
}

impl Running {
    /// Waits until the person or the system wants the program to end.
    pub fn until_asked_to_end(&self) {
        let Some(runtime) = &self.runtime else {
            return;
        };
        runtime.block_on(async {
            let ended = tokio::signal::ctrl_c();
            #[cfg(unix)]
            {
                use tokio::signal::unix::{SignalKind, signal};
                if let Ok(mut terminated) = signal(SignalKind::terminate()) {
                    tokio::select! {
                        _ = ended => {}
                        _ = terminated.recv() => {}
                    }
                    return;
                }
            }
            let _ = ended.await;
        });
    }
}

impl Server {
    /// Takes an address, and makes a certificate and a token for this run.
    pub fn bind(address: SocketAddr) -> Result<Self, ServerError> {
        let listen = |error| ServerError::Listen(address, error);
        let listener = TcpListener::bind(address).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (authority, tls) = certificate(address).map_err(ServerError::Certificate)?;
        let mut random = [0_u8; 24];
        let filled = ring::rand::SystemRandom::new().fill(&mut random);
        filled.map_err(|_| {
            ServerError::Certificate("the system gives no random numbers".to_owned())
        })?;
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            listener,
            credentials: Credentials {
                address,
                token,
                certificate_authority: authority,
            },
            tls,
        })
    }

    /// What clients need.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// The address of the page, which lets in whoever opens it.
    pub fn page_address(&self) -> String {
        format!(
            "https://{}/ui/open?token={}",
            self.credentials.address, self.credentials.token
        )
    }

    /// Answers from these stores, by context.
    pub fn start(self, contexts: Vec<(String, Arc<Store>)>) -> Result<Running, ServerError> {
        self.start_with(contexts, None)
    }

    /// The same, with the page, which shows what these desks give (in the order of the contexts).
    pub fn start_with_page(
        self,
        contexts: Vec<(String, Arc<Store>)>,
        desks: Vec<Arc<dyn Desk>>,
    ) -> Result<Running, ServerError> {
        self.start_with(contexts, Some(desks))
    }

    fn start_with(
        self,
        contexts: Vec<(String, Arc<Store>)>,
        desks: Option<Vec<Arc<dyn Desk>>>,
    ) -> Result<Running, ServerError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        self.listener.set_nonblocking(true)?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(self.listener)?
        };
        let gate = Gate::new(&self.credentials.token, self.credentials.address);
        let site = Arc::new(Site::new(gate, contexts, desks));
        runtime.spawn(accept(listener, self.tls, site));
        Ok(Running {
            runtime: Some(runtime),
        })
    }
}

/// A certificate of an authority that signs nothing else: its key is forgotten here.
fn certificate(address: SocketAddr) -> Result<(String, TlsAcceptor), String> {
    let text = |error: rcgen::Error| error.to_string();
    let mut of_authority = rcgen::CertificateParams::default();
    of_authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(0));
    of_authority
        .distinguished_name
        .push(rcgen::DnType::CommonName, "casefile recording");
    let authority_key = rcgen::KeyPair::generate().map_err(text)?;
    let authority = of_authority.self_signed(&authority_key).map_err(text)?;
    let names = [
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
        address.ip().to_string(),
    ];
    let mut own = rcgen::CertificateParams::new(names).map_err(text)?;
    own.distinguished_name
        .push(rcgen::DnType::CommonName, "casefile");
    let key = rcgen::KeyPair::generate().map_err(text)?;
    let issuer = rcgen::Issuer::new(of_authority, authority_key);
    let signed = own.signed_by(&key, &issuer).map_err(text)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(vec![signed.der().clone()], key)
        })
        .map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok((authority.pem(), TlsAcceptor::from(Arc::new(config))))
}

/// What a server answers from.
struct Site {
    gate: Gate,
    /// Stores by the first part of the path; by none where there is one only.
    stores: BTreeMap<String, Arc<Store>>,
    only: Option<Arc<Store>>,
    /// What the page shows; none where there is no page.
    page: Option<Arc<Vec<page::Context>>>,
    /// Who may read the capture for the page.
    readers: Semaphore,
}

/// Set when it is dropped: nobody waits any more.
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Site {
    fn new(
        gate: Gate,
        contexts: Vec<(String, Arc<Store>)>,
        desks: Option<Vec<Arc<dyn Desk>>>,
    ) -> Self {
        let several = contexts.len() > 1;
        let page = desks.map(|desks| {
            let shown = contexts.iter().zip(desks).map(|((name, store), desk)| {
                let prefix = several.then(|| format!("/{}", path_of(name)));
                page::Context {
                    name: name.clone(),
                    prefix: prefix.unwrap_or_default(),
                    store: Arc::clone(store),
                    desk,
                }
            });
            Arc::new(shown.collect())
        });
        let only = match contexts.as_slice() {
            [(_, store)] => Some(Arc::clone(store)),
            _ => None,
        };
        let stores = contexts
            .into_iter()
            .map(|(name, store)| (path_of(&name), store))
            .collect();
        Self {
            gate,
            stores,
            only,
            page,
            readers: Semaphore::new(READERS),
        }
    }

    /// Lets the browser in whose address has the token.
    fn enter(&self, head: &http::request::Parts) -> Result<Answer, Status> {
        self.gate.own_name(&head.headers)?;
        let query = Query::parse(head.uri.query().unwrap_or(""));
        if self.gate.is_token(query.get("token").unwrap_or("")) {
            Ok(page::enter(
                self.gate.cookie(),
                query.get("token").unwrap_or(""),
            ))
        } else {
            Err(Status::unauthorized())
        }
    }

    /// What the page asks for. It may read the whole capture, and ends when the browser asks for something else.
    async fn page(&self, contexts: &Arc<Vec<page::Context>>, ask: Ask) -> Result<Answer, Status> {
        let gone = Gone(Arc::new(AtomicBool::new(false)));
        let _reader = self.readers.acquire().await;
        let (contexts, seen) = (Arc::clone(contexts), Arc::clone(&gone.0));
        let made = tokio::task::spawn_blocking(move || page::answer(&contexts, &ask, &seen)).await;
        made.map_err(|_| {
            Status::internal("a bug in casefile: what the page asked for could not be answered")
        })?
    }

    /// The store that a path leads to, and the rest of the path.
    fn store<'p>(&self, path: &'p str) -> Option<(&Arc<Store>, &'p str)> {
        if let Some(only) = &self.only {
            return Some((only, path));
        }
        let inner = path.strip_prefix('/')?;
        let (context, _) = inner.split_once('/')?;
        let store = self.stores.get(context)?;
        Some((store, &inner[context.len()..]))
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Outgoing> {
        let answer = match self.answer(request).await {
            Ok(answer) => answer,
            Err(status) => Answer::from(status),
        };
        respond(answer)
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Answer, Status> {
        let (head, body) = request.into_parts();
        let path = head.uri.path().to_owned();
        let page = self.page.as_ref();
        let page = page.filter(|_| path == "/ui" || path.starts_with("/ui/"));
        if page.is_some() && path == "/ui/open" {
            return self.enter(&head);
        }
        self.gate.admit(&head.headers)?;
        let accept = head.headers.get(http::header::ACCEPT);
        let body = if matches!(head.method.as_str(), "GET" | "HEAD") {
            Bytes::new()
        } else {
            let body = Limited::new(body, LARGEST_REQUEST).collect().await;
            body.map(http_body_util::Collected::to_bytes)
                .map_err(|_| Status::bad_request("the body is too large or was cut"))?
        };
        let mut ask = Ask {
            method: head.method.as_str().to_owned(),
            path,
            query: head.uri.query().unwrap_or("").to_owned(),
            accept: accept
                .and_then(|value| value.to_str().ok())
                .unwrap_or("")
                .to_owned(),
            body,
        };
        if let Some(contexts) = page {
            return self.page(contexts, ask).await;
        }
        let (store, rest) = self.store(&ask.path).ok_or_else(Status::no_such_path)?;
        let (store, rest) = (Arc::clone(store), rest.to_owned());
        ask.path = rest;
        let made = tokio::task::spawn_blocking(move || crate::route::answer(&store, &ask)).await;
        made.map_err(|_| Status::internal("a bug in casefile: this request could not be answered"))
    }
}

async fn accept(listener: tokio::net::TcpListener, tls: TlsAcceptor, site: Arc<Site>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of sockets: others have to close first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (tls, site) = (tls.clone(), Arc::clone(&site));
        tokio::spawn(async move {
            let _place = place;
            let _ = stream.set_nodelay(true);
            let Ok(Ok(stream)) = tokio::time::timeout(PATIENCE, tls.accept(stream)).await else {
                return;
            };
            let service = service_fn(move |request| {
                let site = Arc::clone(&site);
                async move { Ok::<_, std::convert::Infallible>(site.respond(request).await) }
            });
            // A client that goes away is no fault of anyone.
            let _ = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
