//! Output captured on real machines goes into the bundle as it was: nothing lost, nothing taken for a secret.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot set up its tree has failed; one that cannot run says so"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_bundle::{Limits, read_entry};
use serde_json::Value;

/// Captured data beside the checkout, where there is any.
fn data(test: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: {test}: there is no captured data beside the checkout");
    None
}

fn collect(dir: &Path, args: &[&str]) -> (PathBuf, String) {
    let bundle = dir.join("x.tar.gz");
    let run = Command::new(assert_cmd::cargo::cargo_bin!("casefile-collector"))
        .args(["--progress", "none", "-o"])
        .arg(&bundle)
        .args(args)
        .output()
        .unwrap();
    assert!(matches!(run.status.code(), Some(0 | 4)), "{run:?}");
    let manifest = entry(&bundle, "manifest.json").unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    (bundle, manifest["node"].as_str().unwrap().to_owned())
}

fn entry(bundle: &Path, path: &str) -> Option<Vec<u8>> {
    read_entry(bundle, &Limits::default(), path, 64 << 20).unwrap()
}

fn stub(dir: &Path, name: &str, script: &str) {
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn commands_of_a_gpu_node_print_what_real_ones_printed() {
    let Some(data) = data("captured") else { return };
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let smi = data.join("nvidia-smi");
    let (plain, xml, list, nvlink, lspci) = (
        smi.join("gpud/nvidia-smi.525.125.06.out.0.valid"),
        smi.join("telegraf/a100-sxm4-v12.xml"),
        smi.join("insights/nvidia.nvidia_smi_l_input_1.txt"),
        data.join("gpu-host/gpud/nvidia-smi.nvlink.status.a100"),
        data.join("gpu-host/gpud/lspci.nn.a100"),
    );
    let script = format!(
        "case \"$*\" in '-q -x') cat {};; -L) cat {};; nvlink*) cat {};; '') cat {};; esac",
        xml.display(),
        list.display(),
        nvlink.display(),
        plain.display()
    );
    stub(&bin, "nvidia-smi", &script);
    stub(&bin, "lspci", &format!("cat {}", lspci.display()));
    let (bundle, node) = collect(
        dir.path(),
        &[
            "--only",
            "nvidia_smi",
            "--command-dir",
            bin.to_str().unwrap(),
        ],
    );
    for (name, file) in [
        ("nvidia-smi.out", plain),
        ("nvidia-smi-q.xml", xml),
        ("nvidia-smi-L.out", list),
        ("nvidia-smi-nvlink.out", nvlink),
        ("lspci.out", lspci),
    ] {
        let taken = entry(&bundle, &format!("nodes/{node}/commands/{name}"));
        assert!(
            taken == Some(fs::read(&file).unwrap()),
            "{name} is not {}",
            file.display()
        );
    }
}

#[test]
fn files_of_real_nodes_are_copied_whole() {
    let Some(data) = data("captured") else { return };
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    let files = [
        (
            "etc/crio/crio.conf",
            "containerd-config/insights/crio_conf.crio_conf_data.txt",
        ),
        (
            "usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml",
            "containerd-config/bottlerocket/packages_nvidia-container-toolkit_nvidia-container-toolkit-config-k8s.toml",
        ),
        (
            "etc/docker/daemon.json",
            "containerd-config/bottlerocket/packages_docker-engine_daemon-nvidia-json",
        ),
        (
            "etc/kubernetes/kubelet/config.json",
            "kubelet-config/eks-ami/cases__kubelet-config-dir__expected-kubelet-config.json",
        ),
        (
            "etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf",
            "kubelet-config/eks-ami/cases__kubelet-config-dir__expected-kubelet-config-drop-in.json",
        ),
        (
            "etc/systemd/system/kubelet.service",
            "kubelet-config/eks-ami/infra__systemd__kubelet.service",
        ),
        ("var/log/fabricmanager.log", "logs/gpud/fabricmanager.log"),
        ("var/log/messages", "logs/insights/messages.msginfo.txt"),
        ("etc/resolv.conf", "net-config/jc/generic-resolve.conf-1"),
        (
            "etc/cni/net.d/87-podman-bridge.conflist",
            "net-config/insights/cni_podman_bridge_conf.podman_cni_file.txt",
        ),
    ];
    for (to, from) in files {
        let to = root.join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(data.join(from), to).unwrap();
    }
    let (bundle, node) = collect(dir.path(), &["--root", root.to_str().unwrap()]);
    for (to, from) in files {
        let taken = entry(&bundle, &format!("nodes/{node}/rootfs/{to}"));
        assert!(
            taken == Some(fs::read(data.join(from)).unwrap()),
            "{to} is not {from}"
        );
    }
}

#[test]
fn the_nvidia_smi_of_a_driver_container_is_run_below_its_root() {
    let there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !rustix::process::geteuid().is_root() || !there("cc") || there("nvidia-smi") {
        println!(
            "skipped: captured: needs root, a C compiler with a static libc, and no nvidia-smi of the host"
        );
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("smi.c");
    fs::write(
        &source,
        "#include <stdio.h>\nint main(int n, char **a) { FILE *f = fopen(\"/inside\", \"r\"); printf(\"%s %s\\n\", f ? \"inside\" : \"outside\", n > 1 ? a[1] : \"-\"); return 0; }\n",
    )
    .unwrap();
    let smi = dir.path().join("nvidia-smi");
    let built = Command::new("cc")
        .arg("-static")
        .arg("-o")
        .arg(&smi)
        .arg(&source)
        .status()
        .unwrap();
    if !built.success() {
        println!("skipped: captured: there is no static libc");
        return;
    }
    let bundle = dir.path().join("x.tar.gz");
    let script = format!(
        "mount -t tmpfs tmpfs /run && mkdir -p /run/nvidia/driver/usr/bin && cp {} /run/nvidia/driver/usr/bin/ && touch /run/nvidia/driver/inside && exec {} --only nvidia_smi --progress none -o {}",
        smi.display(),
        assert_cmd::cargo::cargo_bin!("casefile-collector").display(),
        bundle.display()
    );
    let run = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .output()
        .unwrap();
    assert!(matches!(run.status.code(), Some(0 | 4)), "{run:?}");
    let manifest: Value =
        serde_json::from_slice(&entry(&bundle, "manifest.json").unwrap()).unwrap();
    let path = format!(
        "nodes/{}/commands/nvidia-smi-q.xml",
        manifest["node"].as_str().unwrap()
    );
    assert_eq!(entry(&bundle, &path).unwrap(), b"inside -q\n");
    let origin = manifest["entries"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["path"] == path.as_str())
        .unwrap();
    assert!(
        origin["origin"]
            .as_str()
            .unwrap()
            .ends_with("chroot /run/nvidia/driver nvidia-smi -q -x"),
        "{origin}"
    );
}
