//! What a script must never do: run a text of the bundle, write a copy's placeholders over secrets, or take a name
//! for an option.

use std::os::unix::fs::PermissionsExt as _;

use super::sandbox::{NODE, Sandbox};
use crate::change::Change;
use crate::change::kinds::host_file::HostFile;
use crate::change::kinds::label::{Label, MetaKey};
use crate::change::kinds::restart::Restart;
use crate::change::kinds::sysctl::Sysctl;
use crate::change::kinds::volume_attachment::VolumeAttachment;

const FILE: &str = "/etc/containerd/conf.d/x.toml";

fn merge(path: &str, text: &str) -> Change {
    Change::HostFile(HostFile {
        node: NODE.into(),
        path: path.into(),
        merge_toml: Some(text.into()),
        ..HostFile::default()
    })
}

fn whole(text: &str) -> Change {
    Change::HostFile(HostFile {
        node: NODE.into(),
        path: FILE.into(),
        content: Some(text.into()),
        ..HostFile::default()
    })
}

#[test]
fn a_file_name_of_the_bundle_is_never_run_not_even_by_a_dry_run() {
    for name in [
        "99';>PWNED;'.toml",
        "$(>PWNED).toml",
        "`>PWNED`.toml",
        "a;>PWNED;.toml",
    ] {
        let sandbox = Sandbox::new();
        let path = format!("/etc/{name}");
        sandbox.file(&path, "a = 1\n", "a = 1\n");
        let fix = sandbox.write(&[merge(&path, "b = 2\n")]).unwrap();
        let before = sandbox.tree();
        for argument in ["--dry-run", "--yes", "--back"] {
            let ran = sandbox.run(&fix, &[argument]);
            sandbox.harmless(&ran, name);
            assert_eq!(ran.code, 0, "{name} {argument}: {}", ran.said);
            assert_eq!(
                sandbox.tree() == before,
                argument != "--yes",
                "{name} {argument}: {}",
                ran.said
            );
        }
    }
}

