//! Bundles of one cluster: which inputs are analysed as one, and which stay apart and why.
//!
//! A cause may sit on one node and its effect on another, so the bundles of a cluster's nodes are read into
//! one analysis. The cluster is known by the uid of its namespace kube-system. A bundle that was taken
//! without the API knows none; it belongs to the cluster whose node list names its node.

pub(crate) mod apart;
mod identity;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use casefile_bundle::{Keys, Summary};

pub use identity::{cluster_uid, is_bundle};

/// The bundle of one node.
#[derive(Debug, Clone)]
pub struct Member {
    /// Where it lies.
    pub input: PathBuf,
    /// Its name without the folder.
    pub name: String,
    /// The node that it was taken on.
    pub node: String,
    /// What it says of itself.
    pub summary: Summary,
    /// Paths of its entries.
    pub paths: BTreeSet<String>,
    /// The cluster's uid, if it holds the namespaces.
    pub cluster: Option<String>,
    /// Nodes that the cluster has, as far as it could list them.
    pub nodes: BTreeSet<String>,
}

/// What is analysed as one.
#[derive(Debug, Clone)]
pub enum Unit {
    /// One input of any form.
    Alone(PathBuf),
    /// Bundles of different nodes of one cluster, the newest first.
    Joined(Vec<Member>),
}

impl Unit {
    /// The first input, for messages.
    pub fn input(&self) -> &Path {
        match self {
            Unit::Alone(input) => input,
            Unit::Joined(members) => members.first().map_or(Path::new(""), |one| &one.input),
        }
    }

    /// A name for a folder of reports.
    pub fn name(&self) -> String {
        match self {
            Unit::Alone(input) if input.as_os_str() == "-" => "pasted".to_owned(),
            Unit::Alone(input) => identity::name(input).trim_end_matches(".tar.gz").to_owned(),
            Unit::Joined(members) => {
                let known = members.iter().find_map(|one| one.cluster.as_deref());
                format!("cluster-{}", short(known.unwrap_or("unknown")))
            }
        }
    }
}

/// Inputs in groups, and what a person should know about them.
#[derive(Debug, Default)]
pub struct Units {
    /// In the order of their first inputs.
    pub units: Vec<Unit>,
    /// Sentences about inputs that stay apart.
    pub notes: Vec<String>,
}

/// Puts inputs together that are bundles of one cluster. `anyway` takes those that do not say which cluster
/// they are of as one cluster; bundles of different clusters stay apart even then. `keys` open encrypted ones.
pub fn group(inputs: &[PathBuf], anyway: bool, keys: Option<&Keys>) -> Units {
    let mut units = Units::default();
    let inputs: Vec<PathBuf> = inputs
        .iter()
        .flat_map(|input| unfold(input, keys, &mut units.notes))
        .collect();
    if inputs.len() < 2 {
        units.units = inputs.into_iter().map(Unit::Alone).collect();
        return units;
    }
    let (mut members, mut order) = (Vec::new(), Vec::new());
    for input in inputs {
        order.push(input.clone());
        members.extend(identity::read(input, keys));
    }
    let mut groups: BTreeMap<String, Vec<Member>> = BTreeMap::new();
    for (cluster, member) in assign(members, anyway, &mut units.notes) {
        groups.entry(cluster).or_default().push(member);
    }
    different_clusters(&groups, &mut units.notes);
    let mut joined: Vec<Vec<Member>> = groups
        .into_values()
        .map(|group| one_a_node(group, &mut units.notes))
        .filter(|group| group.len() > 1)
        .collect();
    for input in order {
        let of = |group: &Vec<Member>| group.iter().any(|one| one.input == input);
        if let Some(at) = joined.iter().position(of) {
            units.units.push(Unit::Joined(joined.remove(at)));
        } else if !units.holds(&input) {
            units.units.push(Unit::Alone(input));
        }
    }
    units.notes.sort();
    units
}

