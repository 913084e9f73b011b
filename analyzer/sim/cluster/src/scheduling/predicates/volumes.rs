//! Claims and volumes: bound or not, and from which nodes they can be reached.

use super::{Predicate, Reason, disks, limits, words};
use crate::scheduling::api::{Claim, Node, Pod, StorageClass, TopologyTerm, Volume};
use crate::scheduling::cluster::{Cluster, Release};
use crate::scheduling::selector::{matches, node_matches};

const ZONES: [&str; 4] = [
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
];

/// The claims of a pod, found.
#[derive(Default)]
pub(super) struct State<'a> {
    bound: Vec<(&'a Claim, Option<&'a Volume>)>,
    delayed: Vec<(&'a Claim, &'a StorageClass)>,
    rejected: Option<Reason>,
    /// Pods that hold a claim which only one pod may use.
    held: Vec<(&'a Pod, Reason)>,
    /// What each claim attaches by a CSI driver: driver and volume.
    attaches: Vec<(String, String)>,
    pod: Option<&'a Pod>,
    /// Pods that count as gone.
    pub(super) gone: Vec<&'a Pod>,
    volumes_known: bool,
}

impl<'a> State<'a> {
    pub(super) fn of(pod: &'a Pod, cluster: &Cluster<'a>, open: &mut Vec<String>) -> Self {
        let mut state = Self {
            volumes_known: cluster.inputs.volumes.is_some(),
            pod: Some(pod),
            ..Self::default()
        };
        let names: Vec<String> = pod.claims().collect();
        if names.is_empty() {
            return state;
        }
        let Some(claims) = &cluster.inputs.claims else {
            open.push("its PersistentVolumeClaims were not collected".into());
            return state;
        };
        let mut immediate = None;
        for name in &names {
            let own = |claim: &&&Claim| {
                claim.metadata.namespace == pod.metadata.namespace && claim.metadata.name == *name
            };
            let Some(claim) = claims.iter().find(own) else {
                state.reject(not_found(pod, name));
                continue;
            };
            if let Some(reason) = lost(claim) {
                state.reject(reason);
            }
            state.held.extend(held(pod, claim, cluster));
            if !claim.spec.volume_name.is_empty() {
                state.bound.push((claim, volume(claim, cluster)));
            } else if let Some(class) = delaying(claim, cluster, open) {
                state.delayed.push((claim, class));
            } else {
                immediate.get_or_insert_with(|| unbound(claim));
            }
        }
        if let Some(reason) = immediate {
            state.reject(reason);
        }
        state.look_volumes_up(cluster.release);
        state.attaches = limits::attached(pod, cluster);
        if !state.attaches.is_empty() && cluster.inputs.csi_nodes.is_none() {
            open.push("how many volumes its nodes attach was not collected".into());
        }
        if !state.bound.is_empty() && !state.volumes_known {
            open.push("its PersistentVolumes were not collected".into());
        }
        state
    }

    fn reject(&mut self, reason: Reason) {
        self.rejected.get_or_insert(reason);
    }

    /// Claims that are not bound come before this in the scheduler.
    fn look_volumes_up(&mut self, release: Release) {
        if !self.volumes_known {
            return;
        }
        let gone = self.bound.iter().find(|(_, volume)| volume.is_none());
        let Some(claim) = gone.map(|(claim, _)| *claim) else {
            return;
        };
        if let Some(says) = words::volume_not_found(release, &claim.spec.volume_name) {
            self.reject(Reason::new(Predicate::Volume, says, volume_gone(claim)));
        }
    }

    pub(super) fn rejected(&self) -> Option<Reason> {
        self.rejected.clone()
    }

    pub(super) fn filter(&self, node: &Node, cluster: &Cluster<'_>) -> Option<Reason> {
        let gone = |pod: &Pod| self.gone.iter().any(|other| std::ptr::eq(*other, pod));
        let pods = cluster.load(&node.metadata.name).pods.iter().copied();
        let stay: Vec<&Pod> = pods.filter(|pod| !gone(pod)).collect();
        if let Some(reason) = self.pod.and_then(|pod| disks::conflict(pod, &stay)) {
            return Some(reason);
        }
        if let Some((_, reason)) = self.held.iter().find(|(holder, _)| !gone(holder)) {
            return Some(reason.clone());
        }
        if let Some(reason) = limits::exceeded(&self.attaches, node, &stay, cluster) {
            return Some(reason);
        }
        let bound = self.volumes_known.then(|| {
            let mut claims = self.bound.iter();
            claims.find_map(|(claim, volume)| unreachable(claim, *volume, node, cluster.release))
        });
        bound
            .flatten()
            .or_else(|| {
                let mut claims = self.delayed.iter();
                claims.find_map(|(claim, class)| no_volume(claim, class, node, cluster))
            })
            .or_else(|| {
                let mut volumes = self.bound.iter().filter_map(|(_, volume)| *volume);
                volumes.find_map(|volume| other_zone(volume, node))
            })
    }
}

