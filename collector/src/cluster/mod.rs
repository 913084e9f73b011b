//! The cluster's API: where its credentials lie on this node, and one connection that all sources share.

pub mod access;
pub mod api;
pub mod credentials;
pub mod cri_log;
pub mod discovery;
pub mod discovery_answers;
pub mod helm_release;
pub mod helm_unread;
pub mod helm_values;
pub mod items;
pub mod list_files;
pub mod listing;
pub mod log_fetch;
pub mod log_files;
pub mod pods;
pub mod resolve;
pub mod secrets;
pub mod slim;
pub mod value_changes;
pub mod yaml;

#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::host::Host;
use crate::options::Options;
use crate::out::OutError;
use crate::outcome::Outcome;
use api::{Api, ApiError, Patience};
use credentials::{CredentialError, Origin};

/// All credentials together are tried for no longer than this.
const SEARCH: Duration = Duration::from_secs(25);
/// One API server's answer to the first question.
const GREETING: Duration = Duration::from_secs(8);

/// Whether the whole cluster's pods may be listed.
const ONE_POD: &str = "/api/v1/pods?limit=1";

/// Why there is no cluster part; the same sentence for every source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCluster {
    /// The files are another machine's.
    #[error("a mounted disk has no API server of its own: --kubeconfig FILE names the cluster's")]
    Root,
    /// Nothing on this node can log in anywhere.
    #[error(
        "no credentials for an API server on this node (looked in KUBECONFIG, /etc/kubernetes, k3s, RKE2, microk8s, k8s-snap, k0s and ~/.kube)"
    )]
    NoCredentials,
    /// There are credentials, and none got an answer.
    #[error("the API server cannot be used: {0}")]
    Unreachable(String),
}

impl NoCluster {
    /// How a source ends that needs the API.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Root | Self::NoCredentials => Outcome::skipped(self.to_string()),
            Self::Unreachable(_) => Outcome::failed(self.to_string()),
        }
    }
}

