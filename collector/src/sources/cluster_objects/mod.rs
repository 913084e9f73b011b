//! Kubernetes objects: every kind that the API server can list, one object a line, Secrets as names only.

mod own;
mod server;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use casefile_bundle::sources as about;
use casefile_bundle::{Entry, entry};
use serde::Serialize;
use tokio::task::JoinSet;

use crate::cluster::api::{Api, ApiError};
use crate::cluster::discovery::{self, Resource};
use crate::cluster::list_files::{ListFiles, Shape, Target};
use crate::cluster::{Cluster, Stopped, access, credentials, ended, listing, slim};
use crate::out::{Out, OutError};
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{PlanCtx, PlanItem, Source, SourceCtx};

use server::server_facts;

/// Lists under way at once.
const LISTS: usize = 4;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
/// Of one kind's table.
const MAX_TABLE: usize = 1 << 20;

/// Kubernetes objects.
pub static SOURCE: Source = Source {
    about: &about::CLUSTER_OBJECTS,
    timeout: Duration::from_secs(90),
    max_bytes: 256 << 20,
    plan,
    collect: |ctx| Box::pin(collect(ctx)),
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    if !ctx.options.asks_cluster() {
        return Vec::new();
    }
    let mut items: Vec<PlanItem> = [
        "/version",
        "/readyz?verbose",
        "/livez?verbose",
        "/api",
        "/apis",
    ]
    .map(PlanItem::get)
    .into();
    items.push(PlanItem::Api {
        method: "POST",
        path: access::PATH.to_owned(),
    });
    items.extend(credentials::plan(
        ctx.host,
        ctx.options.kubeconfig.as_deref(),
    ));
    for resource in discovery::well_known() {
        items.extend(
            paths(&resource, &ctx.options.namespaces)
                .into_iter()
                .map(|(path, _)| PlanItem::get(format!("{path}?limit=500"))),
        );
    }
    items.push(PlanItem::get(
        "<the list of every other kind that /api and /apis name>?limit=500",
    ));
    items.push(PlanItem::get(
        "<the list of every custom resource, as a table>?limit=500&includeObject=None",
    ));
    items
}

/// The requests that one kind takes: one, or one for each namespace asked for.
fn paths(resource: &Resource, namespaces: &BTreeSet<String>) -> Vec<(String, Option<String>)> {
    if resource.namespaced && !namespaces.is_empty() {
        namespaces
            .iter()
            .map(|one| (resource.path(Some(one)), Some(one.clone())))
            .collect()
    } else {
        vec![(resource.path(None), None)]
    }
}

/// One line of `cluster-info/resources.json`: so that an empty list is told from one that was not had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ResourceLine {
    name: String,
    api_version: String,
    kind: String,
    namespaced: bool,
    path: String,
    objects: u64,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

async fn collect(ctx: SourceCtx) -> Outcome {
    ended(take(&ctx).await)
}

async fn take(ctx: &SourceCtx) -> Result<Outcome, Stopped> {
    let cluster = ctx.cluster.connect().await?;
    let mut missing = server_facts(&ctx.out, &cluster).await?;
    if let Some(note) = cluster.narrowed() {
        missing += 1;
        ctx.out.note(note);
    }
    let (resources, notes) = discovery::resources(&cluster.api).await;
    missing += notes.len();
    notes.into_iter().for_each(|note| ctx.out.note(note));
    let kinds = resources.len();
    let lines = take_lists(ctx, &cluster, resources).await?;
    let bad: Vec<_> = lines
        .iter()
        .filter(|line| !matches!(line.outcome, "collected" | "absent"))
        .collect();
    bad.iter()
        .filter_map(|line| line.why.as_deref())
        .for_each(|why| ctx.out.note(why));
    write_lines(&ctx.out, &lines).await?;
    let failed = bad.len();
    let took = lines.iter().any(|line| line.objects > 0);
    Ok(if failed == 0 && missing == 0 {
        Outcome::Collected
    } else if !took {
        Outcome::failed(format!("none of {kinds} kinds of objects could be listed"))
    } else if failed == 0 {
        Outcome::partial("discovery or the server's own facts are incomplete")
    } else {
        Outcome::partial(format!(
            "{failed} of {kinds} kinds of objects are missing or incomplete"
        ))
    })
}

/// All lists, a few at a time, the important ones begun first; lines in the order of the kinds.
async fn take_lists(
    ctx: &SourceCtx,
    cluster: &Arc<Cluster>,
    resources: Vec<Resource>,
) -> Result<Vec<ResourceLine>, OutError> {
    let mut tasks = JoinSet::new();
    let mut lines = Vec::new();
    let mut queue = resources.into_iter().enumerate();
    loop {
        while tasks.len() < LISTS {
            let Some((index, resource)) = queue.next() else {
                break;
            };
            let (ctx, cluster) = (ctx.clone(), Arc::clone(cluster));
            tasks.spawn(async move { (index, take_kind(&ctx, &cluster, &resource).await) });
        }
        match tasks.join_next().await {
            None => break,
            Some(Ok((index, line))) => lines.push((index, line?)),
            // A task that panicked or was dropped has nothing to say; its entry is marked as cut.
            Some(Err(error)) => ctx.out.note(format!(
                "failed: a list ended in an error of our own: {error}"
            )),
        }
    }
    lines.sort_by_key(|(index, _)| *index);
    Ok(lines.into_iter().map(|(_, line)| line).collect())
}

