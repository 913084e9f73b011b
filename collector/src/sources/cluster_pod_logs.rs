//! Container logs: of pods in trouble, on GPUs, and of what GPUs, networks and the cluster run on.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use casefile_bundle::sources as about;

use crate::cluster::api::{ApiError, core_lists, query_value, user_of};
use crate::cluster::log_fetch::{self, Fetched};
use crate::cluster::log_files::{self, Choice};
use crate::cluster::pods::{Picker, Wanted};
use crate::cluster::{Cluster, credentials, listing};
use crate::out::OutError;
use crate::outcome::Outcome;
use crate::source::{PlanCtx, PlanItem, Source, SourceCtx};

/// Logs under way at once; each may hold a few MiB.
const LOGS: usize = 8;
/// Containers named in one note.
const NAMED: usize = 20;

/// Container logs.
pub static SOURCE: Source = Source {
    about: &about::CLUSTER_POD_LOGS,
    timeout: Duration::from_secs(120),
    max_bytes: 512 << 20,
    plan,
    collect: |ctx| Box::pin(collect(ctx)),
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let files = PlanItem::file(format!("{}/*/*/*.log", log_files::FOLDER));
    if !ctx.options.asks_cluster() {
        return vec![files];
    }
    let log = "/api/v1/namespaces/<namespace>/pods/<pod>/log?container=<container>&timestamps=true";
    let mut items: Vec<PlanItem> = core_lists("pods", &ctx.options.namespaces)
        .into_iter()
        .map(|path| PlanItem::get(format!("{path}?limit=500")))
        .collect();
    let since = ctx
        .options
        .logs_since
        .map(|since| format!("&sinceSeconds={}", since.as_secs()));
    let since = since.unwrap_or_default();
    items.push(PlanItem::get(format!(
        "{log}{since}&tailLines=<5000 or 20000>"
    )));
    items.push(PlanItem::get(format!(
        "{log}&previous=true&tailLines=<5000 or 20000>"
    )));
    items.push(PlanItem::get(format!(
        "{log}&sinceTime=<last restart>&limitBytes=262144"
    )));
    items.push(files);
    items.extend(credentials::plan(
        ctx.host,
        ctx.options.kubeconfig.as_deref(),
    ));
    items
}

async fn collect(ctx: SourceCtx) -> Outcome {
    let taken = match ctx.cluster.connect().await {
        Ok(cluster) => take(&ctx, cluster).await,
        Err(no_cluster) => from_disk(&ctx, &no_cluster.to_string(), no_cluster.outcome()).await,
    };
    taken.unwrap_or_else(|error| Outcome::failed(crate::cluster::api::chain(&error)))
}

/// The next best thing without an API server: the logs of this node's own pods.
async fn from_disk(ctx: &SourceCtx, why: &str, otherwise: Outcome) -> Result<Outcome, OutError> {
    let namespaces = ctx.options.namespaces.clone();
    let taken = copy(ctx, Choice::Namespaces(namespaces)).await?;
    Ok(if taken.logs == 0 {
        otherwise
    } else {
        Outcome::partial(format!(
            "{why}; {} logs of this node's pods taken from {}",
            taken.logs,
            log_files::FOLDER
        ))
    })
}

async fn copy(ctx: &SourceCtx, choice: Choice) -> Result<log_files::Taken, OutError> {
    let (out, cancel) = (ctx.out.clone(), ctx.cancel.clone());
    let copied = ctx
        .host
        .on_thread(move |host| log_files::copy(host, &out, &choice, &cancel))
        .await;
    let taken = copied.unwrap_or_else(|| Ok(log_files::Taken::default()))?;
    taken.notes.iter().for_each(|note| ctx.out.note(note));
    Ok(taken)
}

#[derive(Default)]
struct Tally {
    written: u64,
    none: Vec<String>,
    failed: Vec<String>,
    /// Containers of this node of which nothing came: its kubelet may be dead while its disk is not.
    lost: BTreeSet<(String, String, String)>,
    had: BTreeSet<(String, String, String)>,
}

