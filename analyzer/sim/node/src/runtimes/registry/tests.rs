//! What a user would miss where a registry is resolved wrongly.

use super::*;
use crate::containerd::{MapTree, RootFile, cri_view};

const ROOT: &str = "/etc/containerd/config.toml";

fn resolved(config: &str, files: &[(&str, &str)], host: &str) -> Resolution {
    let mut tree = MapTree::whole();
    tree.add(ROOT, "root", config);
    for (path, text) in files {
        tree.add(path, &format!("nodes/n/rootfs{path}"), text);
    }
    let root = RootFile {
        path: ROOT,
        explicit: false,
    };
    let config = crate::containerd::resolve(&tree, root, Some("1.7.24"));
    resolve(&tree, &config, &cri_view(&config), host)
}

const DIRS: &str = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\nconfig_path = \"/etc/containerd/certs.d:/etc/docker/certs.d\"\n";

fn urls(found: &Resolution) -> Vec<&str> {
    found.endpoints.iter().map(|one| one.url.as_str()).collect()
}

#[test]
fn hosts_are_tried_in_the_order_of_the_file_and_then_its_server() {
    let hosts = "server = \"https://registry-1.docker.io\"\n[host.\"https://z.example\"]\ncapabilities = [\"pull\"]\n[host.\"https://a.example/\"]\nskip_verify = true\n";
    let found = resolved(
        DIRS,
        &[("/etc/containerd/certs.d/docker.io/hosts.toml", hosts)],
        "docker.io",
    );
    assert_eq!(
        urls(&found),
        [
            "https://z.example",
            "https://a.example",
            "https://registry-1.docker.io"
        ]
    );
    assert_eq!(found.endpoints[0].capabilities, ["pull"]);
    assert!(found.endpoints[1].skip_verify);
    assert_eq!(
        found.endpoints[1].place.as_ref().map(|place| place.line),
        Some(4)
    );
}

#[test]
fn the_first_folder_of_the_path_that_has_the_host_decides_and_default_is_the_last_name() {
    let hosts = |url: &str| format!("[host.\"{url}\"]\n");
    let files = [
        (
            "/etc/containerd/certs.d/_default/hosts.toml",
            hosts("https://all.example"),
        ),
        (
            "/etc/containerd/certs.d/r.example_5000_/hosts.toml",
            hosts("https://port.example"),
        ),
        (
            "/etc/docker/certs.d/quay.io/hosts.toml",
            hosts("https://late.example"),
        ),
    ];
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    let at = |host: &str| resolved(DIRS, &files, host).endpoints[0].url.clone();
    assert_eq!(at("r.example:5000"), "https://port.example");
    assert_eq!(
        at("quay.io"),
        "https://all.example",
        "_default of an earlier folder comes first"
    );
}

#[test]
fn what_makes_every_pull_fail_or_leaves_the_mirrors_out_is_said() {
    let broken = resolved(
        DIRS,
        &[("/etc/containerd/certs.d/quay.io/hosts.toml", "server = \n")],
        "quay.io",
    );
    assert_eq!(
        urls(&broken),
        ["https://quay.io"],
        "its mirrors are not asked"
    );
    assert!(
        broken.fault.contains("quay.io/hosts.toml:1 is not TOML"),
        "{}",
        broken.fault
    );
    let unknown = "[host.\"https://m.example\"]\ncapabilities = [\"read\"]\n";
    let unknown = resolved(
        DIRS,
        &[("/etc/containerd/certs.d/quay.io/hosts.toml", unknown)],
        "quay.io",
    );
    assert_eq!(urls(&unknown), ["https://quay.io"]);
    assert!(
        unknown
            .fault
            .contains("hosts.toml:2 has the unknown capability"),
        "{}",
        unknown.fault
    );
    let both = format!(
        "{DIRS}[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"docker.io\"]\nendpoint = [\"https://m\"]\n"
    );
    let both = resolved(&both, &[], "docker.io");
    assert!(both.fault.contains("exclude each other"), "{}", both.fault);
    let ca = "[host.\"https://m.example\"]\nca = \"/etc/ssl/m.crt\"\n";
    let ca = resolved(
        DIRS,
        &[("/etc/containerd/certs.d/quay.io/hosts.toml", ca)],
        "quay.io",
    );
    assert!(ca.fault.contains("/etc/ssl/m.crt"), "{}", ca.fault);
}

#[test]
fn inline_mirrors_end_with_the_registry_itself() {
    let inline = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"*\"]\nendpoint = [\"https://m.example/\"]\n";
    let found = resolved(inline, &[], "ghcr.io");
    assert_eq!(urls(&found), ["https://m.example", "https://ghcr.io"]);
    assert_eq!(
        urls(&resolved("version = 2\n", &[], "docker.io")),
        ["https://registry-1.docker.io"]
    );
}

#[test]
fn the_host_of_an_image_is_the_one_a_runtime_would_ask() {
    for (image, host) in [
        ("nginx", "docker.io"),
        ("library/nginx:1", "docker.io"),
        ("nvcr.io/nvidia/driver:570", "nvcr.io"),
        ("localhost/x", "localhost"),
        ("r.example:5000/a/b@sha256:00", "r.example:5000"),
    ] {
        assert_eq!(host_of(image), host, "{image}");
    }
}

#[test]
fn a_server_without_a_host_is_left_out_before_containerd_2() {
    let server = "server = \"https://m.example\"\n";
    let alone = [("/etc/containerd/certs.d/quay.io/hosts.toml", server)];
    let found = resolved(DIRS, &alone, "quay.io");
    assert_eq!(urls(&found), ["https://quay.io"]);
    assert!(
        found.fault.contains("which needs containerd 2"),
        "{}",
        found.fault
    );
}
