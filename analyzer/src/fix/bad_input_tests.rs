//! What an operator may run a script into: each is said as what it is, and nothing is left half-written.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::sandbox::{NODE, Planned, Sandbox};
use crate::change::Change;
use crate::change::kinds::host_file::HostFile;
use crate::change::kinds::kube_object::KubeObject;

const FILE: &str = "/etc/containerd/conf.d/x.toml";

fn file_change(path: &str, content: Option<&str>, merge: Option<&str>) -> Change {
    Change::HostFile(HostFile {
        node: NODE.into(),
        path: path.into(),
        content: content.map(str::to_owned),
        merge_toml: merge.map(str::to_owned),
        ..HostFile::default()
    })
}

fn merged(sandbox: &Sandbox) -> Planned {
    let change = file_change(FILE, None, Some("b = 2\n"));
    sandbox.write(&[change]).unwrap()
}

/// A small file system of its own on a folder, as long as it is held.
pub(super) struct Mounted(PathBuf);

impl Mounted {
    /// None where the test may not mount.
    pub(super) fn on(folder: &Path) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"])
            .arg(folder)
            .output();
        if !mount.is_ok_and(|output| output.status.success()) {
            use std::io::Write as _;
            let _ = writeln!(
                std::io::stdout(),
                "skipped: needs root, for a small file system"
            );
            return None;
        }
        Some(Self(folder.to_owned()))
    }

    pub(super) fn read_only(&self) {
        let mount = Command::new("mount")
            .args(["-o", "remount,ro"])
            .arg(&self.0)
            .status();
        assert!(mount.unwrap().success());
    }

    /// Takes all room that is left.
    pub(super) fn fill(&self) -> PathBuf {
        let file = self.0.join("full");
        let _ = std::fs::write(&file, vec![b'x'; 64 << 10]);
        file
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_read_only_file_system_is_named_before_anything_is_asked() {
    let sandbox = Sandbox::new();
    let Some(mounted) = Mounted::on(&sandbox.real("/etc/containerd")) else {
        return;
    };
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    let fix = merged(&sandbox);
    mounted.read_only();
    let before = sandbox.tree();
    for argument in ["--dry-run", "--yes"] {
        let ran = sandbox.run(&fix, &[argument]);
        assert_eq!(ran.code, 1, "{}", ran.said);
        assert!(ran.said.contains("takes no files"), "{}", ran.said);
        assert!(ran.said.contains("nothing was changed"), "{}", ran.said);
        assert!(sandbox.tree() == before);
    }
}

#[test]
fn a_full_disk_leaves_the_old_file_whole_and_nothing_beside_it() {
    let sandbox = Sandbox::new();
    let Some(mounted) = Mounted::on(&sandbox.real("/etc/containerd")) else {
        return;
    };
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    let fix = merged(&sandbox);
    let filler = mounted.fill();
    let before = sandbox.tree();
    let ran = sandbox.run(&fix, &["--yes"]);
    assert_eq!(ran.code, 1, "{}", ran.said);
    assert!(ran.said.contains("No space left"), "{}", ran.said);
    assert!(sandbox.tree() == before, "{}", ran.said);
    std::fs::remove_file(filler).unwrap();
    let ran = sandbox.run(&fix, &["--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.said);
    let now = std::fs::read_to_string(sandbox.real(FILE)).unwrap();
    assert_eq!(now, "a = 1\nb = 2\n");
}

#[test]
fn a_step_is_taken_back_although_the_disk_of_the_journal_is_full() {
    let sandbox = Sandbox::new();
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    let before = sandbox.tree();
    let fix = merged(&sandbox);
    let Some(mounted) = Mounted::on(&fix.folder.join("backup")) else {
        return;
    };
    let filler = mounted.fill();
    let ran = sandbox.run(&fix, &["--yes"]);
    assert_eq!(ran.code, 1, "{}", ran.said);
    assert!(ran.said.contains("nothing was changed"), "{}", ran.said);
    assert!(sandbox.tree() == before, "{}", ran.said);
    std::fs::remove_file(filler).unwrap();
    let ran = sandbox.run(&fix, &["--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.said);
    mounted.fill();
    sandbox.run(&fix, &["--back"]);
    assert!(sandbox.tree() == before);
}

#[test]
fn folders_that_were_made_for_a_new_file_go_with_it() {
    let sandbox = Sandbox::new();
    sandbox.file("/etc/containerd/config.toml", "a = 1\n", "a = 1\n");
    let change = file_change(
        "/etc/containerd/certs.d/m.io/hosts.toml",
        Some("b = 2\n"),
        None,
    );
    let fix = sandbox.write(&[change]).unwrap();
    let ran = sandbox.run(&fix, &["--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.said);
    assert!(
        sandbox
            .real("/etc/containerd/certs.d/m.io/hosts.toml")
            .exists()
    );
    let ran = sandbox.run(&fix, &["--back"]);
    assert_eq!(ran.code, 0, "{}", ran.said);
    assert!(
        !sandbox.real("/etc/containerd/certs.d").exists(),
        "{}",
        ran.said
    );
    assert!(sandbox.real("/etc/containerd").exists());
}

#[test]
fn a_link_in_the_place_of_the_lock_makes_no_run_write_elsewhere() {
    let sandbox = Sandbox::new();
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    let fix = merged(&sandbox);
    let victim = sandbox.folder.path().join("victim");
    let lock = sandbox.folder.path().join("casefile-fix");
    for there in [true, false] {
        if there {
            std::fs::write(&victim, "mine").unwrap();
        } else {
            std::fs::remove_file(&victim).unwrap();
        }
        let _ = std::fs::remove_file(&lock);
        std::os::unix::fs::symlink(&victim, &lock).unwrap();
        let ran = sandbox.run(&fix, &["--yes"]);
        assert!(
            ran.code == 1 && ran.said.contains("is a link"),
            "{}",
            ran.said
        );
        assert_eq!(
            std::fs::read_to_string(&victim).ok(),
            there.then(|| "mine".to_owned())
        );
    }
}

#[test]
fn what_was_saved_can_be_read_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    let fix = merged(&sandbox);
    sandbox.run(&fix, &["--yes"]);
    let mode = fix
        .folder
        .join("backup")
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn the_wrong_node_is_named_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    let fix = merged(&sandbox);
    let before = sandbox.tree();
    sandbox.node_name.set("n2");
    for argument in ["--dry-run", "--yes"] {
        let ran = sandbox.run(&fix, &[argument]);
        assert_eq!(ran.code, 1, "{}", ran.said);
        assert!(
            ran.said.contains("this step belongs to node n1"),
            "{}",
            ran.said
        );
        assert!(sandbox.tree() == before);
    }
}

#[test]
fn another_cluster_with_the_same_names_is_left_alone() {
    let uid = |digit: &str| format!("{0}-{1}-{1}-{1}-{0}{1}", digit.repeat(8), digit.repeat(4));
    let sandbox = Sandbox::new();
    let namespaces = format!(
        "{{\"kind\":\"NamespaceList\",\"apiVersion\":\"v1\",\"items\":[\n{{\"metadata\":{{\"name\":\"kube-system\",\"uid\":\"{}\"}}}}\n]}}\n",
        uid("a")
    );
    sandbox.entry("cluster-resources/namespaces.json", &namespaces);
    let change = Change::KubeObject(KubeObject {
        manifest: "{apiVersion: v1, kind: Namespace, metadata: {name: new}}".into(),
        patch: false,
        remove: false,
    });
    let fix = sandbox.write(&[change]).unwrap();
    sandbox.run(&fix, &["--dry-run"]);
    let kubectl = sandbox.folder.path().join("shims/kubectl");
    for (there, refused) in [(uid("b"), true), (uid("a"), false), (String::new(), false)] {
        let text = format!("#!/bin/bash\n[ \"$2\" != namespace ] || echo '{there}'\nexit 0\n");
        std::fs::write(&kubectl, text).unwrap();
        let ran = sandbox.run(&fix, &["--dry-run"]);
        assert_eq!(
            ran.said.contains("another cluster"),
            refused,
            "{}",
            ran.said
        );
    }
}

#[test]
fn a_cluster_that_does_not_answer_is_no_changed_state() {
    let sandbox = Sandbox::new();
    let nodes = r#"{"kind":"NodeList","apiVersion":"v1","items":[
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","uid":"u1"}}
]}
"#;
    sandbox.entry("cluster-resources/nodes.json", nodes);
    let manifest = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {a: b}}}";
    let change = Change::KubeObject(KubeObject {
        manifest: manifest.into(),
        patch: true,
        remove: false,
    });
    let fix = sandbox.write(&[change]).unwrap();
    sandbox.run(&fix, &["--dry-run"]);
    let kubectl = sandbox.folder.path().join("shims/kubectl");
    std::fs::write(
        kubectl,
        "#!/bin/bash\necho 'connection refused' >&2\nexit 1\n",
    )
    .unwrap();
    let ran = sandbox.run(&fix, &["--yes"]);
    assert_eq!(ran.code, 1, "{}", ran.said);
    assert!(
        ran.said.contains("the API server does not answer"),
        "{}",
        ran.said
    );
    assert!(!ran.said.contains("not the captured one"), "{}", ran.said);
}

#[test]
fn without_the_rights_nothing_is_begun() {
    let sandbox = Sandbox::new();
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    let fix = merged(&sandbox);
    sandbox.run(&fix, &["--dry-run"]);
    let before = sandbox.tree();
    std::fs::write(
        sandbox.folder.path().join("shims/id"),
        "#!/bin/sh\necho 1000\n",
    )
    .unwrap();
    for argument in ["--dry-run", "--yes"] {
        let ran = sandbox.run(&fix, &[argument]);
        assert_eq!(ran.code, 1, "{}", ran.said);
        let last = ran.said.lines().last();
        assert_eq!(last, Some("stopped: this step needs root"), "{}", ran.said);
        assert!(sandbox.tree() == before);
    }
}

#[test]
fn a_release_that_is_another_one_by_now_is_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.entry("helm/a/r/values-all.yaml", "a: {b: 1}\n");
    let release = r#"{"revision": 3, "chart_version": "1.2.3"}"#;
    sandbox.entry("helm/a/r/release.json", release);
    let change = serde_json::json!({"helm-values": {"namespace": "a", "release": "r", "chart": "x/y", "values": "a: {b: 2}"}});
    let fix = sandbox
        .write(&[serde_json::from_value(change).unwrap()])
        .unwrap();
    sandbox.run(&fix, &["--dry-run"]);
    let helm = sandbox.folder.path().join("shims/helm");
    for (status, goes_on) in [
        (r#"{"name":"r","version":3}"#, true),
        (r#"{"name":"r","version":4}"#, false),
        (
            r#"{"name":"r","info":{"description":"Rollback to 3"},"version":5}"#,
            true,
        ),
        (
            r#"{"name":"r","info":{"description":"Rollback to 33"},"version":34}"#,
            false,
        ),
    ] {
        let text = format!("#!/bin/bash\n[ \"$1\" != status ] || echo '{status}'\nexit 0\n");
        std::fs::write(&helm, text).unwrap();
        let ran = sandbox.run(&fix, &["--dry-run"]);
        assert_eq!(ran.code == 0, goes_on, "{status}: {}", ran.said);
        let says = ran
            .said
            .contains("expected: release a/r is still at revision 3");
        assert_eq!(says, !goes_on, "{status}: {}", ran.said);
    }
}
