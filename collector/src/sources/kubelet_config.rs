//! The kubelet: how it was started, the configuration it was given, and the files that gave it.

use std::collections::BTreeSet;
use std::time::Duration;

use casefile_bundle::sources as about;

use crate::host::Host;
use crate::inventory::note_all;
use crate::out::Out;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
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
/// Below each folder in which a kubelet keeps its state: which devices were given to which container, and how
/// processors and memory were dealt out.
const STATE: [&str; 5] = [
    "device-plugins/kubelet_internal_checkpoint",
    "cpu_manager_state",
    "memory_manager_state",
    "dra_manager_state",
    "actuated_pods_state",
];
/// Where kubelets keep their state, when no process says so.
const STATE_DIRS: [&str; 3] = [
    "/var/lib/kubelet",
    "/var/lib/k0s/kubelet",
    "/var/snap/microk8s/common/var/lib/kubelet",
];
/// Below the same folders, listed and not read: sockets of device and other plugins. A resource without its socket
/// cannot be given out.
const PLUGINS: [&str; 3] = ["device-plugins/*", "plugins_registry/*", "plugins/*/*"];
/// Pods that the kubelet starts by itself: names only.
const MANIFESTS: [&str; 3] = [
    "/etc/kubernetes/manifests/*",
    "/var/lib/rancher/*/agent/pod-manifests/*",
    "/var/lib/k0s/manifests/*/*",
];

/// The kubelet.
pub static SOURCE: Source = Source {
    about: &about::KUBELET_CONFIG,
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
    let state = state_dirs(ctx.host).into_iter().flat_map(|dir| {
        STATE
            .iter()
            .chain(&PLUGINS)
            .map(move |name| PlanItem::file(format!("{dir}/{name}")))
    });
    fixed
        .chain(named)
        .chain(state)
        .chain(MANIFESTS.iter().map(|path| PlanItem::file(*path)))
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
        tally.outcome("no file of a kubelet is where distributions put them")
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
    for dir in state_dirs(host) {
        for name in STATE {
            copy(host, out, &format!("{dir}/{name}"), Need::Optional, tally);
        }
        for name in PLUGINS {
            note_all(host, out, &[&format!("{dir}/{name}")]);
        }
        if host.exists(&dir) {
            note_folder(host, out, &format!("{dir}/device-plugins"));
        }
    }
    note_all(host, out, &MANIFESTS);
}

/// The usual folders that are there, and those that running kubelets name.
fn state_dirs(host: &Host) -> BTreeSet<String> {
    let usual = STATE_DIRS.iter().map(|dir| (*dir).to_owned());
    let mut dirs: BTreeSet<String> = usual.filter(|dir| host.exists(dir)).collect();
    let found = processes::find(host);
    let kubelets = found.iter().filter(|process| process.runs_kubelet());
    dirs.extend(kubelets.filter_map(|process| process.flag(&["--root-dir"])));
    dirs.retain(|dir| dir.starts_with('/'));
    dirs
}

/// That a folder is empty or absent is worth as much as what is in it.
fn note_folder(host: &Host, out: &Out, path: &str) {
    match host.names(path) {
        Ok(_) => out.files().record(path, "listed", None, None),
        Err(error) => out.files().record(path, error.word(), None, None),
    }
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
