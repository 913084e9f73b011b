//! What a change must keep: secrets that the bundle does not hold, owner, mode and security context.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use casefile_bundle::Entry;
use serde_json::json;

use super::hostile_tests;
use super::sandbox::{NODE, Planned, Sandbox};
use crate::change::Change;

/// A kind of change that edits a file: the change, the file, and its text, where `SECRET` is one.
struct Kept {
    change: serde_json::Value,
    path: &'static str,
    text: &'static str,
}

fn all() -> Vec<Kept> {
    let one = |change, path, text| Kept { change, path, text };
    let containerd = "/etc/containerd/config.toml";
    let registry = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"r.io\".auth]\n# of the team\npassword = \"SECRET\"\n";
    let mirrors = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"m.io\"]\nendpoint = [\"https://m\"]\n\n[debug]\nlevel = \"info\"\n\n[other]\ntoken = \"SECRET\"\n";
    vec![
        one(
            json!({"host-file": {"node": NODE, "path": containerd, "merge_toml": "disabled_plugins = []"}}),
            containerd,
            registry,
        ),
        one(
            json!({"containerd-runtime": {"node": NODE, "path": containerd, "handler": "nvidia"}}),
            containerd,
            registry,
        ),
        one(
            json!({"containerd-import": {"node": NODE, "path": containerd, "drop_in": "/etc/containerd/conf.d/a.toml"}}),
            containerd,
            registry,
        ),
        one(json!({"containerd-registry": {}}), containerd, mirrors),
        one(
            json!({"containerd-unimport": {"node": NODE, "path": "/opt/own/config.toml", "folder": "/etc/containerd"}}),
            "/opt/own/config.toml",
            "version = 2\n# of the team\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n[debug]\n# the team's\naddress = \"SECRET\"\n",
        ),
        one(
            json!({"cni-folder": {"node": NODE, "path": containerd, "plugin": "portmap", "searched": "/opt/cni/bin"}}),
            containerd,
            registry,
        ),
        one(
            json!({"docker-daemon": {"set": "{debug: true}"}}),
            "/etc/docker/daemon.json",
            "{\n  \"log-driver\": \"json-file\",\n  \"proxies\": {\n    \"https-proxy\": \"SECRET\"\n  }\n}\n",
        ),
        one(
            json!({"kubelet-config": {"set": "maxPods: 200"}}),
            "/var/lib/kubelet/config.yaml",
            "# ours\nmaxPods: 110\nclusterDomain: a\nclusterDNS: [10.0.0.1]\nx: 1\nstaticPodURLHeader:\n  Authorization: [SECRET]\n",
        ),
        one(
            json!({"kubelet-flag": {"flag": "max-pods", "value": "200", "path": "/etc/default/kubelet"}}),
            "/etc/default/kubelet",
            "# ours\nA=1\nKUBELET_EXTRA_ARGS=\"--max-pods=110\"\nB=2\nHTTPS_PROXY=SECRET\n",
        ),
        one(
            json!({"unit": {"unit": "kubelet.service", "section": "Unit", "remove": ["BindsTo=a"], "add": ["Wants=a"]}}),
            "/etc/systemd/system/kubelet.service",
            "[Unit]\nBindsTo=a\n\n[Service]\nExecStart=/b\nEnvironment=TOKEN=SECRET\n",
        ),
        one(
            json!({"containerd-section": {"node": NODE, "path": "/etc/containerd/conf.d/99-nvidia.toml"}}),
            "/etc/containerd/conf.d/99-nvidia.toml",
            "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\nruntime_type = \"a\"\n[debug]\n# of the team\naddress = \"SECRET\"\n",
        ),
        one(
            json!({"toml-type": {"node": NODE, "sentence": "oom_score is a string, containerd expects an integer"}}),
            containerd,
            "version = 2\noom_score = \"1\"\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"r.io\".auth]\npassword = \"SECRET\"\n",
        ),
        one(
            json!({"kubelet-unquote": {}}),
            "/etc/default/kubelet",
            "# ours\nHTTPS_PROXY=SECRET\nA=1\nB=2\nC=3\nKUBELET_EXTRA_ARGS=\"--max-pods='110'\"\n",
        ),
        one(
            json!({"unknown-flag": {"sentence": "unknown flag: --network-plugin"}}),
            "/var/lib/kubelet/kubeadm-flags.env",
            "# ours\nA=1\nKUBELET_KUBEADM_ARGS=\"--network-plugin=cni --v=2\"\nB=2\nHTTPS_PROXY=SECRET\n",
        ),
        one(
            json!({"node-ip": {}}),
            "/var/lib/kubelet/kubeadm-flags.env",
            "# ours\nA=1\nKUBELET_KUBEADM_ARGS=\"--v=2\"\nB=2\nHTTPS_PROXY=SECRET\n",
        ),
        one(
            json!({"docker-directive": {"sentence": "debug is specified both as a flag (from flag: true) and in the configuration file (from file: false)"}}),
            "/etc/docker/daemon.json",
            "{\n  \"debug\": false,\n  \"log-driver\": \"json-file\",\n  \"proxies\": {\n    \"https-proxy\": \"SECRET\"\n  }\n}\n",
        ),
        one(
            json!({"swap-off": {}}),
            "/etc/fstab",
            "# ours\n//nas/a /mnt cifs password=SECRET 0 0\n/dev/a / ext4 defaults 0 1\n/dev/b /b ext4 defaults 0 1\n/swapfile none swap sw 0 0\n",
        ),
    ]
}

