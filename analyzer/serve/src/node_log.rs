//! `nodes/NODE/proxy/logs`: journals and files of a node, under the paths that a kubelet gives them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::answer::{Answer, Body, TEXT, Taker};
use crate::ask::Query;
use crate::logs::{NodeFile, Texts};
use crate::pod_log::{Cut, stream};
use crate::status::Status;
use crate::store::{Kind, Store};
use crate::value::text;

/// Journals are under this folder.
const JOURNAL: &str = "journal/";
/// Longest line of a journal that is read.
const LONGEST_LINE: usize = 1 << 20;

/// Which entries of a journal are wanted.
#[derive(Debug, Default)]
struct Wanted {
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
    tail: Option<usize>,
}

impl Wanted {
    /// Reads a kubelet's options of node logs (`newNodeLogQuery` in pkg/kubelet/kubelet_server_journal.go).
    ///
    /// Errors: one that is no number or time, or that a recording cannot answer by.
    fn parse(query: &Query) -> Result<Self, Status> {
        for name in ["boot", "pattern"] {
            if query.filled(name).is_some() {
                return Err(Status::bad_request(format!(
                    "{name}: a recording is not filtered by it; `casefile-analyzer grep PATTERN INPUT --node NODE --unit UNIT` searches its lines"
                )));
            }
        }
        let tail = query.number("tailLines")?;
        Ok(Self {
            since: query.time("sinceTime")?,
            until: query.time("untilTime")?,
            tail: tail.and_then(|tail| usize::try_from(tail).ok()),
        })
    }

    fn takes(&self, at: DateTime<Utc>) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at <= until)
    }
}

/// A file, a folder, or with `?query=UNIT` a journal.
pub(crate) fn answer(
    store: &Arc<Store>,
    nodes: &Kind,
    node: &str,
    path: &str,
    query: &Query,
) -> Result<Answer, Status> {
    let Some(files) = store.node_files.get(node) else {
        if nodes.object(None, node).is_none() {
            return Err(Status::no_such_object(nodes, node));
        }
        return Err(Status::wrong_host(format!(
            "no file of node {node} was collected"
        )));
    };
    let wanted = Wanted::parse(query)?;
    let file = match query.filled("query") {
        Some(unit) => journal(files, unit),
        None => files.iter().find(|file| file.path == path),
    };
    if let Some(file) = file {
        let texts = Arc::clone(&store.texts);
        if file.entry.ends_with(".json") && file.path.starts_with(JOURNAL) {
            return Ok(journal_text(texts, file.entry.clone(), wanted));
        }
        if wanted.since.is_some() || wanted.until.is_some() {
            return Err(Status::bad_request(format!(
                "{} is no journal, so it is not cut by time; leave sinceTime and untilTime out",
                file.path
            )));
        }
        let cut = Cut {
            tail: wanted.tail,
            stamps: true,
            ..Cut::default()
        };
        return Ok(stream(texts, file.entry.clone(), cut));
    }
    if let Some(unit) = query.filled("query") {
        return Err(Status::wrong_host(format!(
            "the journal of {unit} on node {node} was not collected"
        )));
    }
    folder(files, path)
}

fn journal<'f>(files: &'f [NodeFile], unit: &str) -> Option<&'f NodeFile> {
    let names = [unit.to_owned(), format!("{unit}.service")];
    files.iter().find(|file| {
        let name = file.path.strip_prefix(JOURNAL);
        name.is_some_and(|name| {
            let bare = name
                .strip_suffix(".json")
                .or_else(|| name.strip_suffix(".log"))
                .unwrap_or(name);
            names
                .iter()
                .any(|one| one == bare || bare.strip_suffix(".service") == Some(one))
        })
    })
}

/// A folder as a page of links, the way Go's file server lists it.
fn folder(files: &[NodeFile], path: &str) -> Result<Answer, Status> {
    let prefix = match path.trim_end_matches('/') {
        "" => String::new(),
        path => format!("{path}/"),
    };
    let names: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix(&prefix))
        .map(|rest| rest.find('/').map_or(rest, |end| &rest[..=end]))
        .collect();
    if names.is_empty() {
        return Err(Status::wrong_host(format!(
            "{path} was not collected, or is no file of the node"
        )));
    }
    let links: String = names
        .iter()
        .map(|name| format!("<a href=\"{0}\">{0}</a>\n", escape(name)))
        .collect();
    let page = format!(
        "<!doctype html>\n<meta name=\"viewport\" content=\"width=device-width\">\n<pre>\n{links}</pre>\n"
    );
    let mut answer = Answer::text(page);
    answer.content_type = "text/html; charset=utf-8";
    Ok(answer)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&#34;")
}

/// Entries of a journal as `journalctl -o short-iso-precise` shows them.
fn journal_text(texts: Arc<dyn Texts>, entry: String, wanted: Wanted) -> Answer {
    let tell = move |taker: Taker<'_>| {
        let mut rest: Vec<u8> = Vec::new();
        let mut kept: std::collections::VecDeque<String> = std::collections::VecDeque::new();
        let read = texts.read(&entry, &mut |piece| {
            rest.extend_from_slice(piece);
            let mut done = 0;
            let mut out = String::new();
            while let Some(end) = rest[done..].iter().position(|byte| *byte == b'\n') {
                if let Some(line) = wanted_line(&rest[done..done + end], &wanted) {
                    match wanted.tail {
                        None => out.push_str(&line),
                        Some(most) => {
                            kept.push_back(line);
                            if kept.len() > most {
                                kept.pop_front();
                            }
                        }
                    }
                }
                done += end + 1;
            }
            rest.drain(..done);
            rest.truncate(LONGEST_LINE);
            if out.is_empty() {
                ControlFlow::Continue(())
            } else {
                taker(Bytes::from(out))
            }
        });
        let mut end: String = kept.into_iter().collect();
        if let Some(line) = wanted_line(&rest, &wanted) {
            end.push_str(&line);
        }
        if let Err(why) = read {
            end = format!("{end}the recording could not be read any further: {why}\n");
        }
        if !end.is_empty() {
            let _ = taker(Bytes::from(end));
        }
    };
    Answer::new(TEXT, Body::Text(Box::new(tell)))
}

/// One entry of a journal as a line; none if it is no entry.
pub(crate) fn journal_line(line: &[u8]) -> Option<String> {
    wanted_line(line, &Wanted::default())
}

fn wanted_line(line: &[u8], wanted: &Wanted) -> Option<String> {
    let entry: Value = serde_json::from_slice(line).ok()?;
    let micros: i64 = text(&entry, "__REALTIME_TIMESTAMP").parse().ok()?;
    let time = DateTime::from_timestamp_micros(micros)?;
    if !wanted.takes(time) {
        return None;
    }
    let message = match &entry["MESSAGE"] {
        Value::String(message) => message.clone(),
        Value::Array(bytes) => {
            let bytes: Vec<u8> = bytes
                .iter()
                .filter_map(|byte| u8::try_from(byte.as_u64()?).ok())
                .collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => String::new(),
    };
    let who = match text(&entry, "SYSLOG_IDENTIFIER") {
        "" => text(&entry, "_COMM"),
        name => name,
    };
    let process = match text(&entry, "_PID") {
        "" => String::new(),
        pid => format!("[{pid}]"),
    };
    let host = text(&entry, "_HOSTNAME");
    Some(format!(
        "{} {host} {who}{process}: {message}\n",
        time.format("%Y-%m-%dT%H:%M:%S%.6fZ")
    ))
}
