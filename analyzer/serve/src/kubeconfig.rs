//! The kubeconfig that leads clients to the server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::server::Credentials;

/// A kubeconfig with one context for each name, the first of which is the current one. It is JSON, which is YAML too, so
/// that no name in it can be read as anything else.
pub fn kubeconfig(credentials: &Credentials, contexts: &[String]) -> String {
    let authority = STANDARD.encode(&credentials.certificate_authority);
    let one = contexts.len() == 1;
    let clusters: Vec<_> = contexts
        .iter()
        .map(|name| {
            let path = if one { String::new() } else { format!("/{}", path_of(name)) };
            let server = format!("https://{}{path}", credentials.address);
            json!({"name": name, "cluster": {"server": server, "certificate-authority-data": authority}})
        })
        .collect();
    let entries: Vec<_> = contexts
        .iter()
        .map(|name| json!({"name": name, "context": {"cluster": name, "user": "casefile"}}))
        .collect();
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": clusters,
        "contexts": entries,
        "current-context": contexts.first(),
        "users": [{"name": "casefile", "user": {"token": credentials.token}}],
    });
    format!("{config:#}\n")
}

/// The first part of a context's paths, where a server has several.
pub(crate) fn path_of(context: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') {
            c
        } else {
            '-'
        }
    };
    format!("context-{}", context.chars().map(plain).collect::<String>())
}
