//! Our own generator: a bundle of one busy node.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use casefile_bundle::{
    BundlePath, Clock, EntryMeta, EntrySpool, FormatVersion, Header, ManifestEnd, Outcome,
    SourceReport, Writer,
};
use chrono::{DateTime, Utc};

use crate::measure::target;

const NODE: &str = "gpu-1";

/// A bundle of so many MiB, made once for each seed.
pub(crate) fn bundle(mib: u64, seed: u64) -> anyhow::Result<PathBuf> {
    let folder = target().join("bench");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("casefile-bench-{mib}MiB-{seed}.tar.gz"));
    if !path.exists() {
        eprintln!("making {} (once)", path.display());
        let partial = path.with_extension("partial");
        write(&partial, mib << 20, seed).context("making the bundle")?;
        fs::rename(&partial, &path)?;
    }
    Ok(path)
}

/// Shares of a bundle of a busy node: 0.7 journal, 0.2 objects, 0.1 pod logs.
fn write(path: &Path, total: u64, seed: u64) -> anyhow::Result<()> {
    let out = BufWriter::new(File::create(path)?);
    let mut writer = Writer::new(out, "casefile-bench", &header()?)?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
    let journal = total * 7 / 10;
    let units = ["kubelet.service", "containerd.service", "kernel"];
    for unit in units {
        let path = format!("nodes/{NODE}/journal/{unit}.json");
        let share = journal / units.len() as u64;
        entry(&mut writer, &path, "journal", |spool| {
            journal_lines(spool, unit, share, &mut random)
        })?;
    }
    let namespaces = 50u64;
    for namespace in 0..namespaces {
        let path = format!("cluster-resources/pods/ns-{namespace:02}.json");
        let size = total * 15 / 100 / namespaces;
        entry(&mut writer, &path, "cluster_objects", |spool| {
            pods(spool, namespace, 5000 / namespaces, size)
        })?;
        let path = format!("cluster-resources/events/ns-{namespace:02}.json");
        let size = total * 5 / 100 / namespaces;
        entry(&mut writer, &path, "cluster_events", |spool| {
            events(spool, namespace, 20_000 / namespaces, size)
        })?;
    }
    for pod in 0..500u64 {
        let path = format!(
            "cluster-resources/pods/logs/ns-{:02}/pod-{pod}/main.log",
            pod % namespaces
        );
        let size = total / 10 / 500;
        entry(&mut writer, &path, "cluster_pod_logs", |spool| {
            pod_log(spool, size, &mut random)
        })?;
    }
    writer.finish(end()?)?;
    Ok(())
}

fn at() -> anyhow::Result<DateTime<Utc>> {
    Ok(DateTime::parse_from_rfc3339("2026-11-20T10:00:00Z")?.to_utc())
}

pub(crate) fn header() -> anyhow::Result<Header> {
    let at = at()?;
    Ok(Header {
        format: FormatVersion::CURRENT,
        tool: "casefile-bench".into(),
        node: NODE.into(),
        started: at,
        options: [].into(),
        clock: Clock {
            utc: at,
            monotonic_ns: None,
            timezone: None,
            synchronised: None,
        },
    })
}

pub(crate) fn end() -> anyhow::Result<ManifestEnd> {
    let at = at()?;
    let report = |id: &str| SourceReport {
        id: id.into(),
        title: id.into(),
        outcome: Outcome::Collected,
        why: None,
        started: at,
        finished: at,
        notes: Vec::new(),
    };
    let sources = [
        "cluster_events",
        "cluster_objects",
        "cluster_pod_logs",
        "journal",
    ];
    Ok(ManifestEnd {
        finished: at,
        interrupted: None,
        sources: sources.iter().map(|id| report(id)).collect(),
    })
}

pub(crate) fn meta(path: BundlePath, source: &str) -> EntryMeta {
    EntryMeta {
        path,
        source: source.into(),
        truncated: None,
        redactions: [].into(),
        origin: None,
    }
}

fn entry<W: Write>(
    writer: &mut Writer<W>,
    path: &str,
    source: &str,
    fill: impl FnOnce(&mut EntrySpool) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    let mut spool = EntrySpool::new(&std::env::temp_dir());
    fill(&mut spool)?;
    let meta = meta(BundlePath::new(path)?, source);
    writer.append(meta, spool.finish()?)?;
    Ok(())
}

/// Deterministic numbers: the same size gives the same bundle.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// What busy units say all day; a fault stands in one of some ten thousand lines.
const MESSAGES: [&str; 8] = [
    "I1120 10:00:00.%N       1 kuberuntime_container.go:808] Killing container with a grace period pod=\\\"ns-%A/pod-%B\\\" containerID=\\\"containerd://%C\\\" gracePeriod=30",
    "time=\\\"2026-11-20T10:00:00.%NZ\\\" level=info msg=\\\"StopPodSandbox for %C returns successfully\\\"",
    "time=\\\"2026-11-20T10:00:00.%NZ\\\" level=info msg=\\\"ImageUpdate event name:registry.example/team/app:%A labels:{key:io.cri-containerd.image value:managed}\\\"",
    "E1120 10:00:00.%N       1 pod_workers.go:1301] Error syncing pod, skipping err=\\\"failed to StartContainer for main with CrashLoopBackOff: back-off 5m0s\\\" pod=\\\"ns-%A/pod-%B\\\"",
    "I1120 10:00:00.%N       1 reconciler_common.go:299] Volume detached for volume kube-api-access-%B on node gpu-1 DevicePath",
    "audit: type=1400 apparmor=ALLOWED operation=open profile=cri-containerd.apparmor.d name=/proc/%A/stat pid=%B comm=runc",
    "cni0: port %A(veth%C) entered forwarding state",
    "time=\\\"2026-11-20T10:00:00.%NZ\\\" level=warning msg=\\\"container event discarded\\\" container=%C type=CONTAINER_STOPPED_EVENT",
];