async fn take_kind(
    ctx: &SourceCtx,
    cluster: &Cluster,
    resource: &Resource,
) -> Result<ResourceLine, OutError> {
    let (api, namespaces) = (&cluster.api, cluster.namespaces(&ctx.options));
    let mut line = ResourceLine {
        name: resource.name(),
        api_version: resource.api_version(),
        kind: resource.kind.clone(),
        namespaced: resource.namespaced,
        path: resource.path(None),
        objects: 0,
        outcome: "collected",
        why: None,
    };
    for (path, namespace) in paths(resource, &namespaces) {
        if ctx.cancel.is_cancelled() {
            spoil(
                &mut line,
                "skipped",
                ApiError::Stopped.note(&what(resource, None)),
            );
            break;
        }
        let what = what(resource, namespace.as_deref());
        let (mut listed, mut notes) = take_list(ctx, api, resource, &path, "").await?;
        if let Some(node) = own::node_of(listed.error.as_ref())
            && let Some((own, more)) = own::take(ctx, api, resource, &path, &node).await?
        {
            listed = own;
            notes.extend(more);
        }
        line.objects += listed.items;
        notes.extend(listed.notes);
        for note in notes {
            spoil(&mut line, "partial", format!("{what}: {note}"));
        }
        match listed.error {
            // Discovery named it and it is gone, or never was (well-known kinds).
            Some(error) if error.code() == Some(404) || error.code() == Some(405) => {
                line.outcome = "absent";
            }
            Some(error) => {
                let outcome = match error.code() {
                    Some(403) => "forbidden",
                    _ if listed.items > 0 => "partial",
                    _ => "failed",
                };
                spoil(&mut line, outcome, error.note(&what));
            }
            None => {}
        }
    }
    if line.outcome == "absent" {
        line.why = None;
    }
    if line.objects > 0 && !resource.is_own() && !ctx.cancel.is_cancelled() {
        take_table(ctx, api, resource, &namespaces).await?;
    }
    Ok(line)
}

/// The columns that `kubectl get` shows of a custom resource: its maker chose them as what matters. A copy of what the
/// objects say, so nothing is missing where a server does not have it.
async fn take_table(
    ctx: &SourceCtx,
    api: &Api,
    resource: &Resource,
    namespaces: &BTreeSet<String>,
) -> Result<(), OutError> {
    for (path, namespace) in paths(resource, namespaces) {
        let url = format!("{path}?limit=500&includeObject=None");
        let Ok(mut table) = api.get_all(&url, TABLE, MAX_TABLE).await else {
            continue;
        };
        if !table.starts_with(b"{\"kind\":\"Table\"") {
            continue;
        }
        table.push(b'\n');
        let place = namespace.map(|one| format!(".{one}")).unwrap_or_default();
        let file = format!("{}{place}.json", resource.name());
        let path = Entry::Cluster(&format!("tables/{file}")).into();
        ctx.out
            .put(path, Content::JsonLines, Some(format!("GET {url}")), &table)
            .await?;
    }
    Ok(())
}

fn what(resource: &Resource, namespace: Option<&str>) -> String {
    let place = namespace
        .map(|one| format!(" in {one}"))
        .unwrap_or_default();
    format!("LIST {}{place}", resource.name())
}

fn spoil(line: &mut ResourceLine, outcome: &'static str, why: String) {
    line.outcome = outcome;
    line.why = Some(match line.why.take() {
        Some(before) => format!("{before}; {why}"),
        None => why,
    });
}

async fn take_list(
    ctx: &SourceCtx,
    api: &Api,
    resource: &Resource,
    path: &str,
    query: &str,
) -> Result<(listing::Listed, Vec<String>), OutError> {
    let mut files = list_files(ctx, resource, path);
    let listed = listing::list(api, &ctx.cancel, path, query, &mut files).await?;
    let cut = listed.error.as_ref().map(ToString::to_string);
    let notes = files.finish(cut.as_deref()).await?;
    Ok((listed, notes))
}

/// Whether who changed such an object counts.
fn is_set(resource: &Resource) -> bool {
    !resource.is_own() || entry::SET_BY_PEOPLE.contains(&resource.plural.as_str())
}

/// The files of one kind's list.
fn list_files(ctx: &SourceCtx, resource: &Resource, path: &str) -> ListFiles {
    let secrets = resource.group.is_empty() && resource.plural == "secrets";
    let shape = match resource.plural.as_str() {
        _ if secrets => Shape::SecretIndex,
        "customresourcedefinitions" => Shape::Object(slim::DEFINITION),
        _ if is_set(resource) => Shape::Object(slim::SET),
        _ => Shape::Object(slim::ALWAYS),
    };
    let kind = if secrets {
        "SecretIndex".to_owned()
    } else {
        format!("{}List", resource.kind)
    };
    ListFiles::new(
        ctx.out.clone(),
        Target {
            list: resource.list(),
            by_namespace: resource.namespaced,
            kind,
            api_version: resource.api_version(),
            origin: format!("GET {path}"),
            shape,
        },
    )
}

async fn write_lines(out: &Out, lines: &[ResourceLine]) -> Result<(), OutError> {
    let mut text = String::from("{\"resources\":[");
    for (index, line) in lines
        .iter()
        .filter(|line| line.outcome != "absent")
        .enumerate()
    {
        text.push_str(if index > 0 { ",\n" } else { "\n" });
        text.push_str(&serde_json::to_string(line).unwrap_or_default());
    }
    text.push_str("\n]}\n");
    let path = Entry::Cluster("resources.json").into();
    out.put(
        path,
        Content::JsonLines,
        Some("GET /api, /apis".to_owned()),
        text.as_bytes(),
    )
    .await
}