async fn take(ctx: &SourceCtx, cluster: Arc<Cluster>) -> Result<Outcome, OutError> {
    let namespaces = cluster.namespaces(&ctx.options);
    let mut picker = Picker::new(&ctx.options.node, &namespaces);
    let mut missing = 0;
    if let Some(note) = cluster.narrowed() {
        missing += 1;
        ctx.out.note(note);
    }
    for path in core_lists("pods", &namespaces) {
        if let Some(note) = list_pods(ctx, &cluster, &path, &mut picker).await? {
            missing += 1;
            ctx.out.note(note);
        }
    }
    let (wanted, pods, over) = picker.finish();
    if pods == 0 && missing > 0 {
        let why = ctx.out.notes().into_iter().next().unwrap_or_default();
        let otherwise = if why.starts_with("skipped") {
            Outcome::skipped(why.clone())
        } else {
            Outcome::failed(why.clone())
        };
        return from_disk(ctx, &why, otherwise).await;
    }
    if over > 0 {
        missing += 1;
        ctx.out.note(format!(
            "skipped: the logs of {over} containers: too many at once"
        ));
    }
    let mut tally = fetch_all(ctx, &cluster, wanted).await?;
    let lost: BTreeSet<_> = tally.lost.difference(&tally.had).cloned().collect();
    if !lost.is_empty() {
        let taken = copy(ctx, Choice::Containers(lost)).await?;
        if taken.logs > 0 {
            tally.written += taken.logs;
            ctx.out.note(format!(
                "{} logs that the API could not give were taken from {}",
                taken.logs,
                log_files::FOLDER
            ));
        }
    }
    if !tally.none.is_empty() {
        ctx.out
            .note(format!("no log yet or any more: {}", listed(&tally.none)));
    }
    for note in tally.failed.iter().take(NAMED) {
        ctx.out.note(note);
    }
    if tally.failed.len() > NAMED {
        ctx.out.note(format!(
            "and {} more logs failed",
            tally.failed.len() - NAMED
        ));
    }
    let failed = tally.failed.len() + missing;
    Ok(match (failed, tally.written) {
        (0, _) => Outcome::Collected,
        (_, 0) => Outcome::failed(ctx.out.notes().into_iter().next().unwrap_or_default()),
        _ => Outcome::partial(format!(
            "{} logs taken, {failed} parts missing",
            tally.written
        )),
    })
}

/// Lists pods into the picker; a note where that is not all of them.
async fn list_pods(
    ctx: &SourceCtx,
    cluster: &Cluster,
    path: &str,
    picker: &mut Picker,
) -> Result<Option<String>, OutError> {
    let listed = listing::list(&cluster.api, &ctx.cancel, path, "", picker).await?;
    let Some(error) = listed.error else {
        return Ok(None);
    };
    let note = error.note("LIST pods");
    if let ApiError::Status {
        code: 403, message, ..
    } = &error
        && let Some(node) = user_of(message).and_then(|user| user.strip_prefix("system:node:"))
    {
        let query = format!("fieldSelector=spec.nodeName%3D{}", query_value(node));
        let own = listing::list(&cluster.api, &ctx.cancel, path, &query, picker).await?;
        return Ok(Some(match own.error {
            None => format!("only the pods of the node {node}: its own credentials see no others"),
            Some(error) => error.note("LIST pods of this node"),
        }));
    }
    Ok(Some(note))
}

async fn fetch_all(
    ctx: &SourceCtx,
    cluster: &Arc<Cluster>,
    wanted: Vec<Wanted>,
) -> Result<Tally, OutError> {
    let mut queue: VecDeque<(Wanted, bool)> = VecDeque::new();
    for one in wanted {
        if one.previous {
            queue.push_back((one.clone(), true));
        }
        queue.push_back((one, false));
    }
    let mut tally = Tally::default();
    let mut tasks = JoinSet::new();
    loop {
        while tasks.len() < LOGS && !ctx.cancel.is_cancelled() && ctx.out.room() > 0 {
            let Some((one, previous)) = queue.pop_front() else {
                break;
            };
            let (ctx, cluster) = (ctx.clone(), Arc::clone(cluster));
            tasks.spawn(async move {
                let since = ctx.options.logs_since;
                let (api, cancel) = (&cluster.api, &ctx.cancel);
                let fetched = log_fetch::fetch(api, cancel, &ctx.out, &one, previous, since).await;
                (one, previous, fetched)
            });
        }
        match tasks.join_next().await {
            None => break,
            Some(Ok((one, previous, fetched))) => tally.count(&one, previous, fetched?),
            Some(Err(error)) => tally.failed.push(format!(
                "failed: a log ended in an error of our own: {error}"
            )),
        }
    }
    if !queue.is_empty() {
        let why = if ctx.cancel.is_cancelled() {
            "time limit reached"
        } else {
            "byte limit reached"
        };
        tally.failed.push(format!(
            "skipped: the logs of {} containers: {why}",
            queue.len()
        ));
    }
    tally.none.sort();
    tally.failed.sort();
    Ok(tally)
}

impl Tally {
    fn count(&mut self, one: &Wanted, previous: bool, fetched: Fetched) {
        let name = format!("{}/{}/{}", one.namespace, one.pod, one.container);
        let key = (
            one.namespace.clone(),
            one.pod.clone(),
            one.container.clone(),
        );
        let run = if previous { " (previous run)" } else { "" };
        match fetched {
            Fetched::Written => {
                self.written += 1;
                self.had.insert(key);
            }
            // "previous terminated container not found": the runtime has cleaned up.
            Fetched::None(_) if previous => {}
            Fetched::None(why) => {
                // `container "c" in pod "p" is waiting to start: ContainerCreating`
                let reason = why.rsplit(": ").next().unwrap_or_default();
                self.none.push(format!("{name} ({reason})"));
            }
            Fetched::Cut(error) => {
                self.had.insert(key);
                self.failed.push(error.note(&format!("log of {name}{run}")));
            }
            Fetched::Failed(error) => {
                self.lost.insert(key);
                self.failed.push(error.note(&format!("log of {name}{run}")));
            }
        }
    }
}

fn listed(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > NAMED {
        text.push_str(" and others");
    }
    text
}
