//! Docker and CRI-O: which of their runtimes a RuntimeClass can name, their cgroup driver, and what keeps them from
//! starting; and the device specifications of the node.

use std::collections::BTreeSet;

use super::containerd::cgroup::Setting;
use super::containerd::checks::word;
use super::containerd::programs::{self, Programs, Whose};
use super::containerd::{Resolved as Node, resolve_node, tree};
use super::{Deriver, Known};
use crate::containerd::instances::InstanceKind;
use crate::containerd::{Answer, CapturedPath, CapturedTree, FileLine, KubeletUse, MapTree};
use crate::facts::kube::{Node as KubeNode, RuntimeClass};
use crate::facts::node::Process;
use crate::facts::runtime::HandlerCheck;
use crate::facts::runtime_parts::{CdiDevice, CdiFault, CgroupDriver, RuntimeFault};
use crate::facts::{AnyFact, Fact};
use crate::model::Place;
use crate::runtimes::cgroups;
use crate::runtimes::{Resolved, cdi, crio, docker};

/// Joins processes, host files, Node objects and RuntimeClasses.
pub(super) static DERIVER: Deriver = Deriver {
    id: "runtimes",
    derive,
};

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    for node in known.nodes() {
        let tree = tree::captured(known, &node);
        let resolved = resolve_node(known, &node, &tree);
        let programs = Programs::of(known, &node);
        for runtime in [
            docker(known, &node, &tree),
            crio(known, &node, &tree, &programs),
        ]
        .into_iter()
        .flatten()
        {
            let used = used(known, &resolved, runtime.id);
            facts.extend(runtime.facts(known, &resolved, &programs, used));
        }
        facts.extend(specifications(known, &resolved, &tree, &programs));
    }
    facts
}

/// A runtime other than containerd.
struct Runtime {
    id: &'static str,
    name: &'static str,
    resolved: Resolved,
}

