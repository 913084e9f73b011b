//! GPUs of AMD and Intel, as far as their makers' tools and the kernel print them.

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::inventory::Inventory;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};

static LIST: Inventory = Inventory {
    optional: &[
        "amd-smi-list",
        "amd-smi-metric",
        "amd-smi-static",
        "rocm-smi",
        "xpu-smi-discovery",
        "xpu-smi-health",
    ],
    files: &[
        "/sys/module/amdgpu/version",
        "/sys/module/amdgpu/initstate",
        "/sys/module/i915/initstate",
        "/sys/module/xe/initstate",
        "/sys/class/kfd/kfd/topology/nodes/*/name",
        "/sys/class/kfd/kfd/topology/nodes/*/gpu_id",
        "/sys/class/drm/card*/device/gpu_busy_percent",
        "/sys/class/drm/card*/device/mem_info_vram_total",
        "/sys/class/drm/card*/device/mem_info_vram_used",
        "/sys/class/drm/card*/device/ras/*",
        "/sys/class/drm/card*/device/current_link_speed",
        "/sys/class/drm/card*/device/current_link_width",
        "/opt/rocm/.info/version",
    ],
    noted: &["/dev/kfd", "/dev/dri/renderD*"],
    ..Inventory::EMPTY
};

/// GPUs that are not NVIDIA's.
pub static SOURCE: Source = Source {
    about: &about::OTHER_GPUS,
    timeout: Duration::from_secs(60),
    max_bytes: 16 << 20,
    plan: |ctx: &PlanCtx<'_>| -> Vec<PlanItem> { LIST.plan(ctx) },
    collect,
};

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        LIST.take(&ctx)
            .await
            .outcome("there is no AMD or Intel GPU here")
    })
}
