//! Container runtimes beside containerd's own configuration: CRI-O, Docker, the NVIDIA container toolkit, device
//! specifications (CDI), and whether the programs that handlers name can be started at all.

mod binaries;
mod docker;

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::inventory::Inventory;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};

static LIST: Inventory = Inventory {
    optional: &["docker-info", "nvidia-container-cli", "nvidia-ctk"],
    files: &[
        "/etc/crio/crio.conf",
        "/etc/crio/crio.conf.d/*",
        "/usr/share/crio/crio.conf.d/*",
        "/etc/sysconfig/crio*",
        "/etc/systemd/system/crio.service",
        "/etc/systemd/system/crio.service.d/*",
        "/lib/systemd/system/crio.service",
        "/etc/containers/registries.conf",
        "/etc/containers/registries.conf.d/*",
        "/etc/containers/storage.conf",
        "/etc/containers/policy.json",
        "/etc/containers/oci/hooks.d/*",
        "/usr/share/containers/oci/hooks.d/*",
        "/etc/docker/daemon.json",
        "/var/snap/docker/current/config/daemon.json",
        "/etc/default/docker",
        "/etc/sysconfig/docker",
        "/etc/systemd/system/docker.service",
        "/etc/systemd/system/docker.service.d/*",
        "/lib/systemd/system/docker.service",
        "/lib/systemd/system/docker.service.d/*",
        "/etc/systemd/system/docker.socket.d/*",
        "/lib/systemd/system/docker.socket",
        "/etc/systemd/system/cri-docker.service",
        "/etc/systemd/system/cri-docker.service.d/*",
        "/lib/systemd/system/cri-docker.service",
        "/etc/cdi/*",
        "/run/cdi/*",
        "/var/run/cdi/*",
        "/etc/nvidia-container-runtime/*",
        "/etc/nvidia-container-runtime/host-files-for-container.d/*",
        "/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/*",
        "/run/nvidia/toolkit/.config/nvidia-container-runtime/*",
        "/run/nvidia/toolkit/*.toml",
        "/etc/systemd/system/nvidia-cdi-refresh.*",
        "/lib/systemd/system/nvidia-cdi-refresh.*",
        "/etc/nvidia-container-toolkit/*",
    ],
    noted: &[
        "/usr/local/nvidia/toolkit/*",
        "/run/nvidia/toolkit/*",
        "/run/nvidia/toolkit.pid",
        "/usr/bin/nvidia-container-*",
        "/usr/bin/nvidia-ctk",
        "/usr/bin/nvidia-cdi-hook",
        "/usr/lib/*/libnvidia-container*",
        "/usr/lib64/libnvidia-container*",
        "/run/docker.sock",
        "/run/crio/crio.sock",
        "/run/cri-dockerd.sock",
    ],
    ..Inventory::EMPTY
};

/// Asked of Docker's own containers.
const DOCKER: [&str; 3] = ["docker-ps", "docker-inspect", "docker-logs"];

/// CRI-O, Docker, the NVIDIA container toolkit and the programs of handlers.
pub static SOURCE: Source = Source {
    about: &about::CONTAINER_RUNTIMES,
    timeout: Duration::from_secs(60),
    max_bytes: 32 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let programs = binaries::find(ctx.host).into_keys().map(PlanItem::file);
    LIST.plan(ctx)
        .into_iter()
        .chain(ctx.commands(&DOCKER))
        .chain(programs)
        .collect()
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let mut tally = ctx.files(binaries::write).await;
        tally.add(LIST.take(&ctx).await);
        docker::take(&ctx, &mut tally).await;
        tally.outcome("there is neither CRI-O nor Docker nor an NVIDIA container toolkit here")
    })
}
