//! What a user would miss where Docker's configuration is resolved wrongly.

use super::*;
use crate::containerd::{Answer, MapTree};

fn docker(json: &str, command: &str, v2: Option<bool>) -> Resolved {
    let mut tree = MapTree::new();
    if !json.is_empty() {
        tree.add(FILE, "nodes/n/rootfs/etc/docker/daemon.json", json);
    }
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let evidence = Evidence {
        path: "nodes/n/processes.json".to_owned(),
        line: 2,
        text: command.to_owned(),
    };
    let process = (!words.is_empty()).then_some((words.as_slice(), &evidence));
    resolve(Docker {
        tree: &tree,
        process,
        cgroup_v2: v2,
        release: Some(Release::V28),
    })
    .expect("a daemon or a file is there")
}

const NVIDIA: &str = "{\n  \"default-runtime\": \"nvidia\",\n  \"runtimes\": {\n    \"nvidia\": {\n      \"path\": \"nvidia-container-runtime\"\n    }\n  },\n  \"exec-opts\": [\"native.cgroupdriver=cgroupfs\"]\n}\n";

#[test]
fn a_runtime_of_the_file_resolves_with_its_line_and_program() {
    let found = docker(NVIDIA, "/usr/bin/dockerd -H fd://", Some(true));
    assert!(found.starts(), "{:?}", found.faults);
    let nvidia = found.check("Docker", "nvidia");
    assert_eq!(nvidia.resolves, Answer::Yes);
    assert_eq!(nvidia.program, "nvidia-container-runtime");
    assert!(
        nvidia.because.ends_with("/etc/docker/daemon.json:4"),
        "{}",
        nvidia.because
    );
    assert_eq!(found.default_runtime, "nvidia");
    assert_eq!(
        found.cgroup_driver, "cgroupfs",
        "what is set beats the default"
    );
    let kata = found.check("Docker", "kata");
    assert_eq!(kata.resolves, Answer::No);
    assert!(
        kata.because.contains("runc, io.containerd.runc.v2, nvidia"),
        "{}",
        kata.because
    );
}

#[test]
fn a_setting_in_the_file_and_on_the_command_line_keeps_the_daemon_from_starting() {
    let found = docker(
        "{\"hosts\": [\"fd://\"]}",
        "/usr/bin/dockerd -H fd:// --containerd=/run/containerd/containerd.sock",
        None,
    );
    assert!(!found.starts());
    assert!(
        found.faults[0]
            .detail
            .starts_with("hosts is specified both as a flag")
    );
    let asked = found.check("Docker", "runc");
    assert_eq!(asked.resolves, Answer::No);
    assert!(
        asked.because.starts_with("Docker refuses to start"),
        "{}",
        asked.because
    );
    let runtimes = docker(
        "{\"runtimes\": {\"a\": {\"path\": \"/a\"}}}",
        "/usr/bin/dockerd --add-runtime nvidia=/usr/bin/nvidia-container-runtime",
        None,
    );
    assert!(
        runtimes.starts(),
        "runtimes may stand in both: {:?}",
        runtimes.faults
    );
    assert_eq!(runtimes.check("Docker", "nvidia").resolves, Answer::Yes);
    assert_eq!(runtimes.cgroup_driver, "", "not captured is not a default");
}

#[test]
fn what_dockerd_refuses_is_said_with_its_place() {
    for (json, wanted) in [
        ("{\"default-runtime\": \"nvidia\"}", "does not exist"),
        ("{\"runtimes\": {\"runc\": {\"path\": \"/x\"}}}", "reserved"),
        (
            "{\"runtimes\": {\"x\": {}}}",
            "either a runtimeType or a path",
        ),
        ("{\n\"debug\": true,\n}", "not the JSON of a table"),
        ("[1]", "not the JSON of a table"),
        (
            "{\"exec-opts\": [\"native.cgroupdriver=system\"]}",
            "names no driver",
        ),
    ] {
        let found = docker(json, "", None);
        assert!(!found.starts(), "{json}");
        assert!(
            found.faults[0].detail.contains(wanted),
            "{json}: {:?}",
            found.faults
        );
        assert!(found.faults[0].place.is_some(), "{json}");
    }
    assert!(docker(" \n", "", None).starts(), "an empty file is no file");
}