/// The sandbox with a file of one of them, whose secret the bundle does not hold.
fn sandbox(kept: &Kept, secret: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let copied = kept.text.replace("SECRET", "<redacted:password:0a1b2c3d>");
    // What some of them look at beside their file.
    hostile_tests::one_address(&sandbox);
    sandbox.entry(
        &Entry::Node(NODE, "host/binaries.json").path(),
        "{\"binaries\":[\n{\"path\":\"/usr/lib/cni/portmap\",\"exists\":true}\n]}\n",
    );
    sandbox.file(
        "/proc/swaps",
        "Filename Type Size Used Priority\n/swapfile file 1 0 -2\n",
        "Filename Type Size Used Priority\n/swapfile file 1 0 -2\n",
    );
    sandbox.entry(
        &Entry::Rootfs(NODE, "/etc/containerd/root.toml").path(),
        "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"a\"\n",
    );
    sandbox.file(kept.path, &kept.text.replace("SECRET", secret), &copied);
    sandbox
}

/// A run where a person has chosen what the change takes from somebody.
fn run(sandbox: &Sandbox, fix: &Planned, argument: &str) -> (bool, String) {
    let mut command = sandbox.command(fix, "moved.sh", &[argument]);
    let ran = command.env("ACCEPT", "yes").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    (ran.status.success(), said)
}

fn change(kept: &Kept) -> Change {
    serde_json::from_value(kept.change.clone()).unwrap()
}

#[test]
fn a_secret_stays_to_the_byte_whichever_kind_of_change_edits_its_file() {
    let secret = format!("p4ss'$(x)\\\\{}", "y".repeat(8));
    for kept in all() {
        let sandbox = sandbox(&kept, &secret);
        let before = sandbox.tree();
        let fix = sandbox.write(&[change(&kept)]);
        let fix = fix.unwrap_or_else(|refused| panic!("{}: {refused}", kept.change));
        let (done, said) = run(&sandbox, &fix, "--yes");
        assert!(done, "{}: {said}", kept.change);
        let after = std::fs::read_to_string(sandbox.real(kept.path)).unwrap();
        let was = kept.text.replace("SECRET", &secret);
        assert_ne!(after, was, "{}", kept.change);
        assert!(after.contains(&secret), "{}: {after}", kept.change);
        assert!(!after.contains("<redacted"), "{}: {after}", kept.change);
        // The line of the secret, and each comment, are what they were.
        for line in was
            .lines()
            .filter(|line| line.contains(&secret) || line.starts_with('#'))
        {
            assert!(
                after.lines().any(|one| one == line),
                "{}: {after}",
                kept.change
            );
        }
        let (_, said) = run(&sandbox, &fix, "--back");
        assert!(sandbox.tree() == before, "{}: {said}", kept.change);
    }
}

/// Where a bundle has a placeholder for each secret of `hostile_tests`' bundle, and the node the secret.
fn full_of_secrets(sandbox: &Sandbox, secret: &str) {
    hostile_tests::bundle(sandbox, "a");
    hostile_tests::node_files(sandbox, "a");
    let mut captured = sandbox.captured();
    let paths: Vec<String> = captured.paths().map(str::to_owned).collect();
    for path in paths {
        let text = captured.now(&path).unwrap_or_default();
        let own = path.strip_prefix("nodes/n1/rootfs");
        let printed = own.is_none() && path.starts_with("nodes/");
        if printed || own.is_some_and(|own| own.starts_with("/proc")) {
            continue;
        }
        sandbox.entry(&path, &with_secret(&text, PLACEHOLDER));
        if let Some(own) = own {
            std::fs::write(sandbox.real(own), with_secret(&text, secret)).unwrap();
        }
    }
}

const PLACEHOLDER: &str = "<redacted:token:0a1b2c3d>";

