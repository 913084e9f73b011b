//! Container runtimes on a machine with real ones: a containerd in a mount namespace of its own, as a snap's is, and
//! programs that cannot be started.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its daemons has failed"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use casefile_bundle::{Limits, read_entry};
use serde_json::Value;

fn entry(bundle: &Path, path: &str) -> String {
    let bytes = read_entry(bundle, &Limits::default(), path, 4 << 20).unwrap();
    String::from_utf8(bytes.unwrap_or_else(|| panic!("{path} is missing"))).unwrap()
}

fn collect(dir: &Path, args: &[&str]) -> (std::path::PathBuf, String) {
    let bundle = dir.join("x.tar.gz");
    let run = Command::new(assert_cmd::cargo::cargo_bin!("casefile-collector"))
        .args(["--progress", "none", "-o"])
        .arg(&bundle)
        .args(args)
        .output()
        .unwrap();
    assert!(matches!(run.status.code(), Some(0 | 4)), "{run:?}");
    let manifest: Value = serde_json::from_str(&entry(&bundle, "manifest.json")).unwrap();
    let node = manifest["node"].as_str().unwrap().to_owned();
    (bundle, node)
}

#[test]
fn a_containerd_in_its_own_mount_namespace_is_read_as_it_sees_its_files() {
    let there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !rustix::process::geteuid().is_root() || !there("containerd") || !there("unshare") {
        println!("skipped: runtimes_real: needs root, containerd and unshare");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("inside");
    fs::create_dir_all(&inside).unwrap();
    // What the process sees below `inside`, the host does not.
    let script = format!(
        r#"mount -t tmpfs tmpfs {0} && mkdir {0}/conf.d && printf 'version = 2\nimports = ["{0}/conf.d/*.toml"]\nroot = "{0}/root"\nstate = "{0}/state"\n[grpc]\n  address = "{0}/c.sock"\n' >{0}/config.toml \
&& printf '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]\n  runtime_type = "io.containerd.runc.v2"\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]\n  BinaryName = "{0}/nvidia-container-runtime"\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\n  runtime_type = "io.containerd.runc.v2"\n' >{0}/conf.d/nvidia.toml \
&& printf '#!/nonexistent/interpreter\n' >{0}/nvidia-container-runtime && exec containerd --config {0}/config.toml"#,
        inside.display()
    );
    let mut daemon = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let socket = format!("/proc/{}/root{}/c.sock", daemon.id(), inside.display());
    for _ in 0..100 {
        if Path::new(&socket).exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let (bundle, node) = collect(
        dir.path(),
        &["--only", "containerd_config,container_runtimes,cri"],
    );
    let seen = inside.display().to_string();
    let drop_in = entry(
        &bundle,
        &format!("nodes/{node}/rootfs{seen}/conf.d/nvidia.toml"),
    );
    let binaries: Value =
        serde_json::from_str(&entry(&bundle, &format!("nodes/{node}/host/binaries.json"))).unwrap();
    let index: Value =
        serde_json::from_str(&entry(&bundle, &format!("nodes/{node}/cri.json"))).unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();

    assert!(drop_in.contains("BinaryName"), "{drop_in}");
    let runtime = format!("{seen}/nvidia-container-runtime");
    let rows = binaries["binaries"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["path"] == runtime.as_str())
        .unwrap();
    assert_eq!(row["exists"], true);
    assert_eq!(
        (&row["executable"], &row["interpreter_exists"]),
        (&Value::Bool(false), &Value::Bool(false)),
        "{row}"
    );
    let wanted = format!("{seen}/c.sock");
    let row = index["endpoints"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["socket"] == wanted.as_str())
        .unwrap();
    assert_eq!(row["runtime"], "containerd", "{row}");
}

#[test]
fn dockers_and_crios_configuration_is_taken_and_its_programs_are_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let file = |path: &str, text: &str| {
        let path = dir.path().join("root").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("etc/hostname", "gpu-1\n");
    file(
        "etc/docker/daemon.json",
        "{\n  \"runtimes\": {\"nvidia\": {\n    \"path\": \"nvidia-container-runtime\"\n  }}\n}\n",
    );
    file(
        "etc/crio/crio.conf.d/99-nvidia.toml",
        "[crio.runtime.runtimes.nvidia]\nruntime_path = \"/usr/bin/nvidia-container-runtime\"\n",
    );
    file(
        "var/run/cdi/nvidia.yaml",
        "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\n",
    );
    file(
        "usr/local/nvidia/toolkit/nvidia-container-runtime",
        "#!/bin/sh\nexec nvidia-container-runtime.real \"$@\"\n",
    );
    std::os::unix::fs::symlink(
        "libnvidia-container.so.1.17.8",
        dir.path()
            .join("root/usr/local/nvidia/toolkit/libnvidia-container.so.1"),
    )
    .unwrap();
    file("usr/local/nvidia/toolkit/libnvidia-container.so.1.17.8", "");
    let root = dir.path().join("root");
    let (bundle, node) = collect(
        dir.path(),
        &[
            "--root",
            root.to_str().unwrap(),
            "--only",
            "container_runtimes",
        ],
    );
    let at = |path: &str| entry(&bundle, &format!("nodes/{node}/{path}"));
    at("rootfs/etc/docker/daemon.json");
    at("rootfs/var/run/cdi/nvidia.yaml");
    assert!(at("rootfs/usr/local/nvidia/toolkit/nvidia-container-runtime").contains(".real"));
    let binaries: Value = serde_json::from_str(&at("host/binaries.json")).unwrap();
    let rows = binaries["binaries"].as_array().unwrap();
    let absent: Vec<_> = rows.iter().filter(|row| row["exists"] == false).collect();
    assert_eq!(absent.len(), 2, "{binaries}");
    assert_eq!(
        absent[0]["named_by"][0],
        "/etc/crio/crio.conf.d/99-nvidia.toml:2"
    );
    let files = at("files.json");
    assert!(
        files.contains("libnvidia-container.so.1.17.8"),
        "the toolkit's version is in its library's name: {files}"
    );
}
