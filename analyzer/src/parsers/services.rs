//! Services: the addresses and ports that they are reached at.

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;

use super::pods::{Meta, fact};
use super::{Item, Parsed, Parser, Read};
use crate::facts::kube::{Service, ServicePort};

/// Reads `kubectl get services -o json`.
pub(super) static PARSER: Parser = Parser {
    id: "services",
    reads: &[Entry::ListIn("services", ANY), Entry::List("services")],
    read: Read::Items(parse),
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Object {
    metadata: Meta,
    spec: Spec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "clusterIP")]
    cluster_ip: String,
    #[serde(rename = "clusterIPs")]
    cluster_ips: Vec<String>,
    #[serde(rename = "externalIPs")]
    external_ips: Vec<String>,
    ports: Vec<Port>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Port {
    port: u16,
    protocol: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    load_balancer: LoadBalancer,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LoadBalancer {
    ingress: Vec<Ingress>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Ingress {
    ip: String,
}

fn parse(item: &Item<'_>) -> Parsed {
    let object: Object = match item.object("service") {
        Ok(object) => object,
        Err(problem) => return problem,
    };
    let Spec {
        kind,
        cluster_ip,
        cluster_ips,
        external_ips,
        ports,
    } = object.spec;
    let own = if cluster_ips.is_empty() {
        vec![cluster_ip]
    } else {
        cluster_ips
    };
    let given = object.status.load_balancer.ingress.into_iter();
    let external = external_ips.into_iter().chain(given.map(|one| one.ip));
    let text = format!("\"clusterIP\":\"{}\"", own.first().map_or("", |ip| ip));
    let ports = ports.into_iter().map(|one| ServicePort {
        number: one.port,
        // The API server's default.
        protocol: match one.protocol.as_str() {
            "" => "TCP".to_owned(),
            _ => one.protocol,
        },
    });
    let service = Service {
        namespace: object.metadata.namespace,
        name: object.metadata.name,
        kind,
        // A headless service has no address.
        addresses: own
            .into_iter()
            .filter(|ip| ip.parse::<std::net::IpAddr>().is_ok())
            .collect(),
        external: external.filter(|ip| !ip.is_empty()).collect(),
        ports: ports.collect(),
    };
    Parsed {
        facts: vec![fact(service, item, text).into()],
        ..Parsed::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Service {
        let place = crate::model::Place {
            path: "cluster-resources/services/shop.json".into(),
            line: Some(2),
        };
        let json = json.as_bytes();
        let mut facts = crate::facts::Facts::default();
        for fact in parse(&Item::listed(json, place)).facts {
            facts.add(fact);
        }
        facts.table::<Service>()[0].data.clone()
    }

    #[test]
    fn addresses_inside_and_outside_and_ports_are_read() {
        let web = read(
            r#"{"metadata":{"namespace":"shop","name":"web"},"spec":{"type":"LoadBalancer","clusterIP":"10.43.7.1","clusterIPs":["10.43.7.1","fd00:43::7"],"externalIPs":["203.0.113.4"],"ports":[{"port":80},{"port":53,"protocol":"UDP"}]},"status":{"loadBalancer":{"ingress":[{"ip":"198.51.100.7"},{"hostname":"lb.example"}]}}}"#,
        );
        assert_eq!(web.addresses, ["10.43.7.1", "fd00:43::7"]);
        assert_eq!(web.external, ["203.0.113.4", "198.51.100.7"]);
        let ports: Vec<(u16, &str)> = web
            .ports
            .iter()
            .map(|port| (port.number, port.protocol.as_str()))
            .collect();
        assert_eq!(ports, [(80, "TCP"), (53, "UDP")]);
        let headless = read(
            r#"{"metadata":{"namespace":"shop","name":"db"},"spec":{"clusterIP":"None","ports":[{"port":5432,"protocol":"TCP"}]}}"#,
        );
        assert!(headless.addresses.is_empty());
    }
}
