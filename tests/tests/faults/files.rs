//! Files that are not what they seem.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use casefile_bundle::Outcome;
use casefile_tests::bins;

use crate::desk::{Desk, Row, Seen};
use crate::lab::{Mount, as_nobody, root};

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "a config file of 10 GiB",
        run: huge,
    },
    Row {
        fault: "a log that grows while it is read",
        run: growing,
    },
    Row {
        fault: "a FIFO in place of a config file",
        run: fifo,
    },
    Row {
        fault: "a socket in place of a config file",
        run: socket,
    },
    Row {
        fault: "an endless device in place of a config file",
        run: device,
    },
    Row {
        fault: "a loop of symbolic links",
        run: link_loop,
    },
    Row {
        fault: "a file that may not be read (no root)",
        run: unreadable,
    },
    Row {
        fault: "a file on a file system that does not answer",
        run: dead_disk,
    },
    Row {
        fault: "a link in /etc/cdi to a share that does not answer",
        run: dead_link,
    },
    Row {
        fault: "--root without a system below it",
        run: no_tree,
    },
];

const CONFIG: &str = "/etc/containerd/config.toml";
const HURT: &[Outcome] = &[Outcome::Partial, Outcome::Failed];
const ONLY: &[&str] = &["--only", "containerd_config,host_info"];
const REST: &[&str] = &["/etc/os-release"];

/// A tree in which a configuration is what `plant` makes of it.
fn config(plant: impl FnOnce(&Desk, &std::path::Path)) -> (Desk, crate::desk::Ran) {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    let path = desk.file(CONFIG, "");
    fs::remove_file(&path).unwrap();
    plant(&desk, &path);
    let ran = desk.on_tree(ONLY);
    (desk, ran)
}

fn huge() -> Result<Seen, String> {
    let (_desk, ran) = config(|_, path| File::create(path).unwrap().set_len(10 << 30).unwrap());
    let bundle = ran.bundle();
    assert!(
        bundle
            .cut(CONFIG)
            .unwrap()
            .contains("the beginning was kept")
    );
    bundle.row(
        &ran,
        "containerd_config",
        HURT,
        "only its beginning was taken",
        REST,
    )
}

fn growing() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    let path = desk.file("/var/log/kern.log", "kernel: begun\n");
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (path, stop) = (path.clone(), Arc::clone(&stop));
        std::thread::spawn(move || {
            let mut file = File::options().append(true).open(path).unwrap();
            let lines = "kernel: one more line\n".repeat(5000);
            let mut left = 3000;
            while !stop.load(Ordering::Relaxed) && left > 0 {
                file.write_all(lines.as_bytes()).unwrap();
                left -= 1;
            }
        })
    };
    let ran = desk.on_tree(&["--only", "journal,host_info"]);
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let bundle = ran.bundle();
    let kept = bundle.content("/var/log/kern.log");
    assert!(kept.contains("kernel: "), "{} bytes", kept.len());
    let mut seen = bundle.row(&ran, "journal", &[Outcome::Partial], "", REST)?;
    seen.said = format!(
        "journal partial: {} KiB of kern.log taken, and no more waited for",
        kept.len() >> 10
    );
    Ok(seen)
}

fn fifo() -> Result<Seen, String> {
    let (_desk, ran) = config(|_, path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    });
    ran.bundle().row(
        &ran,
        "containerd_config",
        HURT,
        "is not a regular file",
        REST,
    )
}

fn socket() -> Result<Seen, String> {
    let mut listener = None;
    let (_desk, ran) = config(|_, path| listener = Some(UnixListener::bind(path).unwrap()));
    ran.bundle().row(
        &ran,
        "containerd_config",
        HURT,
        "is not a regular file",
        REST,
    )
}

fn device() -> Result<Seen, String> {
    root()?;
    let (_desk, ran) = config(|_, path| {
        let made = Command::new("mknod")
            .arg(path)
            .args(["c", "1", "5"])
            .status();
        assert!(made.unwrap().success());
    });
    ran.bundle().row(
        &ran,
        "containerd_config",
        HURT,
        "is not a regular file",
        REST,
    )
}

fn link_loop() -> Result<Seen, String> {
    let (_desk, ran) = config(|_, path| symlink("config.toml", path).unwrap());
    ran.bundle()
        .row(&ran, "containerd_config", HURT, "too many links", REST)
}

fn unreadable() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    let secret = desk.file(CONFIG, "root = \"/x\"\n");
    fs::set_permissions(secret, fs::Permissions::from_mode(0o600)).unwrap();
    fs::copy(bins::find(bins::COLLECTOR), desk.path("collector")).unwrap();
    fs::set_permissions(desk.path("."), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(desk.path("out"), fs::Permissions::from_mode(0o777)).unwrap();
    let clock = Instant::now();
    let mut command = as_nobody(&desk.path("collector"))?;
    command
        .args(["--root", &desk.text("root"), "--progress", "none"])
        .args(ONLY);
    let output = command.current_dir(desk.path("out")).output().unwrap();
    let ran = desk.ran(output, clock);
    ran.bundle().row(
        &ran,
        "containerd_config",
        HURT,
        "cannot be read without more rights (run as root)",
        REST,
    )
}

fn dead_disk() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    fs::create_dir_all(desk.path("root/etc/containerd")).unwrap();
    let _dead = Mount::dead(&desk.path("root/etc/containerd"))?;
    let ran = desk.on_tree(ONLY);
    ran.bundle()
        .row(&ran, "containerd_config", HURT, "no answer", REST)
}

fn dead_link() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    desk.file("/etc/cdi/nvidia.yaml", "cdiVersion: 0.6.0\n");
    fs::create_dir_all(desk.path("root/mnt/share")).unwrap();
    symlink("/mnt/share/site.yaml", desk.path("root/etc/cdi/site.yaml")).unwrap();
    let _dead = Mount::dead(&desk.path("root/mnt/share"))?;
    let ran = desk.on_tree(&["--only", "container_runtimes,host_info"]);
    let said = "/etc/cdi/site.yaml: no answer";
    let rest = &["/etc/os-release", "/etc/cdi/nvidia.yaml"];
    ran.bundle()
        .row(&ran, "container_runtimes", HURT, said, rest)
}

fn no_tree() -> Result<Seen, String> {
    let desk = Desk::new();
    fs::remove_dir(desk.path("root/etc")).unwrap();
    desk.on_tree(&[]).refused(2, "holds no system")
}
