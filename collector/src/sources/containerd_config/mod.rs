//! containerd's configuration: every instance on the node, with everything its configuration draws in, and what
//! stands beside it (registries, units, distributions' argument files).

pub(crate) mod imports;
pub(crate) mod instances;

use std::collections::BTreeSet;
use std::time::Duration;

use casefile_bundle::sources as about;

use crate::exec::{self, Call};
use crate::files::json_lines;
use crate::host::{Host, Stat};
use crate::out::Out;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::sources::nvidia_smi::put;
use crate::sources::processes;
use crate::take::{Need, Tally, copy, copy_all};

use instances::Instance;

/// Configuration files and folders where distributions put them, whoever uses them. Those that are absent are recorded
/// as absent.
pub const CONFIGS: [&str; 12] = [
    "/etc/containerd/config.toml",
    "/var/snap/k8s/common/etc/containerd/config.toml",
    "/var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml",
    "/var/snap/microk8s/current/args/containerd.toml",
    "/var/snap/microk8s/current/args/containerd-template.toml",
    "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
    "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
    "/etc/k0s/containerd.toml",
    "/run/k0s/containerd-cri.toml",
    "/var/run/docker/containerd/containerd.toml",
    "/run/docker/containerd/containerd.toml",
    "/home/kubernetes/containerd/config.toml",
];
/// Taken beside them.
const BESIDE: [&str; 28] = [
    "/etc/containerd/conf.d/*",
    "/etc/containerd/config.d/*",
    "/etc/containerd/*.toml",
    "/etc/containerd/runtimes/*",
    "/var/snap/k8s/common/etc/containerd/conf.d/*",
    "/var/lib/k8s-containerd/k8s-containerd/etc/containerd/conf.d/*",
    "/var/lib/rancher/*/agent/etc/containerd/*.toml*",
    "/var/lib/rancher/*/agent/etc/containerd/config*.d/*",
    "/etc/k0s/containerd.d/*",
    "/etc/k0s/k0s.yaml",
    "/run/k0s/containerd-cri.toml",
    "/var/snap/k8s/common/args/*",
    "/var/snap/k8s/common/lock/*",
    "/var/snap/microk8s/current/args/containerd*",
    "/etc/crictl.yaml",
    "/etc/rancher/*/registries.yaml",
    "/etc/systemd/system/*containerd*.service",
    "/etc/systemd/system/*containerd*.service.d/*",
    "/lib/systemd/system/containerd.service",
    "/lib/systemd/system/containerd.service.d/*",
    "/usr/local/lib/systemd/system/containerd.service",
    "/etc/eks/containerd/*",
    "/etc/eks/nodeadm.d/*",
    "/etc/containerd/certs.d/*/*",
    "/var/snap/k8s/common/etc/containerd/hosts.d/*/*",
    "/var/lib/k8s-containerd/k8s-containerd/etc/containerd/hosts.d/*/*",
    "/var/snap/microk8s/current/args/certs.d/*/*",
    "/var/lib/rancher/*/agent/etc/containerd/certs.d/*/*",
];
/// Listed with size, mode and time, never read.
const NOTED: [&str; 4] = [
    "/run/containerd/containerd.sock",
    "/run/k3s/containerd/containerd.sock",
    "/run/k0s/containerd.sock",
    "/var/snap/*/common/run/containerd.sock",
];

/// The container runtimes.
pub static SOURCE: Source = Source {
    about: &about::CONTAINERD_CONFIG,
    timeout: Duration::from_secs(30),
    max_bytes: 32 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let found = instances::find(ctx.host, &processes::find(ctx.host));
    let drawn: BTreeSet<String> = found
        .iter()
        .flat_map(|instance| {
            imports::follow(&instance.files(ctx.host), &instance.config_path).files
        })
        .collect();
    let fixed = CONFIGS
        .iter()
        .chain(&BESIDE)
        .chain(&NOTED)
        .map(|path| PlanItem::file(*path));
    let mut items: Vec<_> = fixed.chain(drawn.into_iter().map(PlanItem::file)).collect();
    items.extend([
        PlanItem::file("/proc/*/cmdline"),
        PlanItem::file("/proc/*/cgroup"),
    ]);
    items.extend(
        found
            .iter()
            .filter_map(version_call)
            .map(|call| ctx.call(&call)),
    );
    items
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let live = ctx.host.is_live();
        let found = ctx
            .host
            .on_thread(|host| instances::find(host, &processes::find(host)))
            .await;
        let mut found = found.unwrap_or_default();
        for instance in &mut found {
            instance.version = version(&ctx, instance).await;
        }
        let none = found.is_empty();
        let mut tally = ctx
            .files(move |host, out, tally| gather(host, out, &found, tally))
            .await;
        if none {
            tally.absent(
                &ctx.out,
                Need::Wanted,
                "no containerd was found: no process, no unit, no configuration",
            );
        } else if !live {
            ctx.out.note(
                "which instances run cannot be said: --root names a machine that is not running",
            );
        }
        tally.outcome("no container runtime is configured here")
    })
}

