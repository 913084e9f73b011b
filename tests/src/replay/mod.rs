//! The replay: an HTTPS server that answers as the recorded API server did, to a client certificate
//! or a bearer token, and misbehaves on request.

mod answer;
pub mod big;
mod fault;
mod objects;
mod pki;
mod serve;
pub mod small;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;

pub use fault::{Fault, Faults};
pub use pki::{Credential, Pki};

use crate::recording::{Answer, Form, Recording, Target, User};

/// A cluster that can be asked: a recorded one, or one made up for a test.
pub trait Cluster: Send + Sync + 'static {
    /// The answer to a GET request.
    fn answer(&self, user: User, target: &Target, form: Form) -> Answer;

    /// What a user may do, as the `resourceRules` of a SelfSubjectRulesReview; `None` where it cannot be told.
    fn rules(&self, user: User) -> Option<serde_json::Value> {
        (user == User::Admin)
            .then(|| serde_json::json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]))
    }
}

impl Cluster for Recording {
    fn answer(&self, user: User, target: &Target, form: Form) -> Answer {
        answer::find(self, user, target, form)
    }
}

/// A running replay server. It stops when dropped.
pub struct Server {
    address: SocketAddr,
    pki: Pki,
    seen: Arc<Mutex<Vec<String>>>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    /// Starts answering on `listen` (port 0 picks a free one), on a thread of its own.
    ///
    /// # Errors
    /// When the certificates cannot be made or the address cannot be bound.
    pub fn start(
        cluster: impl Cluster,
        listen: SocketAddr,
        faults: Faults,
    ) -> anyhow::Result<Self> {
        let pki = Pki::new(listen.ip())?;
        let listener = std::net::TcpListener::bind(listen).context("bind the replay")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let state = serve::State::new(Box::new(cluster), faults, pki.users(), Arc::clone(&seen));
        let tls = pki.server_config()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let thread = std::thread::spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    () = serve::accept(listener, tls, state) => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        });
        Ok(Server {
            address,
            pki,
            seen,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A kubeconfig for this server, all credentials inside.
    pub fn kubeconfig(&self, user: User, credential: Credential) -> String {
        self.pki.kubeconfig(self.address, user, credential)
    }

    /// Every request so far, as `METHOD target`, in the order of arrival.
    pub fn requests(&self) -> Vec<String> {
        self.seen
            .lock()
            .map(|seen| seen.clone())
            .unwrap_or_default()
    }

    /// Blocks until the server ends, which it does not by itself.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
