//! The `cri` source against real containerds: one that serves CRI and one whose CRI plugin did not load.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its daemons has failed"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use casefile_bundle::{Limits, read_entry};
use serde_json::Value;

/// A daemon that ends with the test.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // Gone already is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn containerd(dir: &Path, name: &str, more: &str) -> (Daemon, PathBuf) {
    let home = dir.join(name);
    fs::create_dir_all(&home).unwrap();
    let socket = home.join("c.sock");
    let config = format!(
        "version = 2\nroot = \"{0}/root\"\nstate = \"{0}/state\"\n{more}\n[grpc]\n  address = \"{0}/c.sock\"\n",
        home.display()
    );
    fs::write(home.join("config.toml"), config).unwrap();
    let log = fs::File::create(home.join("log")).unwrap();
    let child = Command::new("containerd")
        .arg("--config")
        .arg(home.join("config.toml"))
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let daemon = Daemon(child);
    for _ in 0..200 {
        let said = fs::read_to_string(home.join("log")).unwrap();
        if said.contains("containerd successfully booted") {
            return (daemon, socket);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!(
        "containerd does not start: {}",
        fs::read_to_string(home.join("log")).unwrap()
    );
}

/// Why the test cannot run here.
fn missing() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("containerd needs root");
    }
    let there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    (!there("containerd")).then_some("containerd is not installed")
}

/// An image with one small file, as `ctr images import` takes it.
fn image(dir: &Path) -> PathBuf {
    let script = r#"set -e
cd "$1"; mkdir files; echo pause >files/pause; tar -C files -cf layer.tar .
layer=$(sha256sum layer.tar | cut -d' ' -f1)
printf '{"architecture":"amd64","os":"linux","config":{"Entrypoint":["/pause"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$layer" >config.json
printf '[{"Config":"config.json","RepoTags":["registry.example/casefile/pause:1"],"Layers":["layer.tar"]}]' >manifest.json
tar -cf image.tar manifest.json config.json layer.tar"#;
    let made = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(dir)
        .status()
        .unwrap();
    assert!(made.success());
    dir.join("image.tar")
}

fn import(socket: &Path, dir: &Path) {
    let imported = Command::new("ctr")
        .arg("--address")
        .arg(socket)
        .args(["--namespace", "k8s.io", "images", "import"])
        .arg(image(dir))
        .output()
        .unwrap();
    assert!(imported.status.success(), "{imported:?}");
}

