//! The NVIDIA driver and its GPUs: what nvidia-smi says, and what the kernel says where nvidia-smi hangs or is missing.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use casefile_bundle::Entry;
use tokio::time::timeout;

use casefile_bundle::sources as about;

use crate::exec::{self, Call, Exec};
use crate::files::json_lines;
use crate::host::{Host, Stat};
use crate::out::Out;
use crate::redact::Content;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::sources::nvml;
use crate::take::{Need, Tally, copy_all};
use crate::{outcome::Outcome, take};

/// Each may hang on a sick GPU, so the first one that does is the last one that is tried.
const SMI: [&str; 7] = [
    "nvidia-smi",
    "nvidia-smi-q",
    "nvidia-smi-L",
    "nvidia-smi-topo",
    "nvidia-smi-nvlink",
    "nvidia-smi-nvlink-errors",
    "nvidia-smi-topo-p2p",
];
/// Asked last: of machines with confidential computing or virtual GPUs; others refuse in words of their own.
const RARE: [&str; 4] = [
    "nvidia-smi-conf-compute",
    "nvidia-smi-conf-compute-q",
    "nvidia-smi-conf-compute-ready",
    "nvidia-smi-vgpu",
];
/// What the XML says of memory, as text: asked where the XML could not be had.
const XML: &str = "nvidia-smi-q";
const MEMORY: &str = "nvidia-smi-memory";
/// Where a driver container shows its root file system.
const DRIVER_ROOT: &str = "/run/nvidia/driver";
/// What the driver gets to answer reads of its files.
const PROC_LIMIT: Duration = Duration::from_secs(10);
const OTHER: [&str; 2] = ["lspci", "lsmod"];
const FILES: [&str; 14] = [
    "/proc/driver/nvidia/version",
    "/proc/driver/nvidia/params",
    "/proc/driver/nvidia/registry",
    "/proc/driver/nvidia/gpus/*/information",
    "/proc/driver/nvidia/gpus/*/power",
    "/proc/driver/nvidia-caps/mig-minors",
    "/proc/driver/nvidia-nvlink/capabilities/fabric-mgmt",
    "/proc/modules",
    "/proc/devices",
    "/sys/module/nvidia/version",
    "/sys/module/nvidia/srcversion",
    "/etc/modprobe.d/*nvidia*",
    "/etc/modprobe.d/*nouveau*",
    "/run/nvidia/validations/*",
];
/// Where libraries of the driver lie; their names carry the driver's version.
const LIBRARIES: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu/lib*nvidia*.so*",
    "/usr/lib/x86_64-linux-gnu/libcuda.so*",
    "/usr/lib/aarch64-linux-gnu/libcuda.so*",
    "/usr/lib64/libcuda.so*",
    "/usr/lib64/libnvidia-ml.so*",
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libcuda.so*",
];
/// Device nodes, which containers need.
const DEVICES: [&str; 6] = [
    "/dev/nvidia*",
    "/dev/nvidia-caps/*",
    "/dev/nvidia-caps-imex-channels/*",
    "/dev/dri/*",
    "/dev/infiniband/*",
    "/dev/vfio/*",
];

/// The driver and its GPUs.
pub static SOURCE: Source = Source {
    about: &about::NVIDIA_SMI,
    timeout: Duration::from_secs(90),
    max_bytes: 64 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let files = FILES
        .iter()
        .chain(&LIBRARIES)
        .chain(&DEVICES)
        .map(|path| PlanItem::file(*path));
    let ids = if ctx.options.live() { &SMI[..] } else { &[] };
    let rare = if ctx.options.live() { &RARE[..] } else { &[] };
    let memory = ctx.options.live().then_some(&MEMORY);
    let smi = ids
        .iter()
        .chain(memory)
        .chain(rare)
        .filter_map(|id| Some(ctx.call(&call(ctx.exec, ctx.host, id)?)));
    let nvml = nvml::plan(ctx);
    smi.chain(ctx.commands(&OTHER))
        .chain(files)
        .chain(nvml)
        .collect()
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        // The driver answers reads of /proc itself, and may never do so when a GPU is gone.
        let mut driver = match timeout(PROC_LIMIT, ctx.files(driver_files)).await {
            Ok(driver) => driver,
            Err(_) => {
                let mut tally = Tally::default();
                tally.broken(
                    &ctx.out,
                    "/proc/driver/nvidia did not answer: the driver hangs",
                );
                tally
            }
        };
        let has_driver = driver.taken > 0 || !driver.broken.is_empty();
        let mut smi = Tally::default();
        let mut xml = false;
        for id in SMI {
            let Some(call) = call(&ctx.exec, &ctx.host, id) else {
                continue;
            };
            // Links and paths between GPUs: only machines with more than one have them.
            let need = match id {
                "nvidia-smi-nvlink-errors" | "nvidia-smi-topo-p2p" => Need::Optional,
                _ => Need::Wanted,
            };
            let good = ctx.call(&call, need, &mut smi).await;
            xml |= good && id == XML;
            if smi.broken.iter().any(|what| what.contains("no end after")) {
                smi.broken(&ctx.out, "nvidia-smi hung: its other queries were left out");
                break;
            }
            if !smi.absent.is_empty() || ctx.cancel.is_cancelled() {
                break;
            }
        }
        let hangs = smi.broken.iter().any(|what| what.contains("hung"));
        if smi.taken > 0
            && !xml
            && !hangs
            && let Some(call) = call(&ctx.exec, &ctx.host, MEMORY)
        {
            ctx.call(&call, Need::Optional, &mut smi).await;
        }
        if smi.taken > 0 && !hangs {
            rare(&ctx, &mut smi).await;
        }
        if smi.taken == 0 && !smi.absent.is_empty() && !ctx.cancel.is_cancelled() {
            nvml::ask(&ctx, &mut smi).await;
        }
        let mut around = ctx.files(surroundings).await;
        for id in OTHER {
            ctx.command(id, Need::Optional, &mut around).await;
        }
        // Without driver and nvidia-smi, a list of modules is no picture of a GPU.
        let nothing = smi.taken == 0 && !has_driver && smi.broken.is_empty();
        driver.add(smi);
        if nothing {
            let why = driver.absent.first().cloned().unwrap_or_default();
            return Outcome::skipped(format!("no NVIDIA driver here: {why}"));
        }
        keep_hung_and_cut(&mut around);
        driver.broken.append(&mut around.broken);
        driver.outcome("no NVIDIA driver here")
    })
}

