//! What a change of a file must keep: secrets that the bundle does not hold, owner, mode and security context.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::sandbox::{NODE, Sandbox};
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
    ]
}

/// The sandbox with a file of one of them, whose secret the bundle does not hold.
fn sandbox(kept: &Kept, secret: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let copied = kept.text.replace("SECRET", "<redacted:password:0a1b2c3d>");
    sandbox.file(kept.path, &kept.text.replace("SECRET", secret), &copied);
    sandbox
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
        let ran = sandbox.run(&fix, &["--yes"]);
        assert_eq!(ran.code, 0, "{}: {}", kept.change, ran.said);
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
        let ran = sandbox.run(&fix, &["--back"]);
        assert!(sandbox.tree() == before, "{}: {}", kept.change, ran.said);
    }
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
            let ran = sandbox.run(&fix, &[argument]);
            assert_eq!(ran.code, 0, "{}: {}", kept.change, ran.said);
            assert_eq!(rights(), before, "{} {argument}", kept.change);
        }
    }
}
