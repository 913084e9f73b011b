//! `crictl ps -a`, also as other tools write it down: each container's last state.

use casefile_bundle::{ANY, Entry};

use super::{Document, Parsed, Parser, Read};
use crate::facts::Fact;
use crate::facts::failing::ContainerRow;

/// Reads the table.
pub(super) static PARSER: Parser = Parser {
    id: "container-rows",
    reads: &[
        Entry::Printed(ANY, "crictl-ps*"),
        Entry::Other("minikube/container-status.txt"),
    ],
    read: Read::Whole(parse),
};

const STATES: [&str; 4] = ["Running", "Exited", "Created", "Unknown"];

fn parse(document: &Document<'_>) -> Parsed {
    let mut parsed = Parsed::default();
    for (line, number) in document.text.lines().zip(1u32..) {
        let Some(row) = row(line, document.node) else {
            continue;
        };
        let fact = Fact {
            data: row,
            place: document.line(number),
            text: line.trim().into(),
            at: None,
        };
        parsed.facts.push(fact.into());
    }
    parsed
}

/// The cells behind the state are the name, the attempt, the id of the pod and, of newer releases, its name and its namespace.
fn row(line: &str, node: &str) -> Option<ContainerRow> {
    let cells: Vec<&str> = line.split_whitespace().collect();
    let at = cells.iter().position(|cell| STATES.contains(cell))?;
    let attempt = cells.get(at + 2)?.parse().ok()?;
    let newer = |cell: usize| {
        cells
            .get(at + cell)
            .map_or_else(String::new, |text| (*text).to_owned())
    };
    Some(ContainerRow {
        node: node.to_owned(),
        id: (*cells.first()?).to_owned(),
        name: (*cells.get(at + 1)?).to_owned(),
        pod: newer(4),
        namespace: newer(5),
        state: (*cells.get(at)?).to_owned(),
        attempt,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_gives_the_last_state_of_a_container_whatever_stands_between() {
        let line = "fd4caa36d1a6e  6e38f40d628db  11 minutes ago  Exited  etcd  3  9727f6f4647ff  etcd-n1  kube-system";
        let found = row(line, "n1").unwrap();
        assert_eq!((found.pod.as_str(), found.attempt), ("etcd-n1", 3));
        assert_eq!(found.namespace, "kube-system");
        assert_eq!(
            (found.name.as_str(), found.state.as_str()),
            ("etcd", "Exited")
        );
        let older = row(
            "7bc  img@sha256:3  About a minute ago  Running  web  0  b8c",
            "n1",
        )
        .unwrap();
        assert_eq!((older.pod.as_str(), older.attempt), ("", 0));
        assert!(
            row(
                "CONTAINER IMAGE CREATED STATE NAME ATTEMPT POD ID POD",
                "n1"
            )
            .is_none()
        );
    }
}
