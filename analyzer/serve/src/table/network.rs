//! Rows of services, what is behind them, and what comes in from outside.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cell::{AGE, Cell, Column, NAME, Row, col, txt, wide};
use super::selector::{first, labels, shown};
use crate::value::{annotation, at, int, list, text};

/// Most elements of a list in a cell.
const MOST: usize = 3;

pub(super) const SERVICE: &[Column] = &[
    NAME,
    col("Type"),
    col("Cluster-IP"),
    col("External-IP"),
    col("Port(s)"),
    AGE,
    wide("Selector"),
];

pub(super) fn service(row: &Row<'_>) -> Vec<Cell> {
    let ports: Vec<String> = row.list("spec.ports").iter().map(port).collect();
    let ips = row.list("spec.clusterIPs");
    let ip = ips.first().and_then(Value::as_str).unwrap_or("<none>");
    vec![
        row.name(),
        row.copy("spec.type"),
        txt(ip),
        txt(external(row)),
        txt(if ports.is_empty() {
            "<none>".to_owned()
        } else {
            ports.join(",")
        }),
        row.age(),
        txt(labels(row.object, "spec.selector")),
    ]
}

fn port(port: &Value) -> String {
    let (number, protocol) = (int(port, "port"), text(port, "protocol"));
    match int(port, "nodePort") {
        1.. => format!("{number}:{}/{protocol}", int(port, "nodePort")),
        _ => format!("{number}/{protocol}"),
    }
}

