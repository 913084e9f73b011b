//! The host: the only place that reads its files, below a root that may be another machine's disk.
//!
//! All methods block; async code calls them on a blocking thread ([`Host::on_thread`]), because a file on a dead
//! network file system never answers.

pub mod hanging;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hanging::Places;

/// Links followed before a path counts as a cycle.
const MAX_LINKS: usize = 40;
/// Names taken from one directory.
const MAX_NAMES: usize = 20_000;
/// Paths that one glob may name.
const MAX_GLOB: usize = 2_000;

/// Why a host file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// It is not there.
    #[error("{path} does not exist")]
    Absent {
        /// The path, as on the host.
        path: String,
    },
    /// The user lacks the right.
    #[error("{path} cannot be read without more rights (run as root)")]
    Denied {
        /// The path, as on the host.
        path: String,
    },
    /// A device, socket, pipe or directory where a file was wanted.
    #[error("{path} is not a regular file")]
    NotAFile {
        /// The path, as on the host.
        path: String,
    },
    /// It does not answer: its file system or its driver hangs.
    #[error("{path}: no answer, its file system or driver hangs; left out")]
    Hung {
        /// The path, as on the host.
        path: String,
    },
    /// Anything else.
    #[error("reading {path}")]
    Io {
        /// The path, as on the host.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl HostError {
    fn new(path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Absent { path },
            io::ErrorKind::PermissionDenied => Self::Denied { path },
            _ => Self::Io { path, source },
        }
    }

    /// Whether it just is not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent { .. })
    }

    /// The word for `files.json`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Absent { .. } => "absent",
            Self::Denied { .. } => "denied",
            Self::NotAFile { .. } => "not-a-file",
            Self::Hung { .. } => "hung",
            Self::Io { .. } => "unreadable",
        }
    }

    /// The whole chain in one line.
    pub fn sentence(&self) -> String {
        match self {
            Self::Io { path, source } => format!("reading {path}: {source}"),
            other => other.to_string(),
        }
    }
}

/// A host's files below a root.
#[derive(Debug, Clone)]
pub struct Host {
    root: PathBuf,
    places: Arc<Places>,
    /// Paths that did not answer, since the host was made or [`Host::afresh`].
    hung: Arc<Mutex<Vec<String>>>,
}

