//! The server: HTTP over TLS on an address of this machine, with a certificate and a token made for the run.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
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
use crate::page;
use crate::status::Status;
use crate::store::Store;

/// Largest body of a request; only reviews have one.
const LARGEST_REQUEST: usize = 1 << 20;
/// Connections at a time.
const CONNECTIONS: usize = 1024;
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
    runtime: tokio::runtime::Runtime,
}

impl Running {
    /// Waits until the person or the system wants the program to end.
    pub fn until_asked_to_end(&self) {
        self.runtime.block_on(async {
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

    /// The same, with the page, which shows these reports (HTML, by context).
    pub fn start_with_page(
        self,
        contexts: Vec<(String, Arc<Store>)>,
        reports: BTreeMap<String, Bytes>,
    ) -> Result<Running, ServerError> {
        self.start_with(contexts, Some(reports))
    }

    fn start_with(
        self,
        contexts: Vec<(String, Arc<Store>)>,
        reports: Option<BTreeMap<String, Bytes>>,
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
        let site = Arc::new(Site::new(gate, contexts, reports));
        runtime.spawn(accept(listener, self.tls, site));
        Ok(Running { runtime })
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
    /// Names of the contexts, and the reports that the page shows; none where there is no page.
    names: Vec<(String, Arc<Store>)>,
    reports: Option<BTreeMap<String, Bytes>>,
}

impl Site {
    fn new(
        gate: Gate,
        contexts: Vec<(String, Arc<Store>)>,
        reports: Option<BTreeMap<String, Bytes>>,
    ) -> Self {
        let names = contexts.clone();
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
            names,
            reports,
        }
    }

    /// What the page asks for; none if there is no page, or it is not asked.
    fn page(&self, head: &http::request::Parts) -> Option<Result<Answer, Status>> {
        let reports = self.reports.as_ref()?;
        let path = head.uri.path();
        if path != "/ui" && !path.starts_with("/ui/") {
            return None;
        }
        let query = Query::parse(head.uri.query().unwrap_or(""));
        if path == "/ui/open" {
            let token = query.get("token").unwrap_or("");
            let entered = self.gate.own_name(&head.headers).and_then(|()| {
                if self.gate.is_token(token) {
                    Ok(page::enter(token))
                } else {
                    Err(Status::unauthorized())
                }
            });
            return Some(entered);
        }
        let contexts: Vec<page::Context<'_>> = self
            .names
            .iter()
            .map(|(name, store)| page::Context {
                name,
                prefix: if self.only.is_some() {
                    String::new()
                } else {
                    format!("/{}", path_of(name))
                },
                store,
                report: reports.get(name),
            })
            .collect();
        let admitted = self.gate.admit(&head.headers);
        Some(admitted.and_then(|()| page::answer(&contexts, path, &query)))
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
        if let Some(answer) = self.page(&head) {
            return answer;
        }
        self.gate.admit(&head.headers)?;
        let path = head.uri.path().to_owned();
        let (store, path) = self.store(&path).ok_or_else(Status::no_such_path)?;
        let accept = head.headers.get(http::header::ACCEPT);
        let body = if matches!(head.method.as_str(), "GET" | "HEAD") {
            Bytes::new()
        } else {
            let body = Limited::new(body, LARGEST_REQUEST).collect().await;
            body.map(http_body_util::Collected::to_bytes)
                .map_err(|_| Status::bad_request("the body is too large or was cut"))?
        };
        let ask = Ask {
            method: head.method.as_str().to_owned(),
            path: path.to_owned(),
            query: head.uri.query().unwrap_or("").to_owned(),
            accept: accept
                .and_then(|value| value.to_str().ok())
                .unwrap_or("")
                .to_owned(),
            body,
        };
        let store = Arc::clone(store);
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
