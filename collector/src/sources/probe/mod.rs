//! Opt-in: what this node itself can resolve and reach. "Works from the host, not from the pod" is evidence that only
//! a probe gives. It sends packets, so it is off unless asked for, and `plan` lists every target, or how it is found.

mod cluster;
mod dns;
mod reach;
mod targets;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use casefile_bundle::Entry;
use serde::Serialize;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use casefile_bundle::sources as about;

use crate::files::json_lines;
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::take::Tally;

use targets::{Endpoint, Targets};

/// What one question or step of a connection gets.
const PATIENCE: Duration = Duration::from_secs(4);
/// For the API server to name its part of the targets.
const CLUSTER: Duration = Duration::from_secs(12);

/// The probe.
pub static SOURCE: Source = Source {
    about: &about::PROBE,
    timeout: Duration::from_secs(45),
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
        protocol: if endpoint.tls {
            "tcp, tls, http"
        } else {
            "tcp, http"
        },
        target: format!("{}:{}", endpoint.host, endpoint.port),
    });
    let rules = TOLD.map(|(protocol, target)| PlanItem::Probe {
        protocol,
        target: target.to_owned(),
    });
    let files = targets::reads().map(PlanItem::file);
    let asked = crate::cluster::credentials::plan(ctx.host, ctx.options.kubeconfig.as_deref());
    let mut all: Vec<PlanItem> = questions
        .chain(connections)
        .chain(rules)
        .chain(files)
        .collect();
    all.extend(asked);
    all.extend(cluster::plan());
    all
}

/// Targets that are known only once the API server has answered.
const TOLD: [(&str, &str); 4] = [
    (
        "dns",
        "<each server behind `forward` in CoreDNS's Corefile> <each name above>",
    ),
    (
        "tcp, tls, http",
        "<the API server of the credentials that are used>",
    ),
    (
        "tcp, tls, http",
        "<cluster address of the service default/kubernetes>",
    ),
    (
        "tcp, tls, http",
        "<each registry of the images of this node's pods>",
    ),
];

/// A line of `host/probe.json`.
#[derive(Debug, Default, Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    /// `dns`, `tcp`, `tls` or `http`.
    protocol: &'static str,
    /// The resolver that was asked, or the address that was connected to.
    to: String,
    /// The name that was asked for or is behind the address.
    name: String,
    /// What the server is for; empty for a resolver.
    #[serde(skip_serializing_if = "str::is_empty")]
    purpose: &'static str,
    /// The file, object or setting that names the target.
    named_by: String,
    /// How long it took.
    milliseconds: u64,
    /// What came of it: `NOERROR`, `NXDOMAIN`, `connected`, `TLSv1_3`, `HTTP 401`, or why not.
    result: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    addresses: Vec<IpAddr>,
    /// The server's certificate, as it was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<Certificate>,
}

/// A server's certificate.
#[derive(Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Certificate {
    subject: String,
    issuer: String,
    not_before: String,
    not_after: String,
}

impl Row {
    fn new(
        protocol: &'static str,
        to: String,
        name: &str,
        named_by: &str,
        start: Instant,
        result: String,
    ) -> Self {
        Self {
            protocol,
            to,
            name: name.to_owned(),
            named_by: named_by.to_owned(),
            milliseconds: millis(start),
            result,
            ..Self::default()
        }
    }
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        if !ctx.host.is_live() {
            return Outcome::skipped("nothing was probed: --root names another machine's files");
        }
        let mut found = ctx.host.on_thread(targets::find).await.unwrap_or_default();
        let mut missing = from_cluster(&ctx, &mut found).await;
        if found.left_out > 0 {
            missing.push(format!(
                "skipped: {} targets over the limit",
                found.left_out
            ));
        }
        let (mut rows, whole) = probe(found, &ctx.cancel).await;
        if !whole {
            missing.push("skipped: some probes: the time was up".to_owned());
        }
        rows.sort();
        let mut tally = Tally {
            taken: rows.len(),
            ..Tally::default()
        };
        let text = json_lines("probes", rows);
        let path = ctx.out.path(Entry::Host, "probe.json");
        if let Err(error) = ctx
            .out
            .put(path, Content::JsonLines, None, text.as_bytes())
            .await
        {
            tally.broken(&ctx.out, format!("host/probe.json: {error}"));
        }
        for why in missing {
            tally.broken(&ctx.out, why);
        }
        tally.outcome("no resolver, API server, registry or helm repository is configured here")
    })
}

