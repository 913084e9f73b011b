//! InfiniBand and RoCE adapters: state, speed and error counters of every port.

use std::time::Duration;

use serde_json::{Map, Value};

use casefile_bundle::sources as about;

use crate::files::json_lines;
use crate::host::Host;
use crate::out::Out;
use crate::outcome::Outcome;
use crate::source::{BoxFuture, PlanCtx, PlanItem, Source, SourceCtx};
use crate::sources::nvidia_smi::put;
use crate::sysfs::{attributes, counters, link_name};
use crate::take::{Tally, copy_all};

const ADAPTERS: &str = "/sys/class/infiniband";
const OF_ADAPTER: [&str; 6] = [
    "fw_ver",
    "hca_type",
    "board_id",
    "node_guid",
    "node_desc",
    "node_type",
];
const OF_PORT: [&str; 8] = [
    "state",
    "phys_state",
    "rate",
    "link_layer",
    "lid",
    "sm_lid",
    "cap_mask",
    "gids/0",
];
const COUNTERS: [&str; 2] = ["counters", "hw_counters"];
const MODULES: [&str; 3] = [
    "/sys/module/nvidia_peermem/initstate",
    "/sys/module/nv_peer_mem/version",
    "/sys/module/mlx5_core/version",
];

/// InfiniBand ports.
pub static SOURCE: Source = Source {
    about: &about::INFINIBAND,
    timeout: Duration::from_secs(20),
    max_bytes: 4 << 20,
    plan,
    collect,
};

fn plan(_: &PlanCtx<'_>) -> Vec<PlanItem> {
    let adapter = OF_ADAPTER.iter().map(|name| format!("{ADAPTERS}/*/{name}"));
    let port = OF_PORT
        .iter()
        .map(|name| format!("{ADAPTERS}/*/ports/*/{name}"));
    let counters = COUNTERS
        .iter()
        .map(|dir| format!("{ADAPTERS}/*/ports/*/{dir}/*"));
    let modules = MODULES.iter().map(|path| (*path).to_owned());
    adapter
        .chain(port)
        .chain(counters)
        .chain(modules)
        .map(PlanItem::file)
        .collect()
}

fn collect(ctx: SourceCtx) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let none = "there is no InfiniBand adapter (nothing in /sys/class/infiniband)";
        let tally = ctx.files(write).await;
        if tally.taken == 0 && tally.broken.is_empty() && ctx.host.is_live() {
            // Looked for, and not there: nothing is missing from the bundle.
            ctx.out.note(none);
            return Outcome::Collected;
        }
        tally.outcome(none)
    })
}

fn write(host: &Host, out: &Out, tally: &mut Tally) {
    let adapters = host.names(ADAPTERS).unwrap_or_default();
    let rows: Vec<Value> = adapters.iter().flat_map(|name| ports(host, name)).collect();
    if rows.is_empty() && !host.is_live() {
        return;
    }
    tally.taken += rows.len();
    if !rows.is_empty() {
        copy_all(host, out, &MODULES, tally);
    }
    put(
        out,
        "host/infiniband.json",
        &json_lines("ports", rows),
        tally,
    );
}

/// One line a port, each with what is known of its adapter.
fn ports(host: &Host, adapter: &str) -> Vec<Value> {
    let dir = format!("{ADAPTERS}/{adapter}");
    let names = host.names(&format!("{dir}/ports")).unwrap_or_default();
    let rows = names.iter().map(|port| {
        let at = format!("{dir}/ports/{port}");
        let mut row = Map::new();
        row.insert("adapter".to_owned(), adapter.into());
        row.insert("port".to_owned(), port.as_str().into());
        row.extend(attributes(host, &at, &OF_PORT));
        row.insert(
            "pci".to_owned(),
            link_name(host, &format!("{dir}/device")).into(),
        );
        row.extend(attributes(host, &dir, &OF_ADAPTER));
        for name in COUNTERS {
            row.insert(
                name.to_owned(),
                counters(host, &format!("{at}/{name}")).into(),
            );
        }
        Value::Object(row)
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_down_and_its_counters_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join("sys/class/infiniband/mlx5_0").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("fw_ver", "20.31.1014\n");
        write("ports/1/state", "1: DOWN\n");
        write("ports/1/counters/link_downed", "7\n");
        write("ports/1/counters/odd", "N/A (no PMA)\n");
        let rows = ports(&Host::new(dir.path()), "mlx5_0");
        assert_eq!(rows[0]["state"], "1: DOWN");
        assert_eq!(rows[0]["counters"], serde_json::json!({"link_downed": 7}));
        assert_eq!(rows[0]["fw_ver"], "20.31.1014");
    }
}
