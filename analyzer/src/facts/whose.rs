//! Whose a process is: its control group names the pod by its uid and the container by its id.

use super::Facts;
use super::kube::Pod;
use super::machine::DeviceHolder;
use super::node::Process;

/// The control group of a process, as the process list or the list of who holds a device has it.
pub(crate) fn group<'a>(facts: &'a Facts, node: &str, pid: u64) -> Option<&'a str> {
    let processes = facts.table::<Process>().iter().map(|one| &one.data);
    let processes = processes.map(|one| (&one.node, one.pid, one.cgroup.as_str()));
    let holders = facts.table::<DeviceHolder>().iter().map(|one| &one.data);
    let holders = holders.map(|one| (&one.node, one.pid, one.cgroup.as_str()));
    let mut all = processes.chain(holders);
    all.find(|(on, id, group)| *on == node && *id == pid && !group.is_empty())
        .map(|(_, _, group)| group)
}

/// The pod that a control group is of.
pub(crate) fn pod<'a>(facts: &'a Facts, group: &str) -> Option<&'a Pod> {
    // systemd's names have underscores where the uid has hyphens.
    let plain = group.replace('_', "-");
    let pods = facts.table::<Pod>().iter().map(|pod| &pod.data);
    pods.filter(|pod| !pod.uid.is_empty())
        .find(|pod| plain.contains(&pod.uid))
}
