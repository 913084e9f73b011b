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
    /// Whether files lie beside the top folder, which is none then.
    several: bool,
}

impl TopFolder {
    pub(crate) fn new(strip: bool) -> Self {
        Self {
            strip,
            here: false,
            top: None,
            several: false,
        }
    }

    /// The archive names the folder itself.
    pub(crate) fn note_here(&mut self) {
        self.here = true;
    }

    /// Whether the name that was taken off is one of several, and should have been kept.
    pub(crate) fn is_one_of_several(&self) -> bool {
        self.several
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
            let taken_off = top.as_deref().is_some_and(|top| !top.starts_with(OURS));
            self.several |= taken_off && !is_folder;
            return Some(path);
        }
        match rest {
            Some(rest) => BundlePath::new(rest).ok(),
            None if is_folder => None,
            None => Some(path),
        }
    }
}

/// The folders below the top that everything in an archive lies in, as one folder in another that a person packed: they say no
/// more than the top does, and a folder that was unpacked from it is read from the innermost as well.
pub(crate) struct Around {
    /// As far as the names go that were seen: the folders with their `/`.
    common: Option<String>,
}

impl Around {
    pub(crate) fn new() -> Self {
        Self { common: None }
    }

    /// Those of all these files.
    pub(crate) fn of<'p>(paths: impl Iterator<Item = &'p str>) -> String {
        let mut around = Self::new();
        paths.for_each(|path| around.note(path));
        around.finish()
    }

    /// Takes the path of one more file.
    pub(crate) fn note(&mut self, path: &str) {
        let folder = path.rfind('/').map_or("", |at| &path[..=at]);
        let Some(common) = &mut self.common else {
            let of_content = folder
                .split_inclusive('/')
                .take_while(|part| !is_content_folder(part.trim_end_matches('/')));
            self.common = Some(of_content.collect());
            return;
        };
        let same = common
            .split_inclusive('/')
            .zip(folder.split_inclusive('/'))
            .take_while(|(ours, theirs)| ours == theirs);
        let len = same.map(|(part, _)| part.len()).sum();
        common.truncate(len);
    }

    /// Whether there are none, whatever else comes.
    pub(crate) fn none(&self) -> bool {
        self.common.as_deref() == Some("")
    }

    pub(crate) fn finish(self) -> String {
        self.common.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(paths: &[&str]) -> String {
        let mut around = Around::new();
        for path in paths {
            around.note(path);
        }
        around.finish()
    }

    #[test]
    fn folders_around_everything_end_where_content_begins() {
        assert_eq!(around(&["a/b/c.log", "a/b/d/e.log"]), "a/b/");
        assert_eq!(around(&["a/b/c.log", "a/bc/e.log"]), "a/");
        assert_eq!(around(&["a/b/c.log", "x.log"]), "");
        assert_eq!(around(&["a/nodes/b/c.log", "a/nodes/b/d.log"]), "a/");
        assert_eq!(around(&["c.log"]), "");
        assert_eq!(around(&[]), "");
    }
}
