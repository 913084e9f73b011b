//! A new file that the program which will read it refuses: the file is as it was, and one line says so.

use serde_json::json;

use super::bad_answer_tests::answering;
use super::sandbox::{NODE, Planned, Sandbox};

/// A file of the node, a change of it, and the program that reads the new one with what it says of it.
struct Read {
    path: &'static str,
    text: &'static str,
    change: serde_json::Value,
    program: &'static str,
    answers: &'static str,
}

/// Each refuses the new text by what it holds, wherever it finds it.
fn all() -> [Read; 4] {
    let containerd = "/etc/containerd/config.toml";
    let secret = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"r.io\".auth]\n# of the team\npassword = \"<redacted:password:0a1b2c3d>\"\n";
    let says = "! grep -q oom_score \"$2\" || { echo 'of another line' >&2; echo 'containerd: invalid oom_score' >&2; exit 1; }";
    let merged = |path| json!({"host-file": {"node": NODE, "path": path, "merge_toml": "oom_score = \"1\""}});
    let of = |path, text, program, answers| Read {
        path,
        text,
        change: merged(path),
        program,
        answers,
    };
    [
        of(containerd, "version = 2\n", "containerd", says),
        of(containerd, secret, "containerd", says),
        of(
            "/etc/crio/crio.conf.d/10.conf",
            "[crio.runtime]\nlog_level = \"info\"\n",
            "crio",
            "echo 'invalid oom_score' >&2; exit 1",
        ),
        Read {
            path: "/etc/docker/daemon.json",
            text: "{\n  \"log-driver\": \"json-file\",\n  \"proxies\": {\n    \"https-proxy\": \"<redacted:password:0a1b2c3d>\"\n  }\n}\n",
            change: json!({"docker-daemon": {"set": "{oom_score: a}"}}),
            program: "dockerd",
            answers: "case $1 in --help) echo --validate ;; *) ! grep -q oom_score \"$3\" || { echo 'invalid oom_score' >&2; exit 1; } ;; esac",
        },
    ]
}

fn planned(read: &Read) -> (Sandbox, Planned) {
    let sandbox = Sandbox::new();
    let real = read
        .text
        .replace("<redacted:password:0a1b2c3d>", "of-the-node");
    sandbox.file(read.path, &real, read.text);
    let change = serde_json::from_value(read.change.clone()).unwrap();
    let fix = sandbox.write(&[change]).unwrap();
    sandbox.run(&fix, &["--dry-run"]);
    (sandbox, fix)
}

#[test]
fn a_file_that_its_program_refuses_is_never_there() {
    for read in all() {
        let (sandbox, fix) = planned(&read);
        let before = sandbox.tree();
        answering(&sandbox, read.program, read.answers);
        let ran = sandbox.run(&fix, &["--yes"]);
        let last = ran.said.lines().last().unwrap_or_default();
        let says = format!("stopped: {} refuses the new ", read.program);
        assert_eq!(ran.code, 1, "{}: {}", read.path, ran.said);
        assert!(
            last.starts_with(&says) && last.contains("invalid oom_score"),
            "{}: {}",
            read.path,
            ran.said
        );
        assert!(sandbox.tree() == before, "{}: {}", read.path, ran.said);
        let back = sandbox.run(&fix, &["--back"]);
        assert_eq!(back.code, 0, "{}: {}", read.path, back.said);
        assert!(sandbox.tree() == before, "{}: {}", read.path, back.said);
    }
}

#[test]
fn a_file_that_its_program_takes_is_written() {
    for read in all() {
        let (sandbox, fix) = planned(&read);
        let ran = sandbox.run(&fix, &["--yes"]);
        assert_eq!(ran.code, 0, "{}: {}", read.path, ran.said);
        let now = std::fs::read_to_string(sandbox.real(read.path)).unwrap();
        assert!(now.contains("oom_score"), "{}: {now}", read.path);
        let odd = |path: &String| path.contains("casefile-new");
        assert!(!sandbox.tree().keys().any(odd), "{}", read.path);
    }
}
