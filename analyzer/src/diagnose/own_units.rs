//! Commands for the units that run on the node: rules say `containerd` and `kubelet`, and on a node of k3s, RKE2 or a snap
//! a restart of those would miss, or hit a second containerd that the kubelet does not use.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::Facts;
use crate::facts::node::Process;
use crate::facts::runtime::ContainerdInstance;
use crate::model::{Analysis, Incident};
use crate::rules::template::is_shell_word;

/// What rules call the two units.
const CONTAINERD: &str = "containerd";
const KUBELET: &str = "kubelet";

/// The units of one node that are called otherwise: by the rules' name, without `.service`.
type Units = BTreeMap<&'static str, String>;

/// Puts the node's own units in the place of those that the rules name.
pub(super) fn name(facts: &Facts, analysis: &mut Analysis) {
    let units = units(facts);
    if units.is_empty() {
        return;
    }
    for incident in &mut analysis.incidents {
        let Some(own) = node(incident, facts).and_then(|node| units.get(&node)) else {
            continue;
        };
        let steps = incident.remedy.steps.iter_mut();
        let steps = steps.chain(&mut incident.remedy.verify);
        for command in steps.filter_map(|step| step.command.as_mut()) {
            *command = named(command, own);
        }
        for observation in &mut incident.observations {
            observation.command = named(&observation.command, own);
        }
    }
}

/// The one node that an incident is about: its own, or the only one whose processes are known.
fn node(incident: &Incident, facts: &Facts) -> Option<String> {
    let mut own = incident.subjects.iter();
    let own = own.find_map(|subject| subject.strip_prefix("node/"));
    let only = || {
        let processes = facts.table::<Process>().iter();
        let nodes: BTreeSet<&String> = processes.map(|one| &one.data.node).collect();
        let mut nodes = nodes.into_iter();
        nodes.next().filter(|_| nodes.next().is_none()).cloned()
    };
    own.map(str::to_owned).or_else(only)
}

fn units(facts: &Facts) -> BTreeMap<String, Units> {
    let mut all: BTreeMap<String, Units> = BTreeMap::new();
    let mut add = |node: &str, name: &'static str, unit: Option<&str>| {
        if let Some(unit) = unit.filter(|unit| *unit != name && is_shell_word(unit)) {
            let units = all.entry(node.to_owned()).or_default();
            units.insert(name, unit.to_owned());
        }
    };
    let instances = facts.table::<ContainerdInstance>().iter();
    for one in instances.map(|one| &one.data) {
        if one.used_by_kubelet == "yes" {
            add(&one.node, CONTAINERD, one.id.strip_suffix(".service"));
        }
    }
    for process in facts.table::<Process>().iter().map(|one| &one.data) {
        // RKE2 runs the kubelet as its child, k3s inside itself (k3s-server, k3s-agent): the unit is theirs.
        let inside = process.comm.starts_with("k3s");
        if inside || process.comm == KUBELET || process.exe.ends_with("/kubelet") {
            add(&process.node, KUBELET, unit(&process.cgroup));
        }
    }
    all
}

/// The unit of a control group, without `.service`.
fn unit(cgroup: &str) -> Option<&str> {
    let mut parts = cgroup.rsplit('/');
    parts.find_map(|part| part.strip_suffix(".service"))
}

/// A command with the node's own units where systemctl and journalctl name one.
fn named(command: &str, own: &Units) -> String {
    let mut out = String::with_capacity(command.len());
    let (mut about_units, mut after_u) = (false, false);
    for piece in command.split_inclusive([' ', ';', '|', '&', '\n', ')']) {
        let word = piece.trim_end_matches([' ', ';', '|', '&', '\n', ')']);
        let ends = !piece.ends_with(' ');
        let unit = word.strip_suffix(".service").unwrap_or(word);
        match own.get(unit).filter(|_| about_units || after_u) {
            Some(own) => {
                out.push_str(own);
                out.push_str(&piece[word.len()..]);
            }
            None => out.push_str(piece),
        }
        after_u = word == "-u" || word == "--unit";
        about_units = !ends && (about_units || word == "systemctl");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_named_where_a_command_means_units() {
        let own = Units::from([
            (CONTAINERD, "snap.k8s.containerd".to_owned()),
            (KUBELET, "snap.k8s.kubelet".to_owned()),
        ]);
        for (command, expected) in [
            (
                "systemctl restart containerd",
                "systemctl restart snap.k8s.containerd",
            ),
            (
                "systemctl stop kubelet containerd; ls /var/lib/containerd",
                "systemctl stop snap.k8s.kubelet snap.k8s.containerd; ls /var/lib/containerd",
            ),
            (
                "nvidia-ctk runtime configure --runtime=containerd && systemctl restart containerd.service",
                "nvidia-ctk runtime configure --runtime=containerd && systemctl restart snap.k8s.containerd",
            ),
            (
                "journalctl -u containerd -b | grep containerd",
                "journalctl -u snap.k8s.containerd -b | grep containerd",
            ),
            (
                "systemctl is-active containerd && kubectl get nodes",
                "systemctl is-active snap.k8s.containerd && kubectl get nodes",
            ),
            (
                "containerd config dump | head",
                "containerd config dump | head",
            ),
        ] {
            assert_eq!(named(command, &own), expected);
        }
        assert_eq!(
            unit("/system.slice/rke2-server.service"),
            Some("rke2-server")
        );
        assert_eq!(unit("/kubepods.slice/x.scope"), None);
    }
}