impl Host {
    /// The files below `root`; `/` for the machine itself.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let places = Arc::new(Places::of(&root));
        Self {
            root,
            places,
            hung: Arc::default(),
        }
    }

    /// The same files, with a list of its own of those that did not answer.
    #[must_use]
    pub fn afresh(&self) -> Self {
        Self {
            hung: Arc::default(),
            ..self.clone()
        }
    }

    /// Paths that did not answer.
    pub fn hung(&self) -> Vec<String> {
        self.hung
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Has a child touch what may hang, before anything here does.
    fn must_answer(&self, path: &str, real: &Path) -> Result<(), HostError> {
        if self.places.answers(real) {
            return Ok(());
        }
        let path = path.to_owned();
        let mut hung = self.hung.lock().unwrap_or_else(PoisonError::into_inner);
        if !hung.contains(&path) {
            hung.push(path.clone());
        }
        Err(HostError::Hung { path })
    }

    /// Whether these are the files of the running machine.
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The files as a process sees them: these, or those of its own mount namespace (a snap, a container).
    pub fn seen_by(&self, pid: u32) -> Self {
        let namespace = |who: &str| fs::read_link(format!("/proc/{who}/ns/mnt")).ok();
        let own = namespace("self");
        match namespace(&pid.to_string()) {
            Some(other) if self.is_live() && own.is_some_and(|own| own != other) => {
                Self::new(format!("/proc/{pid}/root"))
            }
            _ => self.clone(),
        }
    }

    /// Whether these are the same files as another's.
    pub fn is_same(&self, other: &Self) -> bool {
        self.root == other.root
    }

    /// Runs blocking work with this host on a thread that may hang without harm to others.
    /// None when the work panicked.
    pub async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Host) -> T + Send + 'static,
    ) -> Option<T> {
        let host = self.clone();
        tokio::task::spawn_blocking(move || work(&host)).await.ok()
    }

    /// Where a host path really lies, links followed as the host itself would follow them: never out of the root.
    pub fn resolve(&self, path: &str) -> Result<PathBuf, HostError> {
        let mut todo: Vec<std::ffi::OsString> = parts(Path::new(path));
        todo.reverse();
        let mut done = PathBuf::new();
        let mut links = 0;
        // Whether it is known that what is left of the path answers.
        let mut asked = false;
        while let Some(part) = todo.pop() {
            if part == ".." {
                done.pop();
                continue;
            }
            let here = self.root.join(&done).join(&part);
            if !asked {
                let rest: PathBuf = todo.iter().rev().collect();
                self.must_answer(path, &here.join(rest))?;
                asked = true;
            }
            let is_link = fs::symlink_metadata(&here).is_ok_and(|meta| meta.is_symlink());
            if !is_link {
                done.push(&part);
                continue;
            }
            // The links of /proc (root, exe, cwd) are not paths; the kernel alone can follow them.
            if self.is_live() && done.starts_with("proc") && done.components().count() >= 2 {
                done.push(&part);
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                let source = io::Error::other("too many links");
                return Err(HostError::Io {
                    path: path.to_owned(),
                    source,
                });
            }
            let target = fs::read_link(&here).map_err(|e| HostError::new(path, e))?;
            asked = false;
            if target.is_absolute() {
                done = PathBuf::new();
            }
            todo.extend(parts(&target).into_iter().rev());
        }
        Ok(self.root.join(done))
    }

    /// Facts about a path, links followed.
    pub fn metadata(&self, path: &str) -> Result<Metadata, HostError> {
        fs::metadata(self.resolve(path)?).map_err(|e| HostError::new(path, e))
    }

    /// Whether something is there.
    pub fn exists(&self, path: &str) -> bool {
        self.metadata(path).is_ok()
    }

    /// Opens a regular file. Never waits for a pipe's other end.
    pub fn open(&self, path: &str) -> Result<File, HostError> {
        let real = self.resolve(path)?;
        let meta = fs::metadata(&real).map_err(|e| HostError::new(path, e))?;
        if !meta.is_file() {
            return Err(HostError::NotAFile {
                path: path.to_owned(),
            });
        }
        let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(nonblock)
            .open(&real);
        file.map_err(|e| HostError::new(path, e))
    }

    /// A file's first `cap` bytes, and whether there was more.
    pub fn read(&self, path: &str, cap: usize) -> Result<(Vec<u8>, bool), HostError> {
        let file = self.open(path)?;
        let mut bytes = Vec::new();
        let mut limited = file.take(cap as u64 + 1);
        limited
            .read_to_end(&mut bytes)
            .map_err(|e| HostError::new(path, e))?;
        let more = bytes.len() > cap;
        bytes.truncate(cap);
        Ok((bytes, more))
    }

    /// A small text file (up to 1 MiB), bad UTF-8 replaced.
    pub fn read_text(&self, path: &str) -> Result<String, HostError> {
        let (bytes, _) = self.read(path, 1 << 20)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A link's target as it is written.
    pub fn read_link(&self, path: &str) -> Option<String> {
        let (dir, name) = path.rsplit_once('/')?;
        let real = self.resolve(if dir.is_empty() { "/" } else { dir }).ok()?;
        let target = fs::read_link(real.join(name)).ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    /// The names in a directory, sorted; names that are not UTF-8 are left out.
    pub fn names(&self, dir: &str) -> Result<Vec<String>, HostError> {
        let real = self.resolve(dir)?;
        let listed = fs::read_dir(real).map_err(|e| HostError::new(dir, e))?;
        let mut names: Vec<String> = listed
            .flatten()
            .take(MAX_NAMES)
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The host paths that a glob names, sorted. `*` and `?` stay within one segment; there is no `**`.
    pub fn glob(&self, pattern: &str) -> Vec<String> {
        let mut found = vec![String::new()];
        for segment in pattern.split('/').filter(|segment| !segment.is_empty()) {
            let mut next = Vec::new();
            for base in found {
                if !segment.contains(['*', '?', '[', '{']) {
                    next.push(format!("{base}/{segment}"));
                    continue;
                }
                let Ok(glob) = globset::GlobBuilder::new(segment)
                    .literal_separator(true)
                    .build()
                else {
                    continue;
                };
                let matcher = glob.compile_matcher();
                let names = self
                    .names(if base.is_empty() { "/" } else { &base })
                    .unwrap_or_default();
                next.extend(
                    names
                        .iter()
                        .filter(|name| matcher.is_match(name))
                        .map(|name| format!("{base}/{name}")),
                );
            }
            next.truncate(MAX_GLOB);
            found = next;
        }
        found.retain(|path| self.exists(path));
        found.sort_unstable();
        found
    }
}

/// A path's segments without roots and dots, `..` kept.
fn parts(path: &Path) -> Vec<std::ffi::OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}

/// What `files.json` says of a file's owner, mode and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Permission bits and file type, as `stat` has them.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Seconds since 1970.
    pub mtime: i64,
}

impl From<&Metadata> for Stat {
    fn from(meta: &Metadata) -> Self {
        Self {
            size: meta.size(),
            mode: meta.mode(),
            uid: meta.uid(),
            gid: meta.gid(),
            mtime: meta.mtime(),
        }
    }
}
