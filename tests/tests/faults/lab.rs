//! What faults are made of: a frozen process, a full disk, a file system that does not answer.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::mount::{MntFlags, MsFlags, mount, umount2};

/// Why a row that needs root does nothing.
const NOT_ROOT: &str = "needs root";

/// Whether a process stays there, and as no zombie: one that was killed is gone a moment later.
pub(crate) fn alive(pid: &str) -> bool {
    let is_there = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status"));
        status.is_ok_and(|text| !text.contains("State:\tZ"))
    };
    (0..20).all(|_| {
        let stays = is_there();
        if stays {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        stays
    })
}

pub(crate) fn root() -> Result<(), String> {
    if nix::unistd::Uid::effective().is_root() {
        Ok(())
    } else {
        Err(NOT_ROOT.to_owned())
    }
}

/// A cgroup whose processes are frozen in the kernel, in state D: no signal reaches them until it thaws.
pub(crate) struct Freezer {
    folder: PathBuf,
}

impl Freezer {
    pub(crate) fn new() -> Result<Self, String> {
        root()?;
        let folder =
            Path::new("/sys/fs/cgroup/freezer").join(format!("casefile-{}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| format!("no freezer cgroup: {error}"))?;
        Ok(Self { folder })
    }

    /// A shell script that freezes itself.
    pub(crate) fn script(&self) -> String {
        let folder = self.folder.display();
        format!(
            "echo begun\necho $$ > {folder}/cgroup.procs\necho FROZEN > {folder}/freezer.state\nexec sleep 600"
        )
    }

    pub(crate) fn holds_a_process(&self) -> bool {
        fs::read_to_string(self.folder.join("cgroup.procs")).is_ok_and(|text| !text.is_empty())
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        let _ = fs::write(self.folder.join("freezer.state"), "THAWED");
        // What was to be killed dies now.
        for _ in 0..50 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

/// A cgroup that allows so many processes.
pub(crate) struct Pids {
    folder: PathBuf,
}

impl Pids {
    pub(crate) fn new(most: u32) -> Result<Self, String> {
        root()?;
        let places = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].map(Path::new);
        let place = places
            .into_iter()
            .find(|place| place.join("cgroup.procs").exists());
        let place = place.ok_or_else(|| "no cgroup of processes".to_owned())?;
        let folder = place.join(format!("casefile-{}-{most}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| format!("no cgroup of processes: {error}"))?;
        let made = Self { folder };
        fs::write(made.folder.join("pids.max"), most.to_string())
            .map_err(|error| format!("no limit of processes: {error}"))?;
        Ok(made)
    }

    pub(crate) fn procs(&self) -> String {
        self.folder.join("cgroup.procs").display().to_string()
    }
}

impl Drop for Pids {
    fn drop(&mut self) {
        for _ in 0..50 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

/// A cgroup that allows so many bytes of memory.
pub(crate) struct Memory {
    folder: PathBuf,
}

impl Memory {
    pub(crate) fn new(most: u64) -> Result<Self, String> {
        root()?;
        // Of the first and of the second version of cgroups.
        let places = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        let found = places
            .into_iter()
            .find(|(place, _)| Path::new(place).join("cgroup.procs").exists());
        let (place, limit) = found.ok_or_else(|| "no cgroup of memory".to_owned())?;
        let folder = Path::new(place).join(format!("casefile-{}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| format!("no cgroup of memory: {error}"))?;
        let made = Self { folder };
        fs::write(made.folder.join(limit), most.to_string())
            .map_err(|error| format!("no limit of memory: {error}"))?;
        Ok(made)
    }

    pub(crate) fn procs(&self) -> String {
        self.folder.join("cgroup.procs").display().to_string()
    }

    /// The most that was in use, in bytes; none where the kernel does not say.
    pub(crate) fn peak(&self) -> Option<u64> {
        let names = ["memory.max_usage_in_bytes", "memory.peak"];
        let read = |name| fs::read_to_string(self.folder.join(name)).ok();
        names.into_iter().find_map(read)?.trim().parse().ok()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for _ in 0..50 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

/// A mounted file system; gone when dropped.
pub(crate) struct Mount {
    folder: PathBuf,
    /// The far end of a FUSE mount, which nobody serves.
    _device: Option<File>,
}

impl Mount {
    /// A disk of this many bytes.
    pub(crate) fn disk(folder: &Path, bytes: u64) -> Result<Self, String> {
        root()?;
        let options = format!("size={bytes}");
        let no = None::<&str>;
        mount(
            no,
            folder,
            Some("tmpfs"),
            MsFlags::empty(),
            Some(options.as_str()),
        )
        .map_err(|error| format!("no tmpfs: {error}"))?;
        Ok(Self {
            folder: folder.to_owned(),
            _device: None,
        })
    }

    /// A file system whose server never answers, as a dead network share.
    pub(crate) fn dead(folder: &Path) -> Result<Self, String> {
        use std::os::fd::AsRawFd as _;
        root()?;
        let device = File::options()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .map_err(|error| format!("no FUSE: {error}"))?;
        let options = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0",
            device.as_raw_fd()
        );
        mount(
            Some("dead"),
            folder,
            Some("fuse"),
            MsFlags::empty(),
            Some(options.as_str()),
        )
        .map_err(|error| format!("no FUSE: {error}"))?;
        Ok(Self {
            folder: folder.to_owned(),
            _device: Some(device),
        })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        self._device = None;
        let _ = umount2(&self.folder, MntFlags::MNT_DETACH);
    }
}

/// A signal to a process.
pub(crate) fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

/// A program as an ordinary user, who may enter no folder of root's.
pub(crate) fn as_nobody(program: &Path) -> Result<Command, String> {
    root()?;
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(program);
    Ok(command)
}
