//! The files of a node as a bundle holds them, asked by host path.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{self, SegmentPattern};

/// What a bundle knows about one host path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapturedPath {
    /// The file was copied.
    Content {
        /// Where the copy lies in the bundle.
        bundle_path: String,
        /// Its text.
        text: String,
    },
    /// The collector looked and there was no such file.
    Absent,
    /// The collector did not look, could not read it, or left it out.
    NotCaptured,
}

/// The host paths that a pattern matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobResult {
    /// Matches, in the order of Go's `filepath.Glob`.
    pub paths: Vec<String>,
    /// Whether every directory that had to be listed was captured in full.
    pub complete: bool,
}

/// A captured root file system.
pub trait CapturedTree {
    /// The content of a host path.
    fn read(&self, host_path: &str) -> CapturedPath;
    /// The host paths that match a Go glob pattern.
    fn glob(&self, pattern: &str) -> GlobResult;
    /// Whether captured links on the way lead back to themselves: opening fails, which is not the same as no file.
    fn loops(&self, _host_path: &str) -> bool {
        false
    }
    /// The path with captured links followed; the cleaned path where none are known.
    fn canonical(&self, host_path: &str) -> String {
        paths::clean(host_path)
    }
}

/// Links followed before a path counts as a loop, as in Linux.
const MAX_LINKS: usize = 40;

/// A [`CapturedTree`] in memory.
#[derive(Clone, Debug, Default)]
pub struct MapTree {
    files: BTreeMap<String, (String, String)>,
    absent: BTreeSet<String>,
    listed: BTreeSet<String>,
    links: BTreeMap<String, String>,
    complete: bool,
}

impl MapTree {
    /// A tree that knows nothing yet: whatever is not added was not captured.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A tree that is the whole truth: whatever is not added does not exist.
    #[must_use]
    pub fn whole() -> Self {
        Self {
            complete: true,
            ..Self::default()
        }
    }

    /// Adds a copied file.
    pub fn add(&mut self, host_path: &str, bundle_path: &str, text: &str) {
        self.files.insert(
            paths::clean(host_path),
            (bundle_path.to_owned(), text.to_owned()),
        );
    }

    /// Notes that the collector found no such file.
    pub fn add_absent(&mut self, host_path: &str) {
        self.absent.insert(paths::clean(host_path));
    }

    /// Notes that all files of a directory were captured.
    pub fn add_listed(&mut self, host_dir: &str) {
        self.listed.insert(paths::clean(host_dir));
    }

    /// Adds a symbolic link; a relative target counts from the link's directory.
    pub fn add_link(&mut self, host_path: &str, target: &str) {
        let at = paths::clean(host_path);
        let target = if target.starts_with('/') {
            paths::clean(target)
        } else {
            paths::join(&paths::dir(&at), target)
        };
        self.links.insert(at, target);
    }

    /// Follows links in every component; `None` for a loop.
    fn real(&self, host_path: &str) -> Option<String> {
        let mut path = paths::clean(host_path);
        'again: for _ in 0..MAX_LINKS {
            let ends = path
                .match_indices('/')
                .map(|(at, _)| at)
                .skip(1)
                .chain(std::iter::once(path.len()));
            for end in ends {
                let (Some(head), Some(tail)) = (path.get(..end), path.get(end..)) else {
                    continue;
                };
                if let Some(target) = self.links.get(head) {
                    path = paths::clean(&format!("{target}{tail}"));
                    continue 'again;
                }
            }
            return Some(path);
        }
        None
    }

    /// Names directly below a directory, sorted.
    fn children(&self, dir: &str) -> BTreeSet<String> {
        let Some(real) = self.real(dir) else {
            return BTreeSet::new();
        };
        let prefix = if real == "/" {
            real
        } else {
            format!("{real}/")
        };
        let files = self.files.range(prefix.clone()..).map(|(path, _)| path);
        let links = self.links.range(prefix.clone()..).map(|(path, _)| path);
        let mut names = BTreeSet::new();
        for paths in [
            &mut files.into_iter() as &mut dyn Iterator<Item = &String>,
            &mut links.into_iter(),
        ] {
            for path in paths {
                let Some(rest) = path.strip_prefix(&prefix) else {
                    break;
                };
                names.extend(rest.split('/').next().map(str::to_owned));
            }
        }
        names
    }

    /// A name exists even if the link behind it leads nowhere: `filepath.Glob` does not follow it.
    fn exists(&self, path: &str) -> bool {
        let in_place = self.real(&paths::dir(path)).map(|dir| {
            let name = path.rsplit('/').next().unwrap_or_default();
            paths::join(&dir, name)
        });
        if in_place.is_some_and(|path| self.links.contains_key(&path)) {
            return true;
        }
        let Some(real) = self.real(path) else {
            return false;
        };
        self.files.contains_key(&real)
            || !self.children(&real).is_empty()
            || self.listed.contains(&real)
    }

    fn knows_all_of(&self, dir: &str) -> bool {
        let Some(real) = self.real(dir) else {
            return true;
        };
        self.complete || self.listed.contains(&real) || self.known_absent(&real)
    }

    /// Whether nothing was captured: of very many machines there are only logs.
    fn knows_nothing(&self) -> bool {
        let Self {
            files,
            absent,
            listed,
            links,
            complete,
        } = self;
        let is_empty =
            files.is_empty() && absent.is_empty() && listed.is_empty() && links.is_empty();
        is_empty && !complete
    }

    fn known_absent(&self, path: &str) -> bool {
        if self.absent.is_empty() {
            return false;
        }
        let mut at = path.to_owned();
        loop {
            if self.absent.contains(&at) {
                return true;
            }
            let up = paths::dir(&at);
            if up == at || up == "." {
                return false;
            }
            at = up;
        }
    }
}

