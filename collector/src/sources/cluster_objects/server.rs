//! The API server itself: version, health, how it was reached and what the credentials may do.

use casefile_bundle::Entry;
use serde::Serialize;

use crate::cluster::api::ApiError;
use crate::cluster::{Cluster, access};
use crate::out::{Out, OutError};
use crate::redact::Content;

#[derive(Serialize)]
struct Connection<'a> {
    credentials: &'a str,
    server: &'a str,
    passed_over: &'a [String],
}

/// Version, health and how the server was reached. Returns how much of it is missing.
pub(super) async fn server_facts(out: &Out, cluster: &Cluster) -> Result<usize, OutError> {
    let connection = Connection {
        credentials: &cluster.credentials,
        server: &cluster.server,
        passed_over: &cluster.passed_over,
    };
    if !cluster.passed_over.is_empty() {
        out.note(format!(
            "used the credentials of {}; passed over: {}",
            cluster.credentials,
            cluster.passed_over.join("; ")
        ));
    }
    let mut text = serde_json::to_vec(&connection).unwrap_or_default();
    text.push(b'\n');
    let path = Entry::Cluster("connection.json").into();
    out.put(path, Content::JsonLines, None, &text).await?;
    write_access(out, &cluster.access).await?;
    let mut missing = 0;
    match cluster
        .api
        .get_all("/version", "application/json", 64 << 10)
        .await
    {
        Ok(version) => {
            let path = Entry::Cluster("cluster_version.json").into();
            out.put(
                path,
                Content::JsonLines,
                Some("GET /version".to_owned()),
                &version_file(&version),
            )
            .await?;
        }
        Err(error) => {
            missing += 1;
            out.note(error.note("GET /version"));
        }
    }
    for (url, name) in [
        ("/readyz?verbose", "readyz.txt"),
        ("/livez?verbose", "livez.txt"),
    ] {
        let text = match cluster.api.get_all(url, "text/plain, */*", 1 << 20).await {
            Ok(text) => text,
            // A server that is not ready says in the error's body what is wrong with it.
            Err(ApiError::Status {
                code: 500..,
                message,
                ..
            }) => message.into_bytes(),
            Err(error) if error.code() == Some(404) => continue,
            Err(error) => {
                missing += 1;
                out.note(error.note(&format!("GET {url}")));
                continue;
            }
        };
        let path = Entry::Cluster(name).into();
        out.put(path, Content::Text, Some(format!("GET {url}")), &text)
            .await?;
    }
    Ok(missing)
}

/// What these credentials may do: the whole cluster first, then each namespace asked for.
async fn write_access(out: &Out, answers: &[Vec<u8>]) -> Result<(), OutError> {
    let Some((first, rest)) = answers.split_first() else {
        return Ok(());
    };
    let mut text = first.clone();
    for answer in rest {
        text.push(b'\n');
        text.extend_from_slice(answer);
    }
    text.push(b'\n');
    let path = Entry::Cluster("access.jsonl").into();
    let origin = Some(format!("POST {}", access::PATH));
    out.put(path, Content::JsonLines, origin, &text).await
}

/// As support-bundle tools write it: the server's answer as `info`, its version as `string`.
fn version_file(answer: &[u8]) -> Vec<u8> {
    let info: serde_json::Value = serde_json::from_slice(answer).unwrap_or_default();
    let string = info.get("gitVersion").cloned().unwrap_or_default();
    let mut text = serde_json::to_vec(&serde_json::json!({"info": info, "string": string}))
        .unwrap_or_default();
    text.push(b'\n');
    text
}
