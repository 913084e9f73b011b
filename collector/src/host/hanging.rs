//! Paths that may never answer: on network and FUSE file systems, behind an automounter, in the files of a driver. A
//! thread that waits there cannot be ended, and with it the whole process; so a child touches such a path first. Where
//! it gives no answer, it is abandoned, and nobody here touches what it touched.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The argument that makes this program the child.
pub const ARGUMENT: &str = "--touch-files";
/// A file system that is slow is not dead; one that needs longer for a first byte is of no use either.
const PATIENCE: Duration = Duration::from_secs(3);
/// Read of a file by the child.
const FIRST: usize = 4 << 10;
/// File systems whose answers come from elsewhere.
const TYPES: [&str; 17] = [
    "afs",
    "autofs",
    "beegfs",
    "ceph",
    "cifs",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "panfs",
    "smb3",
    "virtiofs",
];
/// Files that a driver makes when they are read: after a fault it may hold a lock for ever.
const DRIVERS: [&str; 2] = ["/proc/driver", "/sys/kernel/debug"];

/// Whether this program can start itself as the child: a test's program cannot.
static ENABLED: AtomicBool = AtomicBool::new(false);
static TOUCHER: Mutex<Toucher> = Mutex::new(Toucher {
    child: None,
    hung: BTreeSet::new(),
});

/// From now on paths that may hang are touched by a child first.
pub fn enable() {
    ENABLED.store(true, Ordering::Relaxed);
}

/// The child: reads paths from standard input, each ended by a zero, and writes a byte when it has touched one.
pub fn serve() -> u8 {
    let mut input = io::stdin().lock();
    let mut path = Vec::new();
    let mut byte = [0];
    while input.read_exact(&mut byte).is_ok() {
        if byte[0] != 0 {
            path.push(byte[0]);
            continue;
        }
        let name = std::ffi::OsString::from_vec(std::mem::take(&mut path));
        touch(Path::new(&name));
        let mut output = io::stdout().lock();
        if output
            .write_all(b".")
            .and_then(|()| output.flush())
            .is_err()
        {
            break;
        }
    }
    0
}

/// Does what a reader would do: looks, lists a folder, opens and reads a file. Errors are answers too.
fn touch(path: &Path) {
    let Ok(meta) = fs::metadata(path) else { return };
    let kind = meta.file_type();
    if kind.is_dir() {
        let names = fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .take(1_000);
        names.for_each(|entry| drop(entry.file_type()));
    } else if kind.is_file() && !kind.is_fifo() {
        let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(nonblock)
            .open(path);
        if let Ok(mut file) = file {
            // What is in it is of no interest here.
            let _ = file.read(&mut [0; FIRST]);
        }
    }
}

/// Where files may hang, as this process or another one sees its mounts.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    mounts: Vec<PathBuf>,
}

impl Places {
    /// Below `root`: of a process's own root by its mounts, else by ours.
    pub(super) fn of(root: &Path) -> Self {
        let own = root
            .strip_prefix("/proc")
            .ok()
            .and_then(|rest| rest.components().next());
        let table = match own {
            Some(pid) => Path::new("/proc").join(pid).join("mountinfo"),
            None => PathBuf::from("/proc/self/mountinfo"),
        };
        let before = own.map_or(Path::new("/"), |_| root);
        let text = fs::read_to_string(table).unwrap_or_default();
        let mounts = text.lines().filter_map(risky_mount);
        // Were the root such a file system, no answer at all would come.
        let below = mounts.filter(|mount| mount != Path::new("/"));
        let mounts = below
            .filter_map(|mount| Some(before.join(mount.strip_prefix("/").ok()?)))
            .collect();
        Self { mounts }
    }

    /// What a path hangs with: its mount point, its driver's files, or itself.
    fn of_path<'a>(&'a self, path: &'a Path) -> Option<&'a Path> {
        let mounts = self.mounts.iter().map(PathBuf::as_path);
        let places = mounts.chain(DRIVERS.iter().map(Path::new));
        let longest = places
            .filter(|place| path.starts_with(place))
            .max_by_key(|place| place.as_os_str().len());
        longest.or_else(|| is_of_process(path).then_some(path))
    }

