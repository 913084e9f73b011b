//! Docker, device specifications and registries: the resolvers against the real programs.
//!
//! Daemons come from `CASEFILE_DOCKERD_BINS` (paths joined by colons; their `containerd` lies beside them or on the
//! path) or `dockerd` on the path, podman likewise from `CASEFILE_PODMAN_BINS`, containerd with its `ctr` from
//! `CASEFILE_CONTAINERD_BINS`. Everything runs as root in mount, network and process namespaces of its own; without root or a
//! program a test says so and ends. `CASEFILE_DOCKERD_FILES` sets how many generated configurations each dockerd is asked
//! to validate, `CASEFILE_DOCKERD_STARTS` how many it is started with, `CASEFILE_CDI_FOLDERS` and `CASEFILE_REGISTRIES` how many
//! folders podman and containerd's client are asked about.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of a test stop it where they cannot go on, and print what they counted"
)]

mod apart;
mod cdi;
mod dice;
mod docker;
mod docker_files;
mod info;
mod registries;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs of a variable, or one on the path; none where nothing can run here.
fn programs(variable: &str, name: &str) -> Vec<PathBuf> {
    let list = std::env::var(variable);
    let list = list.unwrap_or_else(|_| name.to_owned());
    let paths = list
        .split(':')
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    let found: Vec<PathBuf> = paths.filter(|path| version_of(path).is_some()).collect();
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|out| out.stdout == b"0\n");
    if found.is_empty() || !root {
        println!("skipped: needs root and {name} on the path or in {variable}");
        return Vec::new();
    }
    found
}

fn version_of(program: &Path) -> Option<String> {
    let out = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    out.status.success().then_some(text)
}

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Prints what differs and fails where anything does.
fn verdict(what: &str, differs: &[String]) {
    for line in differs {
        println!("  {line}");
    }
    assert!(differs.is_empty(), "{} {what} differ", differs.len());
}
