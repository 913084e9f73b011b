//! Layouts: what other tools' captures look like, and what each of their files would be called in ours.
//!
//! A [`Layout`] recognises a capture in the [`Survey`] of an input, says whose it is, and maps each entry to our own layout's path,
//! so that parsers, derivers and rules do not know the difference; places lead back to the file that the capture holds. To add
//! one, write a file with a [`Layout`] and name it in the list below. What none recognises is read by content.

mod dump_internal;
mod kubernetes_dirs;
mod months;
mod node_files;
mod outer;
pub mod survey;
mod taken;
#[cfg(test)]
mod tests;
mod yaml_json;
mod yaml_list;
mod yaml_plain;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::MachineClock;

pub use survey::{Entry, Survey};
pub(crate) use yaml_list::{
    items as yaml_items, items_as_json as yaml_items_as_json, parse as yaml_value,
};

/// Makes the modules of the layouts and the lists of them.
macro_rules! layouts {
    (captures: $($capture:ident)*; files: $($file:ident)*;) => {
        $(mod $capture;)*
        $(mod $file;)*

        /// All layouts; where two recognise the same root the first has it.
        pub static LAYOUTS: &[&Layout] = &[$(&$capture::LAYOUT,)* $(&$file::LAYOUT,)*];
        /// Those of captures.
        static CAPTURES: &[&Layout] = &[$(&$capture::LAYOUT,)*];
        /// Those of single files and folders, which say less of a file than the capture around them does.
        static FILES: &[&Layout] = &[$(&$file::LAYOUT,)*];
    };
}

layouts! {
    captures:
        bug_report
        minikube
        dump_text
        sos
        supportconfig
        insights
        cilium_sysdump
        cilium_bugtool
        calico
        antrea
        support_bundle_kit
        must_gather
        kind_export
        sonobuoy
        gpu_operator
        troubleshoot
        rancher
        inspection
        eks
        aks
        gke
        cluster_dump
        cloud_init_logs
    ;
    files:
        pod_logs
        docker_containers
        object_lists
        nvidia_installer
        cloud_init
        dcgm
        gpud
        journal_json
        host_log
        kernel_log
    ;
}

/// What another tool's capture looks like.
pub struct Layout {
    /// Id, as `seen.format` of the JSON gives it.
    pub id: &'static str,
    /// The tool, for people.
    pub title: &'static str,
    /// Finds the captures: what the paths of each start with, or the whole path of a file that is one by itself.
    pub recognise: fn(&Survey) -> Vec<String>,
    /// Tells whose a capture is.
    pub identity: fn(&Survey, root: &str) -> Identity,
    /// Tells what an entry is; its path is given below the root.
    pub map: fn(&Survey, &Capture, path: &str) -> Target,
}

/// A container's log, which its path tells in whatever capture it lies.
fn of_container(survey: &Survey, capture: &Capture, path: &str) -> Option<Target> {
    let of_pod = pod_logs::target(survey, path);
    of_pod.or_else(|| docker_containers::target(survey, capture, path))
}

/// Whose a capture is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The node, of a capture of one.
    pub node: Option<String>,
    /// Version of the tool, where the capture says it.
    pub version: Option<String>,
    /// Version of Kubernetes, where a file says nothing else.
    pub kubernetes: Option<String>,
    /// The kernel that runs, where a file says nothing else.
    pub kernel: Option<String>,
    /// The namespace of pods whose files do not name it.
    pub namespace: Option<String>,
    /// When it was taken, and by what clock, where its head says so.
    pub taken: Option<MachineClock>,
}

/// A capture that was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Id of the layout.
    pub format: &'static str,
    /// The tool, for people.
    pub title: &'static str,
    /// What its paths start with; empty where it is the whole input.
    pub root: String,
    /// Whose it is.
    pub identity: Identity,
}

impl Capture {
    /// Below `nodes/<node>/`, for a capture of one node.
    fn of_node(&self, path: &str) -> Target {
        let node = self.identity.node.as_deref();
        Target::As(format!("nodes/{}/{path}", node.unwrap_or(UNNAMED)))
    }
}

/// What a node is called that its capture does not name.
const UNNAMED: &str = crate::lines::UNNAMED_NODE;

/// A stretch of an entry that is an entry of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Our path.
    pub path: String,
    /// Line of the entry at which it starts, from 1.
    pub line: u32,
    /// Its text.
    pub text: String,
}

/// The list that an object of the cluster is a part of which a capture holds as a file of its own:
/// `cluster-resources/nodes/n1.json` is one of `cluster-resources/nodes.json`.
pub(crate) fn list_of(path: &str) -> Option<String> {
    let (plural, _) = path.strip_prefix("cluster-resources/")?.split_once('/')?;
    let list = kubernetes_dirs::everywhere(plural);
    (list == kubernetes_dirs::list(plural, None)).then_some(list)
}

/// What an entry is.
#[derive(Clone)]
pub enum Target {
    /// The same as ours, by this path.
    As(String),
    /// An object or a list in YAML that we hold as JSON by this path.
    Yaml(String),
    /// Several entries of ours in one text.
    Split(fn(&Capture, path: &str, text: &str) -> Vec<Part>),
    /// Text that is read by content.
    Loose,
    /// What another entry of the capture says as well.
    Double,
    /// Not understood.
    Unknown,
}

/// Folders of our own layout: what was taken out of a bundle keeps its place.
const OURS: [&str; 4] = ["nodes/", "cluster-resources/", "cluster-info/", "helm/"];