#[test]
fn secrets_that_the_bundle_does_not_hold_stay_on_the_node_to_the_byte() {
    let text = |secret: &str| {
        format!("# ours\nversion = 2\n[a]\nk = 1\nl = 1\n[registry]\npassword = \"{secret}\"\n")
    };
    let secret = "x".repeat(12);
    let sandbox = Sandbox::new();
    sandbox.file(FILE, &text(&secret), &text("<redacted:password:0a1b2c3d>"));
    std::fs::set_permissions(sandbox.real(FILE), std::fs::Permissions::from_mode(0o600)).unwrap();
    let before = sandbox.tree();
    let fix = sandbox.write(&[merge(FILE, "[a]\nk = 2\n")]).unwrap();
    let ran = sandbox.run(&fix, &["--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.said);
    let now = std::fs::read_to_string(sandbox.real(FILE)).unwrap();
    assert_eq!(now, text(&secret).replace("k = 1", "k = 2"));
    let mode = sandbox.real(FILE).metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    let ran = sandbox.run(&fix, &["--back"]);
    assert!(sandbox.tree() == before, "{}", ran.said);
    // Nothing that is handed over holds the placeholder, so that nobody copies it.
    for file in std::fs::read_dir(&fix.folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let is_diff = path.extension().is_some_and(|end| end == "diff");
        let held = std::fs::read_to_string(&path)
            .unwrap()
            .contains("<redacted:");
        assert!(is_diff || !held, "{}", path.display());
    }
    let error = sandbox
        .write(&[merge(FILE, "[registry]\npassword = \"new\"\n")])
        .unwrap_err();
    assert!(
        error.why.contains("secrets were taken out") && error.why.contains("line 7"),
        "{error}"
    );
}

#[test]
fn a_copy_that_is_not_the_file_is_not_written_back() {
    for (field, why) in [
        ("\"outcome\":\"truncated\"", "only its beginning"),
        ("\"outcome\":\"denied\"", "was not collected"),
        (
            "\"outcome\":\"copied\",\"link\":\"/elsewhere\"",
            "is a link",
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.file(FILE, "a = 1\nz = 1\n", "a = 1\n");
        let log = format!("{{\"files\":[\n{{\"path\":\"{FILE}\",{field}}}\n]}}\n");
        sandbox.entry("nodes/n1/files.json", &log);
        let error = sandbox.write(&[whole("b = 2\n")]).unwrap_err();
        assert!(error.why.contains(why), "{field}: {error}");
    }
    let sandbox = Sandbox::new();
    sandbox.file(FILE, "host = \"real\"\n", "host = \"host-0a1b2c3d\"\n");
    sandbox.entry("privacy.json", r#"{"anonymised":{"hosts":3}}"#);
    let error = sandbox.write(&[whole("b = 2\n")]).unwrap_err();
    assert!(error.why.contains("anonymised"), "{error}");
}

#[test]
fn a_file_that_changed_since_or_became_a_link_stops_the_script_with_nothing_written() {
    let sandbox = Sandbox::new();
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    let fix = sandbox.write(&[merge(FILE, "b = 2\n")]).unwrap();
    std::fs::write(sandbox.real(FILE), "a = 1\nc = 3\n").unwrap();
    let before = sandbox.tree();
    for argument in ["--dry-run", "--yes"] {
        let ran = sandbox.run(&fix, &[argument]);
        assert_eq!(ran.code, 1, "{}", ran.said);
        assert!(
            ran.said.contains("the state is not the captured one"),
            "{}",
            ran.said
        );
        assert!(sandbox.tree() == before);
    }
}

#[test]
fn a_program_that_is_missing_is_named_before_anything_is_asked() {
    let sandbox = Sandbox::new();
    sandbox.file("/proc/sys/net/ipv4/x", "0\n", "0\n");
    let sysctl = Sysctl {
        node: NODE.into(),
        name: "net.ipv4.x".into(),
        value: "1".into(),
    };
    let fix = sandbox.write(&[Change::Sysctl(sysctl)]).unwrap();
    sandbox.run(&fix, &["--dry-run"]);
    std::fs::remove_file(sandbox.folder.path().join("shims/sysctl")).unwrap();
    let ran = sandbox.run(&fix, &["--dry-run"]);
    assert!(
        ran.said
            .contains("this step needs sysctl, which is not on this machine"),
        "{}",
        ran.said
    );
}

#[test]
fn a_name_is_never_an_option() {
    let sandbox = Sandbox::new();
    let nodes = r#"{"kind":"NodeList","apiVersion":"v1","items":[
{"metadata":{"name":"--all"}}
]}
"#;
    let attachments = r#"{"kind":"VolumeAttachmentList","apiVersion":"storage.k8s.io/v1","items":[
{"metadata":{"name":"-l!x"},"spec":{"nodeName":"gone","source":{"persistentVolumeName":"v"}}}
]}
"#;
    let processes = r#"{"processes":[
{"cgroup":"/--force","start":"2026-01-01T00:00:00Z"}
]}
"#;
    sandbox.entry("cluster-resources/nodes.json", nodes);
    sandbox.entry("cluster-resources/volumeattachments.json", attachments);
    sandbox.entry("nodes/n1/processes.json", processes);
    sandbox.entry("nodes/n1/commands/sysctl.out", "-p/tmp/x = 1\n");
    let label = MetaKey {
        kind: "Node".into(),
        namespace: None,
        name: "--all".into(),
        key: "a".into(),
        value: Some("b".into()),
    };
    let sysctl = Sysctl {
        node: NODE.into(),
        name: "-p/tmp/x".into(),
        value: "1".into(),
    };
    let changes = [
        Change::VolumeAttachment(VolumeAttachment { volume: "v".into() }),
        Change::Label(Label(label)),
        Change::Sysctl(sysctl),
        Change::Restart(Restart {
            node: NODE.into(),
            unit: "--force".into(),
        }),
    ];
    for change in changes {
        let refused = sandbox.write(std::slice::from_ref(&change));
        assert!(refused.is_err(), "{change:?}");
    }
}
