//! Where each entry lies in a bundle: the one table of paths, for both programs (`FORMAT.md`, section 1).
//!
//! The collector writes by it, the analyzer looks things up and recognises them by it. Where a name stands, [`ANY`] stands
//! for every one, so that the same table gives the globs by which entries are recognised.

use std::fmt;

/// Any name, where an entry is a pattern.
pub const ANY: &str = "*";

/// Folder of Kubernetes objects.
pub const OBJECTS: &str = "cluster-resources/";
/// Folder of pod logs.
pub const POD_LOGS: &str = "cluster-resources/pods/logs/";
/// Folder of Kubernetes events.
pub const EVENTS: &str = "cluster-resources/events/";
/// Folder of what the API server says of itself.
pub const CLUSTER: &str = "cluster-info/";
/// Folder of helm releases.
pub const HELM: &str = "helm/";
/// Folder of the nodes.
pub const NODES: &str = "nodes/";

/// Plural names of built-in kinds that people and operators set, so that who changed one counts: of pods and of what
/// controllers keep writing there are thousands, and their last writer is always the same. Custom resources count as well.
pub const SET_BY_PEOPLE: [&str; 6] = [
    "configmaps",
    "daemonsets",
    "deployments",
    "networkpolicies",
    "nodes",
    "runtimeclasses",
];