/// What the API server names, where it answers; returns what is missing for want of it.
async fn from_cluster(ctx: &SourceCtx, found: &mut Targets) -> Vec<String> {
    let ask = async {
        match ctx.cluster.connect().await {
            Ok(cluster) => cluster::find(&cluster, ctx.out.node(), found).await,
            Err(error) => vec![format!(
                "skipped: CoreDNS's upstream servers, the API's service address and the registries of pods: {error}"
            )],
        }
    };
    match timeout(CLUSTER, ask).await {
        Ok(missing) => missing,
        Err(_) => vec![format!(
            "skipped: targets that the API server names: no answer within {} s",
            CLUSTER.as_secs()
        )],
    }
}

/// Asks everything at once; connects to what the answers gave. The flag says whether all of it came to its end.
async fn probe(found: Targets, cancel: &CancellationToken) -> (Vec<Row>, bool) {
    let mut asked = JoinSet::new();
    for (resolver, name) in found.questions() {
        let by = found.resolvers.get(&resolver).cloned().unwrap_or_default();
        asked.spawn(async move { vec![question(resolver, name, by).await] });
    }
    let mut rows = Vec::new();
    let mut whole = ended(asked, cancel, &mut rows).await;
    let mut connecting = JoinSet::new();
    for endpoint in &found.endpoints {
        for address in addresses(endpoint, &found, &rows) {
            connecting.spawn(reach::reach(endpoint.clone(), address));
        }
    }
    whole &= ended(connecting, cancel, &mut rows).await;
    (rows, whole)
}

/// Gathers what comes to its end in time.
async fn ended(
    mut set: JoinSet<Vec<Row>>,
    cancel: &CancellationToken,
    rows: &mut Vec<Row>,
) -> bool {
    loop {
        tokio::select! {
            next = set.join_next() => match next {
                Some(Ok(more)) => rows.extend(more),
                Some(Err(_)) => {}
                None => return true,
            },
            () = cancel.cancelled() => return false,
        }
    }
}

/// The endpoint's own address, or up to two that /etc/hosts or any resolver gave for it.
fn addresses(endpoint: &Endpoint, found: &Targets, answers: &[Row]) -> Vec<IpAddr> {
    if let Ok(address) = endpoint.host.parse() {
        return vec![address];
    }
    let same = answers.iter().filter(|row| row.name == endpoint.host);
    let mut all: Vec<IpAddr> = same.flat_map(|row| row.addresses.clone()).collect();
    all.extend(found.fixed.get(&endpoint.host).into_iter().flatten());
    all.sort_unstable();
    all.dedup();
    all.truncate(2);
    all
}

async fn question(resolver: IpAddr, name: String, named_by: String) -> Row {
    let start = Instant::now();
    let mut answer = Err(no_answer());
    // A single lost packet is no silence.
    for _ in 0..2 {
        let asked = timeout(PATIENCE / 2, dns::ask(SocketAddr::new(resolver, 53), &name)).await;
        if let Ok(said) = asked {
            answer = said.map_err(|error| error.to_string());
            break;
        }
    }
    let (result, addresses) = match answer {
        Ok(answer) => (answer.code, answer.addresses),
        Err(why) => (why, Vec::new()),
    };
    Row {
        addresses,
        ..Row::new("dns", resolver.to_string(), &name, &named_by, start, result)
    }
}

fn no_answer() -> String {
    format!("no answer within {} s", PATIENCE.as_secs())
}

fn millis(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
