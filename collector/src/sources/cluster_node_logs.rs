//! Journals of other nodes, which their kubelets read out through the API server. Only where the user names nodes: the
//! right it takes (nodes/proxy) is a strong one.

use std::time::Duration;

use casefile_bundle::Entry;
use casefile_bundle::sources as about;
use chrono::{SecondsFormat, Utc};
use serde::Deserialize;
use tokio::task::JoinSet;

use crate::cluster::api::{ApiError, query_value};
use crate::cluster::listing::{self, Flow, Items};
use crate::cluster::{Cluster, Stopped, credentials, ended};
use crate::out::OutError;
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{PlanCtx, PlanItem, Source, SourceCtx};

/// Journals of other nodes.
pub static SOURCE: Source = Source {
    about: &about::CLUSTER_NODE_LOGS,
    timeout: Duration::from_secs(90),
    max_bytes: 128 << 20,
    plan,
    collect: |ctx| Box::pin(collect(ctx)),
};

/// Says that every node is wanted.
const ALL: &str = "all";
/// The most nodes.
const MAX_NODES: usize = 100;
/// Nodes asked at once.
const AT_ONCE: usize = 4;
/// Lines asked of each service, and bytes kept of them.
const LINES: u32 = 5_000;
const KEEP: usize = 2 << 20;
/// Services under the names that distributions give them. One that a node does not have costs it a look.
const SERVICES: [&str; 12] = [
    "kubelet",
    "containerd",
    "crio",
    "docker",
    "k3s",
    "k3s-agent",
    "rke2-server",
    "rke2-agent",
    "snap.k8s.kubelet",
    "snap.k8s.containerd",
    "snap.microk8s.daemon-kubelite",
    "nvidia-fabricmanager",
];

fn request(node: &str, service: &str, since: &str) -> String {
    format!("/api/v1/nodes/{node}/proxy/logs/?query={service}&tailLines={LINES}&sinceTime={since}")
}

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    if !ctx.options.asks_cluster() || ctx.options.node_logs.is_empty() {
        return Vec::new();
    }
    let mut items = credentials::plan(ctx.host, ctx.options.kubeconfig.as_deref());
    let mut nodes: Vec<&str> = ctx.options.node_logs.iter().map(String::as_str).collect();
    if nodes.contains(&ALL) {
        items.push(PlanItem::get("/api/v1/nodes?limit=500"));
        nodes = vec!["<every node>"];
    }
    for node in nodes {
        let all = SERVICES.iter();
        items.extend(all.map(|service| PlanItem::get(request(node, service, "<since>"))));
    }
    items
}

async fn collect(ctx: SourceCtx) -> Outcome {
    ended(take(&ctx).await)
}

async fn take(ctx: &SourceCtx) -> Result<Outcome, Stopped> {
    let cluster = ctx.cluster.connect().await?;
    let (mut nodes, mut missing) = nodes(ctx, &cluster).await?;
    if nodes.len() > MAX_NODES {
        missing.push(format!(
            "skipped: the journals of {} nodes: over {MAX_NODES}",
            nodes.len() - MAX_NODES
        ));
        nodes.truncate(MAX_NODES);
    }
    let mut queue = nodes.into_iter();
    let mut tasks = JoinSet::new();
    let mut written = 0;
    loop {
        while tasks.len() < AT_ONCE && !ctx.cancel.is_cancelled() {
            let Some(node) = queue.next() else { break };
            let (ctx, cluster) = (ctx.clone(), std::sync::Arc::clone(&cluster));
            tasks.spawn(async move { of_node(&ctx, &cluster, &node).await });
        }
        match tasks.join_next().await {
            None => break,
            Some(Ok(Ok(Ok(count)))) => written += count,
            Some(Ok(Ok(Err(note)))) => missing.push(note),
            Some(Ok(Err(error))) => return Err(error.into()),
            Some(Err(error)) => missing.push(format!("failed: an error of our own: {error}")),
        }
    }
    missing.extend(queue.map(|node| format!("skipped: the journal of {node}: time limit reached")));
    missing.sort();
    missing.iter().for_each(|note| ctx.out.note(note));
    Ok(match missing.into_iter().next() {
        None => Outcome::Collected,
        Some(why) if written > 0 => Outcome::partial(why),
        Some(why) => Outcome::failed(why),
    })
}

#[derive(Default)]
struct Names(Vec<String>);

#[derive(Deserialize)]
struct Node {
    metadata: Meta,
}