/// An entry of a bundle. Its `Display` is its path.
///
/// Names are taken as they are; a writer makes the path safe with [`crate::BundlePath::from_parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry<'a> {
    /// Whatever lies below `cluster-resources/` at this path.
    Objects(&'a str),
    /// Another path: what is said of the bundle itself, or an entry of another tool's capture that no path of ours fits.
    Other(&'a str),
    /// Everything below one of the folders above.
    Below(&'a str),
    /// The objects of a kind: by its plural name, all of a kind without namespaces.
    List(&'a str),
    /// The objects of a kind in one namespace: plural name, namespace.
    ListIn(&'a str, &'a str),
    /// The objects of a custom resource, `<plural>.<group>`.
    Custom(&'a str),
    /// The objects of a custom resource in one namespace: `<plural>.<group>`, namespace.
    CustomIn(&'a str, &'a str),
    /// Whatever lies below the folder of pod logs at this path: `<namespace>/<pod>/<container>.log`.
    PodLog(&'a str),
    /// What the API server says of itself, by file name.
    Cluster(&'a str),
    /// A file of a helm release: namespace, release, file name.
    Helm(&'a str, &'a str, &'a str),
    /// Whatever lies below a node's folder at this path.
    Node(&'a str, &'a str),
    /// A copy of a node's file: node, path on the node with or without its leading slash.
    Rootfs(&'a str, &'a str),
    /// What a command wrote to its standard output: node, name of the command.
    Printed(&'a str, &'a str),
    /// Another file of a command: node, file name.
    Command(&'a str, &'a str),
    /// Journal entries: node, file name.
    Journal(&'a str, &'a str),
    /// What was worked out from a node's files: node, file name.
    Host(&'a str, &'a str),
}

impl Entry<'_> {
    /// The path inside a bundle.
    pub fn path(self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Objects(rest) => write!(f, "{OBJECTS}{rest}"),
            Self::Other(path) => f.write_str(path),
            Self::Below(folder) => write!(f, "{folder}**"),
            Self::List(plural) => write!(f, "{OBJECTS}{plural}.json"),
            Self::ListIn(plural, namespace) => write!(f, "{OBJECTS}{plural}/{namespace}.json"),
            Self::Custom(name) => write!(f, "{OBJECTS}custom-resources/{name}.json"),
            Self::CustomIn(name, namespace) => {
                write!(f, "{OBJECTS}custom-resources/{name}/{namespace}.json")
            }
            Self::PodLog(rest) => write!(f, "{POD_LOGS}{rest}"),
            Self::Cluster(file) => write!(f, "{CLUSTER}{file}"),
            Self::Helm(namespace, release, file) => write!(f, "{HELM}{namespace}/{release}/{file}"),
            Self::Node(node, rest) => write!(f, "{NODES}{node}/{rest}"),
            Self::Rootfs(node, path) => {
                let path = path.strip_prefix('/').unwrap_or(path);
                write!(f, "{NODES}{node}/rootfs/{path}")
            }
            Self::Printed(node, name) => write!(f, "{NODES}{node}/commands/{name}.out"),
            Self::Command(node, file) => write!(f, "{NODES}{node}/commands/{file}"),
            Self::Journal(node, file) => write!(f, "{NODES}{node}/journal/{file}"),
            Self::Host(node, file) => write!(f, "{NODES}{node}/host/{file}"),
        }
    }
}

/// The node whose folder a path lies in, and the path below it.
pub fn on_node(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix(NODES)?.split_once('/')
}

/// The path on the node of which an entry is a copy, without its leading slash.
pub fn copied(path: &str) -> Option<(&str, &str)> {
    let (node, rest) = on_node(path)?;
    Some((node, rest.strip_prefix("rootfs/")?))
}

/// Namespace, pod and file name of a pod's log.
pub fn pod_log(path: &str) -> Option<(&str, &str, &str)> {
    let mut parts = path.strip_prefix(POD_LOGS)?.splitn(3, '/');
    Some((parts.next()?, parts.next()?, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The format is a promise to people who write their own reader, so it is checked letter by letter.
    #[test]
    fn each_entry_lies_where_the_format_says() {
        let paths = [
            (Entry::List("nodes"), "cluster-resources/nodes.json"),
            (Entry::ListIn("pods", "a"), "cluster-resources/pods/a.json"),
            (
                Entry::Custom("clusterpolicies.nvidia.com"),
                "cluster-resources/custom-resources/clusterpolicies.nvidia.com.json",
            ),
            (
                Entry::CustomIn("backups.velero.io", "a"),
                "cluster-resources/custom-resources/backups.velero.io/a.json",
            ),
            (
                Entry::Objects("events/a.json"),
                "cluster-resources/events/a.json",
            ),
            (
                Entry::PodLog("a/b/c.log"),
                "cluster-resources/pods/logs/a/b/c.log",
            ),
            (Entry::Cluster("access.jsonl"), "cluster-info/access.jsonl"),
            (
                Entry::Helm("a", "b", "history.json"),
                "helm/a/b/history.json",
            ),
            (Entry::Node("n", "cri.json"), "nodes/n/cri.json"),
            (Entry::Rootfs("n", "/etc/hosts"), "nodes/n/rootfs/etc/hosts"),
            (Entry::Rootfs(ANY, "etc/**"), "nodes/*/rootfs/etc/**"),
            (Entry::Printed("n", "uname"), "nodes/n/commands/uname.out"),
            (
                Entry::Command("n", "nvml.json"),
                "nodes/n/commands/nvml.json",
            ),
            (
                Entry::Journal("n", "kernel.json"),
                "nodes/n/journal/kernel.json",
            ),
            (Entry::Host("n", "pci.json"), "nodes/n/host/pci.json"),
        ];
        for (entry, path) in paths {
            assert_eq!(entry.path(), path);
        }
    }

    #[test]
    fn paths_are_taken_apart_the_same_way() {
        assert_eq!(copied("nodes/n/rootfs/etc/hosts"), Some(("n", "etc/hosts")));
        assert_eq!(copied("nodes/n/journal/kernel.json"), None);
        assert_eq!(on_node("nodes/n/cri.json"), Some(("n", "cri.json")));
        assert_eq!(on_node("helm/a/b/history.json"), None);
        let log = Entry::PodLog("a/b/c.log").path();
        assert_eq!(pod_log(&log), Some(("a", "b", "c.log")));
    }
}