fn not_found(pod: &Pod, name: &str) -> Reason {
    let made_for_pod =
        pod.spec.volumes.iter().any(|volume| {
            volume.ephemeral && format!("{}-{}", pod.metadata.name, volume.name) == name
        });
    let says = if made_for_pod {
        format!(
            "waiting for ephemeral volume controller to create the persistentvolumeclaim \"{name}\""
        )
    } else {
        format!("persistentvolumeclaim \"{name}\" not found")
    };
    let detail = format!("the claim {}/{name} does not exist", pod.metadata.namespace);
    Reason::new(Predicate::Volume, says, detail)
}

fn lost(claim: &Claim) -> Option<Reason> {
    let name = &claim.metadata.name;
    if claim.status.phase == "Lost" {
        let volume = &claim.spec.volume_name;
        let says = format!(
            "persistentvolumeclaim \"{name}\" bound to non-existent persistentvolume \"{volume}\""
        );
        let detail = format!("the claim {name} has lost its volume {volume}");
        return Some(Reason::new(Predicate::Volume, says, detail));
    }
    claim.metadata.deletion_timestamp.as_ref().map(|since| {
        let says = format!("persistentvolumeclaim \"{name}\" is being deleted");
        let detail = format!("the claim {name} is being deleted since {since}");
        Reason::new(Predicate::Volume, says, detail)
    })
}

fn unbound(claim: &Claim) -> Reason {
    let class = match claim.spec.storage_class_name.as_deref() {
        None | Some("") => "without a storage class".to_owned(),
        Some(class) => format!("of storage class {class}"),
    };
    let detail = format!(
        "the claim {} {class} is not bound to a volume",
        claim.metadata.name
    );
    let says = "pod has unbound immediate PersistentVolumeClaims";
    Reason::new(Predicate::Volume, says, detail)
}

/// A claim that only one pod may use, used by other pods.
fn held<'a>(pod: &Pod, claim: &Claim, cluster: &Cluster<'a>) -> Vec<(&'a Pod, Reason)> {
    let mut modes = claim.spec.access_modes.iter();
    if !modes.any(|mode| mode == "ReadWriteOncePod") {
        return Vec::new();
    }
    let holders = cluster.placed().map(|(other, _)| other).filter(|other| {
        other.metadata.namespace == pod.metadata.namespace
            && other.claims().any(|name| name == claim.metadata.name)
    });
    holders
        .map(|other| (other, held_by(claim, other, cluster.release)))
        .collect()
}

fn held_by(claim: &Claim, other: &Pod, release: Release) -> Reason {
    let says = words::claim_in_use(release);
    let detail = format!(
        "the claim {} is used by {}",
        claim.metadata.name,
        other.id()
    );
    Reason::new(Predicate::Volume, says, detail).resolvable()
}

fn volume<'a>(claim: &Claim, cluster: &Cluster<'a>) -> Option<&'a Volume> {
    let volumes = cluster.inputs.volumes.as_ref()?;
    let named = |volume: &&&Volume| volume.metadata.name == claim.spec.volume_name;
    volumes.iter().find(named).copied()
}

/// The class of a claim that is bound only when its pod is scheduled.
fn delaying<'a>(
    claim: &Claim,
    cluster: &Cluster<'a>,
    open: &mut Vec<String>,
) -> Option<&'a StorageClass> {
    let name = claim.spec.storage_class_name.as_deref()?;
    let Some(classes) = &cluster.inputs.classes else {
        open.push(format!("storage class {name} was not collected"));
        return None;
    };
    let class = classes.iter().find(|class| class.metadata.name == name)?;
    if class.volume_binding_mode != "WaitForFirstConsumer" {
        return None;
    }
    if provisions(class) {
        open.push(format!(
            "whether {} has room for the claim {} on a node is not evaluated",
            class.provisioner, claim.metadata.name
        ));
    }
    Some(class)
}

fn provisions(class: &StorageClass) -> bool {
    !matches!(
        class.provisioner.as_str(),
        "" | "kubernetes.io/no-provisioner"
    )
}

