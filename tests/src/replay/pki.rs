//! Credentials made at run time: a certificate authority, the server's certificate, and for each
//! user a client certificate and a bearer token. Valid for centuries, so no clock matters.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::recording::User;

/// How a client proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A TLS client certificate.
    Certificate,
    /// An `Authorization: Bearer` header.
    Token,
}

#[derive(Clone)]
struct Identity {
    certificate: CertificateDer<'static>,
    certificate_pem: String,
    key_pem: String,
    token: String,
}

/// The certificate authority of one replay and everything that it issued.
pub struct Pki {
    authority: CertificateDer<'static>,
    authority_pem: String,
    server: (CertificateDer<'static>, Vec<u8>),
    identities: BTreeMap<User, Identity>,
}

/// What the server recognises a user by.
pub(super) struct Users {
    pub(super) certificates: Vec<(CertificateDer<'static>, User)>,
    pub(super) tokens: BTreeMap<String, User>,
}

impl Pki {
    pub(super) fn new(ip: IpAddr) -> anyhow::Result<Self> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "replay-ca");
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let key = KeyPair::generate()?;
        let authority = params.self_signed(&key)?;
        let issuer = Issuer::new(params, key);

        let names = vec![
            ip.to_string(),
            "localhost".to_owned(),
            "kubernetes".to_owned(),
        ];
        let server = issue(
            &issuer,
            "kube-apiserver",
            names,
            ExtendedKeyUsagePurpose::ServerAuth,
        )?;
        let mut identities = BTreeMap::new();
        for user in [User::Admin, User::Viewer] {
            let (certificate, key) = issue(
                &issuer,
                user.name(),
                Vec::new(),
                ExtendedKeyUsagePurpose::ClientAuth,
            )?;
            let identity = Identity {
                certificate_pem: certificate.pem(),
                certificate: certificate.der().clone(),
                key_pem: key.serialize_pem(),
                token: STANDARD.encode(&KeyPair::generate()?.serialized_der()[40..64]),
            };
            identities.insert(user, identity);
        }
        Ok(Pki {
            authority: authority.der().clone(),
            authority_pem: authority.pem(),
            server: (server.0.der().clone(), server.1.serialize_der()),
            identities,
        })
    }

    pub(super) fn users(&self) -> Users {
        let each = self.identities.iter();
        Users {
            certificates: each
                .clone()
                .map(|(user, id)| (id.certificate.clone(), *user))
                .collect(),
            tokens: each.map(|(user, id)| (id.token.clone(), *user)).collect(),
        }
    }

    pub(super) fn server_config(&self) -> anyhow::Result<Arc<ServerConfig>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone())?;
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .allow_unauthenticated()
                .build()?;
        let key = PrivateKeyDer::try_from(self.server.1.clone()).map_err(anyhow::Error::msg)?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![self.server.0.clone()], key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    pub(super) fn kubeconfig(&self, address: SocketAddr, user: User, how: Credential) -> String {
        let identity = &self.identities[&user];
        let name = user.name();
        let ca = STANDARD.encode(&self.authority_pem);
        let proof = match how {
            Credential::Certificate => format!(
                "    client-certificate-data: {}\n    client-key-data: {}\n",
                STANDARD.encode(&identity.certificate_pem),
                STANDARD.encode(&identity.key_pem)
            ),
            Credential::Token => format!("    token: {}\n", identity.token),
        };
        format!(
            "apiVersion: v1\nkind: Config\nclusters:\n- name: k8s\n  cluster:\n    \
             certificate-authority-data: {ca}\n    server: https://{address}\n\
             contexts:\n- name: k8s\n  context:\n    cluster: k8s\n    user: {name}\n\
             current-context: k8s\nusers:\n- name: {name}\n  user:\n{proof}"
        )
    }
}

fn issue(
    issuer: &Issuer<'_, KeyPair>,
    name: &str,
    alternatives: Vec<String>,
    purpose: ExtendedKeyUsagePurpose,
) -> anyhow::Result<(rcgen::Certificate, KeyPair)> {
    let mut params = CertificateParams::new(alternatives)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![purpose];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, issuer)?;
    Ok((certificate, key))
}
