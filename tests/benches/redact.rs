//! `cargo bench -p casefile-tests --bench redact`: recall and precision as tables, then the memory that
//! a small and a large stream need, and the speed of redaction against `gzip -6`, the program and the library that the
//! collector packs with, on the same bytes in the same run.
//!
//! `CASEFILE_BENCH_MIB` sets how much text is made for the second part; `CASEFILE_BENCH_ONLY=speed` leaves out the first,
//! `CASEFILE_BENCH_SORT=log` measures the sorts that are named so.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::io::Write as _;
use std::sync::LazyLock;
use std::time::Instant;

use casefile_collector::redact::{Content, Key, Redactor, clean_name};
use casefile_tests::planted::{self, Document};
use flate2::Compression;
use flate2::write::GzEncoder;

const CHUNK: usize = 64 << 10;

fn main() {
    let key = match Key::random() {
        Ok(key) => key,
        Err(error) => {
            println!("no random bytes: {error}");
            return;
        }
    };
    if std::env::var_os("CASEFILE_BENCH_ONLY").is_none() {
        println!(
            "{}",
            planted::measure(1, &|document| redact(&key, document))
        );
    }
    let mib: usize = std::env::var("CASEFILE_BENCH_MIB")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(64);
    let only = std::env::var("CASEFILE_BENCH_SORT").unwrap_or_default();
    let sorts = || SORTS.iter().filter(|(name, ..)| name.contains(&only));
    for (name, content, line) in sorts() {
        let small = peak(*content, *line, 4 << 20, &key);
        let large = peak(*content, *line, 64 << 20, &key);
        let show = |peak: Option<u64>| peak.map_or_else(|| "?".to_owned(), |kib| kib.to_string());
        println!(
            "{name:<28} needs {} KiB more for 4 MiB, {} KiB more for 64 MiB",
            show(small),
            show(large)
        );
    }
    for (name, content, line) in sorts() {
        speed(name, *content, &text(*line, mib << 20), &key);
    }
}

fn speed(name: &str, content: Content, bytes: &[u8], key: &Key) {
    let program = gzip_program(bytes);
    let library = best(|| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
        // Writing to memory does not fail.
        let _ = encoder.write_all(bytes);
        encoder.finish().map_or(0, |packed| packed.len())
    });
    let redacted = best(|| {
        let mut redactor = Redactor::new(content, key.clone());
        let (mut out, mut length) = (Vec::new(), 0);
        for chunk in bytes.chunks(CHUNK) {
            redactor.push(chunk, &mut out);
            length += out.len();
            out.clear();
        }
        redactor.finish(&mut out);
        length + out.len()
    });
    let ratio = |seconds: f64| format!("{seconds:.3} s, ratio {:.2}", redacted / seconds);
    println!(
        "{name:<28} redact {redacted:.3} s; gzip -6 {}; the collector's own deflate at 6 {} ({} MiB)",
        program.map_or_else(|| "cannot be run here".to_owned(), ratio),
        ratio(library),
        bytes.len() >> 20
    );
}

/// The shortest of three runs of the program `gzip -6` on the same bytes, in seconds.
fn gzip_program(bytes: &[u8]) -> Option<f64> {
    let mut file = tempfile::NamedTempFile::new().ok()?;
    file.write_all(bytes).ok()?;
    let path = file.path();
    let mut gzip = std::process::Command::new("gzip");
    gzip.args(["-6", "-c"]).stdout(std::process::Stdio::null());
    gzip.arg(path);
    gzip.status().ok().filter(|status| status.success())?;
    Some(best(|| {
        let done = gzip.status().is_ok_and(|status| status.success());
        usize::from(done)
    }))
}