/// Whether the kubelet uses it.
fn used(known: &Known<'_>, node: &Node, id: &str) -> &'static str {
    let nodes = known.facts.table::<KubeNode>();
    let own = nodes.iter().find(|one| one.data.name == node.node);
    if let Some(runtime) = own
        .map(|one| one.data.runtime.as_str())
        .filter(|text| !text.is_empty())
    {
        let scheme = if id == "crio" {
            "cri-o://"
        } else {
            "docker://"
        };
        return if runtime.starts_with(scheme) {
            "yes"
        } else {
            "no"
        };
    }
    match &node.kubelet {
        KubeletUse::OtherRuntime { endpoint, .. } if endpoint.contains(id) => "yes",
        KubeletUse::Unknown { .. } => "unknown",
        _ => "no",
    }
}

fn docker(known: &Known<'_>, node: &str, tree: &MapTree) -> Option<Runtime> {
    let mut processes = known.facts.table::<Process>().iter();
    let daemon = processes.find(|one| one.data.node == node && one.data.comm == "dockerd");
    let evidence = daemon.map(|one| crate::containerd::Evidence {
        path: one.place.path.to_string(),
        line: one.place.line.unwrap_or(0),
        text: one.text.to_string(),
    });
    let process = daemon
        .map(|one| one.data.cmdline.as_slice())
        .zip(evidence.as_ref());
    let cgroup_v2 = match tree.read("/sys/fs/cgroup/cgroup.controllers") {
        CapturedPath::Content { .. } => Some(true),
        CapturedPath::Absent => Some(false),
        CapturedPath::NotCaptured => None,
    };
    let resolved = docker::resolve(docker::Docker {
        tree,
        process,
        cgroup_v2,
        release: docker_release(known, node),
    })?;
    Some(Runtime {
        id: "docker",
        name: "Docker",
        resolved,
    })
}

/// The release that the Node object reports, where Docker is the kubelet's runtime.
fn docker_release(known: &Known<'_>, node: &str) -> Option<docker::Release> {
    let nodes = known.facts.table::<KubeNode>();
    let own = nodes.iter().find(|one| one.data.name == node)?;
    docker::Release::of(own.data.runtime.strip_prefix("docker://")?)
}

fn crio(known: &Known<'_>, node: &str, tree: &MapTree, programs: &Programs<'_>) -> Option<Runtime> {
    let nodes = known.facts.table::<KubeNode>();
    let own = nodes.iter().find(|one| one.data.name == node);
    let version = own.and_then(|one| one.data.runtime.strip_prefix("cri-o://"));
    let mut resolved = crio::resolve(tree, version)?;
    crio::drop_missing(&mut resolved, &|program| {
        programs.known(program).0 == Answer::No
    });
    Some(Runtime {
        id: "crio",
        name: "CRI-O",
        resolved,
    })
}

impl Runtime {
    fn facts(
        &self,
        known: &Known<'_>,
        node: &Node,
        programs: &Programs<'_>,
        used: &str,
    ) -> Vec<AnyFact> {
        let mut facts = vec![self.cgroup(known, node, &node.cgroups, used)];
        facts.extend(self.checks(known, node, used));
        for handler in self
            .resolved
            .handlers
            .iter()
            .filter(|one| !one.program.is_empty())
        {
            let whose = Whose {
                node: &node.node,
                instance: self.id,
                used,
                handler: &handler.name,
            };
            facts.extend(programs::fact(programs, &whose, &handler.program));
        }
        for fault in &self.resolved.faults {
            let data = RuntimeFault {
                node: node.node.clone(),
                runtime: self.id.to_owned(),
                used_by_kubelet: used.to_owned(),
                fault: fault.kind.to_owned(),
                detail: fault.detail.clone(),
            };
            facts.push(self.fact(known, data, fault.place.as_ref()));
        }
        facts
    }

    /// A fact at a line, or at the main file.
    fn fact<T: crate::facts::FactType>(
        &self,
        known: &Known<'_>,
        data: T,
        line: Option<&FileLine>,
    ) -> AnyFact {
        let (place, text) = match line {
            Some(line) => super::containerd::of_place(known, line),
            None => (self.main_file(known), String::new()),
        };
        Fact {
            data,
            place,
            text: text.into(),
            at: None,
        }
        .into()
    }

    fn main_file(&self, known: &Known<'_>) -> Place {
        let read = self.resolved.files.first();
        let end = read.map(|file| format!("/rootfs{file}"));
        let path = end.and_then(|end| known.paths.iter().find(|path| path.ends_with(&end)));
        Place {
            path: path.cloned().unwrap_or_default().into(),
            line: None,
        }
    }

    fn checks(&self, known: &Known<'_>, node: &Node, used: &str) -> Vec<AnyFact> {
        let classes = known.facts.table::<RuntimeClass>().iter();
        let wanted: BTreeSet<&str> = classes
            .map(|class| class.data.handler.as_str())
            .filter(|handler| !handler.is_empty())
            .collect();
        let checks = wanted.into_iter().map(|handler| {
            let check = self.resolved.check(self.name, handler);
            let data = HandlerCheck {
                node: node.node.clone(),
                instance: self.id.to_owned(),
                used_by_kubelet: used.to_owned(),
                handler: handler.to_owned(),
                resolves: word(check.resolves).to_owned(),
                because: check.because,
            };
            self.fact(known, data, check.place.as_ref())
        });
        checks.collect()
    }

    fn cgroup(&self, known: &Known<'_>, node: &Node, setting: &Setting, used: &str) -> AnyFact {
        let driver = self.resolved.cgroup_driver.as_str();
        // CRI-O answers a kubelet that asks; Docker cannot.
        let says = Some(driver).filter(|driver| self.id == "crio" && !driver.is_empty());
        let kubelet = cgroups::effective(setting.kubelet(says));
        let data = CgroupDriver {
            node: node.node.clone(),
            instance: self.id.to_owned(),
            used_by_kubelet: used.to_owned(),
            handler: String::new(),
            default: true,
            runtime: driver.to_owned(),
            matches: word(cgroups::matches(&kubelet.driver, driver)).to_owned(),
            kubelet: kubelet.driver,
            kubelet_from: kubelet.from.to_owned(),
        };
        self.fact(known, data, self.resolved.cgroup_place.as_ref())
    }
}

/// Folders that runtimes read specifications from where nothing else is set.
const CDI_DIRS: [&str; 3] = ["/etc/cdi", "/var/run/cdi", "/run/cdi"];

fn specifications(
    known: &Known<'_>,
    node: &Node,
    tree: &MapTree,
    programs: &Programs<'_>,
) -> Vec<AnyFact> {
    let mut instances = node.instances.iter();
    let kubelets =
        instances.find(|one| node.used(&one.id) == "yes" && one.kind != InstanceKind::Docker);
    let mut folders: Vec<String> = kubelets
        .and_then(|instance| node.of(instance))
        .map_or_else(Vec::new, |(_, cri)| cri.cdi_spec_dirs.value.clone());
    folders.extend(CDI_DIRS.map(str::to_owned));
    let mut specs = cdi::read(tree, &folders);
    cdi::check_hooks(&mut specs, &|program| programs.known(program));
    let place = |at: &cdi::At| FileLine {
        host_path: at.host_path.clone(),
        bundle_path: at.bundle_path.clone(),
        line: at.line,
    };
    let devices = specs.devices.iter().map(|device| {
        let data = CdiDevice {
            node: node.node.clone(),
            device: device.name.clone(),
            spec: device.at.host_path.clone(),
            version: device.version.clone(),
        };
        at_line(known, data, &place(&device.at))
    });
    let faults = specs.faults.iter().map(|fault| {
        let data = CdiFault {
            node: node.node.clone(),
            spec: fault.at.host_path.clone(),
            fault: fault.kind.to_owned(),
            detail: fault.detail.clone(),
        };
        at_line(known, data, &place(&fault.at))
    });
    devices.chain(faults).collect()
}

fn at_line<T: crate::facts::FactType>(known: &Known<'_>, data: T, line: &FileLine) -> AnyFact {
    let (place, text) = super::containerd::of_place(known, line);
    Fact {
        data,
        place,
        text: text.into(),
        at: None,
    }
    .into()
}
