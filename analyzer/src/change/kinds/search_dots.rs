//! Names with a dot that a pod looks up as they are first, and with its search list only then.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{objects, workload};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A pod that looks up external names below its search list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchDots {
    /// What the line was found with: the pod whose log it is.
    pub pod: String,
    /// The line. Of a DNS server's log it names the pod that asked by its address.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub line: String,
}

impl Kind for SearchDots {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let pod = match asking(&self.line) {
            Some(address) => by_address(state, &address)?,
            None => self.pod.clone(),
        };
        let spec = workload::spec(state, &pod)?;
        if let Some(policy) = without_search_list(&spec) {
            return Err(Refused::new(format!(
                "{pod} has {policy}, so it does not look names up in the cluster's search list"
            )));
        }
        let delta = json!({"dnsConfig": {"options": options(&spec)}});
        let title = "Look names with a dot up as they are first (ndots 1)";
        let mut applied = workload::change(state, &pod, &delta, title)?;
        applied.costs.push(format!(
            "names such as SERVICE.NAMESPACE are asked outside the cluster first by {pod}, where a public domain of that name would answer"
        ));
        Ok(applied.only_there(format!(
            "{pod} is made anew and asks for external names without the search list; only the cluster shows the answers"
        )))
    }
}

/// The address of who asked, where the line is one of CoreDNS or dnsmasq.
fn asking(line: &str) -> Option<String> {
    let asked = Regex::new(
        r#"(?:\[INFO\] |^)\[?([0-9A-Fa-f.:]+?)\]?:\d+ - \d+ "|query\[\w+\] \S+ from ([0-9A-Fa-f.:]+)"#,
    );
    let found = asked.ok()?.captures(line)?;
    let address = found.get(1).or(found.get(2))?.as_str();
    address.parse::<std::net::IpAddr>().ok()?;
    Some(address.to_owned())
}

/// The one pod with this address; pods of the node's network share theirs.
fn by_address(state: &mut Captured, address: &str) -> Result<String, Refused> {
    let all = objects(state, "pods").into_iter();
    let own: Vec<Value> = all
        .filter(|pod| pod["status"]["podIP"] == address && pod["spec"]["hostNetwork"] != true)
        .collect();
    let named = |pod: &Value| {
        let metadata = &pod["metadata"];
        Some(format!(
            "{}/{}",
            metadata["namespace"].as_str()?,
            metadata["name"].as_str()?
        ))
    };
    match own.as_slice() {
        [one] => named(one).ok_or_else(|| Refused::new("a collected pod has no name")),
        others => Err(Refused::new(format!(
            "{} collected pods have the address {address} that asked, so the workload is not known",
            others.len()
        ))),
    }
}

/// What gives the pod another list than the cluster's.
fn without_search_list(spec: &Value) -> Option<String> {
    let policy = spec["dnsPolicy"].as_str().unwrap_or("ClusterFirst");
    let of_node = spec["hostNetwork"] == true && policy != "ClusterFirstWithHostNet";
    match policy {
        "Default" | "None" => Some(format!("dnsPolicy {policy}")),
        _ if of_node => Some("the node's network and its DNS".to_owned()),
        _ => None,
    }
}

/// The pod's own options with another ndots: the list is replaced as a whole.
fn options(spec: &Value) -> Vec<Value> {
    let own = spec["dnsConfig"]["options"]
        .as_array()
        .into_iter()
        .flatten();
    let mut all: Vec<Value> = own.filter(|one| one["name"] != "ndots").cloned().collect();
    all.push(json!({"name": "ndots", "value": "1"}));
    all
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![json!({"search-dots": {"pod": format!("a/{}", trial.bad), "line": trial.bad}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dns_servers_log_names_who_asked() {
        let coredns = r#"[INFO] 10.42.3.6:36746 - 26447 "A IN pypi.org.corp.example.net. udp 51 false 512" NOERROR"#;
        assert_eq!(asking(coredns).as_deref(), Some("10.42.3.6"));
        let six = r#"[INFO] [fd00::7]:36746 - 26447 "AAAA IN pypi.org.corp.example.net. udp 51""#;
        assert_eq!(asking(six).as_deref(), Some("fd00::7"));
        let dnsmasq = "dnsmasq[14]: query[A] pypi.org.corp.example.net from 10.42.0.9";
        assert_eq!(asking(dnsmasq).as_deref(), Some("10.42.0.9"));
        assert_eq!(
            asking("x509: certificate is valid for a, not github.com"),
            None
        );
    }

    #[test]
    fn options_that_are_there_stay_and_a_pod_without_the_list_is_left_alone() {
        let spec =
            json!({"dnsConfig": {"options": [{"name": "ndots", "value": "5"}, {"name": "edns0"}]}});
        assert_eq!(
            options(&spec),
            [
                json!({"name": "edns0"}),
                json!({"name": "ndots", "value": "1"})
            ]
        );
        assert!(without_search_list(&spec).is_none());
        assert!(without_search_list(&json!({"dnsPolicy": "Default"})).is_some());
        assert!(without_search_list(&json!({"hostNetwork": true})).is_some());
    }
}
