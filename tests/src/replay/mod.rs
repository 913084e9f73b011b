//! The replay: an HTTPS server that answers as the recorded API server did, to a client certificate
//! or a bearer token, and misbehaves on request.

mod answer;
mod fault;
mod objects;
mod pki;
mod serve;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;

pub use fault::{Fault, Faults};
pub use pki::{Credential, Pki};

use crate::recording::{Recording, User};

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
    pub fn start(recording: Recording, listen: SocketAddr, faults: Faults) -> anyhow::Result<Self> {
        let pki = Pki::new(listen.ip())?;
        let listener = std::net::TcpListener::bind(listen).context("bind the replay")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let state = serve::State::new(recording, faults, pki.users(), Arc::clone(&seen));
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
