//! What CRI rests on, and what keeps it from loading.

use super::tests::{ROOT, resolved};
use super::*;

#[test]
fn a_snapshotter_that_nobody_provides_keeps_cri_from_loading() {
    let text = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\nsnapshotter = \"nydus\"\n";
    let available =
        |version: &str, text: &str| cri_view(&resolved(version, &[(ROOT, text)])).available;
    assert_eq!(available("1.7.24", text), Answer::No);
    let proxy = format!(
        "{text}[proxy_plugins.nydus]\ntype = \"snapshot\"\naddress = \"/run/nydus.sock\"\n"
    );
    assert_eq!(available("1.7.24", &proxy), Answer::Yes);
    assert_eq!(
        available("1.7.24", &text.replace("nydus", "native")),
        Answer::Yes
    );
    // Whether the node has that file system stands in no file of containerd.
    assert_eq!(
        available("1.7.24", &text.replace("nydus", "btrfs")),
        Answer::Unknown
    );
}

#[test]
fn a_specification_that_is_missing_keeps_cri_from_loading_on_every_release() {
    let two = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n\
        runtime_type = \"io.containerd.runc.v2\"\nbase_runtime_spec = \"/etc/containerd/spec.json\"\n";
    let three = "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n\
        runtime_type = \"io.containerd.runc.v2\"\nbase_runtime_spec = \"/etc/containerd/spec.json\"\n";
    for (version, text) in [
        ("1.6.20", two),
        ("1.7.24", two),
        ("2.1.9", two),
        ("2.1.9", three),
    ] {
        let cri = |files: &[(&str, &str)]| cri_view(&resolved(version, files)).available;
        assert_eq!(cri(&[(ROOT, text)]), Answer::No, "{version}: {text}");
        let there = [(ROOT, text), ("/etc/containerd/spec.json", "{}")];
        assert_eq!(cri(&there), Answer::Yes, "{version}: {text}");
    }
}

#[test]
fn plugins_that_cri_rests_on_need_a_pool_a_program_or_a_file() {
    let available =
        |version: &str, text: &str| cri_view(&resolved(version, &[(ROOT, text)])).available;
    let own = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.kata]\n\
        runtime_type = \"io.containerd.kata.v2\"\nsnapshotter = \"devmapper\"\n";
    assert_eq!(
        available("2.1.9", own),
        Answer::No,
        "a handler's snapshotter"
    );
    let pool =
        format!("{own}[plugins.\"io.containerd.snapshotter.v1.devmapper\"]\npool_name = \"p\"\n");
    assert_eq!(
        available("2.1.9", &pool),
        Answer::Unknown,
        "the node has the pool or not"
    );
    let unused =
        "version = 2\n[plugins.\"io.containerd.snapshotter.v1.devmapper\"]\npool_name = \"p\"\n";
    assert_eq!(available("2.1.9", unused), Answer::Unknown);
    assert_eq!(available("1.7.24", unused), Answer::Yes, "1.x goes on");
    let differ = "version = 2\n[plugins.\"io.containerd.service.v1.diff-service\"]\ndefault = [\"erofs\", \"walking\"]\n";
    assert_eq!(available("2.1.9", differ), Answer::Unknown);
    assert_eq!(available("1.7.24", differ), Answer::No);
    let first = differ.replace("version = 2", "version = 1");
    assert_eq!(available("1.7.24", &first), Answer::Yes, "another name");
    let unpacks = "version = 2\n[[plugins.\"io.containerd.transfer.v1.local\".unpack_config]]\n\
        platform = \"linux/amd64\"\nsnapshotter = \"overlayfs\"\ndiffer = \"erofs\"\n";
    assert_eq!(available("2.1.9", unpacks), Answer::Unknown);
    assert_eq!(
        available("1.7.24", unpacks),
        Answer::Yes,
        "CRI pulls by itself"
    );
    let arm = unpacks.replace("erofs", "").replace("amd64", "arm64/v8");
    assert_eq!(available("2.1.9", &arm), Answer::Unknown, "another machine");
    let windows = differ.replace("\"erofs\", \"walking\"", "\"windows\"");
    assert_eq!(available("1.7.24", &windows), Answer::Unknown);
    let walked = unpacks.replace("erofs", "walking");
    assert_eq!(available("2.1.9", &walked), Answer::Yes);
    let walking = differ.replace("\"erofs\", ", "");
    assert_eq!(available("1.7.24", &walking), Answer::Yes);
    let scratch = "version = 2\n[plugins.\"io.containerd.snapshotter.v1.blockfile\"]\n\
        scratch_file = \"/opt/blockfile\"\nrecreate_scratch = true\n";
    assert_eq!(available("2.1.9", scratch), Answer::Unknown);
    assert_eq!(
        available("2.1.9", &scratch.replace("true", "false")),
        Answer::Yes
    );
}

#[test]
fn cri_does_not_load_without_the_parts_that_it_rests_on() {
    let available =
        |version: &str, text: &str| cri_view(&resolved(version, &[(ROOT, text)])).available;
    let off = |id: &str| format!("version = 2\ndisabled_plugins = [\"{id}\"]\n");
    for version in ["1.6.20", "1.7.24", "2.1.9"] {
        let content = off("io.containerd.content.v1.content");
        assert_eq!(available(version, &content), Answer::No, "{version}");
        assert_eq!(
            available(version, &off("io.containerd.nri.v1.nri")),
            Answer::Yes
        );
    }
    let first = off("io.containerd.runtime.v1.linux");
    assert_eq!(available("1.7.24", &first), Answer::No);
    assert_eq!(
        available("2.1.9", &first),
        Answer::Yes,
        "2.x has no such plugin"
    );
    assert_eq!(
        available("1.7.24", "disabled_plugins = [\"content\"]\n"),
        Answer::No
    );
}

#[test]
fn a_daemon_that_requires_cri_ends_where_cri_does_not_load() {
    let starts = |version: &str, text: &str| resolved(version, &[(ROOT, text)]).starts();
    let text = "version = 2\nrequired_plugins = [\"io.containerd.grpc.v1.cri\"]\n\
        [plugins.\"io.containerd.grpc.v1.cri\".registry]\nconfig_path = \"/etc/containerd/certs.d\"\n\
        [plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"a.example\"]\nendpoint = [\"https://b.example\"]\n";
    for version in ["1.6.20", "1.7.24", "2.1.9"] {
        assert_eq!(starts(version, text), Starts::No, "{version}");
        let loads = text.replace("config_path = \"/etc/containerd/certs.d\"\n", "");
        assert_eq!(starts(version, &loads), Starts::Yes, "{version}");
        let asks_nothing = text.replace("[\"io.containerd.grpc.v1.cri\"]\n", "[]\n");
        assert_eq!(starts(version, &asks_nothing), Starts::Yes, "{version}");
    }
}
