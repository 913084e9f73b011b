//! What this node's kubelet and the exporters of GPU metrics on it answer, asked through the API server: the configuration
//! that the kubelet runs with, its health, what pods use, and one scrape of the GPUs' counters.

use std::time::Duration;

use casefile_bundle::Entry;
use casefile_bundle::sources as about;
use serde::Deserialize;

use crate::cluster::api::{Api, ApiError, query_value};
use crate::cluster::listing::{self, Flow, Items};
use crate::cluster::{Stopped, credentials, ended};
use crate::out::OutError;
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{PlanCtx, PlanItem, Source, SourceCtx};

/// Of one answer.
const MAX: usize = 16 << 20;
/// What the kubelet is asked, and the file of the answer.
const OF_KUBELET: [(&str, &str, Content); 3] = [
    ("configz", "kubelet-configz.json", Content::JsonLines),
    ("healthz?verbose", "kubelet-healthz.txt", Content::Text),
    ("stats/summary", "kubelet-stats.json", Content::Text),
];
/// Labels of exporters and the port of each.
const EXPORTERS: [(&str, &str, u16); 3] = [
    ("app", "nvidia-dcgm-exporter", 9400),
    ("app.kubernetes.io/name", "dcgm-exporter", 9400),
    ("app.kubernetes.io/component", "hami-device-plugin", 31992),
];

/// The node's kubelet and exporters.
pub static SOURCE: Source = Source {
    about: &about::NODE_PROXY,
    timeout: Duration::from_secs(60),
    max_bytes: 64 << 20,
    plan,
    collect: |ctx| Box::pin(collect(ctx)),
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    if !ctx.options.asks_cluster() || ctx.options.cluster_only {
        return Vec::new();
    }
    let node = &ctx.options.node;
    let mut items = credentials::plan(ctx.host, ctx.options.kubeconfig.as_deref());
    items.extend(
        OF_KUBELET
            .iter()
            .map(|(what, ..)| PlanItem::get(of_kubelet(node, what))),
    );
    for (label, value, port) in EXPORTERS {
        items.push(PlanItem::get(format!(
            "/api/v1/pods?limit=500&{}",
            selector(node, label, value)
        )));
        items.push(PlanItem::get(of_pod("<namespace>", "<exporter>", port)));
    }
    items
}

fn of_kubelet(node: &str, what: &str) -> String {
    format!("/api/v1/nodes/{}/proxy/{what}", query_value(node))
}

fn of_pod(namespace: &str, pod: &str, port: u16) -> String {
    format!("/api/v1/namespaces/{namespace}/pods/{pod}:{port}/proxy/metrics")
}

fn selector(node: &str, label: &str, value: &str) -> String {
    format!(
        "labelSelector={}&fieldSelector=spec.nodeName%3D{}",
        query_value(&format!("{label}={value}")),
        query_value(node)
    )
}

async fn collect(ctx: SourceCtx) -> Outcome {
    if ctx.options.cluster_only {
        return Outcome::skipped("--cluster-only leaves out this machine");
    }
    ended(take(&ctx).await)
}

async fn take(ctx: &SourceCtx) -> Result<Outcome, Stopped> {
    let cluster = ctx.cluster.connect().await?;
    let api = &cluster.api;
    let node = ctx.options.node.as_str();
    let mut taken = 0;
    let mut missing: Vec<String> = Vec::new();
    for (what, file, content) in OF_KUBELET {
        let url = of_kubelet(node, what);
        match get(ctx, api, &url).await {
            Ok(answer) => {
                put(ctx, file, content, url, &answer).await?;
                taken += 1;
            }
            Err(error) => {
                missing.push(error.note(&format!("GET {url}")));
                // The other questions go the same way.
                if !matches!(error, ApiError::Content(_)) {
                    break;
                }
            }
        }
    }
    for (namespace, pod, port) in exporters(ctx, api, node).await? {
        let url = of_pod(&query_value(&namespace), &query_value(&pod), port);
        match get(ctx, api, &url).await {
            Ok(answer) => {
                let file = format!("metrics-{pod}.prom");
                put(ctx, &file, Content::Text, url, &answer).await?;
                taken += 1;
            }
            Err(error) => missing.push(error.note(&format!("GET {url}"))),
        }
    }
    missing.iter().for_each(|note| ctx.out.note(note));
    Ok(match missing.into_iter().next() {
        None => Outcome::Collected,
        Some(why) if taken > 0 => Outcome::partial(why),
        Some(why) if why.starts_with("skipped") || why.contains("HTTP 404") => {
            Outcome::skipped(why)
        }
        Some(why) => Outcome::failed(why),
    })
}

async fn get(ctx: &SourceCtx, api: &Api, url: &str) -> Result<Vec<u8>, ApiError> {
    tokio::select! {
        answer = api.get_all(url, "*/*", MAX) => answer,
        () = ctx.cancel.cancelled() => Err(ApiError::Stopped),
    }
}

async fn put(
    ctx: &SourceCtx,
    file: &str,
    content: Content,
    url: String,
    answer: &[u8],
) -> Result<(), OutError> {
    let path = ctx.out.path(Entry::Command, file);
    ctx.out
        .put(path, content, Some(format!("GET {url}")), answer)
        .await
}

#[derive(Default)]
struct Pods(Vec<(String, String)>);

#[derive(Deserialize)]
struct Pod {
    metadata: Meta,
}

#[derive(Deserialize)]
struct Meta {
    name: String,
    #[serde(default)]
    namespace: String,
}

impl Items for Pods {
    async fn item(&mut self, raw: &[u8]) -> Result<Flow, OutError> {
        if let Ok(Pod { metadata }) = serde_json::from_slice(raw) {
            self.0.push((metadata.namespace, metadata.name));
        }
        Ok(Flow::More)
    }

    fn restart(&mut self) {
        self.0.clear();
    }
}

/// The exporters on this node, each with its port. Where pods may not be listed there are none to ask.
async fn exporters(
    ctx: &SourceCtx,
    api: &Api,
    node: &str,
) -> Result<Vec<(String, String, u16)>, OutError> {
    let mut found = Vec::new();
    for (label, value, port) in EXPORTERS {
        let mut pods = Pods::default();
        let query = selector(node, label, value);
        listing::list(api, &ctx.cancel, "/api/v1/pods", &query, &mut pods).await?;
        found.extend(
            pods.0
                .into_iter()
                .map(|(namespace, pod)| (namespace, pod, port)),
        );
    }
    found.sort();
    found.dedup_by(|a, b| (&a.0, &a.1) == (&b.0, &b.1));
    Ok(found)
}
