//! What is said of credentials that cannot be used: the file, the field as the file spells it, and what is wrong with it.

use kube::config::KubeconfigError;

use super::Origin;
use crate::cluster::api::chain;

/// Why credentials cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// A field is missing or wrong.
    #[error("{place}: {field}: {why}")]
    Field {
        /// The file.
        place: String,
        /// The field as the file spells it.
        field: String,
        /// What is wrong with it.
        why: String,
    },
    /// The file cannot be read or is no kubeconfig at all.
    #[error("{place}: {why}")]
    File {
        /// The file.
        place: String,
        /// What is wrong with it.
        why: String,
    },
}

impl CredentialError {
    pub(super) fn why(&self) -> &str {
        match self {
            Self::Field { why, .. } | Self::File { why, .. } => why,
        }
    }
}

/// Names the field, in the words of the file.
pub(super) fn describe(place: &Origin, error: &KubeconfigError) -> CredentialError {
    let place = place.to_string();
    let field = |field: &str, why: &str| CredentialError::Field {
        place: place.clone(),
        field: field.to_owned(),
        why: why.to_owned(),
    };
    let why = error.source_words();
    match error {
        KubeconfigError::CurrentContextNotSet => field("current-context", "not set"),
        KubeconfigError::LoadContext(name) => field(
            "current-context (or --context)",
            &format!("there is no context named {name:?}"),
        ),
        KubeconfigError::LoadClusterOfContext(name) => field(
            "contexts[].context.cluster",
            &format!("there is no cluster named {name:?}"),
        ),
        KubeconfigError::MissingClusterUrl => field("clusters[].cluster.server", "not set"),
        KubeconfigError::ParseClusterUrl(_) => field("clusters[].cluster.server", &why),
        KubeconfigError::ParseProxyUrl(_) => field("clusters[].cluster.proxy-url", &why),
        KubeconfigError::LoadCertificateAuthority(_) | KubeconfigError::ParseCertificates(_) => {
            field("clusters[].cluster.certificate-authority(-data)", &why)
        }
        KubeconfigError::LoadClientCertificate(_) => {
            field("users[].user.client-certificate(-data)", &why)
        }
        KubeconfigError::LoadClientKey(_) => field("users[].user.client-key(-data)", &why),
        KubeconfigError::ReadConfig(source, _) => CredentialError::File {
            place,
            why: source.to_string(),
        },
        KubeconfigError::Parse(source) => CredentialError::File {
            place,
            why: format!("not a kubeconfig: {}", first_line(&source.to_string())),
        },
        other => CredentialError::File {
            place,
            why: first_line(&chain(other)),
        },
    }
}

trait SourceWords {
    fn source_words(&self) -> String;
}

impl SourceWords for KubeconfigError {
    fn source_words(&self) -> String {
        std::error::Error::source(self)
            .map_or_else(|| self.to_string(), |cause| first_line(&chain(cause)))
    }
}

/// Parsers may quote the file over several lines; a quoted line may hold a secret.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