/// How far the resident memory grows, in KiB, while a stream that is never held as a whole is redacted.
fn peak(content: Content, line: Line, length: usize, key: &Key) -> Option<u64> {
    // Linux starts counting the peak anew.
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = resident("VmHWM")?;
    let mut redactor = Redactor::new(content, key.clone());
    let (mut chunk, mut out) = (Vec::new(), Vec::new());
    let (mut number, mut given) = (0, 0);
    while given < length {
        while chunk.len() < CHUNK {
            chunk.extend_from_slice(line(number).as_bytes());
            number += 1;
        }
        redactor.push(&chunk, &mut out);
        given += chunk.len();
        chunk.clear();
        out.clear();
    }
    redactor.finish(&mut out);
    Some(resident("VmHWM")?.saturating_sub(before))
}

/// A figure of this process in KiB.
fn resident(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn redact(key: &Key, document: &Document) -> (String, Vec<u8>) {
    let content = match document.content {
        planted::Content::Text => Content::Text,
        planted::Content::JsonLines => Content::JsonLines,
    };
    let mut redactor = Redactor::new(content, key.clone());
    let mut out = Vec::new();
    redactor.push(&document.bytes, &mut out);
    redactor.finish(&mut out);
    (clean_name(&document.name, key), out)
}

/// The shortest of three runs, in seconds.
fn best(mut work: impl FnMut() -> usize) -> f64 {
    let mut shortest = f64::MAX;
    for _ in 0..3 {
        let clock = Instant::now();
        let length = work();
        assert!(length > 0, "nothing came out");
        shortest = shortest.min(clock.elapsed().as_secs_f64());
    }
    shortest
}

type Line = fn(u64) -> String;

/// What bundles are made of, by volume.
const SORTS: &[(&str, Content, Line)] = &[
    ("journal, JSON lines", Content::JsonLines, journal),
    ("pods, one item a line", Content::JsonLines, pod),
    ("pods of a real API server", Content::JsonLines, recorded),
    ("container log, text", Content::Text, log),
    ("configuration, YAML", Content::Text, yaml),
];

fn text(line: Line, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 4096);
    let mut number = 0;
    while bytes.len() < length {
        bytes.extend_from_slice(line(number).as_bytes());
        number += 1;
    }
    bytes
}

/// Pods as an API server gave them, from a sample's bundle; over and over, which `gzip` cannot see: they are longer
/// than its window.
fn recorded(n: u64) -> String {
    static PODS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../samples/toolkit-wrong-containerd/bundle/cluster-resources/pods"
        );
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|file| Some(file.ok()?.path()))
            .collect();
        files.sort();
        let texts = files
            .iter()
            .filter_map(|file| std::fs::read_to_string(file).ok());
        texts
            .flat_map(|text| {
                text.split_inclusive('\n')
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect()
    });
    let at = usize::try_from(n).unwrap_or(0) % PODS.len();
    PODS[at].clone()
}

fn mixed(n: u64) -> u64 {
    let mut x = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 27)
}

fn message(n: u64) -> String {
    let id = mixed(n);
    match n % 10 {
        0 => format!(
            "I1120 10:15:00.{id} 812 kubelet.go:2448] \\\"SyncLoop (PLEG): event for pod\\\" pod=\\\"shop/web-{id:x}\\\" event={{\\\"ID\\\":\\\"{id:016x}\\\",\\\"Type\\\":\\\"ContainerStarted\\\"}}"
        ),
        1 => format!(
            "E1120 10:15:00.{id} 812 pod_workers.go:1301] \\\"Error syncing pod, skipping\\\" err=\\\"failed to \\\\\\\"StartContainer\\\\\\\" for \\\\\\\"app\\\\\\\" with CrashLoopBackOff\\\" podUID=\\\"{id:08x}-7b0e\\\""
        ),
        2 => format!(
            "pam_unix(sudo:session): session opened for user root(uid=0) by (uid={})",
            id % 2000
        ),
        3 => format!(
            "level=info msg=\\\"PullImage nvcr.io/nvidia/driver@sha256:{id:016x}{id:016x}{id:016x}{id:016x} returns\\\""
        ),
        4 => format!(
            "[UFW BLOCK] IN=cali{id:x} OUT=eth0 SRC=10.1.{}.{} DST=10.152.183.10 LEN=60 PROTO=UDP SPT={} DPT=53",
            id % 255,
            id % 253,
            id % 60000
        ),
        5 => format!(
            "Get \\\"https://10.152.183.1:443/api/v1/namespaces/shop/secrets/db-{id:x}?timeout=10s\\\": dial tcp: i/o timeout"
        ),
        6 => format!("Started cri-containerd-{id:016x}{id:016x}.scope - libcontainer container."),
        7 => format!(
            "NVRM: Xid (PCI:0000:{:02x}:00): 79, pid={}, name=python, GPU has fallen off the bus.",
            id % 255,
            id % 60000
        ),
        8 => format!(
            "MountVolume.SetUp succeeded for volume \\\"kube-api-access-{:x}\\\" (UniqueName: kubernetes.io/projected/{id:x})",
            id % 99999
        ),
        _ => format!("reconciled object {id:x} in {} ms, nothing to do", id % 900),
    }
}