/// That these say no is normal, and noted; that they hang or flood is not.
async fn rare(ctx: &SourceCtx, smi: &mut Tally) {
    for id in RARE {
        let Some(call) = call(&ctx.exec, &ctx.host, id) else {
            continue;
        };
        if ctx.cancel.is_cancelled() {
            return;
        }
        let mut tally = Tally::default();
        ctx.call(&call, Need::Optional, &mut tally).await;
        keep_hung_and_cut(&mut tally);
        let hung = tally.broken.iter().any(|what| !what.contains("was cut"));
        smi.add(tally);
        if hung {
            return;
        }
    }
}

/// Forgets what is only a refusal.
fn keep_hung_and_cut(tally: &mut Tally) {
    const WORDS: [&str; 3] = ["no end after", "stopped before its end", "was cut"];
    let grave = |what: &String| WORDS.iter().any(|word| what.contains(word));
    tally.broken.retain(grave);
}

/// A query of nvidia-smi: the host's, or the one of a driver container, run below that container's root.
fn call(exec: &Exec, host: &Host, id: &str) -> Option<Call> {
    let call = Call::new(exec::find(id)?);
    let of_container = exec.resolve("nvidia-smi").is_none()
        && host.exists(&format!("{DRIVER_ROOT}/usr/bin/nvidia-smi"));
    Some(if of_container {
        call.in_root(DRIVER_ROOT)
    } else {
        call
    })
}

fn driver_files(host: &Host, out: &Out, tally: &mut Tally) {
    if host.exists("/proc/driver/nvidia") {
        copy_all(host, out, &FILES[..7], tally);
    } else {
        out.files()
            .record("/proc/driver/nvidia", "absent", None, None);
        if host.is_live() {
            tally.absent(
                out,
                Need::Optional,
                "/proc/driver/nvidia does not exist: the driver is not loaded",
            );
        }
    }
}

fn surroundings(host: &Host, out: &Out, tally: &mut Tally) {
    copy_all(host, out, &FILES[7..], tally);
    for pattern in LIBRARIES {
        for path in host.glob(pattern) {
            let stat = host.metadata(&path).ok().as_ref().map(Stat::from);
            out.files()
                .record(&path, "noted", stat, host.read_link(&path));
        }
    }
    let mut listing = String::new();
    let mut nodes = Vec::new();
    for path in DEVICES.iter().flat_map(|pattern| host.glob(pattern)) {
        let Ok(meta) = host.metadata(&path) else {
            continue;
        };
        let (stat, number) = (Stat::from(&meta), meta.rdev());
        // Writing to a String cannot fail.
        let _ = writeln!(listing, "{path}");
        nodes.push(serde_json::json!({
            "path": path, "mode": format!("{:o}", stat.mode), "uid": stat.uid, "gid": stat.gid,
            "major": rustix::fs::major(number), "minor": rustix::fs::minor(number),
        }));
    }
    if listing.is_empty() {
        take::Tally::absent(
            tally,
            out,
            Need::Optional,
            "there are no device nodes /dev/nvidia*",
        );
    }
    put(out, "devices.json", &json_lines("devices", nodes), tally);
}

/// Writes one of our own JSON files below the node's folder, from a blocking thread.
pub fn put(out: &Out, name: &str, text: &str, tally: &mut Tally) {
    let mut entry = out.entry(out.path(Entry::Node, name), Content::JsonLines, None);
    let written = entry.write(text.as_bytes()).map(|_| ());
    if let Err(error) = written.and_then(|()| entry.finish_blocking()) {
        tally.broken(out, format!("{name}: {error}"));
    }
}
