//! Credentials: where distributions leave a kubeconfig on a node, in the order in which they are tried.

mod error;

use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::config::{ExecInteractiveMode, KubeConfigOptions, Kubeconfig, KubeconfigError};

pub use error::CredentialError;
use error::describe;

use super::api::chain;
use crate::host::Host;
use crate::source::PlanItem;
use crate::sources::processes;

/// To reach a server's port.
const CONNECT: Duration = Duration::from_secs(5);
/// For a login helper that a kubeconfig names.
const HELPER: Duration = Duration::from_secs(10);

/// Kubeconfigs on a node, those with the most rights first.
pub const PLACES: &[&str] = &[
    "/etc/kubernetes/admin.conf",
    "/etc/kubernetes/super-admin.conf",
    "/etc/rancher/k3s/k3s.yaml",
    "/etc/rancher/rke2/rke2.yaml",
    "/var/snap/microk8s/current/credentials/client.config",
    "/var/lib/k0s/pki/admin.conf",
    "/var/snap/k8s/common/etc/kubernetes/admin.conf",
    "/root/.kube/config",
    "/etc/kubernetes/kubelet.conf",
    "/var/lib/kubelet/kubeconfig",
    "/var/lib/rancher/k3s/agent/kubelet.kubeconfig",
    "/var/lib/rancher/rke2/agent/kubelet.kubeconfig",
    "/var/snap/microk8s/current/credentials/kubelet.config",
    "/var/lib/k0s/kubelet.conf",
];

/// The first of [`PLACES`] that is a kubelet's.
const FIRST_KUBELET: &str = "/etc/kubernetes/kubelet.conf";

/// Where a pod finds its service account.
const IN_CLUSTER_TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// Where credentials come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// `--kubeconfig`: it alone counts.
    Named(PathBuf),
    /// One of the files of `KUBECONFIG`, or all of them together.
    Environment,
    /// The service account of the pod that the collector runs in.
    InCluster,
    /// A file that a distribution wrote.
    Found(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(path) => write!(f, "{}", path.display()),
            Self::Environment => f.write_str("KUBECONFIG"),
            Self::InCluster => f.write_str("the pod's service account"),
            Self::Found(path) => f.write_str(path),
        }
    }
}

/// The places to try, in order. Files that are not there are tried too: it costs nothing.
pub fn places(named: Option<&Path>) -> Vec<Origin> {
    if let Some(path) = named {
        return vec![Origin::Named(path.to_owned())];
    }
    let mut places = Vec::new();
    if std::env::var_os("KUBECONFIG").is_some_and(|value| !value.is_empty()) {
        places.push(Origin::Environment);
    }
    if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() && Path::new(IN_CLUSTER_TOKEN).exists()
    {
        places.push(Origin::InCluster);
    }
    places.extend(PLACES.iter().map(|path| Origin::Found((*path).to_owned())));
    let home = std::env::var("HOME")
        .ok()
        .filter(|home| home.starts_with('/') && home != "/root");
    places.extend(home.map(|home| Origin::Found(format!("{home}/.kube/config"))));
    places
}

/// The kubeconfigs that running kubelets were started with.
pub fn of_kubelets(host: &Host) -> Vec<String> {
    let found = processes::find(host);
    let kubelets = found.iter().filter(|process| process.runs_kubelet());
    let files = kubelets.filter_map(|process| process.flag(&["--kubeconfig"]));
    files.filter(|path| path.starts_with('/')).collect()
}

/// Adds kubeconfigs of kubelets where those of distributions' kubelets begin.
pub fn with_kubelets(places: &mut Vec<Origin>, files: Vec<String>) {
    for file in files {
        let place = Origin::Found(file);
        if places.contains(&place) {
            continue;
        }
        let first = Origin::Found(FIRST_KUBELET.to_owned());
        let at = places.iter().position(|one| *one == first);
        places.insert(at.unwrap_or(places.len()), place);
    }
}

