//! The address that a kubelet gives for its node, set to the one with which the node reaches the others, where its name
//! leads to another.

use std::net::Ipv4Addr;

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kubelet_flag::KubeletFlag;
use super::object::Named;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A node that gives a wrong address, or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeIp {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl Kind for NodeIp {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let node = super::node(self.node.as_deref(), state)?;
        let mut printed = |name: &str| {
            let path = Entry::Printed(&node, name).path();
            let text = state.now(&path);
            text.ok_or_else(|| {
                Refused::new(format!(
                    "{path} is not in the bundle, so the addresses of {node} are not known"
                ))
            })
        };
        let (routes, addresses) = (printed("ip-route")?, printed("ip-addr")?);
        let device = default_device(&routes).ok_or_else(|| {
            Refused::new(format!("{node} has no default route, so which of its addresses the others reach is not known"))
        })?;
        let own = addresses_of(&addresses, &device);
        let [address] = own.as_slice() else {
            return Err(Refused::new(format!(
                "{device} of {node} has {} addresses; which of them the others reach is decided by a person",
                own.len()
            )));
        };
        if told(state, &node).as_deref() == Some(address.to_string().as_str()) {
            return Err(Refused::new(format!(
                "{node} gives {address} already, so the wrong record is outside the node"
            )));
        }
        let flag = KubeletFlag {
            node: Some(node.clone()),
            path: None,
            flag: "node-ip".to_owned(),
            value: Some(address.to_string()),
            unit: None,
        };
        let mut applied = flag.apply(state)?;
        applied.title = format!(
            "Let the kubelet of {node} give {address}, the address of its default route's device {device}"
        );
        Ok(applied.only_there(format!(
            "the kubelet of {node} gives {address} when it starts; only the cluster shows whether the API server then reaches it"
        )))
    }
}

fn default_device(text: &str) -> Option<String> {
    if let Ok(Value::Array(routes)) = serde_json::from_str(text) {
        let default = routes.iter().find(|route| route["dst"] == "default")?;
        return default["dev"].as_str().map(str::to_owned);
    }
    let line = text.lines().find(|line| line.starts_with("default "))?;
    let mut words = line.split_whitespace().skip_while(|word| *word != "dev");
    words.nth(1).map(str::to_owned)
}

/// The addresses of a device that hold outside the node; more than one where others were added, such as a virtual one.
fn addresses_of(text: &str, device: &str) -> Vec<Ipv4Addr> {
    let mut found: Vec<Ipv4Addr> = Vec::new();
    if let Ok(Value::Array(links)) = serde_json::from_str::<Value>(text) {
        let own = links.iter().filter(|link| link["ifname"] == device);
        let all = own
            .filter_map(|link| link["addr_info"].as_array())
            .flatten();
        let outside = all.filter(|one| one["family"] == "inet" && one["scope"] == "global");
        found.extend(outside.filter_map(|one| one["local"].as_str()?.parse::<Ipv4Addr>().ok()));
        return found;
    }
    let mut inside = false;
    for line in text.lines() {
        if !line.starts_with(char::is_whitespace) {
            let name = line.split_whitespace().nth(1).unwrap_or_default();
            let name = name.trim_end_matches(':');
            inside = name.split('@').next() == Some(device);
            continue;
        }
        let mut words = line.split_whitespace();
        if inside && words.next() == Some("inet") && !line.contains("scope host") {
            let address = words.next().and_then(|one| one.split('/').next());
            found.extend(address.and_then(|one| one.parse::<Ipv4Addr>().ok()));
        }
    }
    found
}

/// The address that the node's object has.
fn told(state: &mut Captured, node: &str) -> Option<String> {
    let node = Named::new("Node", None, node).read(state)?;
    let addresses = node.pointer("/status/addresses")?.as_array()?;
    let own = addresses.iter().find(|one| one["type"] == "InternalIP")?;
    own["address"].as_str().map(str::to_owned)
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![serde_json::json!({"node-ip": {"node": trial.node}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_the_one_of_the_default_routes_device_in_either_form_of_ip() {
        let routes =
            "default via 192.0.2.1 dev eth0 proto dhcp\n192.0.2.0/24 dev eth0 scope link\n";
        assert_eq!(default_device(routes).as_deref(), Some("eth0"));
        let text = "1: lo: <LOOPBACK,UP> mtu 65536\n    inet 127.0.0.1/8 scope host lo\n2: eth0@if7: <UP> mtu 1500\n    inet 192.0.2.7/24 brd 192.0.2.255 scope global eth0\n    inet6 fe80::1/64 scope link\n3: cni0: <UP>\n    inet 10.42.0.1/24 scope global cni0\n";
        assert_eq!(addresses_of(text, "eth0"), [Ipv4Addr::new(192, 0, 2, 7)]);
        let json = r#"[{"ifname":"eth0","addr_info":[{"family":"inet","local":"192.0.2.7","scope":"global"},{"family":"inet","local":"192.0.2.8","scope":"global"}]}]"#;
        assert_eq!(addresses_of(json, "eth0").len(), 2);
    }
}
