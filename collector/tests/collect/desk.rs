//! A folder with a tree like a node's, commands of the test's own and a place for bundles; and what a bundle holds.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use casefile_bundle::{Limits, Manifest, read_entry};

pub(super) const NODE_SOURCES: &str = "certificates,container_runtimes,containerd_config,cri,firewall,host_info,infiniband,journal,kubelet_config,network,nvidia_driver,nvidia_smi,packages,probe";

pub(super) struct Desk {
    dir: tempfile::TempDir,
}

impl Desk {
    pub(super) fn new() -> Self {
        let desk = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        for name in ["root/etc", "bin", "out"] {
            fs::create_dir_all(desk.path(name)).unwrap();
        }
        desk
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn file(&self, path: &str, text: &str) {
        let path = self.path("root").join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn stub(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs against the tree.
    pub(super) fn on_tree(&self, args: &[&str]) -> Output {
        let root = self.path("root");
        let mut all = vec!["--root", root.to_str().unwrap(), "--progress", "none"];
        all.extend(args);
        self.run(&all)
    }

    /// Runs against this machine, with the stubs before its own commands.
    pub(super) fn on_machine(&self, args: &[&str]) -> Output {
        let bin = self.path("bin");
        let mut all = vec!["--command-dir", bin.to_str().unwrap(), "--progress", "none"];
        all.extend(args);
        self.run(&all)
    }

    pub(super) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("casefile-collector"));
        command
            .args(args)
            .current_dir(self.path("out"))
            .stdin(Stdio::null());
        command
    }

    /// The only bundle in the output folder.
    pub(super) fn bundle(&self) -> PathBuf {
        let names: Vec<_> = fs::read_dir(self.path("out"))
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        assert_eq!(names.len(), 1, "{names:?}");
        names[0].clone()
    }
}

pub(super) fn manifest(bundle: &Path) -> Manifest {
    serde_json::from_slice(&entry(bundle, "manifest.json").unwrap()).unwrap()
}

pub(super) fn entry(bundle: &Path, path: &str) -> Option<Vec<u8>> {
    read_entry(bundle, &Limits::default(), path, 1 << 20).unwrap()
}

pub(super) fn text(bundle: &Path, path: &str) -> String {
    let bytes = entry(bundle, path).unwrap_or_else(|| panic!("{path} is missing"));
    String::from_utf8(bytes).unwrap()
}

/// Outcome and reason of a source.
pub(super) fn outcome(manifest: &Manifest, id: &str) -> (String, String) {
    let source = manifest
        .sources
        .iter()
        .find(|source| source.id == id)
        .unwrap();
    (
        format!("{:?}", source.outcome).to_lowercase(),
        source.why.clone().unwrap_or_default(),
    )
}

pub(super) fn notes(manifest: &Manifest, id: &str) -> String {
    manifest
        .sources
        .iter()
        .find(|source| source.id == id)
        .unwrap()
        .notes
        .join("\n")
}

pub(super) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