fn unreachable(
    claim: &Claim,
    volume: Option<&Volume>,
    node: &Node,
    release: Release,
) -> Option<Reason> {
    let name = &claim.metadata.name;
    let Some(volume) = volume else {
        let says = words::volume_gone(release);
        return Some(Reason::new(Predicate::Volume, says, volume_gone(claim)));
    };
    let required = volume.spec.node_affinity.required.as_ref()?;
    (!node_matches(required, node)).then(|| {
        let says = words::volume_affinity(release);
        let detail = format!(
            "the volume {} of the claim {name} can only be used on nodes with {}",
            volume.metadata.name,
            affinity_words(required)
        );
        Reason::new(Predicate::Volume, says, detail)
    })
}

fn volume_gone(claim: &Claim) -> String {
    format!(
        "the volume {} of the claim {} does not exist",
        claim.spec.volume_name, claim.metadata.name
    )
}

fn affinity_words(selector: &crate::scheduling::api::NodeSelector) -> String {
    let terms = selector.node_selector_terms.iter().map(|term| {
        let all = term.match_expressions.iter().chain(&term.match_fields);
        let words: Vec<String> = all
            .map(crate::scheduling::selector::requirement_words)
            .collect();
        words.join(" and ")
    });
    terms.collect::<Vec<_>>().join(", or ")
}

fn no_volume(
    claim: &Claim,
    class: &StorageClass,
    node: &Node,
    cluster: &Cluster<'_>,
) -> Option<Reason> {
    let volumes = cluster.inputs.volumes.iter().flatten();
    let free = volumes.copied().any(|volume| usable(volume, claim, node));
    let made = provisions(class)
        && (class.allowed_topologies.is_empty()
            || class
                .allowed_topologies
                .iter()
                .any(|term| allows(term, node)));
    (!free && !made).then(|| {
        let why = if provisions(class) {
            "may not make volumes for this node"
        } else {
            "makes no volumes, and no existing one fits"
        };
        let detail = format!(
            "storage class {} of the claim {} {why}",
            class.metadata.name, claim.metadata.name
        );
        let says = "node(s) didn't find available persistent volumes to bind";
        Reason::new(Predicate::Volume, says, detail)
    })
}

fn allows(term: &TopologyTerm, node: &Node) -> bool {
    term.match_label_expressions.iter().all(|expression| {
        let value = node.metadata.labels.get(&expression.key);
        value.is_some_and(|value| expression.values.contains(value))
    })
}

fn usable(volume: &Volume, claim: &Claim, node: &Node) -> bool {
    let spec = &volume.spec;
    // A volume that no controller has looked at yet is `Pending` and not taken; without a phase nothing is known.
    let free = match &spec.claim_ref {
        None => matches!(volume.status.phase.as_str(), "Available" | ""),
        Some(to) => to.name == claim.metadata.name && to.namespace == claim.metadata.namespace,
    };
    let size = claim.spec.resources.requests.of("storage");
    let selected = claim.spec.selector.is_none()
        || matches(claim.spec.selector.as_ref(), &volume.metadata.labels);
    let stays = volume.metadata.deletion_timestamp.is_none();
    free && stays
        && selected
        && claim.spec.storage_class_name.as_deref() == Some(spec.storage_class_name.as_str())
        && spec.capacity.of("storage") >= size
        && claim
            .spec
            .access_modes
            .iter()
            .all(|mode| spec.access_modes.contains(mode))
        && spec
            .node_affinity
            .required
            .as_ref()
            .is_none_or(|term| node_matches(term, node))
}

/// A volume whose labels name another zone or region than the node's.
fn other_zone(volume: &Volume, node: &Node) -> Option<Reason> {
    let labels = &node.metadata.labels;
    if !ZONES.iter().any(|key| labels.contains_key(*key)) {
        return None;
    }
    ZONES.iter().find_map(|key| {
        let wanted = volume.metadata.labels.get(*key)?;
        let own = labels.get(*key);
        let same = own.is_some_and(|own| wanted.split("__").any(|zone| zone == own));
        (!same).then(|| {
            let here = own.map_or("no such label".to_owned(), |own| format!("{key}={own}"));
            let detail = format!(
                "the volume {} lies in {key}={wanted}, the node has {here}",
                volume.metadata.name
            );
            Reason::new(
                Predicate::Volume,
                "node(s) had no available volume zone",
                detail,
            )
        })
    })
}
