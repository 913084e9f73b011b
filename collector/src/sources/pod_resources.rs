//! Which container the kubelet gave which device, and which devices it has to give, as its own socket says.

use std::time::Duration;

use casefile_bundle::Entry;
use casefile_bundle::sources as about;
use serde::Serialize;

use crate::cri::messages::Everything;
use crate::cri::pod_resources::{Allocatable, Pods};
use crate::cri::{Call, Client, CriError};
use crate::files::json_lines;
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::take::Tally;

/// Below the folder of each distribution's kubelet.
const SOCKETS: [&str; 3] = [
    "/var/lib/kubelet/pod-resources/kubelet.sock",
    "/var/lib/k0s/kubelet/pod-resources/kubelet.sock",
    "/var/snap/microk8s/common/var/lib/kubelet/pod-resources/kubelet.sock",
];
const CALLS: [Call; 2] = [Call::PodResources, Call::Allocatable];

/// Devices that the kubelet dealt out.
pub static SOURCE: Source = Source {
    about: &about::POD_RESOURCES,
    timeout: Duration::from_secs(30),
    max_bytes: 8 << 20,
    plan,
    collect,
};

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    if !ctx.options.live() {
        return Vec::new();
    }
    let calls = |socket: &'static str| {
        CALLS.map(|call| PlanItem::Cri {
            socket: socket.to_owned(),
            call: call.path(),
        })
    };
    SOCKETS.into_iter().flat_map(calls).collect()
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        if !ctx.host.is_live() {
            return Outcome::skipped(
                "no kubelet answers: --root names a machine that is not running",
            );
        }
        let mut tally = Tally::default();
        for socket in SOCKETS {
            let there = ctx.host.on_thread(move |host| host.exists(socket)).await;
            if there != Some(true) {
                continue;
            }
            tokio::select! {
                () = ask(&ctx, socket, &mut tally) => {}
                () = ctx.cancel.cancelled() => {
                    tally.broken(&ctx.out, format!("{socket}: no answer before the time was up"));
                    break;
                }
            }
        }
        tally.outcome("no kubelet's socket of pod resources is here")
    })
}

async fn ask(ctx: &SourceCtx, socket: &str, tally: &mut Tally) {
    let mut client = match Client::connect(socket.as_ref()).await {
        Ok(client) => client,
        Err(error) => return tally.broken(&ctx.out, format!("{socket}: {error}")),
    };
    let pods: Result<Pods, CriError> = client.ask(Call::PodResources, Everything {}).await;
    match pods {
        Ok(pods) => {
            put(
                ctx,
                "pod-resources.json",
                "pods",
                &pods.pod_resources,
                tally,
            )
            .await
        }
        // The second question would wait as long for nothing.
        Err(error) => return tally.broken(&ctx.out, format!("{socket}: {error}")),
    }
    let has: Result<Allocatable, CriError> = client.ask(Call::Allocatable, Everything {}).await;
    match has {
        Ok(has) => put(ctx, "allocatable.json", "devices", &has.devices, tally).await,
        // Kubelets before 1.23 do not know it.
        Err(error) if error.is_unknown_call() => ctx.out.note(format!("{socket}: {error}")),
        Err(error) => tally.broken(&ctx.out, format!("{socket}: {error}")),
    }
}

async fn put<T: Serialize>(ctx: &SourceCtx, file: &str, name: &str, rows: &[T], tally: &mut Tally) {
    let text = json_lines(name, rows);
    let path = ctx.out.path(Entry::Host, file);
    match ctx
        .out
        .put(path, Content::JsonLines, None, text.as_bytes())
        .await
    {
        Ok(()) => tally.taken += 1,
        Err(error) => tally.broken(&ctx.out, format!("{file}: {error}")),
    }
}
