//! Trees as distributions lay them out.

use std::fs;
use std::path::Path;

use super::*;
use crate::out::testing::sink;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn process(root: &Path, pid: u32, cmdline: &str, cgroup: &str) {
    write(root, &format!("/proc/{pid}/comm"), "containerd\n");
    write(
        root,
        &format!("/proc/{pid}/cmdline"),
        &cmdline.replace(' ', "\0"),
    );
    write(
        root,
        &format!("/proc/{pid}/cgroup"),
        &format!("0::{cgroup}\n"),
    );
}

fn find(root: &Path) -> Vec<Instance> {
    let host = Host::new(root);
    instances::find(&host, &processes::find(&host))
}

#[test]
fn two_containerds_at_once_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(root, "/etc/containerd/config.toml", "version = 2\n");
    let base = "/var/lib/k8s-containerd/k8s-containerd";
    write(
        root,
        &format!("{base}/etc/containerd/config.toml"),
        "version = 2\n",
    );
    process(
        root,
        10,
        "/usr/bin/containerd",
        "/system.slice/containerd.service",
    );
    process(
        root,
        20,
        &format!(
            "/snap/k8s/1/bin/containerd --config {base}/etc/containerd/config.toml --address {base}/run/c.sock"
        ),
        "/system.slice/snap.k8s.containerd.service",
    );
    let found = find(root);
    let short: Vec<_> = found
        .iter()
        .map(|i| (i.id.as_str(), i.pid, i.config_exists))
        .collect();
    assert_eq!(
        short,
        [
            ("containerd", Some(10), true),
            ("snap.k8s.containerd", Some(20), true)
        ]
    );
    assert_eq!(
        found[1].socket.as_deref(),
        Some("/var/lib/k8s-containerd/k8s-containerd/run/c.sock")
    );
    assert_eq!(
        found[1].unit.as_deref(),
        Some("snap.k8s.containerd.service")
    );
}

#[test]
fn a_disk_without_processes_still_shows_what_was_set_up() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(
        root,
        "/var/snap/k8s/common/args/containerd",
        "--config=/data/etc/containerd/config.toml\n--root=/data/r\n",
    );
    write(
        root,
        "/lib/systemd/system/containerd.service",
        "[Service]\nExecStart=/usr/bin/containerd\n",
    );
    let found = find(root);
    assert_eq!(found[0].config_path, "/data/etc/containerd/config.toml");
    assert_eq!(found[0].root.as_deref(), Some("/data/r"));
    assert!(!found[0].config_exists);
    assert_eq!(found[1].unit.as_deref(), Some("containerd.service"));
    assert_eq!(found[1].config_path, "/etc/containerd/config.toml");
}

#[test]
fn imports_are_followed_through_globs_nesting_and_cycles() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(
        root,
        "/etc/containerd/config.toml",
        "version = 2\nimports = [\n  \"/etc/containerd/conf.d/*.toml\", # all\n  'rel.toml']\n[plugins]\nimports = ['/no']\n",
    );
    write(
        root,
        "/etc/containerd/conf.d/99-nvidia.toml",
        "imports = [\"/etc/containerd/config.toml\", \"/deep/x.toml\"]\n",
    );
    write(root, "/etc/containerd/rel.toml", "");
    write(
        root,
        "/deep/x.toml",
        "[plugins.\"x\".registry]\n  config_path = \"/certs:/more\"\n",
    );
    let drawn = imports::follow(&Host::new(root), "/etc/containerd/config.toml");
    let files: Vec<_> = drawn.files.iter().map(String::as_str).collect();
    assert_eq!(
        files,
        [
            "/deep/x.toml",
            "/etc/containerd/conf.d/99-nvidia.toml",
            "/etc/containerd/rel.toml"
        ]
    );
    let registries: Vec<_> = drawn.registries.iter().map(String::as_str).collect();
    assert_eq!(registries, ["/certs", "/more"]);
}

#[test]
fn drop_ins_that_nothing_imports_and_absent_paths_are_both_on_record() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(root, "/etc/containerd/config.toml", "version = 2\n");
    write(
        root,
        "/etc/containerd/conf.d/99-nvidia.toml",
        "[plugins]\npassword = \"hunter2\"\n",
    );
    let (out, mut entries) = sink("containerd_config", 1 << 20);
    let mut tally = Tally::default();
    gather(&Host::new(root), &out, &find(root), &mut tally);
    let mut paths = Vec::new();
    while let Ok(done) = entries.try_recv() {
        paths.push(done.meta.path.to_string());
    }
    assert!(
        paths.contains(&"nodes/node-1/rootfs/etc/containerd/conf.d/99-nvidia.toml".to_owned()),
        "{paths:?}"
    );
    assert!(
        paths.contains(&"nodes/node-1/containerd.json".to_owned()),
        "{paths:?}"
    );
    let absent = "/var/snap/k8s/common/etc/containerd/config.toml";
    assert_eq!(out.files().outcome(absent).as_deref(), Some("absent"));
    assert_eq!(
        out.files()
            .outcome("/etc/containerd/config.toml")
            .as_deref(),
        Some("copied")
    );
    assert!(tally.broken.is_empty(), "{tally:?}");
}