fn external(row: &Row<'_>) -> String {
    let own: Vec<&str> = row
        .list("spec.externalIPs")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let or = |texts: Vec<&str>, none: &str| {
        if texts.is_empty() {
            none.to_owned()
        } else {
            texts.join(",")
        }
    };
    match row.text("spec.type") {
        "ClusterIP" | "NodePort" => or(own, "<none>"),
        "LoadBalancer" => {
            let mut all = balancers(row.object);
            all.extend(own);
            or(all, "<pending>")
        }
        "ExternalName" => row.text("spec.externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// Addresses of load balancers, each once, sorted.
fn balancers(object: &Value) -> Vec<&str> {
    let ingress = list(object, "status.loadBalancer.ingress").iter();
    let address = |one| match text(one, "ip") {
        "" => text(one, "hostname"),
        ip => ip,
    };
    let all: BTreeSet<&str> = ingress
        .map(address)
        .filter(|text| !text.is_empty())
        .collect();
    all.into_iter().collect()
}

pub(super) const INGRESS: &[Column] = &[
    NAME,
    col("Class"),
    col("Hosts"),
    col("Address"),
    col("Ports"),
    AGE,
];

pub(super) fn ingress(row: &Row<'_>) -> Vec<Cell> {
    let tls = !row.list("spec.tls").is_empty();
    vec![
        row.name(),
        row.or("spec.ingressClassName", "<none>"),
        txt(hosts(row.list("spec.rules"))),
        txt(balancers(row.object).join(",")),
        txt(if tls { "80, 443" } else { "80" }),
        row.age(),
    ]
}

/// The first hosts. Rules without a host count among those that are left out once three are shown, as the server has it.
fn hosts(rules: &[Value]) -> String {
    let mut shown: Vec<&str> = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= shown.len() == MOST;
        let host = text(rule, "host");
        if !more && !host.is_empty() {
            shown.push(host);
        }
    }
    match (shown.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (_, true) => format!("{} + {} more...", shown.join(","), rules.len() - MOST),
        (_, false) => shown.join(","),
    }
}

pub(super) const INGRESS_CLASS: &[Column] = &[NAME, col("Controller"), col("Parameters"), AGE];

pub(super) fn ingress_class(row: &Row<'_>) -> Vec<Cell> {
    let parameters = at(row.object, "spec.parameters");
    let parameters = if parameters.is_null() {
        "<none>".to_owned()
    } else {
        let group = parameters["apiGroup"].as_str();
        let group = group.map_or_else(String::new, |group| format!(".{group}"));
        format!(
            "{}{group}/{}",
            text(parameters, "kind"),
            text(parameters, "name")
        )
    };
    let marks = ["ingressclass.kubernetes.io/is-default-class"];
    vec![
        default(row, &marks),
        row.copy("spec.controller"),
        txt(parameters),
        row.age(),
    ]
}

/// The name, marked where an annotation makes the object the default.
pub(super) fn default(row: &Row<'_>, marks: &[&str]) -> Cell {
    let is = marks
        .iter()
        .any(|mark| annotation(row.object, mark) == Some("true"));
    let name = row.text("metadata.name");
    txt(if is {
        format!("{name} (default)")
    } else {
        name.to_owned()
    })
}

pub(super) const ENDPOINTS: &[Column] = &[NAME, col("Endpoints"), AGE];

pub(super) fn endpoints(row: &Row<'_>) -> Vec<Cell> {
    let subsets = row.list("subsets");
    let mut all = Vec::new();
    for subset in subsets {
        let ips = || list(subset, "addresses").iter().map(|one| text(one, "ip"));
        let ports = list(subset, "ports");
        if ports.is_empty() {
            all.extend(ips().map(str::to_owned));
        }
        for port in ports {
            let port = int(port, "port");
            all.extend(ips().map(|ip| match ip.contains(':') {
                true => format!("[{ip}]:{port}"),
                false => format!("{ip}:{port}"),
            }));
        }
    }
    let shown = if subsets.is_empty() {
        "<none>".to_owned()
    } else {
        first(&all, MOST)
    };
    vec![row.name(), txt(shown), row.age()]
}

pub(super) const ENDPOINT_SLICE: &[Column] = &[
    NAME,
    col("AddressType"),
    col("Ports"),
    col("Endpoints"),
    AGE,
];

pub(super) fn endpoint_slice(row: &Row<'_>) -> Vec<Cell> {
    let port = |port: &Value| match (&port["port"], &port["name"]) {
        (Value::Number(number), _) => number.to_string(),
        (_, Value::String(name)) => name.clone(),
        _ => "*".to_owned(),
    };
    let ports: Vec<String> = row.list("ports").iter().map(port).collect();
    let addresses: Vec<String> = row
        .list("endpoints")
        .iter()
        .flat_map(|one| list(one, "addresses"))
        .filter_map(|address| address.as_str().map(str::to_owned))
        .collect();
    let or_unset = |texts: &[String]| match first(texts, MOST) {
        text if text.is_empty() => txt("<unset>"),
        text => txt(text),
    };
    vec![
        row.name(),
        row.copy("addressType"),
        or_unset(&ports),
        or_unset(&addresses),
        row.age(),
    ]
}

pub(super) const NETWORK_POLICY: &[Column] = &[NAME, col("Pod-Selector"), AGE];

pub(super) fn network_policy(row: &Row<'_>) -> Vec<Cell> {
    vec![
        row.name(),
        txt(shown(at(row.object, "spec.podSelector"))),
        row.age(),
    ]
}

pub(super) const SERVICE_CIDR: &[Column] = &[NAME, col("CIDRs"), AGE];

pub(super) fn service_cidr(row: &Row<'_>) -> Vec<Cell> {
    let cidrs: Vec<&str> = row
        .list("spec.cidrs")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    vec![row.name(), txt(cidrs.join(",")), row.age()]
}

pub(super) const IP_ADDRESS: &[Column] = &[NAME, col("ParentRef")];

/// The server writes an age that no column is for.
pub(super) fn ip_address(row: &Row<'_>) -> Vec<Cell> {
    let parent = at(row.object, "spec.parentRef");
    let mut shown = "<none>".to_owned();
    if !parent.is_null() {
        shown = text(parent, "resource").to_lowercase();
        let group = text(parent, "group");
        if !group.is_empty() {
            shown = format!("{shown}.{}", group.to_lowercase());
        }
        let namespace = text(parent, "namespace");
        if !namespace.is_empty() {
            shown = format!("{shown}/{namespace}");
        }
        shown = format!("{shown}/{}", text(parent, "name"));
    }
    vec![row.name(), txt(shown), row.age()]
}
