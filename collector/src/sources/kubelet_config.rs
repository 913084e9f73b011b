//! The kubelet: how it was started, the configuration it was given, and the files that gave it.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::host::Host;
use crate::out::Out;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Scope, Source, SourceCtx};
use crate::sources::processes::{self, Process};
use crate::take::{Need, Tally, copy, copy_all};

/// Where distributions put it.
const FILES: [&str; 30] = [
    "/var/lib/kubelet/config.yaml",
    "/var/lib/kubelet/kubeadm-flags.env",
    "/var/lib/kubelet/instance-config.yaml",
    "/etc/default/kubelet",
    "/etc/sysconfig/kubelet",
    "/etc/kubernetes/kubelet.conf.d/*",
    "/etc/kubernetes/kubelet/*.json",
    "/etc/kubernetes/kubelet/*.yaml",
    "/etc/kubernetes/kubelet/config.json.d/*",
    "/etc/systemd/system/kubelet.service",
    "/etc/systemd/system/kubelet.service.d/*",
    "/lib/systemd/system/kubelet.service",
    "/lib/systemd/system/kubelet.service.d/*",
    "/etc/systemd/system/snap.k8s.*.service",
    "/etc/systemd/system/snap.microk8s.*.service",
    "/etc/systemd/system/k3s*.service",
    "/etc/systemd/system/k3s*.service.env",
    "/etc/systemd/system/rke2*.service",
    "/lib/systemd/system/rke2*.service",
    "/usr/local/lib/systemd/system/rke2*.service",
    "/etc/systemd/system/k0s*.service",
    "/var/snap/k8s/common/args/kubelet",
    "/var/snap/k8s/common/args/conf.d/*",
    "/var/snap/microk8s/current/args/kubelet",
    "/var/snap/microk8s/current/args/kubelite",
    "/etc/rancher/k3s/config.yaml",
    "/etc/rancher/k3s/config.yaml.d/*",
    "/etc/rancher/rke2/config.yaml",
    "/etc/rancher/rke2/config.yaml.d/*",
    "/var/lib/rancher/*/agent/etc/kubelet.conf.d/*",
];

/// The kubelet.
pub static SOURCE: Source = Source {
    id: "kubelet_config",
    title: "Kubelet command line and configuration",
    scope: Scope::Node,
    timeout: Duration::from_secs(30),
    max_bytes: 16 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let named = named_files(&processes::find(ctx.host))
        .into_iter()
        .map(PlanItem::file);
    let fixed = FILES.iter().map(|path| PlanItem::file(*path));
    fixed
        .chain(named)
        .chain([PlanItem::file("/proc/*/cmdline")])
        .collect()
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let live = ctx.host.is_live();
        let mut tally = ctx.files(gather).await;
        if !live {
            tally.absent(
                &ctx.out,
                Need::Optional,
                "the kubelet's command line: --root names a machine that is not running",
            );
        }
        tally.outcome(
            "no kubelet was found: neither its process nor a file where distributions put it",
        )
    })
}

fn gather(host: &Host, out: &Out, tally: &mut Tally) {
    let found = processes::find(host);
    let kubelets = found
        .iter()
        .filter(|process| process.runs_kubelet())
        .count();
    tally.taken += kubelets;
    if kubelets == 0 && host.is_live() {
        tally.absent(out, Need::Wanted, "no kubelet process runs");
    }
    for kubelet in found.iter().filter(|process| process.runs_kubelet()) {
        let files = host.seen_by(kubelet.pid);
        for path in named_files(std::slice::from_ref(kubelet)) {
            if files.metadata(&path).is_ok_and(|meta| meta.is_dir()) {
                copy_all(&files, out, &[&format!("{path}/*")], tally);
            } else {
                copy(&files, out, &path, Need::Wanted, tally);
            }
        }
    }
    copy_all(host, out, &FILES, tally);
}

/// Files and folders that kubelet command lines name.
fn named_files(processes: &[Process]) -> BTreeSet<String> {
    let kubelets = processes.iter().filter(|process| process.runs_kubelet());
    let flags = ["--config", "--config-dir", "--resolv-conf"];
    kubelets
        .flat_map(|process| flags.iter().filter_map(|flag| process.flag(&[flag])))
        .filter(|path| path.starts_with('/'))
        .collect()
}
