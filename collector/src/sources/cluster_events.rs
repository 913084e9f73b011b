//! Events: what the cluster's parts said about its objects, of every namespace.

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::cluster::api::places;
use crate::cluster::list_files::{ListFiles, Shape, Target};
use crate::cluster::{Stopped, credentials, ended, listing, slim};
use crate::outcome::Outcome;
use crate::source::{PlanCtx, PlanItem, Source, SourceCtx};

/// Events.
pub static SOURCE: Source = Source {
    about: &about::CLUSTER_EVENTS,
    timeout: Duration::from_secs(60),
    max_bytes: 128 << 20,
    plan,
    collect: |ctx| Box::pin(collect(ctx)),
};

/// Both APIs show the same events; the second is asked where the first is refused.
const APIS: [(&str, &str); 2] = [
    ("/api/v1", "v1"),
    ("/apis/events.k8s.io/v1", "events.k8s.io/v1"),
];

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    if !ctx.options.asks_cluster() {
        return Vec::new();
    }
    let places = places(&ctx.options.namespaces);
    let all = APIS.iter().flat_map(|(base, _)| {
        places
            .iter()
            .map(move |place| format!("{base}{place}/events?limit=500"))
    });
    let mut items = credentials::plan(ctx.host, ctx.options.kubeconfig.as_deref());
    items.extend(all.map(PlanItem::get));
    items
}

async fn collect(ctx: SourceCtx) -> Outcome {
    ended(take(&ctx).await)
}

async fn take(ctx: &SourceCtx) -> Result<Outcome, Stopped> {
    let cluster = ctx.cluster.connect().await?;
    let api = &cluster.api;
    let mut taken = 0;
    let mut whys: Vec<String> = cluster.narrowed().into_iter().collect();
    for place in places(&cluster.namespaces(&ctx.options)) {
        for (base, api_version) in APIS {
            let path = format!("{base}{place}/events");
            let mut files = ListFiles::new(
                ctx.out.clone(),
                Target {
                    list: "events".to_owned(),
                    by_namespace: true,
                    kind: "EventList".to_owned(),
                    api_version: api_version.to_owned(),
                    origin: format!("GET {path}"),
                    shape: Shape::Object(slim::ALWAYS),
                },
            );
            let listed = listing::list(api, &ctx.cancel, &path, "", &mut files).await?;
            let cut = listed.error.as_ref().map(ToString::to_string);
            let notes = files.finish(cut.as_deref()).await?;
            taken += listed.items;
            whys.extend(
                listed
                    .notes
                    .into_iter()
                    .chain(notes)
                    .map(|note| format!("{path}: {note}")),
            );
            let Some(error) = listed.error else { break };
            whys.push(error.note(&format!("LIST {path}")));
            // What is written stays; the other API would write the same files.
            if listed.items > 0 || !matches!(error.code(), Some(403 | 404)) {
                break;
            }
        }
    }
    whys.iter().for_each(|why| ctx.out.note(why));
    Ok(Outcome::of(whys, taken > 0))
}