fn journal(n: u64) -> String {
    format!(
        "{{\"__CURSOR\":\"s=0af1;i={n:x};b=77\",\"__REALTIME_TIMESTAMP\":\"17636349{n:08}\",\"_BOOT_ID\":\"7f2c0de1a5f14c5a8b7d4a1e9f00aa11\",\"PRIORITY\":\"6\",\"_PID\":\"{}\",\"_COMM\":\"kubelet\",\"_SYSTEMD_UNIT\":\"kubelet.service\",\"_HOSTNAME\":\"gpu-1\",\"MESSAGE\":\"{}\"}}\n",
        n % 30000,
        message(n)
    )
}

fn log(n: u64) -> String {
    format!(
        "2026-11-20T10:15:{:02}.{:09}Z stdout F {}\n",
        n % 60,
        mixed(n) % 1_000_000_000,
        message(n).replace("\\\"", "\"")
    )
}

fn pod(n: u64) -> String {
    let id = mixed(n);
    format!(
        "{{\"metadata\":{{\"name\":\"web-{id:x}\",\"namespace\":\"shop\",\"uid\":\"{id:016x}\",\"resourceVersion\":\"{n}\",\"labels\":{{\"app\":\"web\",\"pod-template-hash\":\"{id:x}\"}}}},\"spec\":{{\"volumes\":[{{\"name\":\"kube-api-access-{id:x}\",\"projected\":{{\"sources\":[{{\"serviceAccountToken\":{{\"expirationSeconds\":3607,\"path\":\"token\"}}}},{{\"configMap\":{{\"name\":\"kube-root-ca.crt\",\"items\":[{{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}}]}}}}]}}}}],\"containers\":[{{\"name\":\"app\",\"image\":\"registry.example/shop/web@sha256:{id:016x}{id:016x}{id:016x}{id:016x}\",\"env\":[{{\"name\":\"MODE\",\"value\":\"fast\"}},{{\"name\":\"DB_PASSWORD\",\"valueFrom\":{{\"secretKeyRef\":{{\"name\":\"db\",\"key\":\"password\"}}}}}}],\"resources\":{{\"limits\":{{\"nvidia.com/gpu\":\"1\"}}}},\"volumeMounts\":[{{\"name\":\"kube-api-access-{id:x}\",\"readOnly\":true,\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}}]}}],\"serviceAccountName\":\"default\",\"nodeName\":\"gpu-1\",\"tolerations\":[{{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}}]}},\"status\":{{\"phase\":\"Running\",\"podIP\":\"10.1.{}.{}\"}}}},\n",
        id % 255,
        id % 253
    )
}

fn yaml(n: u64) -> String {
    let id = mixed(n);
    format!(
        "component{n}:\n  enabled: true\n  image: nvcr.io/nvidia/x:{}\n  resources:\n    limits:\n      memory: {}Mi\n  env:\n  - name: MODE\n    value: \"{id:x}\"\n  tolerations:\n  - key: nvidia.com/gpu\n    operator: Exists\n",
        id % 99,
        id % 4096
    )
}
