//! A small HTTP server for tests: it replays a recording of a real API server, with faults put in on request.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use casefile_bundle::{BundlePath, Clock, FormatVersion, Header, Limits, ManifestEnd, Writer};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::ClusterHandle;
use super::api::Patience;
use crate::exec::Exec;
use crate::host::Host;
use crate::options::Options;
use crate::out::testing::sink;
use crate::outcome::Outcome;
use crate::source::{Source, SourceCtx};

/// An answer.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Status, content type, body, and a header more.
    Full(u16, String, Vec<u8>, Option<(&'static str, String)>),
    /// The body's first half, and then the connection ends.
    Half(Vec<u8>),
    /// The body's first half, and then nothing.
    Stall(Vec<u8>),
    /// Nothing at all.
    Hang,
}

impl Reply {
    /// A JSON body.
    pub fn json(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::Full(status, "application/json".to_owned(), body.into(), None)
    }
}

type Answer = dyn Fn(&str, &str) -> Reply + Send + Sync;

/// A server on a port of its own; it ends with the test's runtime.
pub struct Server {
    /// Its address.
    pub url: String,
    /// Paths asked so far.
    pub asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers by path (with query) and `Accept` header.
    pub async fn start(answer: impl Fn(&str, &str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen): (Arc<Answer>, _) = (Arc::new(answer), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&answer), Arc::clone(&seen)));
            }
        });
        Self { url, asked }
    }

    /// How often a path that begins so was asked.
    pub fn count(&self, begins: &str) -> usize {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .filter(|path| path.starts_with(begins))
            .count()
    }
}

async fn serve(mut stream: TcpStream, answer: Arc<Answer>, asked: Arc<Mutex<Vec<String>>>) {
    let mut head = Vec::new();
    loop {
        let Ok(byte) = stream.read_u8().await else {
            return;
        };
        head.push(byte);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let text = String::from_utf8(std::mem::take(&mut head)).unwrap();
        let path = text.split(' ').nth(1).unwrap().to_owned();
        let review = text.starts_with(&format!("POST {} ", super::access::PATH));
        assert!(
            review || text.starts_with("GET "),
            "only GET is ever sent: {text}"
        );
        let length = text.lines().find_map(|line| {
            let line = line.to_ascii_lowercase();
            line.strip_prefix("content-length: ")?.parse().ok()
        });
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body).await.unwrap();
        let accept = text.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("accept: ")
                .map(str::to_owned)
        });
        asked.lock().unwrap().push(path.clone());
        if !reply(&mut stream, answer(&path, &accept.unwrap_or_default())).await {
            return;
        }
    }
}

async fn reply(stream: &mut TcpStream, reply: Reply) -> bool {
    let head = |status: u16, length: usize, more: &str| {
        format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{more}\r\n").into_bytes()
    };
    match reply {
        Reply::Full(status, kind, body, header) => {
            let header = header
                .map(|(name, value)| format!("{name}: {value}\r\n"))
                .unwrap_or_default();
            let mut bytes = head(
                status,
                body.len(),
                &format!("content-type: {kind}\r\n{header}"),
            );
            bytes.extend_from_slice(&body);
            stream.write_all(&bytes).await.is_ok()
        }
        Reply::Half(body) | Reply::Stall(body) if body.is_empty() => false,
        Reply::Half(body) => {
            let mut bytes = head(200, body.len(), "");
            bytes.extend_from_slice(&body[..body.len() / 2]);
            let _ = stream.write_all(&bytes).await;
            false
        }
        Reply::Stall(body) => {
            let mut bytes = head(200, body.len(), "");
            bytes.extend_from_slice(&body[..body.len() / 2]);
            let _ = stream.write_all(&bytes).await;
            std::future::pending().await
        }
        Reply::Hang => std::future::pending().await,
    }
}

#[derive(Debug, Deserialize)]
struct Recorded {
    #[serde(rename = "as")]
    user: String,
    path: String,
    #[serde(default)]
    accept: String,
    status: u16,
    content_type: String,
    body: String,
}

/// The answers of a recording.
pub struct Recording {
    answers: Vec<Recorded>,
}

impl Recording {
    /// Reads one beside the repository; prints why, where it is not there.
    pub fn open(name: &str) -> Option<Self> {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../shared/recordings")
            .join(name);
        let Ok(bytes) = std::fs::File::open(&file) else {
            eprintln!("skipped: {} is not there", file.display());
            return None;
        };
        let lines = BufReader::new(flate2::read::MultiGzDecoder::new(bytes)).lines();
        let answers = lines
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect();
        Some(Self { answers })
    }

    /// The answer to `user`; the administrator's where nothing else was recorded for that user.
    pub fn answer(&self, user: &str, path: &str, accept: &str) -> Reply {
        let bare = path.split('?').next().unwrap_or_default();
        let log = path.contains("/log?");
        let wanted = |one: &&Recorded| {
            one.path == path
                || (log && path.starts_with(&format!("{}&tail", one.path)))
                || (!log && one.path == bare)
        };
        let table = |one: &&Recorded| !one.accept.contains("as=Table");
        let aggregated = |one: &Recorded| {
            one.accept.contains("APIGroupDiscoveryList") == accept.contains("apigroupdiscoverylist")
        };
        let mut found: Vec<&Recorded> = self.answers.iter().filter(table).filter(wanted).collect();
        found.sort_by_key(|one| (one.user != user, !aggregated(one)));
        match found.first() {
            Some(one) => Reply::Full(
                one.status,
                one.content_type.clone(),
                one.body.clone().into_bytes(),
                None,
            ),
            None => Reply::json(
                404,
                r#"{"kind":"Status","message":"not recorded","code":404}"#,
            ),
        }
    }