fn entry(bundle: &Path, path: &str) -> Value {
    let bytes = read_entry(bundle, &Limits::default(), path, 4 << 20).unwrap();
    let bytes = bytes.unwrap_or_else(|| panic!("{path} is missing"));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_running_containerd_tells_its_configuration_and_a_broken_one_why_its_plugin_did_not_load() {
    if let Some(why) = missing() {
        println!("skipped: cri_real: {why}");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    // The machine's own programs may have brought a CNI configuration.
    let serving = "[plugins.\"io.containerd.grpc.v1.cri\".cni]\n  conf_dir = \"/nonexistent/cni\"\n\
        [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n  runtime_type = \"io.containerd.runc.v2\"\n\
        [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\n  runtime_type = \"io.containerd.runc.v2\"\n\
        [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia.options]\n  BinaryName = \"/usr/local/nvidia/toolkit/nvidia-container-runtime\"\n\
        [plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"r.example\".auth]\n  username = \"robot\"\n  password = \"geheim-im-runtime\"\n";
    let (_one, socket) = containerd(dir.path(), "one", serving);
    // A mistake seen in the field: the drop-in's table of runtimes has no runc, which the default names.
    let broken = "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\n  runtime_type = \"io.containerd.runc.v2\"\n";
    let (_two, other) = containerd(dir.path(), "two", broken);
    import(&socket, dir.path());
    let bundle = dir.path().join("x.tar.gz");
    let run = Command::new(assert_cmd::cargo::cargo_bin!("casefile-collector"))
        .args(["--only", "cri", "--progress", "none", "-o"])
        .arg(&bundle)
        .output()
        .unwrap();
    assert!(matches!(run.status.code(), Some(0 | 4)), "{run:?}");
    let manifest = entry(&bundle, "manifest.json");
    let node = manifest["node"].as_str().unwrap();
    let index = entry(&bundle, &format!("nodes/{node}/cri.json"));
    let row = |socket: &Path| {
        let rows = index["endpoints"].as_array().unwrap();
        let found = rows
            .iter()
            .find(|row| row["socket"] == socket.to_str().unwrap());
        found
            .unwrap_or_else(|| panic!("{} is not in {index}", socket.display()))
            .clone()
    };
    let row_one = row(&socket);
    assert_eq!(row_one["runtime"], "containerd", "{row_one}");
    assert_eq!(row_one["api"], "runtime.v1");
    let folder = format!("nodes/{node}/cri/{}", row_one["id"].as_str().unwrap());
    let status = entry(&bundle, &format!("{folder}/status.json"));
    let runtimes = &status["config"]["containerd"]["runtimes"];
    assert_eq!(
        runtimes["nvidia"]["options"]["BinaryName"],
        "/usr/local/nvidia/toolkit/nvidia-container-runtime"
    );
    assert!(!status.to_string().contains("geheim-im-runtime"));
    let ready = status["status"]["conditions"].as_array().unwrap();
    let network = ready
        .iter()
        .find(|one| one["type"] == "NetworkReady")
        .unwrap();
    assert_eq!(
        network["status"], false,
        "there is no CNI configuration here: {network}"
    );
    let images = entry(&bundle, &format!("{folder}/images.json"));
    assert!(
        images["images"][0]["repoTags"][0]
            .as_str()
            .unwrap()
            .ends_with("casefile/pause:1"),
        "{images}"
    );
    for list in [
        "pods.json",
        "containers.json",
        "stats.json",
        "version.json",
        "image-fs.json",
    ] {
        entry(&bundle, &format!("{folder}/{list}"));
    }
    why_its_plugin_did_not_load(&bundle, node, &row(&other));
    let notes = manifest["sources"][0]["notes"].to_string();
    assert!(
        notes.contains("does not serve CRI")
            || manifest["sources"]
                .to_string()
                .contains("does not serve CRI"),
        "{notes}"
    );
}

fn why_its_plugin_did_not_load(bundle: &Path, node: &str, other: &Value) {
    assert!(
        other["error"].as_str().unwrap().contains("Unimplemented"),
        "{other}"
    );
    let plugins = entry(
        bundle,
        &format!(
            "nodes/{node}/cri/{}/plugins.json",
            other["id"].as_str().unwrap()
        ),
    );
    let plugins = plugins["plugins"].as_array().unwrap();
    let cri = plugins.iter().find(|one| one["id"] == "cri").unwrap();
    let why = cri["initErr"]["message"].as_str().unwrap();
    assert!(why.contains("no corresponding runtime configured"), "{why}");
}

#[test]
fn a_runtime_that_hangs_costs_its_own_answers_only() {
    if let Some(why) = missing() {
        println!("skipped: cri_real: {why}");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (_well, well) = containerd(dir.path(), "well", "");
    let (stuck, socket) = containerd(dir.path(), "stuck", "");
    let pid = rustix::process::Pid::from_child(&stuck.0);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let bundle = dir.path().join("x.tar.gz");
    let run = Command::new(assert_cmd::cargo::cargo_bin!("casefile-collector"))
        .args(["--only", "cri", "--progress", "none", "-o"])
        .arg(&bundle)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(4), "{run:?}");
    let manifest = entry(&bundle, "manifest.json");
    let index = entry(
        &bundle,
        &format!("nodes/{}/cri.json", manifest["node"].as_str().unwrap()),
    );
    for (socket, stuck) in [(&well, false), (&socket, true)] {
        let rows = index["endpoints"].as_array().unwrap();
        let row = rows
            .iter()
            .find(|row| row["socket"] == socket.to_str().unwrap())
            .unwrap();
        assert_eq!(
            row["error"]
                .as_str()
                .is_some_and(|why| why.contains("no answer within")),
            stuck,
            "{row}"
        );
        assert_eq!(row["version"].is_string(), !stuck, "{row}");
    }
}
