//! What tells clusters apart in text that people paste: the uid of kube-system, the address of the API server, the
//! cluster's name where a provider writes it, and a list of nodes with the control plane in it.

use serde_json::Value;

use super::{Piece, What};
use crate::facts::cluster::{ClusterMark, MarkKind};
use crate::form::Form;

static SERVER: Form =
    Form::new(r"Kubernetes (?:control plane|master) is running at (https?://[^\s/]+)");
/// Labels that providers put on each node of a cluster, and on nothing that another cluster owns.
static NAME: Form = Form::new(
    r#"(?:alpha\.eksctl\.io/cluster-name|kubernetes\.azure\.com/cluster)"?\s*[=:]\s*"?([\w.-]+)"#,
);

/// What a text holds in which one of these two stands.
const TOLD: [&str; 3] = [
    " is running at http",
    "eksctl.io/cluster-name",
    "kubernetes.azure.com/cluster",
];

/// The head of kubectl's table of nodes.
const HEAD: [&str; 5] = ["NAME", "STATUS", "ROLES", "AGE", "VERSION"];

/// The marks of a text with their lines, from 1.
pub(crate) fn marks(text: &str, pieces: &[Piece]) -> Vec<(ClusterMark, u32)> {
    let mut found = Vec::new();
    let mut rows: Option<(Vec<String>, bool, u32)> = None;
    let holds = |sign: &str| memchr::memmem::find(text.as_bytes(), sign.as_bytes()).is_some();
    let is_told = TOLD.iter().any(|sign| holds(sign));
    let shows = is_told || holds(HEAD[2]);
    let lines = text.lines().zip(1_u32..).take_while(|_| shows);
    for (line, number) in lines {
        // Only a table's head, and what stands below it, is looked at by its columns.
        let is_of_table = rows.is_some() || line.trim_start().starts_with("NAME");
        let columns: Vec<&str> = match is_of_table {
            true => line.split_whitespace().collect(),
            false => Vec::new(),
        };
        if columns.starts_with(&HEAD) {
            found.extend(listed(rows.take()));
            rows = Some((Vec::new(), false, number));
        } else if let (Some((names, leads, _)), [name, _, roles, _, version, ..]) =
            (&mut rows, columns.as_slice())
            && version.starts_with('v')
        {
            names.push((*name).to_owned());
            *leads |= roles.contains("control-plane") || roles.contains("master");
        } else {
            found.extend(listed(rows.take()));
        }
        if !is_told {
            continue;
        }
        for (kind, known) in [(MarkKind::Server, &SERVER), (MarkKind::Name, &NAME)] {
            let value = known.rare_captures(line).and_then(|found| found.get(1));
            let value = value
                .map(|value| value.as_str())
                .filter(|one| !is_local(one));
            found.extend(value.map(|value| (mark(kind, value), number)));
        }
    }
    found.extend(listed(rows));
    for piece in pieces {
        let uid = match &piece.what {
            What::Object(object) => uid(object),
            What::Json if piece.text.contains("\"kube-system\"") => {
                let value: Option<Value> = serde_json::from_str(&piece.text).ok();
                value.as_ref().and_then(|value| {
                    let items = value["items"].as_array();
                    items.map_or_else(|| uid(value), |items| items.iter().find_map(uid))
                })
            }
            _ => None,
        };
        found.extend(uid.map(|uid| (mark(MarkKind::Uid, &uid), piece.line)));
    }
    found
}

fn mark(kind: MarkKind, value: &str) -> ClusterMark {
    ClusterMark {
        kind,
        values: vec![value.to_owned()],
    }
}

/// A list without the control plane may be a part of the nodes, so it tells nothing.
fn listed(rows: Option<(Vec<String>, bool, u32)>) -> Option<(ClusterMark, u32)> {
    let (values, leads, number) = rows?;
    let kind = MarkKind::Nodes;
    leads.then_some((ClusterMark { kind, values }, number))
}

/// The uid of the namespace kube-system.
fn uid(object: &Value) -> Option<String> {
    let named = object["metadata"]["name"] == "kube-system";
    // Items of a list need not say their kind; only namespaces have no namespace of their own and end so.
    let namespace = object["kind"] == "Namespace" || object["spec"]["finalizers"].is_array();
    let uid = object["metadata"]["uid"].as_str();
    uid.filter(|_| named && namespace).map(str::to_owned)
}

/// Whether an address means another machine on each machine.
fn is_local(value: &str) -> bool {
    let host = value.split("://").nth(1).unwrap_or(value);
    ["127.", "localhost", "[::1]", "0.0.0.0"]
        .iter()
        .any(|local| host.starts_with(local))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(MarkKind, Vec<String>, u32)> {
        let found = marks(text, &super::super::pieces(text)).into_iter();
        found
            .map(|(mark, line)| (mark.kind, mark.values, line))
            .collect()
    }

    #[test]
    fn marks_of_a_cluster_are_told_with_their_lines() {
        let text = "$ kubectl cluster-info\nKubernetes control plane is running at https://10.0.0.1:6443\n\n\
             $ kubectl get nodes\nNAME   STATUS   ROLES           AGE   VERSION\n\
             cp-1   Ready    control-plane   3d    v1.33.1\ngpu-1  Ready    <none>          3d    v1.33.1\n";
        let nodes = vec!["cp-1".to_owned(), "gpu-1".to_owned()];
        let server = vec!["https://10.0.0.1:6443".to_owned()];
        let wanted = [(MarkKind::Server, server, 2), (MarkKind::Nodes, nodes, 5)];
        assert_eq!(told(text), wanted);
    }

    #[test]
    fn the_uid_of_kube_system_is_found_in_yaml_and_in_a_list() {
        let yaml = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: kube-system\n  uid: 0b1c\n";
        assert_eq!(told(yaml), [(MarkKind::Uid, vec!["0b1c".to_owned()], 1)]);
        let list = r#"{"apiVersion":"v1","kind":"NamespaceList","items":[{"metadata":{"name":"kube-system","uid":"0b1c"},"spec":{"finalizers":["kubernetes"]}}]}"#;
        assert_eq!(told(list), [(MarkKind::Uid, vec!["0b1c".to_owned()], 1)]);
    }

    #[test]
    fn what_every_machine_has_and_part_of_the_nodes_are_no_marks() {
        let local = "Kubernetes control plane is running at https://127.0.0.1:6443\n";
        assert_eq!(told(local), []);
        let workers =
            "NAME   STATUS   ROLES    AGE   VERSION\ngpu-1  Ready    <none>   3d    v1.33.1\n";
        assert_eq!(told(workers), []);
    }
}
