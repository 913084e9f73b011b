//! etcd's health as etcd says it, on machines that hold the certificate for asking. What the API server thinks of its etcd
//! is among that server's own checks.

use std::time::Duration;

use casefile_bundle::sources as about;

use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::take::{Need, Tally};

const COMMANDS: [&str; 2] = ["etcd-health", "etcd-status"];
const CERTIFICATE: &str = "/etc/kubernetes/pki/etcd/healthcheck-client.crt";

/// etcd.
pub static SOURCE: Source = Source {
    about: &about::ETCD,
    timeout: Duration::from_secs(50),
    max_bytes: 4 << 20,
    plan: |ctx: &PlanCtx<'_>| -> Vec<PlanItem> { ctx.commands(&COMMANDS).collect() },
    collect,
};

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let held = ctx.host.on_thread(|host| host.exists(CERTIFICATE)).await;
        if held != Some(true) || !ctx.host.is_live() {
            return Outcome::skipped(format!(
                "etcdctl: not run, {CERTIFICATE} is not on this machine"
            ));
        }
        let mut tally = Tally::default();
        for id in COMMANDS {
            let call_again = ctx.command(id, Need::Optional, &mut tally).await;
            if !call_again && tally.broken.is_empty() {
                break;
            }
        }
        tally.outcome("etcdctl is not installed")
    })
}
