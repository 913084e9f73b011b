//! What a script must never do: run a text of the bundle, write a copy's placeholders over secrets, or take a name
//! for an option.

use std::os::unix::fs::PermissionsExt as _;

use super::change::Change;
use super::kinds::host_file::HostFile;
use super::kinds::label::{Label, MetaKey};
use super::kinds::restart::Restart;
use super::kinds::sysctl::Sysctl;
use super::kinds::volume_attachment::VolumeAttachment;
use super::sandbox::{NODE, Sandbox};

fn merge(path: &str, text: &str) -> Change {
    Change::HostFile(HostFile {
        node: NODE.into(),
        path: path.into(),
        merge_toml: Some(text.into()),
        ..HostFile::default()
    })
}

#[test]
fn a_file_name_of_the_bundle_is_never_run_not_even_by_a_dry_run() {
    for name in [
        "99';touch PWNED;'.toml",
        "$(touch PWNED).toml",
        "`touch PWNED`.toml",
        "a;touch PWNED;.toml",
    ] {
        let sandbox = Sandbox::new();
        let path = sandbox.file(name, "a = 1\n", "a = 1\n");
        let fix = sandbox.write(&[merge(&path, "b = 2\n")]).unwrap();
        for arguments in [&["--dry-run"][..], &["--yes"], &["--back"]] {
            let mut arguments = arguments.to_vec();
            let ran = sandbox.run(&fix, &arguments);
            assert!(
                !sandbox.folder.path().join("PWNED").exists(),
                "{name}: {}",
                ran.said
            );
            if arguments.pop() == Some("--yes") {
                assert_eq!(ran.code, 0, "{name}: {}", ran.said);
                assert!(
                    std::fs::read_to_string(&path).unwrap().contains("b = 2"),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn placeholders_are_never_written_over_secrets() {
    let secret = format!("password = \"{}\"\n", "x".repeat(12));
    let copied = "password = \"<redacted:password:0a1b2c3d>\"\n";
    let sandbox = Sandbox::new();
    let path = sandbox.file("config.toml", &secret, copied);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    if let Ok(fix) = sandbox.write(&[merge(&path, "b = 2\n")]) {
        let ran = sandbox.run(&fix, &["--yes"]);
        let now = std::fs::read_to_string(&path).unwrap();
        assert!(now.contains(&secret), "{now} {}", ran.said);
    }
    let error = sandbox
        .write(&[merge(&path, "password = \"new\"\n")])
        .unwrap_err();
    assert!(error.why.contains("secrets were taken out"), "{error}");
}

#[test]
fn a_copy_that_is_not_the_file_is_not_written_back() {
    let log = |line: &str| format!("{{\"files\":[\n{line}\n]}}\n");
    for (field, why) in [
        ("\"outcome\":\"truncated\"", "only its beginning"),
        ("\"outcome\":\"denied\"", "was not collected"),
        (
            "\"outcome\":\"copied\",\"link\":\"/elsewhere\"",
            "is a link",
        ),
    ] {
        let sandbox = Sandbox::new();
        let path = sandbox.file("config.toml", "a = 1\nz = 1\n", "a = 1\n");
        let line = format!("{{\"path\":\"{path}\",{field}}}");
        sandbox.entry("nodes/n1/files.json", &log(&line));
        let change = Change::HostFile(HostFile {
            node: NODE.into(),
            path: path.clone(),
            content: Some("b = 2\n".into()),
            ..HostFile::default()
        });
        let error = sandbox.write(&[change]).unwrap_err();
        assert!(error.why.contains(why), "{field}: {error}");
    }
    let sandbox = Sandbox::new();
    let path = sandbox.file(
        "config.toml",
        "host = \"real\"\n",
        "host = \"host-0a1b2c3d\"\n",
    );
    sandbox.entry("privacy.json", r#"{"anonymised":{"hosts":3}}"#);
    let change = Change::HostFile(HostFile {
        node: NODE.into(),
        path,
        content: Some("b = 2\n".into()),
        ..HostFile::default()
    });
    let error = sandbox.write(&[change]).unwrap_err();
    assert!(error.why.contains("anonymised"), "{error}");
}

#[test]
fn a_file_that_is_changed_keeps_its_mode() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("config.toml", "a = 1\n", "a = 1\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let fix = sandbox.write(&[merge(&path, "b = 2\n")]).unwrap();
    let ran = sandbox.run(&fix, &["--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.said);
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(), 0o640);
    let ran = sandbox.run(&fix, &["--back"]);
    assert_eq!((ran.code, mode()), (0, 0o640), "{}", ran.said);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a = 1\n");
}

#[test]
fn a_name_is_never_an_option() {
    let sandbox = Sandbox::new();
    sandbox.entry("cluster-resources/nodes.json", "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"items\":[\n{\"metadata\":{\"name\":\"--all\"}}\n]}\n");
    sandbox.entry(
        "cluster-resources/volumeattachments.json",
        r#"{"kind":"VolumeAttachmentList","apiVersion":"storage.k8s.io/v1","items":[
{"metadata":{"name":"-l!x"},"spec":{"nodeName":"gone","source":{"persistentVolumeName":"v"}}}
]}
"#,
    );
    sandbox.entry("nodes/n1/commands/sysctl.out", "-p/tmp/x = 1\n");
    sandbox.entry(
        "nodes/n1/processes.json",
        "{\"processes\":[\n{\"cgroup\":\"/--force\",\"start\":\"2026-01-01T00:00:00Z\"}\n]}\n",
    );
    let label = MetaKey {
        kind: "Node".into(),
        namespace: None,
        name: "--all".into(),
        key: "a".into(),
        value: Some("b".into()),
    };
    let changes = [
        Change::VolumeAttachment(VolumeAttachment { volume: "v".into() }),
        Change::Label(Label(label)),
        Change::Sysctl(Sysctl {
            node: NODE.into(),
            name: "-p/tmp/x".into(),
            value: "1".into(),
        }),
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
