//! A run: all sources at once, each within its limits, into one bundle that is finished whatever happens to them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use casefile_bundle::{Clock, FormatVersion, Header, ManifestEnd, SourceReport};
use chrono::{DateTime, SecondsFormat, Utc};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::anonymize::{Anonymizer, MapError, MapFile, gather};
use crate::cluster::{ClusterHandle, credentials};
use crate::exec::Exec;
use crate::host::Host;
use crate::options::Options;
use crate::out::{Out, Shared};
use crate::outcome::Outcome;
use crate::output::{Delivery, Finished, Output, OutputError, Signals};
use crate::plan::not_wanted;
use crate::progress::{Event, Progress};
use crate::redact::{Content, Key, clean_name, clean_sentence};
use crate::seal::SealError;
use crate::seal::encrypt::Recipients;
use crate::seal::sign::Signer;
use crate::source::{Scope, Source, SourceCtx};
use crate::sources::SOURCES;

/// Sources that run at the same time.
const MAX_RUNNING: usize = 8;
/// Finished entries that wait for the writer.
const MAX_WAITING: usize = 16;
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
    pub unwanted: usize,
}

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The output is at fault.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// No random bytes: without them pseudonyms could be guessed, so nothing is collected.
    #[error("the system gives no random bytes for the pseudonyms of secrets")]
    Random(#[source] getrandom::Error),
    /// A key is at fault.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// Our bug.
    #[error("the writer stopped by itself (a bug)")]
    Writer,
}

/// What the end of the run needs to know, shared with the writer.
#[derive(Default)]
struct Ending {
    reports: Mutex<Vec<SourceReport>>,
    interrupted: Mutex<Option<String>>,
}

impl Ending {
    fn interrupt(&self, why: &str) {
        let mut slot = self
            .interrupted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert_with(|| why.to_owned());
    }

    fn interrupted(&self) -> Option<String> {
        self.interrupted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn reports(&self) -> Vec<SourceReport> {
        let mut reports = self
            .reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        reports.sort_by(|a, b| a.id.cmp(&b.id));
        reports
    }
}

/// What is settled before anything is collected.
struct Prepared {
    key: Key,
    delivery: Delivery,
    /// The node's name as the bundle shows it.
    node: String,
}

/// Reads keys and, where names are to be replaced, learns them.
async fn prepare(
    options: &Options,
    host: &Host,
    cluster: &ClusterHandle,
) -> Result<Prepared, RunError> {
    let handover = &options.handover;
    let signer = match &handover.sign_key {
        Some(file) => Some(Signer::load(file)?),
        None => None,
    };
    let recipients = Recipients::parse(&handover.encrypt_to)?;
    let mut key = Key::random().map_err(RunError::Random)?;
    remember_kubeconfigs(options, host, &key).await;
    let mut incomplete = Vec::new();
    if !handover.anonymize.is_empty() {
        let (names, missing) = gather(host, &options.node, cluster).await;
        incomplete.extend(missing);
        let site = Anonymizer::new(key.clone(), handover.anonymize.clone(), &names);
        key = key.with_site(Arc::new(site));
    }
    let node = clean_name(&options.node, &key);
    let delivery = Delivery {
        key: key.clone(),
        allowed: handover.allow_leak.clone(),
        signer,
        recipients,
        map: None,
        incomplete,
    };
    Ok(Prepared {
        key,
        delivery,
        node,
    })
}

/// The keys and tokens of the kubeconfigs that the run may log in with: the leak check searches for them.
async fn remember_kubeconfigs(options: &Options, host: &Host, key: &Key) {
    let asked = SOURCES
        .iter()
        .any(|source| source.scope == Scope::Cluster && not_wanted(source, options).is_none());
    if !options.live() || !asked {
        return;
    }
    let key = key.clone();
    let read = host.on_thread(move |host| {
        for path in credentials::PLACES {
            let text = host.read_text(path).unwrap_or_default();
            crate::leak::remember(&key, "kubeconfig", text.as_bytes());
        }
    });
    // Files that hang are left to their sources, which say so.
    let _ = timeout(GRACE, read).await;
}

/// The map's file, named or beside the bundle.
fn map_file(options: &Options, output: &Output) -> Result<MapFile, MapError> {
    let beside = || {
        let name = output
            .path()
            .map_or_else(|| "casefile".to_owned(), |path| path.display().to_string());
        let stem = name.trim_end_matches(".age").trim_end_matches(".tar.gz");
        std::path::PathBuf::from(format!("{stem}.map.json"))
    };
    MapFile::create(&options.handover.map.clone().unwrap_or_else(beside))
}

/// Collects everything the options ask for.
pub async fn run(
    options: Options,
    output: Option<&std::path::Path>,
    progress: Arc<Progress>,
) -> Result<Report, RunError> {
    let started = Utc::now();
    let options = Arc::new(options);
    let host = Host::new(&options.root);
    let cluster = Arc::new(ClusterHandle::new(Arc::clone(&options), host.clone()));
    let Prepared {
        key,
        mut delivery,
        node,
    } = prepare(&options, &host, &cluster).await?;
    let top = format!("casefile-{node}-{}", started.format("%Y%m%dT%H%M%SZ"));
    let output = Output::open(output, &top, delivery.recipients.is_some())?;
    if key.site().is_some() {
        match map_file(&options, &output) {
            Ok(map) => delivery.map = Some(map),
            Err(error) => {
                output.abandon();
                return Err(OutputError::from(error).into());
            }
        }
    }
    let header = header(&options, &host, started, &key);
    let (sender, receiver) = mpsc::channel(MAX_WAITING);
    let shared = Arc::new(Shared {
        node,
        spill_dir: output.spill_dir.clone(),
        key,
        max_size: options.max_size,
        used: AtomicU64::new(0),
        files: crate::files::FileLog::default(),
        sender,
    });
    let stop = CancellationToken::new();
    let ending = Arc::new(Ending::default());
    let over = CancellationToken::new();
    let for_end = Arc::clone(&ending);
    let signals = Signals {
        stop: stop.clone(),
        over: over.clone(),
    };
    let writer = tokio::task::spawn_blocking(move || {
        output.write(&top, &header, receiver, &signals, delivery, || {
            ManifestEnd {
                finished: Utc::now(),
                interrupted: for_end.interrupted(),
                sources: for_end.reports(),
            }
        })
    });
    let watch = tokio::spawn(watch(
        options.timeout,
        stop.clone(),
        Arc::clone(&ending),
        Arc::clone(&progress),
    ));
    let unwanted = collect(
        &options, &host, &cluster, &shared, &stop, &ending, &progress,
    )
    .await;
    watch.abort();
    write_files(&shared).await;
    over.cancel();
    let finished = writer.await.map_err(|_| RunError::Writer)??;
    Ok(Report {
        finished,
        sources: ending.reports(),
        interrupted: ending.interrupted(),
        unwanted,
    })
}

/// Ends the run early: at its deadline or when the user says so.
async fn watch(
    limit: Duration,
    stop: CancellationToken,
    ending: Arc<Ending>,
    progress: Arc<Progress>,
) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return;
    };
    let why = tokio::select! {
        _ = interrupt.recv() => "interrupted (SIGINT)".to_owned(),
        _ = terminate.recv() => "interrupted (SIGTERM)".to_owned(),
        () = tokio::time::sleep(limit) => format!("the time limit of the run was reached ({} s)", limit.as_secs()),
    };
    ending.interrupt(&why);
    progress.event(&Event::Message(&format!(
        "{why}: finishing the bundle with what is there"
    )));
    stop.cancel();
}