/// Whether a path lies in one of these captures, or has its place in our own layout.
fn is_inside(path: &str, roots: &BTreeMap<String, &Layout>) -> bool {
    let is_ours = OURS.iter().any(|folder| path.starts_with(folder));
    is_ours || outer::innermost(roots, path).is_some()
}

/// How the entries of a capture are read.
#[derive(Debug, Default)]
pub struct Counted<'p> {
    /// All of them.
    pub files: usize,
    /// Those that are known by their names.
    pub known: usize,
    /// Those that are read by what they hold.
    pub by_content: usize,
    /// Those that say what others say as well.
    pub doubles: usize,
    /// Those that are not understood, with their declared sizes in bytes.
    pub unknown: Vec<(&'p str, Option<u64>)>,
}

/// Which entry is read as what.
#[derive(Default)]
pub struct Plan {
    /// The captures, by root.
    pub captures: Vec<Capture>,
    entries: BTreeMap<String, Planned>,
    /// Whether any entry begins like something that is read.
    pub tells: bool,
}

/// An entry of a capture.
struct Planned {
    /// The number of the capture.
    capture: usize,
    target: Target,
    /// Declared size in bytes.
    size: Option<u64>,
    /// By how many blanks the objects of a list in JSON are indented.
    indent: Option<usize>,
}

impl Plan {
    /// Recognises what a survey shows.
    pub fn of(survey: &mut Survey) -> Self {
        let mut roots: BTreeMap<String, &Layout> = BTreeMap::new();
        for layout in CAPTURES {
            for root in (layout.recognise)(survey) {
                roots.entry(root).or_insert(layout);
            }
        }
        survey.cover(|path| is_inside(path, &roots));
        for layout in FILES {
            for root in (layout.recognise)(survey) {
                if !is_inside(&root, &roots) {
                    roots.insert(root, layout);
                }
            }
        }
        survey.uncover();
        let mut plan = Self::default();
        let mut layouts = Vec::new();
        let mut indices: BTreeMap<String, usize> = BTreeMap::new();
        for (root, layout) in roots {
            let identity = (layout.identity)(survey, &root);
            indices.insert(root.clone(), layouts.len());
            layouts.push(layout);
            plan.captures.push(Capture {
                format: layout.id,
                title: layout.title,
                root,
                identity,
            });
        }
        plan.tells = !plan.captures.is_empty() || survey.tells();
        let mut taken = BTreeSet::new();
        for entry in &survey.entries {
            let path = entry.path.as_str();
            let Some(&index) = outer::innermost(&indices, path) else {
                continue;
            };
            let capture = &plan.captures[index];
            let below = &path[capture.root.len()..];
            let mut target = of_container(survey, capture, path)
                .unwrap_or_else(|| (layouts[index].map)(survey, capture, below));
            if let Target::As(ours) | Target::Yaml(ours) = &target
                && !taken.insert(ours.clone())
            {
                // Two files that would be one of ours: the first is it, the other is read by content.
                target = Target::Loose;
            }
            let may_be_list = entry.head.first() == Some(&b'{');
            let indent = may_be_list.then(|| object_lists::indent(&entry.text()));
            let planned = Planned {
                capture: index,
                target,
                size: entry.size,
                indent: indent.flatten(),
            };
            plan.entries.insert(path.to_owned(), planned);
        }
        plan
    }

    /// What an entry is read as; none where no capture holds it.
    pub fn target(&self, path: &str) -> Option<(&Capture, &Target)> {
        let planned = self.entries.get(path)?;
        Some((self.captures.get(planned.capture)?, &planned.target))
    }

    /// By how many blanks the objects of an entry of a capture are indented, where it begins as a list in JSON.
    pub fn indent(&self, path: &str) -> Option<usize> {
        self.entries.get(path)?.indent
    }

    /// The capture that an entry is of, by its number.
    pub fn capture_of(&self, path: &str) -> Option<usize> {
        self.entries.get(path).map(|planned| planned.capture)
    }

    /// How the entries of each capture are read.
    pub fn counted(&self) -> Vec<Counted<'_>> {
        let mut all = Vec::new();
        all.resize_with(self.captures.len(), Counted::default);
        for (path, planned) in &self.entries {
            let Some(counted) = all.get_mut(planned.capture) else {
                continue;
            };
            counted.files += 1;
            match planned.target {
                Target::As(_) | Target::Yaml(_) | Target::Split(_) => counted.known += 1,
                Target::Loose => counted.by_content += 1,
                Target::Double => counted.doubles += 1,
                Target::Unknown => {
                    counted.unknown.push((path.as_str(), planned.size));
                }
            }
        }
        all
    }

    /// The names of pods that entries are kept by, as (namespace, name).
    pub fn pods(&self) -> BTreeSet<(&str, &str)> {
        let entries = self.entries.values();
        let targets = entries.filter_map(|planned| match &planned.target {
            Target::As(path) => path.strip_prefix("cluster-resources/pods/logs/"),
            _ => None,
        });
        let mut pods = BTreeSet::new();
        for path in targets {
            let mut parts = path.split('/');
            if let (Some(namespace), Some(pod), Some(_)) =
                (parts.next(), parts.next(), parts.next())
            {
                pods.insert((namespace, pod));
            }
        }
        pods
    }

    /// Nodes that captures or their entries name.
    pub fn nodes(&self) -> BTreeSet<&str> {
        let entries = self.entries.values();
        let targets = entries.filter_map(|planned| match &planned.target {
            Target::As(path) => Some(crate::lines::node_of(path)),
            _ => None,
        });
        targets
            .filter(|node| !node.is_empty() && *node != UNNAMED)
            .collect()
    }
}
