//! What joins NVIDIA GPUs with one another and watches them: Fabric Manager, NVLink subnet manager, IMEX, NVSwitches, DCGM;
//! and reports that NVIDIA's own collector left behind.

mod bug_reports;

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::inventory::Inventory;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};

static LIST: Inventory = Inventory {
    optional: &[
        "dcgmi-discovery",
        "dcgmi-health",
        "dcgmi-version",
        "fabricmanager-version",
        "imex-status",
        "imex-version",
        "nvlsm-version",
    ],
    files: &[
        "/etc/nvidia/gridd.conf",
        "/etc/nvidia-imex/*",
        "/etc/nvidia-mig-manager/*",
        "/proc/driver/nvidia-fs/stats",
        "/sys/class/mdev_bus/*/mdev_supported_types/*/name",
        "/sys/class/mdev_bus/*/mdev_supported_types/*/available_instances",
        "/proc/driver/nvidia-nvlink/permissions",
        "/proc/driver/nvidia-nvswitch/permissions",
        "/proc/driver/nvidia-nvswitch/devices/*/*",
        "/usr/share/nvidia/nvswitch/fabricmanager.cfg",
        "/usr/share/nvidia/nvlsm/nvlsm.cfg",
        "/usr/share/nvidia/nvlsm/nvlsm.conf",
    ],
    noted: &[
        bug_reports::PLACES[0],
        bug_reports::PLACES[1],
        bug_reports::PLACES[2],
        "/dev/nvidia-nvswitch*",
        "/dev/nvidia-caps-imex-channels/*",
        "/dev/gdrdrv",
        "/dev/nvidia-vgpu*",
        // That a virtual GPU has a token; what it is stays on the node.
        "/etc/nvidia/ClientConfigToken/*",
        "/run/nvidia/mps/*",
        "/run/nvidia/mps/*/*/pipe/*",
        "/tmp/nvidia-mps/*",
    ],
    logs: &[
        "/var/log/fabricmanager.log",
        "/var/log/nvidia-fabricmanager.log",
        "/var/log/nvidia-imex.log",
        "/var/log/nvlsm.log",
        "/var/log/nv-hostengine.log",
        "/var/log/nvidia-dcgm/nv-hostengine.log",
        "/var/log/nvidia-container-*.log",
        "/var/log/nvidia-mig-manager.log",
        "/var/log/nvidia-mps/*.log",
        "/var/log/nvidia-vgpu*.log",
        // Where the device plugin (a folder for `nvidia.com`, in it one a resource) and the DRA driver (one a claim) keep
        // those of the control daemons that they start.
        "/run/nvidia/mps/log/*.log",
        "/run/nvidia/mps/*/log/*.log",
        "/run/nvidia/mps/*/*/log/*.log",
        "/var/lib/kubelet/plugins/gpu.nvidia.com/mps/*/log/*.log",
    ],
    ..Inventory::EMPTY
};

/// What joins and watches GPUs.
pub static SOURCE: Source = Source {
    about: &about::NVIDIA_FABRIC,
    timeout: Duration::from_secs(60),
    max_bytes: 96 << 20,
    plan: |ctx: &PlanCtx<'_>| -> Vec<PlanItem> { LIST.plan(ctx) },
    collect,
};

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let none = "neither Fabric Manager nor DCGM nor a log of NVIDIA's tools is here";
        let mut tally = LIST.take(&ctx).await;
        if ctx.options.include_bug_reports {
            tally.add(ctx.files(bug_reports::take).await);
        }
        tally.outcome(none)
    })
}
