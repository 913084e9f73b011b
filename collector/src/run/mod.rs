//! A run: all sources at once, each within its limits, into one bundle that is finished whatever happens to them.

mod desk;
mod ending;
mod prepare;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use casefile_bundle::{Entry, SourceReport};
use chrono::Utc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cluster::ClusterHandle;
use crate::host::Host;
use crate::options::Options;
use crate::out::{Out, Shared};
use crate::output::{Finished, Output, OutputError, Signals};
use crate::progress::{Event, Progress};
use crate::redact::{Content, KeepError};
use crate::seal::SealError;
use crate::source::Source;

use desk::Desk;
use ending::{Ending, watch};
use prepare::{Prepared, header, prepare, with_map};

/// Finished entries that wait for the writer, each of up to 1 MiB; one of them keeps it busy for longer than a source needs
/// for the next.
const MAX_WAITING: usize = 4;
/// What a source gets to finish its open entries once it is told to stop.
const GRACE: Duration = Duration::from_secs(2);

/// What came of a run.
pub struct Report {
    /// The file.
    pub finished: Finished,
    /// Every source, sorted by id.
    pub sources: Vec<SourceReport>,
    /// Why the run ended early, if it did.
    pub interrupted: Option<String>,
    /// Sources that the user did not want.
    pub unwanted: Vec<&'static str>,
    /// It described this machine without root's rights.
    pub without_root: bool,
}

/// What the user is told who could be root and is not.
pub const NOT_ROOT: &str = "not root: firewall, most of the journal, kubelet and containerd files and pod logs on disk will be missing; sudo gets them";

/// Whether the system gives this process root's rights.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The output is at fault.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// No random bytes: without them pseudonyms could be guessed, so nothing is collected.
    #[error("the system gives no random bytes for the pseudonyms of secrets")]
    Random(#[source] std::io::Error),
    /// A pattern of `--keep` is at fault.
    #[error("--keep: {0}")]
    Keep(KeepError),
    /// A file of rules for the leak check that cannot be used.
    #[error("--leak-rules {0}")]
    LeakRules(crate::leak::RulesError),
    /// A key is at fault.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// Our bug.
    #[error("the writer stopped by itself (a bug)")]
    Writer,
}

/// Collects what the options ask for of these sources.
pub async fn run(
    options: Options,
    sources: &[&'static Source],
    output: Option<&std::path::Path>,
    progress: Arc<Progress>,
) -> Result<Report, RunError> {
    let started = Utc::now();
    let without_root = options.live() && !options.cluster_only && !is_root();
    if without_root {
        progress.event(&Event::Message(NOT_ROOT));
    }
    let options = Arc::new(options);
    let host = Host::new(&options.root);
    let cluster = Arc::new(ClusterHandle::new(Arc::clone(&options), host.clone()));
    let Prepared {
        key,
        mut delivery,
        node,
    } = prepare(&options, &host, &cluster, sources).await?;
    let top = format!("casefile-{node}-{}", started.format("%Y%m%dT%H%M%SZ"));
    let output = Output::open(output, &top, delivery.recipients.is_some())?;
    let output = with_map(&options, &key, output, &mut delivery)?;
    let header = header(&options, &host, started, &key);
    let spill_keys = delivery.recipients.as_ref().map(|list| list.keys().clone());
    let (sender, receiver) = mpsc::channel(MAX_WAITING);
    let shared = Arc::new(Shared {
        node,
        spill_dir: output.spill_dir.clone(),
        spill_keys,
        key,
        max_size: options.max_size,
        used: AtomicU64::new(0),
        files: crate::files::FileLog::default(),
        sender,
    });
    let stop = CancellationToken::new();
    let ending = Arc::new(Ending::default());
    let over = CancellationToken::new();
    let signals = Signals {
        stop: stop.clone(),
        over: over.clone(),
    };
    let for_end = Arc::clone(&ending);
    let writer = tokio::task::spawn_blocking(move || {
        output.write(&top, &header, receiver, &signals, delivery, |left_out| {
            for_end.end(left_out)
        })
    });
    let watch = tokio::spawn(watch(
        options.timeout,
        stop.clone(),
        over.clone(),
        Arc::clone(&ending),
        Arc::clone(&progress),
    ));
    let ticking = tokio::spawn(tick(Arc::clone(&shared), Arc::clone(&progress)));
    let desk = Desk {
        options: &options,
        host: &host,
        cluster: &cluster,
        shared: &shared,
        stop: &stop,
        ending: &ending,
        progress: &progress,
    };
    let unwanted = desk.collect(sources).await;
    ticking.abort();
    // Its lock may be held by a thread that waits for an answer.
    let _ = tokio::task::spawn_blocking(crate::host::hanging::finish).await;
    write_files(&shared).await;
    over.cancel();
    let finished = writer.await.map_err(|_| RunError::Writer)??;
    watch.abort();
    Ok(Report {
        finished,
        sources: ending.reports(),
        interrupted: ending.interrupted(),
        unwanted,
        without_root,
    })
}

/// Shows how far the run is, once a second.
async fn tick(shared: Arc<Shared>, progress: Arc<Progress>) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        progress.event(&Event::Tick {
            bytes: shared.used.load(Ordering::Relaxed),
        });
    }
}

async fn write_files(shared: &Arc<Shared>) {
    let out = Out::new(Arc::clone(shared), "collector", u64::MAX);
    let text = shared.files.to_json();
    // The writer may have stopped; its own error tells.
    let _ = out
        .put(
            out.path(Entry::Node, "files.json"),
            Content::JsonLines,
            None,
            text.as_bytes(),
        )
        .await;
}