/// A text with a secret in each place that a text of its kind has for one.
fn with_secret(text: &str, secret: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(text) else {
        return format!("{text}# token: {secret}\n");
    };
    let items = value
        .get_mut("items")
        .and_then(serde_json::Value::as_array_mut);
    for item in items.into_iter().flatten() {
        item["metadata"]["annotations"]["secret"] = secret.into();
        if let Some(data) = item["data"].as_object_mut() {
            data.insert("secret".into(), secret.into());
        }
        for spec in ["/spec/containers", "/spec/template/spec/containers"] {
            for container in item
                .pointer_mut(spec)
                .and_then(serde_json::Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                container["env"] = json!([{"name": "TOKEN", "value": secret}]);
            }
        }
    }
    let is_list = value.get("items").is_some();
    if let (false, Some(map)) = (is_list, value.as_object_mut()) {
        map.insert("secret".into(), secret.into());
    }
    serde_json::to_string_pretty(&value).unwrap() + "\n"
}

/// Kinds whose files are written by the node's own tool, and have a row on that tool instead.
const BY_ITS_TOOL: [&str; 1] = ["ufw-route"];

#[test]
fn no_kind_writes_a_placeholder_and_each_that_edits_a_file_is_looked_at_closely() {
    let secret = "s3cret-of-the-node";
    let (mut editing, mut wrong) = (BTreeSet::new(), Vec::new());
    for change in hostile_tests::changes("a") {
        let sandbox = Sandbox::new();
        full_of_secrets(&sandbox, secret);
        let Ok(fix) = sandbox.write(std::slice::from_ref(&change)) else {
            continue;
        };
        let kind = kind(&change);
        let before = sandbox.tree();
        if before.keys().any(|path| fix.files.contains(path)) {
            editing.insert(kind.clone());
        }
        for file in std::fs::read_dir(&fix.folder).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            // Differences are there to be read; nobody copies them.
            let to_read = path.extension().is_some_and(|end| end == "diff");
            if !to_read && text.contains("<redacted:") {
                wrong.push(format!(
                    "{kind} hands over a placeholder in {}",
                    path.display()
                ));
            }
        }
        let (_, said) = run(&sandbox, &fix, "--yes");
        let after = sandbox.tree();
        for (path, (_, bytes)) in after.iter().filter(|(path, _)| before.contains_key(*path)) {
            let text = String::from_utf8_lossy(bytes);
            if !text.contains(secret) && before[path].1 != *bytes || text.contains("<redacted:") {
                wrong.push(format!("{kind} loses the secret of {path}: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let close: BTreeSet<String> = all().iter().map(|kept| kind(&change(kept))).collect();
    let rest: Vec<&String> = editing
        .difference(&close)
        .filter(|kind| !BY_ITS_TOOL.contains(&kind.as_str()))
        .collect();
    assert!(
        rest.is_empty(),
        "they edit a file, and no row of this file has one: {rest:?}"
    );
}

/// The kind of a change as rules write it.
fn kind(change: &Change) -> String {
    let value = serde_json::to_value(change).unwrap();
    value.as_object().unwrap().keys().next().unwrap().clone()
}

/// The security context of a file; none where this machine keeps none.
fn context(path: &Path) -> Option<String> {
    let get = Command::new("getfattr")
        .args(["--only-values", "-n", "security.selinux"])
        .arg(path)
        .output();
    let get = get.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&get.stdout).into_owned())
}

fn has_context(path: &Path) -> bool {
    let set = Command::new("setfattr")
        .args(["-n", "security.selinux", "-v"])
        .arg("system_u:object_r:container_config_t:s0")
        .arg(path)
        .output();
    set.is_ok_and(|output| output.status.success()) && context(path).is_some()
}

#[test]
fn owner_mode_and_security_context_stay() {
    for kept in all() {
        let sandbox = sandbox(&kept, "s3cret");
        let file = sandbox.real(kept.path);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        let root = std::os::unix::fs::chown(&file, Some(1234), Some(4321)).is_ok();
        let labelled = root && has_context(&file);
        if !labelled {
            use std::io::Write as _;
            let why =
                "skipped: needs root and setfattr (package attr), for owners and security contexts";
            let _ = writeln!(std::io::stdout(), "{why}");
        }
        let rights = || {
            let data = file.metadata().unwrap();
            (data.mode(), data.uid(), data.gid(), context(&file))
        };
        let before = rights();
        let fix = sandbox.write(&[change(&kept)]).unwrap();
        for argument in ["--yes", "--back"] {
            let (done, said) = run(&sandbox, &fix, argument);
            assert!(done, "{}: {said}", kept.change);
            assert_eq!(rights(), before, "{} {argument}", kept.change);
        }
    }
}
