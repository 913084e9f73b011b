//! Real programs in namespaces of their own, on folders of their own: nothing of the machine is written.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `/run`, `/var/lib` and `/mnt` are empty in memory, changes of `/etc` stay there as well; `docker`, `cdi` and
/// `containers` of the folder `$1` replace those of `/etc`, `run-cdi` is `/run/cdi`.
const ENTER: &str = r#"set -e
here=$1; shift
mount --make-rprivate /
for at in /mnt /run /var/lib; do mount -t tmpfs apart "$at"; done
mkdir /mnt/upper /mnt/work
mount -t overlay apart -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work /etc
for name in docker cdi containers; do
  rm -rf "/etc/$name"
  [ ! -d "$here/$name" ] || cp -a "$here/$name" "/etc/$name"
done
[ ! -d "$here/run-cdi" ] || cp -a "$here/run-cdi" /run/cdi
ip link set lo up
program=$(command -v "$1"); shift
PATH=${PROGRAM_PATH:-$PATH}
exec "$program" "$@""#;

/// The command that runs a program apart, with the words of its command line.
pub(crate) fn command(folder: &Path, program: &Path, words: &[String]) -> Command {
    let mut command = Command::new("unshare");
    command
        .args([
            "--mount",
            "--net",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ])
        .args(["sh", "-c", ENTER, "sh"])
        .arg(folder)
        .arg(program)
        .args(words)
        .env("PATH", path_with(program))
        .stdin(Stdio::null());
    command
}

/// The folders of the program's own release first.
pub(crate) fn path_with(program: &Path) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let usr = program
        .parent()
        .and_then(Path::parent)
        .filter(|dir| dir.is_absolute());
    usr.map_or(path.clone(), |usr| {
        format!("{0}/bin:{0}/sbin:{path}", usr.display())
    })
}

/// Starts a command with all that it says in a file.
pub(crate) fn start(command: &mut Command, log: &Path) -> Child {
    let log = File::create(log).unwrap();
    let also = log.try_clone().unwrap();
    command
        .stdout(also)
        .stderr(log)
        .spawn()
        .expect("unshare runs")
}

/// Waits until the child ends by itself or the time is over, which ends it; whether it succeeded, if it ended.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> Option<bool> {
    let since = Instant::now();
    while since.elapsed() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.success());
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    end(child);
    None
}

/// Ends what was started, with all its children: the namespace of processes goes with its first one.
pub(crate) fn end(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}