    /// A recorded body.
    pub fn body(&self, path: &str) -> &str {
        &self
            .answers
            .iter()
            .find(|one| one.path == path)
            .unwrap()
            .body
    }
}

/// What one source brought.
pub struct Collected {
    /// How it ended.
    pub outcome: Outcome,
    /// Its notes.
    pub notes: Vec<String>,
    /// Its entries.
    pub entries: BTreeMap<String, String>,
    /// Why entries are cut.
    pub truncated: BTreeMap<String, String>,
}

/// The options of a test, with a kubeconfig for `server`.
pub fn options(dir: &std::path::Path, server: &str) -> Options {
    let kubeconfig = dir.join("kubeconfig");
    let mut file = std::fs::File::create(&kubeconfig).unwrap();
    write!(file, "current-context: a\ncontexts: [{{name: a, context: {{cluster: c, user: u}}}}]\nclusters: [{{name: c, cluster: {{server: '{server}'}}}}]\nusers: [{{name: u, user: {{token: hush}}}}]\n").unwrap();
    Options {
        node: "node-1".to_owned(),
        root: PathBuf::from("/"),
        since: Duration::from_secs(3600),
        logs_since: None,
        context: None,
        only: Default::default(),
        skip: Default::default(),
        namespaces: Default::default(),
        kubeconfig: Some(kubeconfig),
        timeout: Duration::from_secs(60),
        source_timeout: None,
        source_max_size: None,
        max_size: u64::MAX,
        probe: false,
        handover: crate::options::Handover::default(),
        cluster_only: false,
        node_logs: Default::default(),
        include_bug_reports: false,
        command_dir: None,
    }
}

/// Limits so short that a test of a hanging server is quick.
pub const SHORT: Patience = Patience {
    answer: Duration::from_secs(1),
    piece: Duration::from_secs(1),
    retry: Duration::from_millis(50),
};

/// Runs a source against a server.
pub async fn run(source: &'static Source, options: Options, patience: Patience) -> Collected {
    run_within(source, options, patience, source.max_bytes).await
}

/// Runs a source that may take no more than `max_bytes`.
pub async fn run_within(
    source: &'static Source,
    options: Options,
    patience: Patience,
    max_bytes: u64,
) -> Collected {
    let host = Host::new(options.root.clone());
    run_on(source, options, patience, max_bytes, host).await
}

/// Runs a source on the machine of `host`.
pub async fn run_on(
    source: &'static Source,
    options: Options,
    patience: Patience,
    max_bytes: u64,
    host: Host,
) -> Collected {
    let options = Arc::new(options);
    let (out, mut done) = sink(source.id, max_bytes);
    let ctx = SourceCtx {
        source,
        options: Arc::clone(&options),
        host: host.clone(),
        exec: Exec::new(false, None),
        out: out.clone(),
        cluster: Arc::new(ClusterHandle::with_patience(options, host, patience)),
        cancel: CancellationToken::new(),
    };
    let outcome = (source.collect)(ctx).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("casefile-t.tar.gz");
    let now = chrono::DateTime::UNIX_EPOCH;
    let header = Header {
        format: FormatVersion::CURRENT,
        tool: "test".to_owned(),
        node: "node-1".to_owned(),
        started: now,
        options: BTreeMap::new(),
        clock: Clock {
            utc: now,
            monotonic_ns: None,
            timezone: None,
            synchronised: None,
        },
    };
    let mut writer =
        Writer::new(std::fs::File::create(&file).unwrap(), "casefile-t", &header).unwrap();
    let (mut paths, mut truncated): (Vec<BundlePath>, BTreeMap<String, String>) =
        Default::default();
    while let Ok(one) = done.try_recv() {
        paths.push(one.meta.path.clone());
        truncated.extend(
            one.meta
                .truncated
                .clone()
                .map(|why| (one.meta.path.to_string(), why)),
        );
        writer.append(one.meta, one.entry).unwrap();
    }
    writer
        .finish(ManifestEnd {
            finished: now,
            interrupted: None,
            sources: Vec::new(),
        })
        .unwrap();
    let read = |path: BundlePath| {
        let bytes = casefile_bundle::read_entry(&file, &Limits::default(), path.as_str(), 64 << 20)
            .unwrap()
            .unwrap();
        (path.to_string(), String::from_utf8(bytes).unwrap())
    };
    let entries = paths.into_iter().map(read).collect();
    Collected {
        outcome,
        notes: out.notes(),
        entries,
        truncated,
    }
}

impl Collected {
    /// The items of a list file, each from its own line.
    pub fn items(&self, path: &str) -> Vec<serde_json::Value> {
        let text = self
            .entries
            .get(path)
            .unwrap_or_else(|| panic!("no {path} in {:?}", self.entries.keys()));
        let _whole: serde_json::Value = serde_json::from_str(text).unwrap();
        let lines = text.lines().filter(|line| {
            line.starts_with("{\"metadata\"") || line.starts_with("{\"apiVersion\"")
        });
        lines
            .map(|line| serde_json::from_str(line.trim_end_matches(',')).unwrap())
            .collect()
    }
}
