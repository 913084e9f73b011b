//! `host/disks.json`: what each disk says of its own health.

use casefile_bundle::Entry;
use serde_json::{Value, json};

use crate::exec::{self, Call};
use crate::files::json_lines;
use crate::host::Host;
use crate::redact::Content;
use crate::source::{PlanCtx, PlanItem, SourceCtx};
use crate::take::{Need, Tally};

const BLOCK: &str = "/sys/block";
const SMARTCTL: &str = "smartctl";
/// Disks that are asked.
const MAX: usize = 32;
/// Bytes of one answer.
const MAX_ANSWER: usize = 1 << 20;
/// What the kernel calls disks that have something to say: not loops, maps, memory or a hypervisor's.
const DISKS: [&str; 3] = ["sd", "nvme", "hd"];

pub(super) fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let live = ctx.options.live();
    let names = live.then(|| PlanItem::file(format!("{BLOCK}/*")));
    ctx.commands(&[SMARTCTL]).chain(names).collect()
}

fn disks(host: &Host) -> Vec<String> {
    let mut names = host.names(BLOCK).unwrap_or_default();
    names.retain(|name| DISKS.iter().any(|start| name.starts_with(start)));
    names.truncate(MAX);
    names
}

pub(super) async fn take(ctx: &SourceCtx, tally: &mut Tally) {
    let Some(spec) = exec::find(SMARTCTL) else {
        return;
    };
    if ctx.exec.program(&Call::new(spec)).is_none() {
        // Said once, in the words of every command that is missing.
        ctx.command(SMARTCTL, Need::Optional, tally).await;
        return;
    }
    if !ctx.host.is_live() {
        return;
    }
    let mut rows = Vec::new();
    for name in ctx.host.on_thread(disks).await.unwrap_or_default() {
        let call = Call::new(spec).with("device", &format!("/dev/{name}"));
        let line = ctx.exec.line(&call);
        match ctx.exec.output(&call, &ctx.cancel, MAX_ANSWER).await {
            Ok((ended, _)) if ended.cut => {
                tally.broken(&ctx.out, format!("{line}: its output was cut"))
            }
            // Its exit code is a set of flags, of which some say that the disk fails: the answer counts.
            Ok((ended, bytes)) => match serde_json::from_slice::<Value>(&bytes) {
                Ok(answer) => rows.push(json!({"disk": name, "smart": answer})),
                Err(_) => ctx.out.note(format!("{line}: {}", ended.complaint())),
            },
            // A disk that does not answer is a finding; the next one may.
            Err(error) => tally.broken(&ctx.out, error.to_string()),
        }
        if ctx.cancel.is_cancelled() {
            break;
        }
    }
    if rows.is_empty() {
        return;
    }
    let text = json_lines("disks", rows);
    let path = ctx.out.path(Entry::Host, "disks.json");
    match ctx
        .out
        .put(path, Content::JsonLines, None, text.as_bytes())
        .await
    {
        Ok(()) => tally.taken += 1,
        Err(error) => tally.broken(&ctx.out, format!("disks.json: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_asked_and_what_only_looks_like_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["sda", "nvme0n1", "loop0", "dm-0", "zram0"] {
            std::fs::create_dir_all(dir.path().join("sys/block").join(name)).unwrap();
        }
        assert_eq!(disks(&Host::new(dir.path())), ["nvme0n1", "sda"]);
    }
}
