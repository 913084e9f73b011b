//! The top folder: the one folder that most archives hold everything in, and that paths are shown without.

use crate::path::BundlePath;

/// First path segments that are content, never the name of a top folder: our layout, those of other tools, a root file system.
const NOT_TOP: &[&str] = &[
    "bin",
    "boot",
    "cluster-info",
    "cluster-resources",
    "cluster-scoped-resources",
    "cmd",
    "dev",
    "etc",
    "helm",
    "home",
    "host-collectors",
    "host_service_logs",
    "insights_commands",
    "journald",
    "lib",
    "lib64",
    "mnt",
    "namespaces",
    "networking",
    "nodes",
    "opt",
    "podlogs",
    "proc",
    "root",
    "run",
    "sbin",
    "snap",
    "sos_commands",
    "sos_logs",
    "srv",
    "sys",
    "sysctls",
    "systeminfo",
    "systemlogs",
    "tmp",
    "usr",
    "var",
    "var_log",
    "yamls",
];
/// How the top folders of our bundles are called, however they were packed again.
const OURS: &str = "casefile-";

/// Whether a folder of this name is content and not just what everything lies in.
pub fn is_content_folder(name: &str) -> bool {
    NOT_TOP.contains(&name)
}

/// Finds the top folder by the first name and takes it off all names.
pub(crate) struct TopFolder {
    strip: bool,
    /// Whether the archive holds the folder that it was packed from, as `tar -C folder .` writes it: then what follows are
    /// names in it, and the first of them says nothing about the others.
    here: bool,
    /// Unknown before the first name, then the top folder if there is one.
    top: Option<Option<String>>,
}

impl TopFolder {
    pub(crate) fn new(strip: bool) -> Self {
        Self {
            strip,
            here: false,
            top: None,
        }
    }

    /// The archive names the folder itself.
    pub(crate) fn note_here(&mut self) {
        self.here = true;
    }

    /// The path below the top folder; `None` for the top folder itself.
    pub(crate) fn strip(&mut self, path: BundlePath, is_folder: bool) -> Option<BundlePath> {
        if !self.strip {
            return Some(path);
        }
        let (first, rest) = match path.as_str().split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path.as_str(), None),
        };
        let top = self.top.get_or_insert_with(|| {
            let is_top = (rest.is_some() || is_folder) && !is_content_folder(first);
            let is_top = is_top && (!self.here || first.starts_with(OURS));
            is_top.then(|| first.to_owned())
        });
        if top.as_deref() != Some(first) {
            return Some(path);
        }
        match rest {
            Some(rest) => BundlePath::new(rest).ok(),
            None if is_folder => None,
            None => Some(path),
        }
    }
}
