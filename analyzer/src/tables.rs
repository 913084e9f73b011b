//! Tables that explain a cause; rules name them.

use crate::facts::Facts;
use crate::facts::firewall::{BlockedPacket, EgressCheck};
use crate::facts::network::PathMtu;
use crate::facts::runtime::{ContainerdInstance, HandlerCheck, ToolkitTarget};
use crate::model::{Cell, Place, Table};

/// Builds a table from facts; none if there is nothing to show.
type Build = fn(&Facts) -> Option<Table>;

/// Every table that a rule may name.
static TABLES: &[(&str, Build)] = &[
    ("containerd-instances", containerd_instances),
    ("handler-checks", handler_checks),
    ("toolkit-target", toolkit_target),
    ("blocked-packets", blocked_packets),
    ("egress-checks", egress_checks),
    ("path-mtus", path_mtus),
];

/// Tables about containerd, which the drawing of its layers belongs to.
pub(crate) const OF_CONTAINERD: [&str; 2] = ["containerd-instances", "handler-checks"];
/// Tables about the firewall, which the drawing of a packet's way belongs to.
pub(crate) const OF_FIREWALL: [&str; 2] = ["blocked-packets", "egress-checks"];

/// The table of sizes along ways, which the drawing of a packet that is too large belongs to.
pub(crate) const OF_SIZES: &str = "path-mtus";

/// The names of all tables.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(name, _)| *name)
}

/// Builds the named tables that have something to show.
pub(crate) fn build(names: &[String], facts: &Facts) -> Vec<Table> {
    let builders = names
        .iter()
        .filter_map(|name| TABLES.iter().find(|(known, _)| known == name));
    builders.filter_map(|(_, build)| build(facts)).collect()
}

fn cell(text: impl Into<String>, place: Option<&Place>) -> Cell {
    Cell {
        text: text.into(),
        place: place.cloned(),
    }
}

fn table(title: &str, columns: Vec<String>, rows: Vec<Vec<Cell>>) -> Option<Table> {
    (!rows.is_empty()).then(|| Table {
        title: title.to_owned(),
        columns,
        rows,
    })
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The instances side by side, the kubelet's first.
fn containerd_instances(facts: &Facts) -> Option<Table> {
    let mut instances: Vec<_> = facts.table::<ContainerdInstance>().iter().collect();
    instances.sort_by_key(|one| one.data.used_by_kubelet != "yes");
    let role = |used: &str| match used {
        "yes" => "used by the kubelet",
        "no" => "not used by the kubelet",
        _ => "use by the kubelet unknown",
    };
    let mut heads = vec![String::new()];
    heads.extend(
        instances
            .iter()
            .map(|one| role(&one.data.used_by_kubelet).to_owned()),
    );
    type Pick = fn(&ContainerdInstance) -> String;
    let lines: [(&str, Pick); 6] = [
        ("instance", |one| one.id.clone()),
        ("process", |one| {
            one.pid
                .map_or("not running".into(), |pid| format!("pid {pid}"))
        }),
        ("config", |one| one.config.clone()),
        ("socket", |one| one.socket.clone()),
        ("runtime handlers", |one| one.handlers.join(", ")),
        ("default runtime", |one| one.default_runtime.clone()),
    ];
    let rows = lines.iter().map(|(name, pick)| {
        let mut row = vec![cell(*name, None)];
        row.extend(instances.iter().map(|one| {
            let text = pick(&one.data);
            let text = if text.is_empty() {
                "unknown".to_owned()
            } else {
                text
            };
            cell(text, Some(&one.place))
        }));
        row
    });
    let rows = if instances.is_empty() {
        Vec::new()
    } else {
        rows.collect()
    };
    table("containerd instances on this node", heads, rows)
}

fn handler_checks(facts: &Facts) -> Option<Table> {
    let rows = facts.table::<HandlerCheck>().iter().map(|check| {
        let data = &check.data;
        vec![
            cell(&data.handler, None),
            cell(&data.instance, None),
            cell(&data.resolves, None),
            cell(&data.because, Some(&check.place)),
        ]
    });
    let heads = columns(&["handler", "instance", "resolves", "because"]);
    table(
        "Would a sandbox with this handler start?",
        heads,
        rows.collect(),
    )
}

fn toolkit_target(facts: &Facts) -> Option<Table> {
    let rows = facts.table::<ToolkitTarget>().iter().flat_map(|target| {
        let data = &target.data;
        let place = Some(&target.place);
        let line = |name: &str, toolkit: &str, kubelet: &str| {
            vec![cell(name, None), cell(toolkit, place), cell(kubelet, None)]
        };
        vec![
            line("config file", &data.config, &data.kubelet_config),
            line("socket", &data.socket, &data.kubelet_socket),
            line("where that comes from", &data.origin, ""),
        ]
    });
    let heads = columns(&[
        "",
        "what the toolkit writes and signals",
        "what the kubelet's containerd reads and serves",
    ]);
    table("Toolkit against kubelet", heads, rows.collect())
}

fn blocked_packets(facts: &Facts) -> Option<Table> {
    let packets: Vec<_> = facts.table::<BlockedPacket>().iter().collect();
    let rows = packets.iter().take(12).map(|packet| {
        let data = &packet.data;
        let port = data
            .dport
            .map_or(String::new(), |port| format!(" port {port}"));
        vec![
            cell(format!("{} -> {}", data.in_iface, data.out_iface), None),
            cell(
                format!("{} -> {}, {}{port}", data.src, data.dst, data.proto),
                Some(&packet.place),
            ),
            cell(data.count.to_string(), None),
            cell(format!("{}: {}", data.verdict, data.decided_by), None),
        ]
    });
    let heads = columns(&["interfaces", "packet", "lines", "captured rules say"]);
    table("Packets that the firewall dropped", heads, rows.collect())
}

fn egress_checks(facts: &Facts) -> Option<Table> {
    let rows = facts.table::<EgressCheck>().iter().map(|check| {
        let data = &check.data;
        vec![
            cell(&data.question, None),
            cell(&data.packet, None),
            cell(&data.verdict, None),
            cell(&data.decided_by, Some(&check.place)),
        ]
    });
    let heads = columns(&["question", "packet", "verdict", "decided by"]);
    table(
        "What the captured rules do with traffic that pods need",
        heads,
        rows.collect(),
    )
}

/// Sizes along pods' ways that do not fit; those that do are not worth a row.
fn path_mtus(facts: &Facts) -> Option<Table> {
    let rows = facts.table::<PathMtu>().iter();
    let rows = rows.filter(|row| !row.data.verdict.starts_with("fits"));
    let rows = rows.map(|row| {
        let data = &row.data;
        let largest = data
            .largest
            .map_or("not known".to_owned(), |size| size.to_string());
        vec![
            cell(format!("{} on {}", data.question, data.node), None),
            cell(data.offered.to_string(), None),
            cell(largest, None),
            cell(&data.verdict, None),
            cell(&data.because, Some(&row.place)),
        ]
    });
    let heads = columns(&[
        "question",
        "the pod sends up to",
        "passes whole",
        "verdict",
        "decided by",
    ]);
    table(
        "The largest packets of pods, by the sizes along their way",
        heads,
        rows.collect(),
    )
}
