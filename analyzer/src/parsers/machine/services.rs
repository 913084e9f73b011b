//! What services say of themselves: etcd through etcdctl, the kubelet's checks, cloud-init.

use std::collections::BTreeMap;

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;
use serde_json::Value;

use super::super::{Document, Parsed, Parser, Read};
use super::{quoted, stated, with_lines};
use crate::facts::AnyFact;
use crate::facts::services::{EtcdMember, FirstBoot, KubeletCheck};

/// Reads `etcdctl endpoint health` and `endpoint status`, as JSON.
pub(in crate::parsers) static ETCD: Parser = Parser {
    id: "etcd-members",
    reads: &[
        Entry::Printed(ANY, "etcd-health"),
        Entry::Printed(ANY, "etcd-status"),
    ],
    read: Read::Whole(parse_etcd),
};

/// Reads `/healthz?verbose` of a kubelet.
pub(in crate::parsers) static CHECKS: Parser = Parser {
    id: "kubelet-checks",
    reads: &[Entry::Command(ANY, "kubelet-healthz.txt")],
    read: Read::Whole(parse_checks),
};

/// Reads `/run/cloud-init/status.json`.
pub(in crate::parsers) static FIRST_BOOT: Parser = Parser {
    id: "first-boot",
    reads: &[Entry::Rootfs(ANY, "run/cloud-init/status.json")],
    read: Read::Whole(parse_boot),
};

/// An answer of etcdctl: those of health in small letters, those of status with a capital.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    #[serde(alias = "Endpoint")]
    endpoint: String,
    health: Option<bool>,
    took: String,
    error: String,
    #[serde(rename = "Status")]
    status: Option<Status>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    header: Header,
    version: String,
    db_size: Option<u64>,
    db_size_in_use: Option<u64>,
    leader: u64,
    raft_index: Option<u64>,
    raft_applied_index: Option<u64>,
    errors: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Header {
    member_id: u64,
}

fn parse_etcd(document: &Document<'_>) -> Parsed {
    let answers: Vec<Answer> = match serde_json::from_str(document.text) {
        Ok(answers) => answers,
        Err(error) => {
            let text = format!("etcdctl's answer was not read: {error}");
            return Parsed::problem(document.line(1), text);
        }
    };
    let facts = answers.into_iter().map(|answer| -> AnyFact {
        let place = document.at_offset(document.text.find(answer.endpoint.as_str()).unwrap_or(0));
        let said = match &answer.health {
            Some(healthy) => format!("{}: healthy {healthy}", answer.endpoint),
            None => answer.endpoint.clone(),
        };
        quoted(place, &said, member(document.node, answer))
    });
    with_lines(document, facts.collect())
}

fn member(node: &str, answer: Answer) -> EtcdMember {
    let asked = answer.status.is_some();
    let status = answer.status.unwrap_or_default();
    let errors = Some(answer.error)
        .into_iter()
        .chain(status.errors.unwrap_or_default());
    EtcdMember {
        node: node.to_owned(),
        endpoint: answer.endpoint,
        healthy: answer.health,
        took: answer.took,
        errors: errors
            .map(|error| error.trim().to_owned())
            .filter(|error| !error.is_empty())
            .collect(),
        version: status.version,
        size: status.db_size,
        in_use: status.db_size_in_use,
        leads: asked.then_some(status.leader != 0 && status.leader == status.header.member_id),
        behind: status
            .raft_index
            .zip(status.raft_applied_index)
            .map(|(last, applied)| last.saturating_sub(applied)),
    }
}