    /// Whether a path answers; true for all that cannot hang.
    pub(super) fn answers(&self, path: &Path) -> bool {
        let Some(place) = self.of_path(path) else {
            return true;
        };
        if !ENABLED.load(Ordering::Relaxed) {
            return true;
        }
        let mut toucher = TOUCHER.lock().unwrap_or_else(PoisonError::into_inner);
        if toucher.hung.contains(place) {
            return false;
        }
        let answers = toucher.ask(path);
        if !answers {
            toucher.hung.insert(place.to_owned());
        }
        answers
    }
}

/// A process's command line is read from its memory, whose lock a task in uninterruptible sleep may hold.
fn is_of_process(path: &Path) -> bool {
    let name = path
        .file_name()
        .is_some_and(|name| name == "cmdline" || name == "environ");
    name && path.starts_with("/proc") && path.components().count() == 4
}

/// The mount point of a line of mountinfo whose file system may hang.
fn risky_mount(line: &str) -> Option<PathBuf> {
    let (before, after) = line.split_once(" - ")?;
    let kind = after.split(' ').next()?;
    if !TYPES.contains(&kind) && !kind.starts_with("fuse") {
        return None;
    }
    let point = before.split(' ').nth(4)?;
    let mut plain = Vec::new();
    let mut rest = point.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        // Spaces and the like stand there as three octal digits.
        let octal = behind.get(..3).filter(|_| *first == b'\\');
        let code = octal
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(code.unwrap_or(*first));
        rest = if code.is_some() { &behind[3..] } else { behind };
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(plain)))
}

struct Toucher {
    child: Option<Running>,
    /// Places that gave no answer: nobody asks there again.
    hung: BTreeSet<PathBuf>,
}

struct Running {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<()>,
}

impl Toucher {
    /// Whether the child comes back from a path. Without a child nobody knows, and the path is read as it is.
    fn ask(&mut self, path: &Path) -> bool {
        let Some(mut running) = self.child.take().or_else(start) else {
            return true;
        };
        let question = [path.as_os_str().as_bytes(), b"\0"].concat();
        let asked = running
            .questions
            .write_all(&question)
            .and_then(|()| running.questions.flush());
        if asked.is_err() {
            return true;
        }
        if running.answers.recv_timeout(PATIENCE).is_ok() {
            self.child = Some(running);
            return true;
        }
        // It may be beyond any signal; nobody waits for it.
        let _ = running.child.kill();
        false
    }
}

fn start() -> Option<Running> {
    let mut child = Command::new("/proc/self/exe")
        .arg(ARGUMENT)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let questions = child.stdin.take()?;
    let mut output = child.stdout.take()?;
    let (sender, answers) = channel();
    let reader = move || {
        let mut byte = [0];
        while output.read_exact(&mut byte).is_ok() && sender.send(()).is_ok() {}
    };
    std::thread::Builder::new().spawn(reader).ok()?;
    Some(Running {
        child,
        questions,
        answers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_and_fuse_mounts_may_hang_and_others_do_not() {
        let line = |kind: &str| {
            format!("36 35 98:0 / /mnt/my\\040share rw,noatime shared:1 - {kind} host:/x rw")
        };
        for kind in ["nfs4", "fuse.sshfs", "fuse", "cifs", "autofs"] {
            assert_eq!(
                risky_mount(&line(kind)),
                Some(PathBuf::from("/mnt/my share")),
                "{kind}"
            );
        }
        for kind in ["ext4", "overlay", "tmpfs", "proc"] {
            assert_eq!(risky_mount(&line(kind)), None, "{kind}");
        }
    }

    #[test]
    fn a_path_hangs_with_its_mount_its_driver_or_alone() {
        let places = Places {
            mounts: vec![PathBuf::from("/mnt")],
        };
        let of = |path: &str| {
            places
                .of_path(Path::new(path))
                .map(|place| place.display().to_string())
        };
        assert_eq!(of("/mnt/a/b").as_deref(), Some("/mnt"));
        assert_eq!(of("/mnt2/a"), None);
        assert_eq!(
            of("/proc/driver/nvidia/version").as_deref(),
            Some("/proc/driver")
        );
        assert_eq!(of("/proc/77/cmdline").as_deref(), Some("/proc/77/cmdline"));
        assert_eq!(of("/proc/77/stat"), None);
        assert_eq!(of("/etc/hosts"), None);
    }
}
