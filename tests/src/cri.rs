//! A very small CRI client: asks a container runtime for a pod sandbox, as a kubelet does, and
//! tells what it answered. The one request message is encoded by hand, so no protobuf compiler is needed.

use std::path::Path;

use anyhow::Context as _;
use bytes::{BufMut as _, Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::UnixStream;

/// The pod that a sandbox is asked for.
#[derive(Debug, Clone)]
pub struct Pod {
    /// `metadata.name`
    pub name: String,
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.uid`
    pub uid: String,
    /// How often it was tried before.
    pub attempt: u32,
    /// Whether it shares the node's network, which needs no CNI.
    pub host_network: bool,
}

/// How a gRPC call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The gRPC status code, 0 for success, 2 for "unknown".
    pub code: u32,
    /// The server's message, percent-decoded.
    pub message: String,
}

/// Calls `runtime.v1.RuntimeService/RunPodSandbox` on a runtime's socket.
///
/// # Errors
/// When the socket cannot be reached or does not speak gRPC; a refusal by the runtime is an [`Outcome`].
pub async fn run_pod_sandbox(socket: &Path, pod: &Pod, handler: &str) -> anyhow::Result<Outcome> {
    let (outcome, _) = call(socket, "RunPodSandbox", &sandbox_request(pod, handler)).await?;
    Ok(outcome)
}

/// Runs a container in a sandbox of its own on the node's network, as a kubelet does, and gives its id.
///
/// # Errors
/// Also when the runtime refuses one of the steps, with its words.
pub async fn run_container(
    socket: &Path,
    pod: &Pod,
    image: &str,
    command: &[&str],
) -> anyhow::Result<String> {
    let pod = &Pod {
        host_network: true,
        ..pod.clone()
    };
    let request = sandbox_request(pod, "");
    let sandbox = id(call(socket, "RunPodSandbox", &request).await?)?;
    // CreateContainerRequest { pod_sandbox_id = 1, config = 2, sandbox_config = 3 }
    let mut create = Vec::new();
    field(&mut create, 1, sandbox.as_bytes());
    field(&mut create, 2, &container_config(image, command));
    field(&mut create, 3, &sandbox_config(pod));
    let container = id(call(socket, "CreateContainer", &create).await?)?;
    let mut start = Vec::new();
    field(&mut start, 1, container.as_bytes());
    let (outcome, _) = call(socket, "StartContainer", &start).await?;
    anyhow::ensure!(outcome.code == 0, "StartContainer: {}", outcome.message);
    Ok(container)
}

/// The id that an answer holds as its only field.
fn id((outcome, answer): (Outcome, Bytes)) -> anyhow::Result<String> {
    anyhow::ensure!(outcome.code == 0, "{}", outcome.message);
    // Framing, tag and a length below 128 stand before it.
    let id = answer.get(7..).context("the answer holds no id")?;
    Ok(String::from_utf8(id.to_vec())?)
}

async fn call(socket: &Path, method: &str, message: &[u8]) -> anyhow::Result<(Outcome, Bytes)> {
    let stream = UnixStream::connect(socket)
        .await
        .with_context(|| format!("connect to {}", socket.display()))?;
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = Request::post(format!(
        "http://localhost/runtime.v1.RuntimeService/{method}"
    ))
    .header("content-type", "application/grpc")
    .header("te", "trailers")
    .body(Full::new(framed(message)))?;
    let response = sender.send_request(request).await?;
    let mut headers = response.headers().clone();
    let collected = response.into_body().collect().await?;
    if let Some(trailers) = collected.trailers() {
        headers.extend(trailers.clone());
    }
    let text = |name: &str| {
        let value = headers
            .get(name)
            .map(hyper::header::HeaderValue::as_bytes)
            .unwrap_or_default();
        percent_encoding::percent_decode(value)
            .decode_utf8_lossy()
            .into_owned()
    };
    let code = text("grpc-status")
        .parse()
        .context("the answer has no grpc-status")?;
    let outcome = Outcome {
        code,
        message: text("grpc-message"),
    };
    Ok((outcome, collected.to_bytes()))
}

/// [`run_pod_sandbox`] for callers without an async runtime.
///
/// # Errors
/// As [`run_pod_sandbox`], and when no runtime can be started.
pub fn ask_for_sandbox(socket: &Path, pod: &Pod, handler: &str) -> anyhow::Result<Outcome> {
    waited_for(run_pod_sandbox(socket, pod, handler))
}

/// Runs a future to its end for callers without an async runtime.
///
/// # Errors
/// Its own, and when no runtime can be started.
pub fn waited_for<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(future)
}

/// gRPC framing: uncompressed, length, message.
fn framed(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(message.len() + 5);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    frame.put_slice(message);
    frame.freeze()
}

/// `RunPodSandboxRequest { config = 1, runtime_handler = 2 }`
fn sandbox_request(pod: &Pod, handler: &str) -> Vec<u8> {
    let mut request = Vec::new();
    field(&mut request, 1, &sandbox_config(pod));
    field(&mut request, 2, handler.as_bytes());
    request
}

/// `PodSandboxConfig { metadata = 1, log_directory = 3, linux = 8 }`
fn sandbox_config(pod: &Pod) -> Vec<u8> {
    let mut metadata = Vec::new();
    field(&mut metadata, 1, pod.name.as_bytes());
    field(&mut metadata, 2, pod.uid.as_bytes());
    field(&mut metadata, 3, pod.namespace.as_bytes());
    if pod.attempt > 0 {
        varint(&mut metadata, 4 << 3);
        varint(&mut metadata, u64::from(pod.attempt));
    }
    let logs = format!("/var/log/pods/{}_{}_{}", pod.namespace, pod.name, pod.uid);
    let mut config = Vec::new();
    field(&mut config, 1, &metadata);
    field(&mut config, 3, logs.as_bytes());
    field(&mut config, 8, &linux(pod));
    config
}

/// `ContainerConfig { metadata = 1 { name = 1 }, image = 2 { image = 1 }, command = 3, linux = 15 }`
fn container_config(image: &str, command: &[&str]) -> Vec<u8> {
    let named = |text: &str| {
        let mut message = Vec::new();
        field(&mut message, 1, text.as_bytes());
        message
    };
    let mut config = Vec::new();
    field(&mut config, 1, &named("main"));
    field(&mut config, 2, &named(image));
    for word in command {
        field(&mut config, 3, word.as_bytes());
    }
    field(&mut config, 15, &[]);
    config
}

/// `LinuxPodSandboxConfig { security_context = 2 { namespace_options = 1 { network = 1: NODE } } }`
fn linux(pod: &Pod) -> Vec<u8> {
    const NODE: u64 = 2;
    let mut linux = Vec::new();
    if pod.host_network {
        let mut options = Vec::new();
        varint(&mut options, 1 << 3);
        varint(&mut options, NODE);
        let mut security = Vec::new();
        field(&mut security, 1, &options);
        field(&mut linux, 2, &security);
    }
    linux
}

/// A length-delimited protobuf field.
fn field(out: &mut Vec<u8>, number: u64, content: &[u8]) {
    varint(out, number << 3 | 2);
    varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_field_has_a_long_length() {
        let mut out = Vec::new();
        field(&mut out, 1, &[7; 300]);
        assert_eq!(&out[..3], &[0x0a, 0xac, 0x02]);
        assert_eq!(out.len(), 303);
    }
}
