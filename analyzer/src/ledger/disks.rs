//! File systems that the parts of a node write to and on which nothing is left: no byte, or no inode. Nothing else may
//! tell of it: who cannot write cannot log either.

use std::collections::BTreeMap;
use std::path::Path;

use super::Sources;
use crate::facts::Fact;
use crate::facts::failing::Failing;
use crate::lines::node_of;
use crate::model::Place;

/// Where a node's own parts write. What is mounted elsewhere (a pod's volume, an image, a medium) may be full and well.
const WRITTEN: [&str; 9] = [
    "/",
    "/run",
    "/tmp",
    "/var/lib/containerd",
    "/var/lib/docker",
    "/var/lib/etcd",
    "/var/lib/kubelet",
    "/var/lib/rancher",
    "/var/log",
];

/// What `df` counts: its entry, the head of the column that says how much is left, and the word for it.
const COUNTED: [(&str, [&str; 3], &str); 2] = [
    ("df", ["Available", "Avail", "Free"], "space"),
    ("df-inodes", ["IFree", "IAvail", "Free"], "inodes"),
];

/// Nodes with a file system that they write to and that is full.
pub(super) fn full(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let mut found = Vec::new();
    for (path, text) in sources.documents {
        let node = node_of(path);
        for (entry, heads, what) in &COUNTED {
            if !node.is_empty() && path.ends_with(&format!("/commands/{entry}.out")) {
                let rows = used_up(text, heads);
                found.extend(rows.map(|row| failing(path, node, what, &row)));
            }
        }
    }
    found
}

/// A row of `df`.
#[derive(Clone, Copy)]
struct Row<'t> {
    number: u32,
    line: &'t str,
    /// Where the file system is mounted.
    mounted: &'t str,
    is_used_up: bool,
}

/// The rows of file systems that the node writes to and of which nothing is left.
fn used_up<'t>(text: &'t str, heads: &[&str]) -> impl Iterator<Item = Row<'t>> {
    let mut lines = text.lines().zip(1u32..);
    let head = lines.by_ref().find(|(line, _)| line.contains("Mounted on"));
    let left = head.and_then(|(head, _)| {
        head.split_whitespace()
            .position(|word| heads.contains(&word))
    });
    let rows: Vec<Row<'t>> = left.map_or_else(Vec::new, |left| {
        lines
            .filter_map(|(line, number)| row(line, number, left))
            .collect()
    });
    let holding = |path: &&str| {
        let holds = |row: &&Row<'t>| Path::new(path).starts_with(row.mounted);
        // What was mounted last over the same place is what stands there.
        rows.iter()
            .filter(holds)
            .max_by_key(|row| (row.mounted.len(), row.number))
            .copied()
    };
    let of_node = WRITTEN
        .iter()
        .filter_map(holding)
        .filter(|row| row.is_used_up);
    let once: BTreeMap<u32, Row<'t>> = of_node.map(|row| (row.number, row)).collect();
    once.into_values()
}

/// A row whose column of that place says how much is left. A file system without a size is none that can be full.
fn row(line: &str, number: u32, left: usize) -> Option<Row<'_>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (size, used, left) = (
        words.get(left.checked_sub(2)?)?,
        words.get(left.checked_sub(1)?)?,
        words.get(left)?,
    );
    let is_number = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    let mounted = words.last().filter(|word| word.starts_with('/'))?;
    [size, used, left]
        .iter()
        .all(|word| is_number(word))
        .then_some(Row {
            number,
            line,
            mounted,
            is_used_up: *left == "0" && *size != "0",
        })
}

fn failing(path: &str, node: &str, what: &str, row: &Row<'_>) -> Fact<Failing> {
    let line = row.line.split_whitespace().collect::<Vec<_>>().join(" ");
    Fact {
        data: Failing {
            what: "node".into(),
            subject: format!("node/{node}"),
            name: node.to_owned(),
            node: node.to_owned(),
            state: format!("no {what} left on {}", row.mounted),
            // What else fails on the node does not explain it.
            ended: true,
            words: line.clone(),
            lines: vec![line],
            ..Failing::default()
        },
        place: Place {
            path: path.into(),
            line: Some(row.number),
        },
        text: row.line.into(),
        at: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounts(text: &str, counted: usize) -> Vec<&str> {
        used_up(text, &COUNTED[counted].1)
            .map(|row| row.mounted)
            .collect()
    }

    #[test]
    fn what_the_node_writes_to_is_full_and_images_volumes_and_what_has_no_size_are_not() {
        let bytes = "\
Filesystem Type 1B-blocks Used Available Use% Mounted on
/dev/sda1 ext4 1000000 1000000 0 100% /
/dev/loop3 squashfs 67108864 67108864 0 100% /snap/core/1
proc proc 0 0 0 - /proc
/dev/sdb1 xfs 5000000 400 4999600 1% /var/lib/containerd
/dev/rbd0 ext4 1000 1000 0 100% /var/lib/kubelet/pods/a/volumes/b/mount
";
        assert_eq!(mounts(bytes, 0), ["/"]);
        let inodes = "\
Filesystem      Inodes  IUsed IFree IUse% Mounted on
/dev/sda1      6553600 120000 6433600    2% /
/dev/sdb1         2048   2048       0  100% /var/lib/containerd
/dev/sdc1            0      0       0     - /var/lib/kubelet
";
        assert_eq!(mounts(inodes, 1), ["/var/lib/containerd"]);
    }

    #[test]
    fn human_sizes_and_old_tables_are_read_and_other_texts_are_not() {
        let human = "Filesystem Size Used Avail Use% Mounted on\n/dev/vda1 20G 20G 0 100% /var\n/dev/vda2 40G 1G 39G 3% /\n";
        assert_eq!(mounts(human, 0), ["/var"]);
        for text in [
            "",
            "df: no such file\n",
            "Mounted on\nx 0 0 /\n",
            "Available Mounted on\n0 / /\n",
        ] {
            assert!(mounts(text, 0).is_empty(), "{text}");
        }
    }
}