impl Units {
    /// Whether a joined unit holds this input.
    fn holds(&self, input: &Path) -> bool {
        self.units.iter().any(|unit| match unit {
            Unit::Alone(_) => false,
            Unit::Joined(members) => members.iter().any(|one| one.input == input),
        })
    }
}

/// The bundles in a folder that holds bundles and is none itself; any other input as it is.
fn unfold(input: &Path, keys: Option<&Keys>, notes: &mut Vec<String>) -> Vec<PathBuf> {
    let (bundles, others) = identity::inside(input, keys);
    let archives = bundles.iter().any(|path| path.is_file());
    if bundles.len() < 2 && !archives {
        return vec![input.to_owned()];
    }
    if others > 0 {
        notes.push(format!(
            "{} holds {} and {others} other files, which are not read; name them to have them read",
            input.display(),
            crate::words::count(bundles.len() as u64, "bundle"),
        ));
    }
    bundles
}

/// The cluster of each bundle: its own word, else that of the one cluster whose nodes it is among.
fn assign(members: Vec<Member>, anyway: bool, notes: &mut Vec<String>) -> Vec<(String, Member)> {
    let mut nodes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for member in &members {
        if let Some(cluster) = &member.cluster {
            let known = nodes.entry(cluster.clone()).or_default();
            known.extend(member.nodes.iter().cloned());
        }
    }
    let mut assigned = Vec::new();
    for member in members {
        let having: Vec<&String> = nodes
            .iter()
            .filter(|(_, nodes)| nodes.contains(&member.node))
            .map(|(cluster, _)| cluster)
            .collect();
        let only = |names: &[&String]| match names {
            [one] => Some((*one).clone()),
            _ => None,
        };
        let all: Vec<&String> = nodes.keys().collect();
        let cluster = member
            .cluster
            .clone()
            .or_else(|| only(&having))
            .or_else(|| {
                let alone = anyway && all.len() < 2;
                alone.then(|| only(&all).unwrap_or_default())
            });
        match cluster {
            Some(cluster) => assigned.push((cluster, member)),
            None => notes.push(format!(
                "{} does not say which cluster it is of (it holds no namespaces), so it is analysed by itself; \
                 --join takes it as one with the others",
                member.name
            )),
        }
    }
    assigned
}

fn different_clusters(groups: &BTreeMap<String, Vec<Member>>, notes: &mut Vec<String>) {
    if groups.len() < 2 {
        return;
    }
    let told = groups.iter().map(|(uid, members)| {
        let mut names: Vec<&str> = members.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        format!("{} ({})", names.join(", "), short(uid))
    });
    let told: Vec<String> = told.collect();
    notes.push(format!(
        "the bundles are of {} different clusters and are analysed apart: {}",
        groups.len(),
        told.join("; ")
    ));
}

/// Newest first; of two bundles of one node the newer one, with a sentence about the other.
fn one_a_node(mut group: Vec<Member>, notes: &mut Vec<String>) -> Vec<Member> {
    group.sort_by(|a, b| {
        let newest = identity::taken(&b.summary).cmp(&identity::taken(&a.summary));
        newest.then_with(|| (&a.node, &a.name).cmp(&(&b.node, &b.name)))
    });
    let mut kept: Vec<Member> = Vec::new();
    for member in group {
        match kept.iter().find(|one| one.node == member.node) {
            None => kept.push(member),
            Some(newer) if newer.input == member.input => {}
            Some(newer) => notes.push(format!(
                "{} and {} are both of node {}; the older one is analysed by itself. To see what changed between \
                 them: casefile-analyzer diff {} {}",
                member.name,
                newer.name,
                member.node,
                member.input.display(),
                newer.input.display()
            )),
        }
    }
    kept
}

/// The first part of a uid, which suffices to tell clusters apart.
fn short(uid: &str) -> &str {
    uid.split('-').next().unwrap_or(uid)
}
