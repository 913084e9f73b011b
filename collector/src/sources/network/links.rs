//! `host/links.json`: the driver, speed, errors and offload settings of links that carry traffic between machines.
//! Broken checksum offload on a tunnel lets pings through and nothing else.

use std::collections::BTreeSet;

use casefile_bundle::Entry;
use serde_json::{Map, Value};

use crate::exec::{self, Call, ExecError};
use crate::files::json_lines;
use crate::host::Host;
use crate::redact::Content;
use crate::source::{PlanCtx, PlanItem, SourceCtx};
use crate::sysfs::{attributes, counters, link_name};
use crate::take::Tally;

const LINKS: &str = "/sys/class/net";
/// Links of pods, of which there are hundreds, alike.
const OF_PODS: [&str; 5] = ["lo", "veth", "lxc", "cali", "cni-podman"];
/// Links looked at.
const MAX: usize = 64;
/// Bytes of one answer; adapters with many queues have thousands of counters.
const MAX_ANSWER: usize = 1 << 20;
const ATTRIBUTES: [&str; 7] = [
    "operstate",
    "carrier",
    "mtu",
    "speed",
    "duplex",
    "carrier_changes",
    "tx_queue_len",
];
/// Asked of every link.
const FEATURES: (&str, &str) = ("ethtool-features", "features");
/// Asked of adapters that are devices of their own: the driver and its firmware, counters of the adapter, and what the
/// optical module says of itself.
const OF_ADAPTERS: [(&str, &str); 3] = [
    ("ethtool-driver", "driver_info"),
    ("ethtool-module", "module"),
    ("ethtool-statistics", "adapter_statistics"),
];

/// What is read and run.
pub(super) fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let mut items: Vec<_> = ATTRIBUTES
        .iter()
        .map(|name| format!("{LINKS}/*/{name}"))
        .chain([
            format!("{LINKS}/*/statistics/*"),
            format!("{LINKS}/*/device/driver"),
        ])
        .map(PlanItem::file)
        .collect();
    items.extend(ctx.commands(&[FEATURES.0]));
    items.extend(
        OF_ADAPTERS
            .iter()
            .flat_map(|(id, _)| ctx.commands(&[*id]).collect::<Vec<_>>()),
    );
    items
}

fn names(host: &Host) -> Vec<String> {
    let mut names = host.names(LINKS).unwrap_or_default();
    names.retain(|name| !OF_PODS.iter().any(|start| name.starts_with(start)));
    names.truncate(MAX);
    names
}

/// Writes the list.
pub(super) async fn write(ctx: &SourceCtx, tally: &mut Tally) {
    let read = |host: &Host| {
        let rows = names(host).into_iter().map(|name| {
            let row = link(host, &name);
            (name, row)
        });
        rows.collect::<Vec<_>>()
    };
    let mut rows = ctx.host.on_thread(read).await.unwrap_or_default();
    if rows.is_empty() {
        return;
    }
    let mut hung = BTreeSet::new();
    for (name, row) in &mut rows {
        let adapter = row.get("pci").is_some_and(Value::is_string);
        let of_adapter = OF_ADAPTERS.iter().filter(|_| adapter);
        for (id, member) in std::iter::once(&FEATURES).chain(of_adapter) {
            if hung.contains(id) {
                continue;
            }
            match ethtool(ctx, id, name).await {
                Answer::Says(found) => row.insert((*member).to_owned(), found),
                // Many adapters have no such thing, and say so.
                Answer::Nothing(why) if member == &FEATURES.1 => {
                    row.insert("features_unknown".to_owned(), why.into())
                }
                Answer::Nothing(_) => None,
                Answer::Hung(why) => {
                    hung.insert(id);
                    tally.broken(
                        &ctx.out,
                        format!("{why}; other links were not asked for this"),
                    );
                    None
                }
            };
        }
    }
    tally.taken += 1;
    let text = json_lines("links", rows.into_iter().map(|(_, row)| row));
    let path = ctx.out.path(Entry::Host, "links.json");
    if let Err(error) = ctx
        .out
        .put(path, Content::JsonLines, None, text.as_bytes())
        .await
    {
        tally.broken(&ctx.out, format!("host/links.json: {error}"));
    }
}

fn link(host: &Host, name: &str) -> Map<String, Value> {
    let dir = format!("{LINKS}/{name}");
    let mut row = Map::new();
    row.insert("name".to_owned(), name.into());
    row.extend(attributes(host, &dir, &ATTRIBUTES));
    row.insert(
        "driver".to_owned(),
        link_name(host, &format!("{dir}/device/driver")).into(),
    );
    row.insert(
        "pci".to_owned(),
        link_name(host, &format!("{dir}/device")).into(),
    );
    let mut statistics = counters(host, &format!("{dir}/statistics"));
    statistics.retain(|_, count| *count != 0);
    row.insert("statistics".to_owned(), statistics.into());
    row
}

/// What came of one question to a link.
enum Answer {
    Says(Value),
    Nothing(String),
    /// It did not come, or not to its end: a sick adapter or module can do that for every link in turn.
    Hung(String),
}

async fn ethtool(ctx: &SourceCtx, id: &str, name: &str) -> Answer {
    let Some(spec) = exec::find(id) else {
        return Answer::Nothing(format!("{id} is not in the table of commands (a bug)"));
    };
    let call = Call::new(spec).with("interface", name);
    match ctx.exec.output(&call, &ctx.cancel, MAX_ANSWER).await {
        Err(error @ (ExecError::TimedOut { .. } | ExecError::Cancelled { .. })) => {
            Answer::Hung(error.to_string())
        }
        Err(error) => Answer::Nothing(error.to_string()),
        Ok((ended, _)) if ended.cut => {
            Answer::Hung(format!("{}: its output was cut", ctx.exec.line(&call)))
        }
        Ok((ended, bytes)) if ended.code == Some(0) => {
            Answer::Says(parse(&String::from_utf8_lossy(&bytes)))
        }
        Ok((ended, _)) => Answer::Nothing(ended.complaint()),
    }
}

/// `tx-checksum-ip-generic: off [fixed]` lines of `ethtool`, without headings and counters that are zero.
fn parse(text: &str) -> Value {
    let pairs = text.lines().filter_map(|line| {
        let (name, state) = line.split_once(':')?;
        let (name, state) = (name.trim(), state.trim());
        (!state.is_empty() && state != "0").then(|| (name.to_owned(), state.into()))
    });
    Value::Object(pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ethtools_lines_become_pairs() {
        let text = "Features for vxlan.calico:\nrx-checksumming: on\ntx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\n";
        let read = parse(text);
        assert_eq!(read["tx-checksum-ipv4"], "off [fixed]");
        assert_eq!(read["rx-checksumming"], "on");
    }

    #[test]
    fn links_of_pods_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["eth0", "vxlan.calico", "lo", "veth1a2b", "lxc9"] {
            let at = dir
                .path()
                .join("sys/class/net")
                .join(name)
                .join("statistics");
            std::fs::create_dir_all(&at).unwrap();
            std::fs::write(at.join("rx_errors"), "5\n").unwrap();
            std::fs::write(at.join("tx_errors"), "0\n").unwrap();
        }
        let host = Host::new(dir.path());
        assert_eq!(names(&host), ["eth0", "vxlan.calico"]);
        assert_eq!(
            link(&host, "eth0")["statistics"],
            serde_json::json!({"rx_errors": 5})
        );
    }
}