fn journal_lines(
    spool: &mut EntrySpool,
    unit: &str,
    size: u64,
    random: &mut Random,
) -> std::io::Result<()> {
    let mut micros = 1_795_168_800_000_000u64;
    while spool.bytes() < size {
        let number = random.next();
        micros += number % 40_000;
        let message = if number.is_multiple_of(20_011) {
            "failed to get sandbox runtime: no runtime for \\\"nvidia\\\" is configured".to_owned()
        } else {
            let text = MESSAGES[(number >> 8) as usize % MESSAGES.len()];
            text.replace("%N", &format!("{:06}", number % 1_000_000))
                .replace("%A", &format!("{}", (number >> 20) % 50))
                .replace("%B", &format!("{}", (number >> 26) % 5000))
                .replace(
                    "%C",
                    &format!("{:016x}{number:016x}", number.rotate_left(17)),
                )
        };
        writeln!(
            spool,
            "{{\"__REALTIME_TIMESTAMP\":\"{micros}\",\"_BOOT_ID\":\"b0070000111142228333444455556666\",\"PRIORITY\":\"6\",\"_PID\":\"{}\",\"_SYSTEMD_UNIT\":\"{unit}\",\"SYSLOG_IDENTIFIER\":\"{unit}\",\"MESSAGE\":\"{message}\"}}",
            number % 30_000
        )?;
    }
    Ok(())
}

fn padding(size: u64) -> String {
    let unit = "{\"name\":\"kube-api-access\",\"readOnly\":true,\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"},";
    let mut text = unit.repeat(usize::try_from(size).unwrap_or(0) / unit.len());
    text.pop();
    text
}

fn pods(spool: &mut EntrySpool, namespace: u64, count: u64, size: u64) -> std::io::Result<()> {
    writeln!(
        spool,
        "{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":["
    )?;
    let filler = padding((size / count).saturating_sub(900));
    for pod in 0..count {
        let comma = if pod + 1 == count { "" } else { "," };
        let when: DateTime<Utc> =
            DateTime::from_timestamp(1_795_160_000 + i64::try_from(pod).unwrap_or(0), 0)
                .unwrap_or_default();
        writeln!(
            spool,
            "{{\"metadata\":{{\"name\":\"pod-{pod}\",\"namespace\":\"ns-{namespace:02}\",\"creationTimestamp\":\"{}\",\"ownerReferences\":[{{\"kind\":\"ReplicaSet\",\"name\":\"app\"}}]}},\"spec\":{{\"nodeName\":\"{NODE}\",\"containers\":[{{\"name\":\"main\",\"image\":\"registry.example/app:1\",\"resources\":{{\"limits\":{{\"nvidia.com/gpu\":\"1\"}}}},\"volumeMounts\":[{filler}]}}]}},\"status\":{{\"phase\":\"Running\",\"podIP\":\"10.1.{namespace}.{}\",\"conditions\":[{{\"type\":\"Ready\",\"status\":\"True\"}}],\"containerStatuses\":[{{\"name\":\"main\",\"ready\":true,\"restartCount\":0,\"state\":{{\"running\":{{}}}}}}]}}}}{comma}",
            when.to_rfc3339(),
            pod % 250
        )?;
    }
    writeln!(spool, "]}}")
}

fn events(spool: &mut EntrySpool, namespace: u64, count: u64, size: u64) -> std::io::Result<()> {
    writeln!(
        spool,
        "{{\"kind\":\"EventList\",\"apiVersion\":\"v1\",\"items\":["
    )?;
    let filler = "the kubelet is waiting for the next attempt. ".repeat(
        usize::try_from(size / count)
            .unwrap_or(0)
            .saturating_sub(500)
            / 45,
    );
    for event in 0..count {
        let comma = if event + 1 == count { "" } else { "," };
        writeln!(
            spool,
            "{{\"metadata\":{{\"name\":\"event-{event}\",\"namespace\":\"ns-{namespace:02}\"}},\"involvedObject\":{{\"kind\":\"Pod\",\"namespace\":\"ns-{namespace:02}\",\"name\":\"pod-{}\"}},\"reason\":\"BackOff\",\"message\":\"Back-off restarting failed container main: {filler}\",\"type\":\"Warning\",\"count\":{event},\"firstTimestamp\":\"2026-11-20T09:00:00Z\",\"lastTimestamp\":\"2026-11-20T09:59:59Z\"}}{comma}",
            event % 100
        )?;
    }
    writeln!(spool, "]}}")
}

fn pod_log(spool: &mut EntrySpool, size: u64, random: &mut Random) -> std::io::Result<()> {
    while spool.bytes() < size {
        let number = random.next();
        writeln!(
            spool,
            "2026-11-20T09:{:02}:{:02}.{:09}Z step {number} loss={:.6} throughput={} samples/s",
            number % 60,
            (number >> 8) % 60,
            number % 1_000_000_000,
            f64::from(u32::try_from(number % 1_000_000).unwrap_or(0)) / 1e6,
            number % 9999
        )?;
    }
    Ok(())
}
