//! Targets that only the API server can name: CoreDNS's upstream servers, the service address of the API, the
//! registries of this node's pods.

use std::net::IpAddr;

use serde_json::Value;

use super::targets::{Endpoint, Purpose, Targets, of_image, servers};
use crate::cluster::Cluster;
use crate::cluster::api::query_value;
use crate::source::PlanItem;

/// The service of the API server.
const SERVICE: &str = "/api/v1/namespaces/default/services/kubernetes";
/// Where every distribution keeps CoreDNS's configuration, under names of its own.
const CONFIG_MAPS: &str = "/api/v1/namespaces/kube-system/configmaps?limit=500";
/// Of one answer.
const MOST: usize = 16 << 20;

/// What is asked, for the plan.
pub(super) fn plan() -> [PlanItem; 3] {
    [
        PlanItem::get(SERVICE),
        PlanItem::get(CONFIG_MAPS),
        PlanItem::get(pods("<node>")),
    ]
}

fn pods(node: &str) -> String {
    format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{node}&limit=500")
}

/// Adds what the API server names; returns what it did not tell.
pub(super) async fn find(cluster: &Cluster, node: &str, found: &mut Targets) -> Vec<String> {
    let mut missing = Vec::new();
    for (host, port, tls) in servers(&cluster.server) {
        found.add(Endpoint {
            host,
            port,
            tls,
            purpose: Purpose::Api,
            named_by: cluster.credentials.clone(),
        });
    }
    match get(cluster, SERVICE).await {
        Ok(service) => service_address(&service)
            .into_iter()
            .for_each(|one| found.add(one)),
        Err(why) => missing.push(format!("failed: the API's service address: {why}")),
    }
    match get(cluster, CONFIG_MAPS).await {
        Ok(maps) => upstreams(&maps, found),
        Err(why) => missing.push(format!("failed: CoreDNS's upstream servers: {why}")),
    }
    match get(cluster, &pods(&query_value(node))).await {
        Ok(pods) => images(&pods, found),
        Err(why) => missing.push(format!("failed: the images of this node's pods: {why}")),
    }
    missing
}

async fn get(cluster: &Cluster, path: &str) -> Result<Value, String> {
    let body = cluster.api.get_all(path, "application/json", MOST).await;
    let body = body.map_err(|error| error.to_string())?;
    serde_json::from_slice(&body).map_err(|error| error.to_string())
}

fn service_address(service: &Value) -> Option<Endpoint> {
    let spec = service.get("spec")?;
    let address: IpAddr = spec.get("clusterIP")?.as_str()?.parse().ok()?;
    let ports = spec.get("ports").and_then(Value::as_array);
    let port = ports.and_then(|all| all.first()?.get("port")?.as_u64());
    Some(Endpoint {
        host: address.to_string(),
        port: port
            .and_then(|port| u16::try_from(port).ok())
            .unwrap_or(443),
        tls: true,
        purpose: Purpose::Service,
        named_by: "service default/kubernetes".to_owned(),
    })
}

/// The addresses behind `forward` in every Corefile. One that names a file (`/etc/resolv.conf`) means the node's own
/// resolvers, which are asked anyway.
fn upstreams(maps: &Value, found: &mut Targets) {
    for map in items(maps) {
        let Some(corefile) = map.pointer("/data/Corefile").and_then(Value::as_str) else {
            continue;
        };
        let name = map
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let lines = corefile
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default());
        for line in lines {
            let mut words = line.split_whitespace();
            if !matches!(words.next(), Some("forward" | "proxy")) {
                continue;
            }
            // The first word is the zone that is forwarded.
            for address in words.skip(1).filter_map(upstream) {
                found.add_resolver(address, format!("ConfigMap kube-system/{name}: forward"));
            }
        }
    }
}

/// `10.0.0.53`, `dns://10.0.0.53:53`; another port or protocol is not asked over UDP port 53.
fn upstream(word: &str) -> Option<IpAddr> {
    let word = word.strip_prefix("dns://").unwrap_or(word);
    let host = word.strip_suffix(":53").unwrap_or(word);
    host.trim_matches(['[', ']']).parse().ok()
}

fn images(pods: &Value, found: &mut Targets) {
    let lists = ["/spec/initContainers", "/spec/containers"];
    for pod in items(pods) {
        let containers = lists
            .iter()
            .filter_map(|list| pod.pointer(list)?.as_array())
            .flatten();
        for image in containers.filter_map(|container| container.get("image")?.as_str()) {
            if let Some(endpoint) = of_image(image, "images of this node's pods") {
                found.add(endpoint);
            }
        }
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.get("items")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstream_servers_are_read_from_the_forward_lines_of_every_corefile() {
        let corefile = ".:53 {\n  errors\n  # forward . 9.9.9.9\n  forward . 10.0.0.53 dns://10.0.0.54:53 tls://1.1.1.1 /etc/resolv.conf {\n    max_concurrent 1000\n  }\n}\ncorp.example:53 {\n  forward corp.example [2001:db8::53]:53\n}\n";
        let maps = serde_json::json!({"items": [
            {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "forward . 8.8.8.8"}},
            {"metadata": {"name": "rke2-coredns"}, "data": {"Corefile": corefile}},
        ]});
        let mut found = Targets::default();
        upstreams(&maps, &mut found);
        let resolvers: Vec<String> = found.resolvers.keys().map(ToString::to_string).collect();
        assert_eq!(resolvers, ["10.0.0.53", "10.0.0.54", "2001:db8::53"]);
        assert!(
            found
                .resolvers
                .values()
                .all(|by| by == "ConfigMap kube-system/rke2-coredns: forward")
        );
    }
}
