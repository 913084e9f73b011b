//! Opt-in: what this node itself can resolve and reach. "Works from the host, not from the pod" is evidence that only
//! a probe gives. It sends packets, so it is off unless asked for, and `plan` lists every target.

mod dns;
mod targets;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::Serialize;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::files::json_lines;
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Scope, Source, SourceCtx};
use crate::take::Tally;

use targets::{Endpoint, Targets};

/// What one question or connection gets.
const PATIENCE: Duration = Duration::from_secs(4);

/// The probe.
pub static SOURCE: Source = Source {
    id: "probe",
    title: "What the node itself can resolve and reach",
    scope: Scope::Node,
    timeout: Duration::from_secs(30),
    max_bytes: 4 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    if !ctx.options.live() {
        return Vec::new();
    }
    let found = targets::find(ctx.host);
    let questions = found
        .questions()
        .into_iter()
        .map(|(resolver, name)| PlanItem::Probe {
            protocol: "dns",
            target: format!("{resolver} {name}"),
        });
    let connections = found.endpoints.iter().map(|endpoint| PlanItem::Probe {
        protocol: "tcp",
        target: format!("{}:{}", endpoint.host, endpoint.port),
    });
    let files = targets::reads().map(PlanItem::file);
    questions.chain(connections).chain(files).collect()
}

/// A line of `host/probe.json`.
#[derive(Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    protocol: &'static str,
    /// The resolver that was asked, or the address that was connected to.
    to: String,
    /// The name that was asked for or is behind the address.
    name: String,
    /// The file or setting that names the target.
    named_by: String,
    /// How long it took.
    milliseconds: u64,
    /// What came of it: `NOERROR`, `NXDOMAIN`, `connected`, or why not.
    result: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    addresses: Vec<IpAddr>,
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        if !ctx.host.is_live() {
            return Outcome::skipped("nothing was probed: --root names another machine's files");
        }
        let found = ctx.host.on_thread(targets::find).await.unwrap_or_default();
        let mut rows = tokio::select! {
            rows = probe(found) => rows,
            () = ctx.cancel.cancelled() => return Outcome::failed("the time was up"),
        };
        rows.sort();
        let mut tally = Tally {
            taken: rows.len(),
            ..Tally::default()
        };
        let text = json_lines("probes", rows);
        let path = ctx.out.node_path(["host", "probe.json"]);
        if let Err(error) = ctx
            .out
            .put(path, Content::JsonLines, None, text.as_bytes())
            .await
        {
            tally.broken(&ctx.out, format!("host/probe.json: {error}"));
        }
        tally.outcome("no resolver, API server, registry or helm repository is configured here")
    })
}

/// Asks everything at once; connects to what the answers gave.
async fn probe(found: Targets) -> Vec<Row> {
    let mut asked = JoinSet::new();
    for (resolver, name) in found.questions() {
        let by = found.resolvers[&resolver].clone();
        asked.spawn(question(resolver, name, by));
    }
    let mut rows = asked.join_all().await;
    let mut connecting = JoinSet::new();
    for endpoint in found.endpoints {
        for address in addresses(&endpoint, &rows) {
            connecting.spawn(connection(endpoint.clone(), address));
        }
    }
    rows.extend(connecting.join_all().await);
    rows
}

/// The endpoint's own address, or up to two that any resolver gave for it.
fn addresses(endpoint: &Endpoint, answers: &[Row]) -> Vec<IpAddr> {
    if let Ok(address) = endpoint.host.parse() {
        return vec![address];
    }
    let same = answers.iter().filter(|row| row.name == endpoint.host);
    let mut all: Vec<IpAddr> = same.flat_map(|row| row.addresses.clone()).collect();
    all.sort_unstable();
    all.dedup();
    all.truncate(2);
    all
}

async fn question(resolver: IpAddr, name: String, named_by: String) -> Row {
    let start = Instant::now();
    let answer = timeout(PATIENCE, dns::ask(SocketAddr::new(resolver, 53), &name)).await;
    let (result, addresses) = match answer {
        Ok(Ok(answer)) => (answer.code, answer.addresses),
        Ok(Err(error)) => (error.to_string(), Vec::new()),
        Err(_) => (no_answer(), Vec::new()),
    };
    Row {
        protocol: "dns",
        to: resolver.to_string(),
        name,
        named_by,
        milliseconds: millis(start),
        result,
        addresses,
    }
}

async fn connection(endpoint: Endpoint, address: IpAddr) -> Row {
    let start = Instant::now();
    let to = SocketAddr::new(address, endpoint.port);
    let result = match timeout(PATIENCE, TcpStream::connect(to)).await {
        Ok(Ok(_)) => "connected".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => no_answer(),
    };
    Row {
        protocol: "tcp",
        to: to.to_string(),
        name: endpoint.host,
        named_by: endpoint.named_by,
        milliseconds: millis(start),
        result,
        addresses: Vec::new(),
    }
}

fn no_answer() -> String {
    format!("no answer within {} s", PATIENCE.as_secs())
}

fn millis(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn an_open_and_a_closed_port_are_told_apart() {
        let open = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = open.local_addr().unwrap().port();
        let endpoint = |port| Endpoint {
            host: "127.0.0.1".to_owned(),
            port,
            named_by: "test".to_owned(),
        };
        let address: IpAddr = "127.0.0.1".parse().unwrap();
        assert_eq!(
            connection(endpoint(port), address).await.result,
            "connected"
        );
        drop(open);
        let closed = connection(endpoint(port), address).await.result;
        assert!(closed.contains("refused"), "{closed}");
    }
}
