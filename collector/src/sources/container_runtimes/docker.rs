//! Containers of Docker itself: how each was started and how it ended, and the last lines of those that do not run. On
//! a node of Kubernetes their pods say the same, so containers that a kubelet made are passed over.

use casefile_bundle::{BundlePath, Entry};
use serde::Deserialize;

use crate::exec::{self, Call, Ended, ExecError};
use crate::redact::Content;
use crate::source::SourceCtx;
use crate::take::{Need, Tally};

const LIST: &str = "docker-ps";
/// Containers that are looked at, those that do not run first, and logs that are taken.
const MAX_CONTAINERS: usize = 60;
const MAX_LOGS: usize = 20;
/// Bytes of one container's description, and of each half of its log.
const MAX_BYTES: usize = 1 << 20;
/// How the kubelet names its containers.
const OF_KUBELET: &str = "k8s_";

#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "PascalCase")]
struct Row {
    #[serde(rename = "ID")]
    id: String,
    names: String,
    state: String,
    status: String,
}

impl Row {
    fn runs_well(&self) -> bool {
        self.state == "running" && !self.status.contains("unhealthy")
    }
}

/// Takes the list, and what it names.
pub(super) async fn take(ctx: &SourceCtx, tally: &mut Tally) {
    if !ctx.command(LIST, Need::Optional, tally).await {
        return;
    }
    let Some(spec) = exec::find(LIST) else { return };
    let listed = ctx
        .exec
        .output(&Call::new(spec), &ctx.cancel, MAX_BYTES)
        .await;
    let rows = listed.map_or_else(|_| Vec::new(), |(_, bytes)| rows(&bytes));
    inspect(ctx, &rows, tally).await;
    logs(ctx, &rows, tally).await;
}

/// The containers of the list that are Docker's own, those that do not run well first.
fn rows(list: &[u8]) -> Vec<Row> {
    let lines = list.split(|byte| *byte == b'\n');
    let mut rows: Vec<Row> = lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .filter(|row: &Row| !row.names.starts_with(OF_KUBELET) && is_id(&row.id))
        .collect();
    rows.sort_by_key(Row::runs_well);
    rows.truncate(MAX_CONTAINERS);
    rows
}

/// What becomes an argument is an id and nothing else.
fn is_id(text: &str) -> bool {
    (12..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

async fn inspect(ctx: &SourceCtx, rows: &[Row], tally: &mut Tally) {
    let mut text = Vec::new();
    for row in rows {
        match ask(ctx, "docker-inspect", row).await {
            Ok((ended, bytes)) if ended.code == Some(0) => text.extend(bytes),
            // It is gone since it was listed.
            Ok(_) => {}
            Err(why) => {
                tally.broken(&ctx.out, why);
                break;
            }
        }
    }
    if !text.is_empty() {
        let path = ctx.out.path(Entry::Printed, "docker-inspect");
        put(ctx, path, Content::JsonLines, &text, tally).await;
    }
}

async fn logs(ctx: &SourceCtx, rows: &[Row], tally: &mut Tally) {
    for row in rows.iter().filter(|row| !row.runs_well()).take(MAX_LOGS) {
        match ask(ctx, "docker-logs", row).await {
            // A container's two streams come as two; each line has its time.
            Ok((ended, mut bytes)) => {
                bytes.extend(&ended.stderr);
                // A linked container's names have a slash.
                let name = format!("docker/{}.log", row.names.replace('/', "_"));
                let path = ctx.out.path(Entry::Node, &name);
                put(ctx, path, Content::Text, &bytes, tally).await;
            }
            Err(why) => {
                tally.broken(&ctx.out, why);
                break;
            }
        }
    }
}

/// Asks about one container; a sentence where Docker hangs or floods, and the next would too.
async fn ask(ctx: &SourceCtx, id: &str, row: &Row) -> Result<(Ended, Vec<u8>), String> {
    let spec =
        exec::find(id).ok_or_else(|| format!("{id} is not in the table of commands (a bug)"))?;
    let call = Call::new(spec).with("container", &row.id);
    let asked = ctx.exec.output(&call, &ctx.cancel, MAX_BYTES).await;
    match asked.map_err(|error: ExecError| error.to_string())? {
        (ended, _) if ended.cut => Err(format!("{}: its output was cut", ctx.exec.line(&call))),
        answer => Ok(answer),
    }
}

async fn put(ctx: &SourceCtx, path: BundlePath, content: Content, text: &[u8], tally: &mut Tally) {
    let origin = Some("docker".to_owned());
    match ctx.out.put(path, content, origin, text).await {
        Ok(()) => tally.taken += 1,
        Err(error) => tally.broken(&ctx.out, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_that_do_not_run_come_first_and_those_of_a_kubelet_not_at_all() {
        let (one, two, three) = ("a".repeat(64), "b".repeat(64), "c".repeat(64));
        let list = format!(
            "{{\"ID\":\"{one}\",\"Names\":\"web\",\"State\":\"running\",\"Status\":\"Up 2 hours\"}}\n\
             {{\"ID\":\"{two}\",\"Names\":\"k8s_POD_x\",\"State\":\"exited\"}}\n\
             {{\"ID\":\"{three}\",\"Names\":\"train\",\"State\":\"exited\",\"Status\":\"Exited (137) 3 minutes ago\"}}\n\
             {{\"ID\":\"--help\",\"Names\":\"odd\",\"State\":\"exited\"}}\n"
        );
        let names: Vec<String> = rows(list.as_bytes())
            .into_iter()
            .map(|row| row.names)
            .collect();
        assert_eq!(names, ["train", "web"]);
    }
}