/// Runs all sources; says how many the user did not want.
async fn collect(
    options: &Arc<Options>,
    host: &Host,
    cluster: &Arc<ClusterHandle>,
    shared: &Arc<Shared>,
    stop: &CancellationToken,
    ending: &Arc<Ending>,
    progress: &Arc<Progress>,
) -> usize {
    let exec = Exec::new(options.live(), options.command_dir.as_deref());
    let permits = Arc::new(Semaphore::new(MAX_RUNNING));
    let mut tasks = JoinSet::new();
    let mut unwanted = 0;
    for source in SOURCES {
        let out = Out::new(Arc::clone(shared), source.id, source.max_bytes);
        if let Some(why) = not_wanted(source, options) {
            unwanted += 1;
            let now = Utc::now();
            push_report(ending, source, &Outcome::Skipped { why }, &out, now);
            continue;
        }
        let ctx = SourceCtx {
            source,
            options: Arc::clone(options),
            host: host.clone(),
            exec: exec.clone(),
            out,
            cluster: Arc::clone(cluster),
            cancel: stop.child_token(),
        };
        let (permits, ending, progress) = (
            Arc::clone(&permits),
            Arc::clone(ending),
            Arc::clone(progress),
        );
        tasks.spawn(async move {
            let _permit = permits.acquire_owned().await;
            one(ctx, &ending, &progress).await;
        });
    }
    while tasks.join_next().await.is_some() {}
    unwanted
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

async fn write_files(shared: &Arc<Shared>) {
    let out = Out::new(Arc::clone(shared), "collector", u64::MAX);
    let text = shared.files.to_json();
    // The writer may have stopped; its own error tells.
    let _ = out
        .put(
            out.node_path(["files.json"]),
            Content::JsonLines,
            None,
            text.as_bytes(),
        )
        .await;
}

fn header(options: &Options, host: &Host, started: DateTime<Utc>, key: &Key) -> Header {
    let mut recorded: BTreeMap<String, String> = options
        .recorded()
        .into_iter()
        .map(|(name, value)| (name, clean_sentence(&value, key)))
        .collect();
    recorded.insert(
        "started".to_owned(),
        started.to_rfc3339_opts(SecondsFormat::Secs, true),
    );
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let live = options.live();
    let nanos = u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(now.tv_nsec).unwrap_or(0);
    let timezone = host
        .read_text("/etc/timezone")
        .ok()
        .map(|text| text.trim().to_owned())
        .or_else(|| {
            let link = host.read_link("/etc/localtime")?;
            link.split_once("zoneinfo/")
                .map(|(_, zone)| zone.to_owned())
        });
    Header {
        format: FormatVersion::CURRENT,
        tool: format!("casefile-collector {}", env!("CARGO_PKG_VERSION")),
        node: clean_name(&options.node, key),
        started,
        options: recorded,
        clock: Clock {
            utc: started,
            monotonic_ns: live.then_some(nanos),
            timezone: timezone.filter(|zone| !zone.is_empty()),
            synchronised: (live && host.exists("/run/systemd/timesync/synchronized"))
                .then_some(true),
        },
    }
}