impl CapturedTree for MapTree {
    fn read(&self, host_path: &str) -> CapturedPath {
        if self.knows_nothing() {
            return CapturedPath::NotCaptured;
        }
        let Some(real) = self.real(host_path) else {
            return CapturedPath::Absent;
        };
        if let Some((bundle_path, text)) = self.files.get(&real) {
            return CapturedPath::Content {
                bundle_path: bundle_path.clone(),
                text: text.clone(),
            };
        }
        if self.complete || self.known_absent(&real) || self.listed.contains(&paths::dir(&real)) {
            return CapturedPath::Absent;
        }
        CapturedPath::NotCaptured
    }

    fn loops(&self, host_path: &str) -> bool {
        self.real(host_path).is_none()
    }

    fn canonical(&self, host_path: &str) -> String {
        self.real(host_path)
            .unwrap_or_else(|| paths::clean(host_path))
    }

    fn glob(&self, pattern: &str) -> GlobResult {
        if !paths::pattern_ok(pattern) || !pattern.starts_with('/') {
            return GlobResult {
                paths: Vec::new(),
                complete: false,
            };
        }
        if self.knows_nothing() {
            return GlobResult {
                paths: Vec::new(),
                complete: !paths::has_meta(pattern),
            };
        }
        let mut complete = true;
        let mut found = vec!["/".to_owned()];
        for segment in pattern.split('/').filter(|segment| !segment.is_empty()) {
            let mut next = Vec::new();
            for dir in &found {
                if !paths::has_meta(segment) {
                    next.push(paths::join(dir, segment));
                    continue;
                }
                complete &= self.knows_all_of(dir);
                let Some(compiled) = SegmentPattern::new(segment) else {
                    continue;
                };
                let names = self
                    .children(dir)
                    .into_iter()
                    .filter(|name| compiled.matches(name));
                next.extend(names.map(|name| paths::join(dir, &name)));
            }
            found = next;
        }
        found.retain(|path| self.exists(path));
        GlobResult {
            paths: found,
            complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_lists_what_was_captured_and_says_whether_that_is_all() {
        let mut tree = MapTree::new();
        tree.add("/etc/containerd/conf.d/b.toml", "r/b.toml", "");
        tree.add("/etc/containerd/conf.d/a.toml", "r/a.toml", "");
        tree.add("/etc/containerd/conf.d/a.bak", "r/a.bak", "");
        let found = tree.glob("/etc/containerd/conf.d/*.toml");
        assert_eq!(
            found.paths,
            [
                "/etc/containerd/conf.d/a.toml",
                "/etc/containerd/conf.d/b.toml"
            ]
        );
        assert!(
            !found.complete,
            "nothing says that the whole directory was copied"
        );
        tree.add_listed("/etc/containerd/conf.d");
        assert!(tree.glob("/etc/containerd/conf.d/*.toml").complete);
        assert_eq!(
            tree.glob("/etc/*/conf.d/a.toml").paths,
            ["/etc/containerd/conf.d/a.toml"]
        );
    }

    #[test]
    fn a_link_loop_ends_as_an_absent_file() {
        let mut tree = MapTree::new();
        tree.add_link("/a", "/b");
        tree.add_link("/b", "/a");
        assert_eq!(tree.read("/a/config.toml"), CapturedPath::Absent);
        assert!(tree.loops("/a/config.toml") && !tree.loops("/c"));
        assert_eq!(
            tree.glob("/*").paths,
            ["/a", "/b"],
            "a glob follows no link"
        );
        tree.add_link("/var/run", "/run");
        tree.add("/run/x/c.toml", "r/c.toml", "t");
        assert!(matches!(
            tree.read("/var/run/x/c.toml"),
            CapturedPath::Content { .. }
        ));
    }

    #[test]
    fn absent_and_not_captured_are_different_answers() {
        let mut tree = MapTree::new();
        tree.add_absent("/etc/containerd");
        assert_eq!(
            tree.read("/etc/containerd/config.toml"),
            CapturedPath::Absent
        );
        assert_eq!(tree.read("/etc/other.toml"), CapturedPath::NotCaptured);
        assert_eq!(
            MapTree::whole().read("/etc/other.toml"),
            CapturedPath::Absent
        );
    }
}