/// Asked only of an instance that runs: its binary is one that this host trusts already.
fn version_call(instance: &Instance) -> Option<Call> {
    let runs = |path: &&str| instance.pid.is_some() && path.starts_with('/');
    let binary = instance.binary.as_deref().filter(runs)?;
    Some(Call::new(exec::find("containerd-version")?).with("program", binary))
}

/// What a running instance's own binary says its version is.
async fn version(ctx: &SourceCtx, instance: &Instance) -> Option<String> {
    let call = version_call(instance)?;
    let binary = instance.binary.as_deref()?;
    match ctx.exec.output(&call, &ctx.cancel, 4096).await {
        // `containerd github.com/containerd/containerd 1.7.24 <commit>`
        Ok((ended, bytes)) if ended.code == Some(0) => String::from_utf8_lossy(&bytes)
            .split_whitespace()
            .nth(2)
            .map(str::to_owned),
        Ok((ended, _)) => {
            ctx.out
                .note(format!("{binary} --version: {}", ended.complaint()));
            None
        }
        Err(error) => {
            ctx.out.note(error.to_string());
            None
        }
    }
}

/// Records that all files of a folder were taken, or that nothing is there.
fn note_looked_at(host: &Host, out: &Out, path: &str) {
    match host.metadata(path) {
        Ok(meta) if !meta.is_dir() => {}
        Ok(_) => match host.names(path) {
            Ok(_) => out.files().record(path, "listed", None, None),
            Err(error) => out.files().record(path, error.word(), None, None),
        },
        Err(error) => out.files().record(path, error.word(), None, None),
    }
}

fn gather(host: &Host, out: &Out, found: &[Instance], tally: &mut Tally) {
    put(
        out,
        "containerd.json",
        &json_lines("instances", found),
        tally,
    );
    put(
        out,
        "processes.json",
        &json_lines("processes", processes::find(host)),
        tally,
    );
    for instance in found {
        let path = instance.config_path.as_str();
        let files = &instance.files(host);
        if !files.is_same(host) {
            out.note(format!(
                "{}: its files were read as its process sees them, in a mount namespace of its own",
                instance.id
            ));
        }
        let need = if instance.pid.is_some() {
            Need::Wanted
        } else {
            Need::Optional
        };
        if !copy(files, out, path, need, tally) {
            continue;
        }
        let drawn = imports::follow(files, path);
        for file in &drawn.files {
            copy(files, out, file, Need::Wanted, tally);
        }
        for path in &drawn.looked_at {
            note_looked_at(files, out, path);
        }
        for note in drawn.notes {
            tally.broken(out, note);
        }
        for dir in &drawn.registries {
            copy_all(
                files,
                out,
                &[&format!("{dir}/*/hosts.toml"), &format!("{dir}/hosts.toml")],
                tally,
            );
        }
        let Some((dir, _)) = path.rsplit_once('/') else {
            continue;
        };
        copy_all(
            files,
            out,
            &[
                &format!("{dir}/conf.d/*"),
                &format!("{dir}/certs.d/*/hosts.toml"),
            ],
            tally,
        );
    }
    copy_all(host, out, &CONFIGS, tally);
    copy_all(host, out, &BESIDE, tally);
    for path in NOTED.iter().flat_map(|pattern| host.glob(pattern)) {
        let stat = host.metadata(&path).ok().as_ref().map(Stat::from);
        out.files()
            .record(&path, "noted", stat, host.read_link(&path));
    }
}

#[cfg(test)]
mod tests;