#[derive(Deserialize)]
struct Meta {
    name: String,
}

impl Items for Names {
    async fn item(&mut self, raw: &[u8]) -> Result<Flow, OutError> {
        if let Ok(node) = serde_json::from_slice::<Node>(raw) {
            self.0.push(node.metadata.name);
        }
        Ok(Flow::More)
    }

    fn restart(&mut self) {
        self.0.clear();
    }
}

async fn nodes(ctx: &SourceCtx, cluster: &Cluster) -> Result<(Vec<String>, Vec<String>), OutError> {
    let wanted = &ctx.options.node_logs;
    if !wanted.contains(ALL) {
        return Ok((wanted.iter().cloned().collect(), Vec::new()));
    }
    let mut names = Names::default();
    let listed = listing::list(&cluster.api, &ctx.cancel, "/api/v1/nodes", "", &mut names).await?;
    let notes = listed.error.map(|error| error.note("LIST nodes"));
    Ok((names.0, notes.into_iter().collect()))
}

/// The logs of one node's services: how many there are, or why there are none.
async fn of_node(
    ctx: &SourceCtx,
    cluster: &Cluster,
    node: &str,
) -> Result<Result<u32, String>, OutError> {
    let since = Utc::now() - ctx.options.since;
    let since = query_value(&since.to_rfc3339_opts(SecondsFormat::Secs, true));
    let mut written = 0;
    for service in SERVICES {
        let url = request(&query_value(node), service, &since);
        let asked = tokio::select! {
            asked = cluster.api.get_all(&url, "text/plain, */*", 64 << 20) => asked,
            () = ctx.cancel.cancelled() => Err(ApiError::Stopped),
        };
        let text = match asked {
            Ok(text) => text,
            Err(error) => {
                let hint = match error.code() {
                    Some(403) => "; it takes the right to get nodes/proxy",
                    Some(400 | 404 | 405) => {
                        "; the kubelet has to allow it (enableSystemLogQuery, feature NodeLogQuery)"
                    }
                    _ => "",
                };
                let what = format!("journal of {node}");
                return Ok(Err(format!("{}{hint}", error.note(&what))));
            }
        };
        if !says_something(&text) {
            continue;
        }
        if !has_times(&text) {
            let first = String::from_utf8_lossy(&text);
            let first: String = first
                .trim()
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(120)
                .collect();
            return Ok(Err(format!(
                "journal of {node}: the kubelet's answer is no log: {first}"
            )));
        }
        let path = Entry::Journal(node, &format!("{service}.log")).into();
        let mut entry = ctx
            .out
            .tail_entry(path, Content::Text, Some(format!("GET {url}")), KEEP);
        entry.write(&text)?;
        entry.finish().await?;
        written += 1;
    }
    Ok(if written > 0 {
        Ok(written)
    } else {
        Err(format!("journal of {node}: none of its services has one"))
    })
}

/// Of an answer so many bytes are searched for a time.
const MAX_LOOKED_AT: usize = 64 << 10;

/// journalctl answers for a unit that is not there with a line like `-- No entries --`, and a kubelet that does not
/// know the query with the list of its files.
fn says_something(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    !text.is_empty() && !text.starts_with('<') && text.lines().any(|line| !line.starts_with("-- "))
}

/// Whether lines have a time of day, as those of every log have; the usage of a program has none.
fn has_times(text: &[u8]) -> bool {
    let is_time = |part: &[u8]| {
        let shape = part
            .iter()
            .map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte });
        shape.eq(*b"00:00:00")
    };
    text.windows(8).take(MAX_LOOKED_AT).any(is_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_text_is_no_log() {
        assert!(has_times(
            b"Nov 20 10:00:00.000000 gpu-1 kubelet[1]: E1120 failed\n"
        ));
        assert!(has_times(
            b"I1120 10:00:00.000000       1 server.go:1] up\n"
        ));
        let usage = b"journalctl [OPTIONS...] [MATCHES...]\n\nQuery the journal.\n  -S --since=DATE  Show entries not older\n";
        assert!(!has_times(usage));
    }

    #[test]
    fn only_what_a_service_wrote_is_kept() {
        assert!(says_something(
            b"Nov 20 10:00:00.000000 gpu-1 kubelet[1]: E1120 failed\n"
        ));
        for nothing in [
            &b""[..],
            b"-- No entries --\n",
            b"<!doctype html>\n<pre>\n<a href=\"pods/\">pods/</a>",
        ] {
            assert!(!says_something(nothing));
        }
    }
}
