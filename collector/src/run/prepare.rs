//! What is settled before a run collects: keys, pseudonyms, recipients, and the header of the bundle.

use std::collections::BTreeMap;
use std::sync::Arc;

use casefile_bundle::{Clock, FormatVersion, Header};
use chrono::{DateTime, SecondsFormat, Utc};
use tokio::time::timeout;

use super::{GRACE, RunError};
use crate::anonymize::{Anonymizer, MapError, MapFile, gather};
use crate::cluster::{ClusterHandle, credentials};
use crate::host::Host;
use crate::leak::Rules;
use crate::options::Options;
use crate::output::{Delivery, Output, OutputError};
use crate::plan::not_wanted;
use crate::redact::{Keep, Key, clean_name, clean_sentence};
use crate::seal::encrypt::Recipients;
use crate::seal::sign::Signer;
use crate::source::{Scope, Source};

/// What is settled before anything is collected.
pub(super) struct Prepared {
    pub(super) key: Key,
    pub(super) delivery: Delivery,
    /// The node's name as the bundle shows it.
    pub(super) node: String,
}

/// Reads keys and, where names are to be replaced, learns them.
pub(super) async fn prepare(
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
    if !handover.keep.is_empty() {
        key = key.with_kept(Arc::new(Keep::new(&handover.keep).map_err(RunError::Keep)?));
    }
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
        strict: handover.strict_leaks,
        rules: rules(&handover.leak_rules)?,
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

/// Rules of other scanners for the leak check.
fn rules(files: &[std::path::PathBuf]) -> Result<Option<Arc<Rules>>, RunError> {
    if files.is_empty() {
        return Ok(None);
    }
    let rules = Rules::read(files).map_err(RunError::LeakRules)?;
    Ok(Some(Arc::new(rules)))
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
    if !options.asks_cluster() || !asked {
        return;
    }
    let key = key.clone();
    let named = options.kubeconfig.clone();
    let read = host.on_thread(move |host| {
        // A named file lies where the collector runs, not below a mounted root.
        let named = named.and_then(|file| std::fs::read(file).ok());
        if let Some(text) = named {
            crate::leak::remember(&key, "kubeconfig", &text);
        }
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
pub(super) fn with_map(
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

pub(super) fn header(options: &Options, host: &Host, started: DateTime<Utc>, key: &Key) -> Header {
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
