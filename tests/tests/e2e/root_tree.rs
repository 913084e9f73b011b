//! The collector on a mounted disk: a tree of files, no programs.

use casefile_tests::bins;

use crate::support::{collect, entry, nowhere, paths, plant};

const SNAP: &str = "/var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml";

fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = bins::checkout().join("tests/lab/files");
    let root = folder.path().join("root");
    for part in ["common", "wrong"] {
        let from = files.join(part);
        for file in walkdir::WalkDir::new(&from)
            .into_iter()
            .filter_map(Result::ok)
        {
            if file.file_type().is_file() {
                let path = file.path().strip_prefix(&from).unwrap().to_str().unwrap();
                plant(&root, path, std::fs::read(file.path()).unwrap());
            }
        }
    }
    plant(&root, "/etc/hostname", "192-18-132-31\n");
    plant(
        &root,
        "/etc/machine-id",
        "62c66a7a5dd70c3146618063c344e531\n",
    );
    folder
}

#[test]
fn the_configs_of_both_containerd_instances_are_taken_from_a_mounted_disk() {
    let folder = tree();
    let root = folder.path().join("root");
    let (_, bundle) = collect(folder.path(), &["--root", root.to_str().unwrap()]);
    let node = "nodes/192-18-132-31/rootfs";
    assert!(
        entry(&bundle, &format!("{node}/etc/containerd/config.toml")).contains("runtimes.nvidia]")
    );
    assert!(!entry(&bundle, &format!("{node}{SNAP}")).contains("nvidia"));
}

#[test]
fn a_registry_password_in_a_containerd_config_is_redacted() {
    let folder = tree();
    let root = folder.path().join("root");
    let dropin = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"r.example\".auth]\n\
                  username = \"u\"\npassword = \"hunter2-registry\"\n";
    plant(
        &root,
        "/var/lib/k8s-containerd/k8s-containerd/etc/containerd/conf.d/auths.toml",
        dropin,
    );
    let (_, bundle) = collect(folder.path(), &["--root", root.to_str().unwrap()]);
    assert!(
        paths(&bundle)
            .iter()
            .any(|path| path.ends_with("conf.d/auths.toml"))
    );
    nowhere(&bundle, "hunter2-registry");
}

#[test]
fn a_link_out_of_the_mounted_disk_is_not_followed_out_of_it() {
    let folder = tree();
    let root = folder.path().join("root");
    let outside = folder.path().join("outside.toml");
    std::fs::write(&outside, "root = \"not-of-this-disk\"\n").unwrap();
    let config = root.join("etc/containerd/config.toml");
    std::fs::remove_file(&config).unwrap();
    std::os::unix::fs::symlink(&outside, &config).unwrap();
    let (_, bundle) = collect(folder.path(), &["--root", root.to_str().unwrap()]);
    nowhere(&bundle, "not-of-this-disk");
}
