//! The NVIDIA driver and its GPUs: what nvidia-smi says, and what the kernel says where nvidia-smi hangs or is missing.

use std::fmt::Write as _;
use std::time::Duration;

use crate::files::json_lines;
use crate::host::{Host, Stat};
use crate::out::Out;
use crate::redact::Content;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Scope, Source, SourceCtx};
use crate::take::{Need, Tally, copy_all};
use crate::{outcome::Outcome, take};

/// Each may hang on a sick GPU, so the first one that does is the last one that is tried.
const SMI: [&str; 5] = [
    "nvidia-smi",
    "nvidia-smi-q",
    "nvidia-smi-L",
    "nvidia-smi-topo",
    "nvidia-smi-nvlink",
];
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
const DEVICES: [&str; 3] = ["/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dri/*"];

/// The driver and its GPUs.
pub static SOURCE: Source = Source {
    id: "nvidia_smi",
    title: "NVIDIA driver and GPUs",
    scope: Scope::Node,
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
    ctx.commands(&SMI)
        .chain(ctx.commands(&OTHER))
        .chain(files)
        .collect()
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let mut driver = ctx.files(driver_files).await;
        let has_driver = driver.taken > 0;
        let mut smi = Tally::default();
        for id in SMI {
            ctx.command(id, Need::Wanted, &mut smi).await;
            if smi.broken.iter().any(|what| what.contains("no end after")) {
                smi.broken(&ctx.out, "nvidia-smi hung: its other queries were left out");
                break;
            }
            if !smi.absent.is_empty() || ctx.cancel.is_cancelled() {
                break;
            }
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
        driver.outcome("no NVIDIA driver here")
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
        let Some(stat) = host.metadata(&path).ok().as_ref().map(Stat::from) else {
            continue;
        };
        // Writing to a String cannot fail.
        let _ = writeln!(listing, "{path}");
        nodes.push(serde_json::json!({
            "path": path, "mode": format!("{:o}", stat.mode), "uid": stat.uid, "gid": stat.gid,
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
    let mut entry = out.entry(out.node_path([name]), Content::JsonLines, None);
    let written = entry.write(text.as_bytes()).map(|_| ());
    if let Err(error) = written.and_then(|()| entry.finish_blocking()) {
        tally.broken(out, format!("{name}: {error}"));
    }
}