/// Why a source that asks the API ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// There is nobody to ask.
    #[error(transparent)]
    NoCluster(#[from] NoCluster),
    /// What was taken cannot be written.
    #[error(transparent)]
    Out(#[from] OutError),
}

/// How a source of the cluster ended.
pub fn ended(taken: Result<Outcome, Stopped>) -> Outcome {
    match taken {
        Ok(outcome) => outcome,
        Err(Stopped::NoCluster(no_cluster)) => no_cluster.outcome(),
        Err(Stopped::Out(error)) => Outcome::failed(api::chain(&error)),
    }
}

/// The connection that was made.
pub struct Cluster {
    /// The server.
    pub api: Api,
    /// Where the credentials came from.
    pub credentials: String,
    /// The namespace of the context, where these credentials may not list the whole cluster's pods.
    pub namespace: Option<String>,
    /// The server's address as the kubeconfig has it.
    pub server: String,
    /// What the server said that these credentials may do.
    pub access: Vec<Vec<u8>>,
    /// Credentials tried before these, each with its reason.
    pub passed_over: Vec<String>,
}

impl Cluster {
    /// The namespaces to ask for: those that the user names, else the context's where the whole cluster is forbidden.
    /// Empty for the whole cluster.
    pub fn namespaces(&self, options: &Options) -> BTreeSet<String> {
        if options.namespaces.is_empty() {
            self.namespace.iter().cloned().collect()
        } else {
            options.namespaces.clone()
        }
    }

    /// What asking only the context's namespace leaves out.
    pub fn narrowed(&self) -> Option<String> {
        let namespace = self.namespace.as_ref()?;
        Some(format!(
            "only the namespace {namespace} of the kubeconfig's context: these credentials may not list the whole cluster's pods"
        ))
    }
}

/// A lazy, shared connection to the API server.
pub struct ClusterHandle {
    options: Arc<Options>,
    host: Host,
    patience: Patience,
    cell: OnceCell<Result<Arc<Cluster>, NoCluster>>,
}

impl ClusterHandle {
    /// Does nothing but remember where to look; the first use connects.
    pub fn new(options: Arc<Options>, host: Host) -> Self {
        Self {
            options,
            host,
            patience: Patience::default(),
            cell: OnceCell::new(),
        }
    }

    /// A handle with other limits than the usual ones.
    #[cfg(test)]
    pub fn with_patience(options: Arc<Options>, host: Host, patience: Patience) -> Self {
        Self {
            options,
            host,
            patience,
            cell: OnceCell::new(),
        }
    }

    /// The connection; looked for once, whoever asks first.
    pub async fn connect(&self) -> Result<Arc<Cluster>, NoCluster> {
        self.cell.get_or_init(|| self.search()).await.clone()
    }

    async fn search(&self) -> Result<Arc<Cluster>, NoCluster> {
        if !self.options.asks_cluster() {
            return Err(NoCluster::Root);
        }
        let mut tried = Vec::new();
        let found = timeout(SEARCH, self.try_all(&mut tried)).await;
        match found {
            Ok(Some(cluster)) => Ok(Arc::new(cluster)),
            Ok(None) if tried.is_empty() => Err(NoCluster::NoCredentials),
            Ok(None) => Err(NoCluster::Unreachable(tried.join("; "))),
            Err(_) => {
                tried.push(format!("gave up after {} s", SEARCH.as_secs()));
                Err(NoCluster::Unreachable(tried.join("; ")))
            }
        }
    }

    async fn try_all(&self, tried: &mut Vec<String>) -> Option<Cluster> {
        let mut dead = BTreeSet::new();
        for place in self.places().await {
            let file = match self.file_of(&place).await {
                Ok(file) => file,
                Err(Some(why)) => {
                    tried.push(why);
                    continue;
                }
                Err(None) => continue,
            };
            match self.try_one(&place, file, &mut dead).await {
                Ok((mut api, server, namespace)) => {
                    let passed_over = std::mem::take(tried);
                    let access = api.learn_access(&self.options.namespaces).await;
                    let namespace = self.narrowed(&api, namespace).await;
                    return Some(Cluster {
                        namespace,
                        api,
                        access,
                        credentials: place.to_string(),
                        server,
                        passed_over,
                    });
                }
                Err(why) => tried.push(why),
            }
        }
        None
    }

    /// The context's namespace, where nobody named one and the whole cluster is forbidden.
    async fn narrowed(&self, api: &Api, namespace: Option<String>) -> Option<String> {
        let namespace = namespace.filter(|_| self.options.namespaces.is_empty())?;
        let asked = api.get_all(ONE_POD, "application/json", 4 << 20).await;
        let forbidden = asked.is_err_and(|error| error.code() == Some(403));
        forbidden.then_some(namespace)
    }

    /// The places to try. Where no file is named, kubelets that run here say which one is theirs.
    async fn places(&self) -> Vec<Origin> {
        let mut places = credentials::places(self.options.kubeconfig.as_deref());
        if self.options.kubeconfig.is_none() {
            let kubelets = self.host.on_thread(credentials::of_kubelets).await;
            credentials::with_kubelets(&mut places, kubelets.unwrap_or_default());
        }
        places
    }

    /// Where a place's file lies; no reason where a file is just not there.
    async fn file_of(&self, place: &Origin) -> Result<Option<PathBuf>, Option<String>> {
        match place {
            Origin::Named(path) => Ok(Some(path.clone())),
            Origin::Environment | Origin::InCluster => Ok(None),
            Origin::Found(path) => {
                let path = path.clone();
                let opened = self
                    .host
                    .on_thread(move |host| host.open(&path).and_then(|_| host.resolve(&path)))
                    .await;
                match opened {
                    Some(Ok(real)) => Ok(Some(real)),
                    Some(Err(error)) if error.is_absent() => Err(None),
                    Some(Err(error)) => Err(Some(error.sentence())),
                    None => Err(None),
                }
            }
        }
    }

    async fn try_one(
        &self,
        place: &Origin,
        file: Option<PathBuf>,
        dead: &mut BTreeSet<String>,
    ) -> Result<(Api, String, Option<String>), String> {
        let words = |error: CredentialError| error.to_string();
        let context = self.options.context.as_deref();
        let mut config = credentials::load(place, file, context)
            .await
            .map_err(words)?;
        let namespace = Some(config.default_namespace.clone()).filter(|name| name != "default");
        let server = config.cluster_url.to_string();
        let server = server.trim_end_matches('/').to_owned();
        if dead.contains(&server) {
            return Err(format!("{place}: the same server {server}"));
        }
        resolve::pin(&mut config)
            .await
            .map_err(|why| format!("{place}: {server}: {why}"))?;
        let client = credentials::connect(place, config).await.map_err(words)?;
        let api = Api::new(client, self.patience);
        let greeting = GREETING.min(self.patience.answer);
        let answer = timeout(greeting, api.get_all("/api", "application/json", 4 << 20)).await;
        let refused = match answer {
            Err(_) => {
                dead.insert(server.clone());
                format!("no answer within {} s", greeting.as_secs())
            }
            Ok(Err(error @ ApiError::Connection(_))) => {
                // A certificate that this file does not trust says nothing of the next file.
                if !error.is_of_tls() {
                    dead.insert(server.clone());
                }
                error.to_string()
            }
            Ok(Err(ApiError::Status { code: 401, .. })) => {
                "the server does not accept these credentials (HTTP 401)".to_owned()
            }
            Ok(Err(ApiError::Status {
                code: 403, message, ..
            })) if api::user_of(&message) == Some("system:anonymous") => {
                "the server takes them for nobody's (system:anonymous)".to_owned()
            }
            // Any other answer comes from a server that is there; what it refuses is noted where it is asked.
            Ok(_) => return Ok((api, server, namespace)),
        };
        Err(format!("{place}: {server}: {refused}"))
    }
}