/// `[+]ping ok`, `[-]syncloop failed: reason withheld`.
fn parse_checks(document: &Document<'_>) -> Parsed {
    let rows = document
        .text
        .lines()
        .zip(1u32..)
        .filter_map(|(line, number)| {
            let passed = line.strip_prefix("[+]");
            let rest = passed.or_else(|| line.strip_prefix("[-]"))?;
            let (name, said) = rest.split_once(' ').unwrap_or((rest, ""));
            let data = KubeletCheck {
                node: document.node.to_owned(),
                name: name.to_owned(),
                passed: passed.is_some(),
                why: if passed.is_some() {
                    String::new()
                } else {
                    said.trim().to_owned()
                },
            };
            Some(stated(document, number, line, data))
        });
    with_lines(document, rows.collect())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Boot {
    v1: BTreeMap<String, Value>,
}

/// Stages of cloud-init, each with its errors and the time at which it ended.
const STAGES: [&str; 4] = ["init-local", "init", "modules-config", "modules-final"];

fn parse_boot(document: &Document<'_>) -> Parsed {
    let boot: Boot = match serde_json::from_str(document.text) {
        Ok(boot) => boot,
        Err(error) => {
            let text = format!("cloud-init's state was not read: {error}");
            return Parsed::problem(document.line(1), text);
        }
    };
    let text = |name: &str| {
        boot.v1
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let stages = || STAGES.iter().filter_map(|name| boot.v1.get(*name));
    let errors = stages()
        .filter_map(|stage| stage["errors"].as_array())
        .flatten();
    let data = FirstBoot {
        node: document.node.to_owned(),
        datasource: text("datasource"),
        stage: text("stage"),
        finished: stages().count() > 0 && stages().all(|stage| stage["finished"].is_number()),
        errors: errors
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    };
    let said = format!("cloud-init: {} errors", data.errors.len());
    let at = document.text.find("\"errors\"").unwrap_or(0);
    Parsed {
        facts: vec![quoted(document.at_offset(at), &said, data)],
        ..Parsed::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn a_member_that_does_not_answer_and_one_whose_disk_is_full_are_told_apart() {
        let health = r#"[{"endpoint":"https://10.0.0.1:2379","health":true,"took":"9.1ms"},{"endpoint":"https://10.0.0.2:2379","health":false,"took":"8s","error":"context deadline exceeded"}]"#;
        let found = facts::<EtcdMember>(&ETCD, "nodes/n1/commands/etcd-health.out", health);
        assert_eq!(found[0].data.healthy, Some(true));
        assert_eq!(found[1].data.errors, ["context deadline exceeded"]);
        let status = r#"[{"Endpoint":"127.0.0.1:2379","Status":{"header":{"cluster_id":6617056074685781600,"member_id":15300616325842721311,"revision":45,"raft_term":3},"version":"3.5.1",
            "dbSize":16830464,"leader":15300616325842721311,"raftIndex":21,"raftTerm":3,"raftAppliedIndex":20,"errors":["memberID:15300616325842721311 alarm:NOSPACE "],"dbSizeInUse":11587584}}]"#;
        let found = facts::<EtcdMember>(&ETCD, "nodes/n1/commands/etcd-status.out", status);
        let one = &found[0].data;
        assert_eq!(
            (one.leads, one.behind, one.size),
            (Some(true), Some(1), Some(16_830_464))
        );
        assert!(one.errors[0].contains("NOSPACE") && one.healthy.is_none());
    }

    #[test]
    fn a_check_that_fails_says_why() {
        let text =
            "[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n";
        let found = facts::<KubeletCheck>(&CHECKS, "nodes/n1/commands/kubelet-healthz.txt", text);
        let failed: Vec<_> = found.iter().filter(|one| !one.data.passed).collect();
        assert_eq!((found.len(), failed.len()), (3, 1));
        assert_eq!(
            (failed[0].data.name.as_str(), failed[0].data.why.as_str()),
            ("syncloop", "failed: reason withheld")
        );
    }

    #[test]
    fn errors_of_a_first_boot_are_read_from_all_stages() {
        let text = r#"{"v1":{"datasource":"DataSourceNoCloud","stage":null,"init-local":{"errors":[],"finished":1.5,"start":1.0},"init":{"errors":[],"finished":2.5,"start":2.0},
            "modules-config":{"errors":[],"finished":3.5,"start":3.0},"modules-final":{"errors":["('scripts-user', RuntimeError('Runparts: 1 failures'))"],"finished":4.5,"start":4.0}}}"#;
        let found = facts::<FirstBoot>(
            &FIRST_BOOT,
            "nodes/n1/rootfs/run/cloud-init/status.json",
            text,
        );
        let boot = &found[0].data;
        assert!(
            boot.finished && boot.stage.is_empty() && boot.errors.len() == 1,
            "{boot:?}"
        );
    }
}