/// The files that a run would read to log in: those that are there now.
pub fn plan(host: &Host, named: Option<&Path>) -> Vec<PlanItem> {
    let mut places = places(named);
    if named.is_none() {
        with_kubelets(&mut places, of_kubelets(host));
    }
    let files = places.into_iter().filter_map(|place| match place {
        Origin::Named(path) => Some(path.display().to_string()),
        Origin::Environment => Some("<files of KUBECONFIG>".to_owned()),
        Origin::InCluster => Some(IN_CLUSTER_TOKEN.to_owned()),
        Origin::Found(path) => host.exists(&path).then_some(path),
    });
    files.map(PlanItem::file).collect()
}

/// The files of `KUBECONFIG`, as kubectl takes them: those that are not there are passed over.
fn of_environment() -> Result<Kubeconfig, KubeconfigError> {
    let list = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let files = std::env::split_paths(&list).filter(|file| !file.as_os_str().is_empty());
    let (there, absent): (Vec<PathBuf>, Vec<PathBuf>) = files.partition(|file| file.exists());
    if there.is_empty()
        && let Some(file) = absent.into_iter().next()
    {
        return Kubeconfig::read_from(file);
    }
    there
        .iter()
        .try_fold(Kubeconfig::default(), |merged, file| {
            merged.merge(Kubeconfig::read_from(file)?)
        })
}

/// Makes of a kubeconfig what kubectl would make of it: a token's file counts where a token stands beside it, and may
/// end in a newline, and `socks5h` is a name
/// for what `socks5` does here, which is that the proxy looks names up.
fn as_kubectl_reads(config: &mut Kubeconfig) {
    let users = config.auth_infos.iter_mut();
    for user in users.filter_map(|user| user.auth_info.as_mut()) {
        let file = user.token_file.as_ref();
        let text = file.and_then(|file| std::fs::read_to_string(file).ok());
        if let Some(text) = text {
            user.token = Some(text.trim().to_owned().into());
            user.token_file = None;
        }
    }
    let clusters = config.clusters.iter_mut();
    for cluster in clusters.filter_map(|cluster| cluster.cluster.as_mut()) {
        let proxy = cluster.proxy_url.as_mut();
        if let Some(rest) = proxy.and_then(|url| {
            url.strip_prefix("socks5h://")
                .map(|rest| format!("socks5://{rest}"))
        }) {
            cluster.proxy_url = Some(rest);
        }
    }
}

/// The client configuration of one place. Blocks on files: for a blocking thread.
fn read(place: &Origin, file: Option<&Path>) -> Result<Kubeconfig, CredentialError> {
    let read = match (place, file) {
        (Origin::Environment, _) => of_environment(),
        (_, Some(file)) => Kubeconfig::read_from(file),
        (_, None) => Ok(Kubeconfig::default()),
    };
    let mut config = read.map_err(|error| describe(place, &error))?;
    as_kubectl_reads(&mut config);
    for user in config
        .auth_infos
        .iter_mut()
        .filter_map(|user| user.auth_info.as_mut())
    {
        let Some(exec) = &mut user.exec else { continue };
        exec.interactive_mode = Some(ExecInteractiveMode::Never);
        if matches!(place, Origin::Found(_)) {
            let helper = exec.command.as_deref().unwrap_or("a helper");
            return Err(CredentialError::Field {
                place: place.to_string(),
                field: "users[].user.exec".to_owned(),
                why: format!(
                    "needs the program {helper:?} to log in, which runs only when --kubeconfig names the file"
                ),
            });
        }
    }
    Ok(config)
}

