//! The sources at work: all at once, each to its outcome within its time.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use casefile_bundle::SourceReport;
use chrono::{DateTime, Utc};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::GRACE;
use super::ending::Ending;
use crate::cluster::ClusterHandle;
use crate::exec::Exec;
use crate::host::Host;
use crate::options::Options;
use crate::out::{Out, Shared};
use crate::outcome::Outcome;
use crate::plan::not_wanted;
use crate::progress::{Event, Progress};
use crate::source::{Source, SourceCtx};

/// Sources that run at the same time.
const MAX_RUNNING: usize = 8;

/// What all sources of a run share.
pub(super) struct Desk<'a> {
    pub(super) options: &'a Arc<Options>,
    pub(super) host: &'a Host,
    pub(super) cluster: &'a Arc<ClusterHandle>,
    pub(super) shared: &'a Arc<Shared>,
    pub(super) stop: &'a CancellationToken,
    pub(super) ending: &'a Arc<Ending>,
    pub(super) progress: &'a Arc<Progress>,
}

impl Desk<'_> {
    /// Runs all sources; says which the user did not want.
    pub(super) async fn collect(&self, sources: &[&'static Source]) -> Vec<&'static str> {
        let options = self.options;
        let exec = Exec::new(options.live(), options.command_dir.as_deref());
        let permits = Arc::new(Semaphore::new(MAX_RUNNING));
        let mut tasks = JoinSet::new();
        let (wanted, unwanted): (Vec<&'static Source>, Vec<&'static Source>) = sources
            .iter()
            .partition(|source| not_wanted(source, options).is_none());
        for source in &unwanted {
            let why = not_wanted(source, options).unwrap_or_default();
            let out = Out::new(Arc::clone(self.shared), source.id, 0);
            push_report(
                self.ending,
                source,
                &Outcome::Skipped { why },
                &out,
                Utc::now(),
            );
        }
        self.progress.expect(wanted.len());
        for source in &wanted {
            let most = options.most_of(source, wanted.len());
            let ctx = SourceCtx {
                source,
                options: Arc::clone(options),
                host: self.host.clone(),
                exec: exec.clone(),
                out: Out::new(Arc::clone(self.shared), source.id, most),
                cluster: Arc::clone(self.cluster),
                cancel: self.stop.child_token(),
            };
            let (permits, ending, progress) = (
                Arc::clone(&permits),
                Arc::clone(self.ending),
                Arc::clone(self.progress),
            );
            tasks.spawn(async move {
                let _permit = permits.acquire_owned().await;
                one(ctx, &ending, &progress).await;
            });
        }
        while tasks.join_next().await.is_some() {}
        unwanted.iter().map(|source| source.id).collect()
    }
}

/// Runs one source to its outcome, within its time.
async fn one(ctx: SourceCtx, ending: &Ending, progress: &Progress) {
    let (source, out, cancel) = (ctx.source, ctx.out.clone(), ctx.cancel.clone());
    let started = Utc::now();
    let clock = Instant::now();
    let outcome = if cancel.is_cancelled() {
        Outcome::skipped("the run ended before its turn")
    } else {
        progress.event(&Event::Started(source.id));
        let limit = ctx.options.source_timeout.unwrap_or(source.timeout);
        within(ctx, limit).await
    };
    for done in out.take_left() {
        out.note(format!(
            "{}: {}",
            done.meta.path,
            done.meta.truncated.as_deref().unwrap_or("cut")
        ));
        // The writer may have stopped; its own error tells.
        let _ = out.send(done).await;
    }
    progress.event(&Event::Finished {
        id: source.id,
        outcome: outcome.word(),
        why: outcome.why(),
        bytes: out.used(),
        took: clock.elapsed(),
    });
    push_report(ending, source, &outcome, &out, started);
}

async fn within(ctx: SourceCtx, limit: Duration) -> Outcome {
    let (source, out, cancel) = (ctx.source, ctx.out.clone(), ctx.cancel.clone());
    let mut task = tokio::spawn((source.collect)(ctx));
    let why = tokio::select! {
        ended = &mut task => return settled(ended),
        () = tokio::time::sleep(limit) => format!("its time limit of {} s was reached", limit.as_secs_f64()),
        () = cancel.cancelled() => "the run was ended early".to_owned(),
    };
    cancel.cancel();
    let late = timeout(GRACE, &mut task).await;
    out.note(why.clone());
    match late {
        Ok(ended) => match settled(ended) {
            Outcome::Collected => Outcome::Collected,
            Outcome::Partial { why: rest } => Outcome::partial(format!("{why}: {rest}")),
            Outcome::Skipped { why: rest } | Outcome::Failed { why: rest } => {
                Outcome::failed(format!("{why}: {rest}"))
            }
        },
        Err(_) => {
            task.abort();
            let _ = timeout(GRACE / 4, task).await;
            if out.used() > 0 {
                Outcome::partial(why)
            } else {
                Outcome::failed(why)
            }
        }
    }
}

fn settled(ended: Result<Outcome, tokio::task::JoinError>) -> Outcome {
    ended.unwrap_or_else(|error| {
        let what = if error.is_panic() {
            "the source broke (a bug in the collector)"
        } else {
            "it was stopped"
        };
        Outcome::failed(what)
    })
}

fn push_report(
    ending: &Ending,
    source: &Source,
    outcome: &Outcome,
    out: &Out,
    started: DateTime<Utc>,
) {
    let report = SourceReport {
        id: source.id.to_owned(),
        title: source.title.to_owned(),
        outcome: outcome.manifest(),
        why: outcome.why().map(|why| out.sentence(why)),
        started,
        finished: Utc::now(),
        notes: out.notes(),
    };
    ending
        .reports
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(report);
}
