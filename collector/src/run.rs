//! A run: all sources at once, each within its limits, into one bundle that is finished whatever happens to them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use casefile_bundle::{
    Clock, FormatVersion, Header, ManifestEnd, Outcome as ManifestOutcome, SourceReport,
};
use chrono::{DateTime, SecondsFormat, Utc};
use tokio::signal::unix::{SignalKind, signal};
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
use crate::output::{Delivery, Finished, LeftOut, Output, OutputError, Signals};
use crate::plan::not_wanted;
use crate::progress::{Event, Progress, human};
use crate::redact::{Content, Key, clean_name, clean_sentence};
use crate::seal::SealError;
use crate::seal::encrypt::Recipients;
use crate::seal::sign::Signer;
use crate::source::{Scope, Source, SourceCtx};

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
    pub unwanted: Vec<&'static str>,
    /// It described this machine without root's rights.
    pub without_root: bool,
}

/// What the user is told who could be root and is not.
pub const NOT_ROOT: &str = "not running as root: firewall rules, most of the journal, the kubelet's and containerd's files, other users' processes and pod logs on disk will be missing; run it with sudo to have them";

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

    /// Entries that the disk had no room for are missing parts of their sources.
    fn left_out(&self, left_out: &[LeftOut]) {
        if left_out.is_empty() {
            return;
        }
        self.interrupt(&format!(
            "the disk of the output is full: {} files left out",
            left_out.len()
        ));
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        for report in reports.iter_mut() {
            let mut missing = 0;
            for one in left_out.iter().filter(|one| one.source == report.id) {
                missing += 1;
                let (path, size) = (&one.path, human(one.bytes));
                report
                    .notes
                    .push(format!("{path}: left out, no room on the disk ({size})"));
            }
            if missing > 0 && report.outcome == ManifestOutcome::Collected {
                report.outcome = ManifestOutcome::Partial;
                report.why = Some(format!(
                    "{missing} files left out: the disk of the output is full"
                ));
            }
        }
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
    sources: &[&'static Source],
) -> Result<Prepared, RunError> {
    let handover = &options.handover;
    let signer = match &handover.sign_key {
        Some(file) => Some(Signer::load(file)?),
        None => None,
    };
    let recipients = Recipients::parse(&handover.encrypt_to)?;
    let mut key = Key::random().map_err(RunError::Random)?;
    remember_kubeconfigs(options, host, sources, &key).await;
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
async fn remember_kubeconfigs(
    options: &Options,
    host: &Host,
    sources: &[&'static Source],
    key: &Key,
) {
    let asked = sources
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

/// Opens the map of pseudonyms where names are replaced; without it there is no bundle.
fn with_map(
    options: &Options,
    key: &Key,
    output: Output,
    delivery: &mut Delivery,
) -> Result<Output, RunError> {
    if key.site().is_some() {
        match map_file(options, &output) {
            Ok(map) => delivery.map = Some(map),
            Err(error) => {
                output.abandon();
                return Err(OutputError::from(error).into());
            }
        }
    }
    Ok(output)
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
    let for_end = Arc::clone(&ending);
    let signals = Signals {
        stop: stop.clone(),
        over: over.clone(),
    };
    let writer = tokio::task::spawn_blocking(move || {
        output.write(&top, &header, receiver, &signals, delivery, |left_out| {
            for_end.left_out(left_out);
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

/// Ends the run early: at its deadline or when the user says so. Told a second time it goes at once, and the bundle
/// stays unfinished. A lost terminal (SIGHUP) ends nothing: the node may not be reached a second time.
async fn watch(
    limit: Duration,
    stop: CancellationToken,
    over: CancellationToken,
    ending: Arc<Ending>,
    progress: Arc<Progress>,
) {
    let (Ok(mut interrupt), Ok(mut terminate), Ok(_hangup)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
    ) else {
        return;
    };
    let why = tokio::select! {
        _ = interrupt.recv() => Some("interrupted (SIGINT)".to_owned()),
        _ = terminate.recv() => Some("interrupted (SIGTERM)".to_owned()),
        () = tokio::time::sleep(limit) => Some(format!("the time limit of the run was reached ({} s)", limit.as_secs())),
        () = over.cancelled() => None,
    };
    if let Some(why) = why {
        ending.interrupt(&why);
        progress.event(&Event::Message(&format!(
            "{why}: finishing the bundle with what is there (Ctrl-C ends at once and leaves a .partial file)"
        )));
        stop.cancel();
    }
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    leave(130);
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

/// Ends the process where it stands. What is on the disk is a readable `.partial` file.
#[expect(
    clippy::exit,
    reason = "asked for a second time, and threads may hang in a dead file system"
)]
fn leave(code: i32) -> ! {
    std::process::exit(code)
}

/// What all sources of a run share.
struct Desk<'a> {
    options: &'a Arc<Options>,
    host: &'a Host,
    cluster: &'a Arc<ClusterHandle>,
    shared: &'a Arc<Shared>,
    stop: &'a CancellationToken,
    ending: &'a Arc<Ending>,
    progress: &'a Arc<Progress>,
}

impl Desk<'_> {
    /// Runs all sources; says which the user did not want.
    async fn collect(&self, sources: &[&'static Source]) -> Vec<&'static str> {
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