/// The client configuration of one place; `file` is where the place's file really lies, `context` which of its contexts
/// counts where it is not the current one.
pub async fn load(
    place: &Origin,
    file: Option<PathBuf>,
    context: Option<&str>,
) -> Result<kube::Config, CredentialError> {
    let failed = |why: String| CredentialError::File {
        place: place.to_string(),
        why,
    };
    let mut config = if *place == Origin::InCluster {
        kube::Config::incluster().map_err(|error| failed(chain(&error)))?
    } else {
        let blocking = place.clone();
        let task = tokio::task::spawn_blocking(move || read(&blocking, file.as_deref()));
        let read = tokio::time::timeout(CONNECT, task).await;
        let read = read.map_err(|_| failed("reading it takes too long".to_owned()))?;
        let kubeconfig = read.map_err(|error| failed(error.to_string()))??;
        let options = KubeConfigOptions {
            context: context.map(str::to_owned),
            ..KubeConfigOptions::default()
        };
        kube::Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .map_err(|error| describe(place, &error))?
    };
    // The client library would trust nobody, and blame the server's certificate.
    if config.root_cert.as_ref().is_some_and(Vec::is_empty) {
        return Err(CredentialError::Field {
            place: place.to_string(),
            field: "clusters[].cluster.certificate-authority(-data)".to_owned(),
            why: "there is no certificate in it (PEM is wanted)".to_owned(),
        });
    }
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = None;
    // Retries are counted and bounded in `api`; the client's own would wait for many minutes.
    config.default_retry = false;
    Ok(config)
}

/// A client of the configuration. A login helper runs here, when the user named the file.
pub async fn connect(
    place: &Origin,
    config: kube::Config,
) -> Result<kube::Client, CredentialError> {
    let failed = |why: String| CredentialError::File {
        place: place.to_string(),
        why,
    };
    let runtime = tokio::runtime::Handle::current();
    let task = tokio::task::spawn_blocking(move || {
        let _inside = runtime.enter();
        kube::Client::try_from(config)
    });
    let built = tokio::time::timeout(HELPER, task).await;
    let built = built.map_err(|_| failed("its login helper does not end".to_owned()))?;
    built
        .map_err(|error| failed(error.to_string()))?
        .map_err(|error| failed(chain(&error)))
}

/// Checks the file of `--kubeconfig` before anything is collected: it must be readable and complete, and so must the
/// files that it names. Connects to nothing and runs no login helper.
pub async fn check(path: &Path, context: Option<&str>) -> Result<(), CredentialError> {
    let place = Origin::Named(path.to_owned());
    let config = load(&place, Some(path.to_owned()), context).await?;
    check_user(&place, path, context, &config)?;
    let helper = config.auth_info.exec.is_some() || config.auth_info.auth_provider.is_some();
    let mut anonymous = config.clone();
    anonymous.auth_info = kube::config::AuthInfo::default();
    let field = |field: &str| {
        let (place, field) = (place.to_string(), field.to_owned());
        move |error: CredentialError| CredentialError::Field {
            place,
            field,
            why: error.why().to_owned(),
        }
    };
    let authority = "clusters[].cluster.certificate-authority(-data)";
    connect(&place, anonymous).await.map_err(field(authority))?;
    if !helper {
        let keys = "users[].user.client-certificate(-data), client-key(-data)";
        connect(&place, config).await.map_err(field(keys))?;
    }
    Ok(())
}

/// The user of the current context is there, and the files of its credentials can be read.
fn check_user(
    place: &Origin,
    path: &Path,
    context: Option<&str>,
    config: &kube::Config,
) -> Result<(), CredentialError> {
    let wrong = |field: &str, why: String| {
        Err(CredentialError::Field {
            place: place.to_string(),
            field: field.to_owned(),
            why,
        })
    };
    let whole = read(place, Some(path))?;
    let current = context.or(whole.current_context.as_deref());
    let contexts = whole.contexts.iter();
    let user = contexts
        .filter(|one| Some(one.name.as_str()) == current)
        .find_map(|one| one.context.as_ref()?.user.clone());
    // The client library would go on without a login, and the server's refusal would say nothing of the reason.
    if let Some(user) = user.filter(|user| !whole.auth_infos.iter().any(|one| one.name == *user)) {
        return wrong(
            "contexts[].context.user",
            format!("there is no user named {user:?}"),
        );
    }
    let info = &config.auth_info;
    let files = [
        ("users[].user.client-certificate", &info.client_certificate),
        ("users[].user.client-key", &info.client_key),
        ("users[].user.tokenFile", &info.token_file),
    ];
    for (field, file) in files {
        let Some(file) = file.as_deref() else {
            continue;
        };
        if let Err(error) = std::fs::File::open(file) {
            return wrong(field, format!("{file}: {error}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