/// What three releases say of one file.
fn refused(json: &str, command: &str) -> Vec<bool> {
    let mut tree = MapTree::whole();
    tree.add(FILE, "nodes/n/rootfs/etc/docker/daemon.json", json);
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let evidence = Evidence {
        path: String::new(),
        line: 1,
        text: String::new(),
    };
    let asked = |release| {
        let found = resolve(Docker {
            tree: &tree,
            process: Some((&words, &evidence)),
            cgroup_v2: None,
            release: Some(release),
        });
        !found.expect("a file is there").starts()
    };
    RELEASES.map(asked).to_vec()
}

#[test]
fn an_upgrade_refuses_what_the_release_before_took() {
    for (json, wanted) in [
        ("{\"graph\": \"/data\"}", [false, true, true]),
        (
            "{\"storage-driver\": \"devicemapper\"}",
            [false, true, true],
        ),
        ("{\"runtimes\": {\"x\": {}}}", [false, true, true]),
        ("{\"api-cors-header\": \"*\"}", [false, false, true]),
        ("{\"exec-opts\": [\"nvidia\"]}", [false, false, true]),
        ("{\"cdi-spec-dirs\": [\"/etc/cdi\"]}", [true, false, false]),
        (
            "{\"default-runtime\": \"io.containerd.kata.v2\"}",
            [true, false, false],
        ),
        ("", [true, false, false]),
    ] {
        assert_eq!(refused(json, "dockerd"), wanted, "{json}");
    }
    let flag = "dockerd --add-runtime nvidia=/usr/bin/nvidia-container-runtime";
    let json = "{\"default-runtime\": \"nvidia\"}";
    assert_eq!(
        refused(json, flag),
        [true, false, false],
        "20.10 checks the file by itself"
    );
    assert_eq!(
        refused("{\"default-runtime\": \"/usr/bin/x\"}", "dockerd"),
        [true; 3]
    );
}

#[test]
fn where_the_release_is_not_known_what_only_some_refuse_is_left_open() {
    let mut tree = MapTree::new();
    tree.add(
        FILE,
        "x",
        "{\"graph\": \"/data\", \"runtimes\": {\"nvidia\": {\"path\": \"/n\"}}}",
    );
    let docker = Docker {
        tree: &tree,
        process: None,
        cgroup_v2: None,
        release: None,
    };
    let found = resolve(docker).expect("a file is there");
    assert!(found.starts(), "{:?}", found.faults);
    let nvidia = found.check("Docker", "nvidia");
    assert_eq!(nvidia.resolves, Answer::Unknown);
    assert!(
        nvidia.because.contains("Docker 28 refuses to start: graph"),
        "{}",
        nvidia.because
    );
}

#[test]
fn a_file_that_was_not_captured_or_cannot_be_opened_is_no_empty_file() {
    let words = ["dockerd".to_owned()];
    let evidence = Evidence {
        path: String::new(),
        line: 1,
        text: String::new(),
    };
    let ask = |tree: &MapTree| {
        resolve(Docker {
            tree,
            process: Some((&words, &evidence)),
            cgroup_v2: None,
            release: Some(Release::V28),
        })
        .expect("a daemon runs")
    };
    let unseen = ask(&MapTree::new()).check("Docker", "nvidia");
    assert_eq!(unseen.resolves, Answer::Unknown);
    let absent = ask(&MapTree::whole()).check("Docker", "nvidia");
    assert_eq!(absent.resolves, Answer::No);
    let mut circle = MapTree::whole();
    circle.add_link(FILE, "/etc/docker/b.json");
    circle.add_link("/etc/docker/b.json", FILE);
    assert!(!ask(&circle).starts());
}

#[test]
fn keys_that_are_accepted_and_never_read_are_said() {
    let found = docker("{\"registry-mirror\": [\"https://m\"]}", "", None);
    assert!(found.starts());
    assert!(
        found.faults[0]
            .detail
            .contains("the key is registry-mirrors"),
        "{:?}",
        found.faults
    );
}
