//! One bundle that is hostile everywhere, through the real programs: whatever its pods, nodes, namespaces, images,
//! labels, logs, events, helm releases and file names hold is shown as text in every output and does nothing.

mod inert;

use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_tests::bins;
use serde_json::Value;

use crate::support::{Ended, run};
use inert::{html_is_inert, jira_is_inert, markdown_is_inert, shown_as_text};

/// What may stand in a file name.
const NAME: &str =
    "<img src=x onerror=alert(1)>[c](javascript:alert(1))`{{ 7*7 }}{% raw %}*b*|@a#1 =cmd";
/// HTML, SVG, Markdown, wiki markup, templates and formulas, on one line.
const LINE: &str = "</code></pre><script>alert(1)</script><svg onload=alert(1)>\"'--> ![x](https://evil.test/x.png) \
    <https://evil.test> ```` {noformat}{html}[a|https://evil.test] !x.png! {{ 7*7 }}{% raw %} ]]> =cmd|' /C calc'!A0";
/// What drives terminals and turns the order of letters around.
const HIDDEN: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{202e}cba\u{2066}x\u{200b}";

/// The model incident, with hostile texts in place of its names and after its messages.
struct Hostile {
    folder: tempfile::TempDir,
    /// Made if any text is run.
    mark: PathBuf,
}

impl Hostile {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("ran");
        let hostile = Hostile { folder, mark };
        let from = bins::checkout().join("samples/toolkit-wrong-containerd/bundle");
        let files = walkdir::WalkDir::new(&from).into_iter().map(Result::unwrap);
        for file in files.filter(|file| file.file_type().is_file()) {
            let inside = file.path().strip_prefix(&from).unwrap();
            let to = hostile
                .bundle()
                .join(hostile.renamed(inside.to_str().unwrap()));
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            let bytes = std::fs::read(file.path()).unwrap();
            match String::from_utf8(bytes) {
                Ok(text) => std::fs::write(to, hostile.rewritten(inside, text)).unwrap(),
                Err(other) => std::fs::write(to, other.into_bytes()).unwrap(),
            }
        }
        hostile
    }

    fn bundle(&self) -> PathBuf {
        self.folder.path().join(format!("bundle {NAME}"))
    }

    /// Names that stand in paths too.
    fn names() -> [(&'static str, String); 4] {
        [
            "192-18-132-31",
            "gpu-textgen",
            "gpu-operator-1758912452",
            "bhqw6",
        ]
        .map(|name| (name, format!("{name}{NAME}")))
    }

    fn renamed(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, hostile) in Self::names() {
            text = text.replace(name, &hostile);
        }
        text
    }

    fn rewritten(&self, inside: &Path, mut text: String) -> String {
        let kind = inside
            .extension()
            .and_then(|one| one.to_str())
            .unwrap_or("");
        // Of the entries only the names that the layout does not need stay as they are.
        if inside.file_name().unwrap() == "manifest.json"
            || inside.file_name().unwrap() == "casefile.json"
        {
            return self.renamed(&text);
        }
        let run = format!("$(touch {0});`touch {0}`", self.mark.display());
        let all = format!("{LINE} {run} {HIDDEN}\n# heading\n| a | b |\n");
        let json = |text: &str| {
            serde_json::to_string(text)
                .unwrap()
                .trim_matches('"')
                .to_owned()
        };
        match kind {
            "json" => {
                for (name, hostile) in Self::names() {
                    text = text.replace(name, &json(&hostile));
                }
                let more = json(&all);
                for (old, new) in [
                    ("is configured\"", format!("is configured {more}\"")),
                    (
                        "\"namespace\":\"default\"",
                        format!("\"namespace\":\"default{}\"", json(NAME)),
                    ),
                    ("\"app\":\"textgen\"", format!("\"app\":\"{more}\"")),
                    (
                        "pytorch:25.03-py3\"",
                        format!("pytorch:25.03-py3{}\"", json(LINE)),
                    ),
                    ("DPT=5060 LEN=25 ", format!("DPT=5060 LEN=25 {more}")),
                ] {
                    text = text.replace(old, &new);
                }
                text
            }
            "yaml" => text.replace("env: []", &format!("env: [] # {LINE} {run}")),
            "log" => text.replace(
                "connection refused",
                &format!("connection refused {LINE} {run} {HIDDEN}"),
            ),
            _ => text,
        }
    }
}

fn said(arguments: &[&str], code: &[i32]) -> Ended {
    let ended = run(bins::ANALYZER, arguments);
    assert!(code.contains(&ended.code), "{arguments:?}: {ended:?}");
    ended
}

#[test]
fn a_bundle_that_is_hostile_everywhere_is_text_in_every_report() {
    let hostile = Hostile::new();
    let bundle = hostile.bundle();
    let (bundle, out) = (bundle.to_str().unwrap(), hostile.folder.path().join("out"));
    let folder = out.to_str().unwrap();
    said(
        &[
            "report",
            bundle,
            "-o",
            folder,
            "--format",
            "md,html,jira,json",
        ],
        &[0],
    );
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    html_is_inert("report.html", &read("report.html"));
    markdown_is_inert("report.md", &read("report.md"), &out);
    jira_is_inert("report.jira", &read("report.jira"));
    for name in ["report.html", "report.md", "report.jira", "report.json"] {
        shown_as_text(name, &read(name));
    }
    let json: Value = serde_json::from_str(&read("report.json")).unwrap();
    let cause = &json["incidents"][0];
    assert_eq!(
        cause["cause"]["id"], "toolkit-configures-wrong-containerd",
        "the hostile texts hid the incident"
    );
    for (what, told) in [
        ("pod", "gpu-textgen<img"),
        ("node", "192-18-132-31<img"),
        ("log or event", "<script>alert(1)"),
    ] {
        assert!(
            json.to_string().contains(told),
            "{what} is not told: the test tries nothing"
        );
    }
    said(
        &[
            "report",
            bundle,
            "-o",
            folder,
            "--template",
            "gpu-troubleshooting",
            "--format",
            "md",
        ],
        &[0],
    );
    markdown_is_inert("gpu-troubleshooting", &read("report.md"), &out);
    shown_as_text("gpu-troubleshooting", &read("report.md"));
    assert!(!hostile.mark.exists());
}

