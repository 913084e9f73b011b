//! The runtime's own truth about real containers, over its real socket.

use std::process::Command;

use casefile_tests::bins;
use serde_json::Value;

use crate::support::{CANNOT, ended, entry, manifest, paths, skip};

#[test]
fn a_container_that_runs_and_one_that_ended_are_told_with_state_exit_code_image_and_use() {
    let test =
        "a_container_that_runs_and_one_that_ended_are_told_with_state_exit_code_image_and_use";
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle.tar.gz");
    let mut command = Command::new(bins::checkout().join("tests/lab/containers"));
    command.arg(bins::folder()).arg(folder.path()).arg("--");
    command.arg(bins::find(bins::COLLECTOR)).args([
        "collect",
        "--only",
        "cri",
        "--progress",
        "none",
        "-o",
    ]);
    let ended = ended(command.arg(&bundle).output().unwrap());
    if ended.code == CANNOT {
        return skip(test, ended.err.trim().lines().last().unwrap_or_default());
    }
    assert_eq!(ended.code, 0, "{ended:?}");
    let node = manifest(&bundle).node;
    let of = |name: &str| -> Value {
        let all = paths(&bundle);
        let mut those = all
            .iter()
            .filter(|path| path.starts_with(&format!("nodes/{node}/cri/")) && path.ends_with(name));
        serde_json::from_str(&entry(&bundle, those.next().unwrap())).unwrap()
    };
    let (pods, containers) = (of("/pods.json"), of("/containers.json"));
    let container = |pod: &str| -> &Value {
        let mut sandboxes = pods["items"].as_array().unwrap().iter();
        let sandbox = sandboxes
            .find(|one| one["metadata"]["name"] == pod)
            .unwrap();
        let mut all = containers["containers"].as_array().unwrap().iter();
        all.find(|one| one["podSandboxId"] == sandbox["id"])
            .unwrap()
    };
    let (runs, over) = (container("runs"), container("ended"));
    assert_eq!(runs["state"], "CONTAINER_RUNNING");
    assert_eq!(runs["image"]["image"], "registry.example/casefile/box:1");
    assert_eq!(over["state"], "CONTAINER_EXITED");
    let statuses = of("/container-status.json").to_string();
    assert!(statuses.contains("\"exitCode\":3"), "{statuses}");
    let stats = of("/stats.json");
    let mut used = stats["stats"].as_array().unwrap().iter();
    let used = used
        .find(|one| one["attributes"]["id"] == runs["id"])
        .unwrap();
    let memory = used["memory"]["usageBytes"]["value"].as_str().unwrap();
    assert!(memory.parse::<u64>().unwrap() > 0, "{used}");
    assert!(of("/images.json").to_string().contains("casefile/box:1"));
}
