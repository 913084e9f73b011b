//! What each container runtime says of itself over its CRI socket: its effective configuration with all handlers, its
//! sandboxes, containers and images, as `crictl` would show them, without `crictl`.

mod ask;
mod endpoints;
mod shape;

use std::time::Duration;

use casefile_bundle::Entry;
use serde::Serialize;

use casefile_bundle::sources as about;

use crate::cri::CALLS;
use crate::files::json_lines;
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::take::Tally;

use ask::Asked;
use endpoints::Endpoint;

/// The running truth of the container runtimes.
pub static SOURCE: Source = Source {
    about: &about::CRI,
    timeout: Duration::from_secs(60),
    max_bytes: 64 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    if !ctx.options.live() {
        return Vec::new();
    }
    let calls = |endpoint: &Endpoint| {
        let socket = endpoint.socket.clone();
        CALLS.map(|call| PlanItem::Cri {
            socket: socket.clone(),
            call: call.path(),
        })
    };
    endpoints::find(ctx.host).iter().flat_map(calls).collect()
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        if !ctx.host.is_live() {
            return Outcome::skipped(
                "no runtime answers: --root names a machine that is not running",
            );
        }
        let found = ctx
            .host
            .on_thread(endpoints::find)
            .await
            .unwrap_or_default();
        let mut tally = Tally::default();
        let mut rows = Vec::new();
        for endpoint in found {
            let mut row = Row::new(&endpoint);
            if ctx.cancel.is_cancelled() {
                tally.broken(
                    &ctx.out,
                    format!("{}: not asked, the time was up", endpoint.socket),
                );
                row.error = Some("not asked, the time was up".to_owned());
            } else {
                let asked = Asked {
                    ctx: &ctx,
                    endpoint: &endpoint,
                };
                asked.all(&mut row, &mut tally).await;
            }
            rows.push(row);
        }
        let index = json_lines("endpoints", &rows);
        let path = ctx.out.path(Entry::Node, "cri.json");
        if let Err(error) = ctx
            .out
            .put(path, Content::JsonLines, None, index.as_bytes())
            .await
        {
            tally.broken(&ctx.out, format!("cri.json: {error}"));
        }
        tally.outcome("no CRI socket was found")
    })
}

/// A line of `cri.json`.
#[derive(Debug, Serialize)]
struct Row {
    /// The name of its folder in `cri/`.
    id: String,
    socket: String,
    /// Whether the kubelet's command line or configuration names it.
    kubelet: bool,
    evidence: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Row {
    fn new(endpoint: &Endpoint) -> Self {
        Self {
            id: endpoint.id.clone(),
            socket: endpoint.socket.clone(),
            kubelet: endpoint.kubelet,
            evidence: endpoint.evidence.clone(),
            runtime: None,
            version: None,
            api: None,
            error: None,
        }
    }
}