#[test]
fn a_bundle_that_is_hostile_everywhere_is_text_for_terminals_and_pipelines() {
    let hostile = Hostile::new();
    let bundle = hostile.bundle();
    let bundle = bundle.to_str().unwrap();
    let diagnosed = |format: &str| {
        let ended = said(&["diagnose", bundle, "--format", format], &[0]);
        shown_as_text(format, &ended.out);
        shown_as_text(format, &ended.err);
        ended.out
    };
    let text = diagnosed("text");
    assert!(
        text.contains("toolkit-configures-wrong-containerd"),
        "{text}"
    );
    serde_json::from_str::<Value>(&diagnosed("json")).unwrap();
    let sarif: Value = serde_json::from_str(&diagnosed("sarif")).unwrap();
    assert!(!sarif["runs"][0]["results"].as_array().unwrap().is_empty());
    let junit = diagnosed("junit");
    let xml = roxmltree::Document::parse(&junit).unwrap();
    let known = ["testsuites", "testsuite", "testcase", "failure", "skipped"];
    let elements = xml.descendants().filter(roxmltree::Node::is_element);
    for element in elements {
        assert!(known.contains(&element.tag_name().name()), "{element:?}");
    }
    let listed = said(&["ls", bundle], &[0]);
    shown_as_text("ls", &listed.out);
    assert!(listed.out.contains("gpu-textgen<img"), "{}", listed.out);
}

#[test]
fn a_bundle_that_is_hostile_everywhere_is_text_in_comparisons() {
    let hostile = Hostile::new();
    let bundle = hostile.bundle();
    let out = hostile.folder.path().join("out");
    let fixed = bins::checkout().join("samples/fixed/bundle");
    for (nth, pair) in [[&bundle, &fixed], [&fixed, &bundle]].iter().enumerate() {
        let folder = out.join(nth.to_string());
        let [before, after] = pair.map(|path| path.to_str().unwrap());
        let ended = said(
            &["diff", before, after, "-o", folder.to_str().unwrap()],
            &[0, 1, 2, 3],
        );
        shown_as_text("diff", &ended.out);
        shown_as_text("diff", &ended.err);
        for file in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = file.unwrap().path();
            let (name, text) = (
                path.display().to_string(),
                std::fs::read_to_string(&path).unwrap(),
            );
            shown_as_text(&name, &text);
            match path.extension().and_then(|one| one.to_str()) {
                Some("html") => html_is_inert(&name, &text),
                Some("md") => markdown_is_inert(&name, &text, &folder),
                _ => {}
            }
        }
    }
}

#[test]
fn a_bundle_that_is_hostile_everywhere_is_words_in_the_fix() {
    let hostile = Hostile::new();
    let out = hostile.folder.path().join("fix");
    said(
        &[
            "fix",
            hostile.bundle().to_str().unwrap(),
            "-o",
            out.to_str().unwrap(),
        ],
        &[0],
    );
    let stubs = hostile.folder.path().join("stubs");
    std::fs::create_dir(&stubs).unwrap();
    for name in [
        "helm",
        "kubectl",
        "systemctl",
        "install",
        "ufw",
        "sha256sum",
        "id",
        "hostname",
    ] {
        let stub = stubs.join(name);
        // Every step goes on, and nothing of the machine is touched.
        std::fs::write(&stub, "#!/bin/sh\n[ \"$(basename \"$0\")\" = id ] && echo 0\necho '\"version\": 1,'\nexit 0\n").unwrap();
        std::fs::set_permissions(&stub, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    }
    let mut scripts = 0;
    let files = walkdir::WalkDir::new(&out).into_iter().map(Result::unwrap);
    for file in files.filter(|file| file.file_type().is_file()) {
        let (path, name) = (file.path(), file.file_name().to_str().unwrap());
        let Ok(text) = std::fs::read_to_string(path) else {
            continue;
        };
        if name.ends_with(".md") {
            markdown_is_inert(name, &text, path.parent().unwrap());
            shown_as_text(name, &text);
        }
        if name == "apply.sh" {
            scripts += 1;
            let ran = Command::new("bash")
                .arg(path)
                .arg("--yes")
                .env(
                    "PATH",
                    format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", stubs.display()),
                )
                .env("NODE_NAME", format!("192-18-132-31{NAME}"))
                .env("BACKUP_DIR", hostile.folder.path().join("backup"))
                .current_dir(hostile.folder.path())
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert!(told.contains("Step 1 of"), "{told}");
        }
    }
    assert!(scripts > 0, "no script was written");
    assert!(!hostile.mark.exists(), "a text of the bundle was run");
}
