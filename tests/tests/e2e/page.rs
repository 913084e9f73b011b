//! The page of `open` and `serve --ui` in Chromium, on a sample and on a hostile bundle.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use casefile_tests::bins;

use crate::support;

/// An analyzer that ends with the test.
struct Opened {
    child: Child,
    address: String,
    _home: tempfile::TempDir,
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts `open` with a browser of its own, and waits for its address.
fn open(input: &Path, browser: &str) -> Opened {
    let home = tempfile::tempdir().unwrap();
    let mut child = Command::new(bins::find("casefile-analyzer"))
        .arg("open")
        .arg(input)
        .env("BROWSER", browser)
        .env("HOME", home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines
        .map_while(Result::ok)
        .find(|line| line.contains("/ui/open?token="))
        .unwrap();
    Opened {
        child,
        address: address.trim().to_owned(),
        _home: home,
    }
}

fn sample() -> PathBuf {
    bins::checkout().join("samples/ufw-blocks-dns/bundle")
}

#[test]
fn open_starts_the_browser_at_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let (browser, told) = (folder.path().join("browser"), folder.path().join("told"));
    let script = format!(
        "#!/bin/sh\necho \"$1\" > {0}.tmp && mv {0}.tmp {0}\n",
        told.display()
    );
    std::fs::write(&browser, script).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let opened = open(&sample(), browser.to_str().unwrap());
    let asked = (0..600).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        std::fs::read_to_string(&told).ok()
    });
    let asked = asked.expect("the browser was started");
    assert_eq!(
        asked.trim(),
        opened.address,
        "the browser gets the address that is printed"
    );
}

#[test]
fn a_browser_that_is_missing_costs_nothing_but_a_note() {
    let mut opened = open(&sample(), "/nowhere/browser");
    let mut note = String::new();
    let errors = opened.child.stderr.take().unwrap();
    BufReader::new(errors).read_line(&mut note).unwrap();
    assert!(note.contains("open the address yourself"), "{note}");
    assert!(opened.child.try_wait().unwrap().is_none(), "it goes on");
}

#[test]
fn text_without_objects_opens_as_well() {
    let folder = tempfile::tempdir().unwrap();
    support::plant(folder.path(), "note.md", "kubelet: nothing here\n");
    let mut opened = open(folder.path(), "true");
    assert!(opened.child.try_wait().unwrap().is_none());
    assert!(
        opened.address.starts_with("https://127.0.0.1:"),
        "{}",
        opened.address
    );
}

/// What the page of a capture does in Chromium; none where there is no browser.
fn looked(test: &str, input: &Path, arguments: [&str; 3]) -> Option<serde_json::Value> {
    let folder = bins::checkout().join("tests/browser");
    let chromium = ["/usr/bin/chromium", "/snap/bin/chromium"]
        .map(Path::new)
        .into_iter()
        .find(|path| path.exists());
    let Some(chromium) = chromium.filter(|_| folder.join("node_modules/axe-core").exists()) else {
        support::skip(
            test,
            "chromium or tests/browser/node_modules is absent (npm ci in tests/browser)",
        );
        return None;
    };
    let opened = open(input, "true");
    let output = Command::new("node")
        .arg(folder.join("recording.mjs"))
        .arg(chromium)
        .arg(&opened.address)
        .arg(std::env::var_os("CASEFILE_SHOTS").unwrap_or_else(|| "-".into()))
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(
        serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr))),
    )
}

fn nothing_foreign(seen: &serde_json::Value) {
    for empty in ["messages", "elsewhere", "violations"] {
        assert_eq!(seen[empty], serde_json::json!([]), "{seen:#}");
    }
    assert_eq!(seen["foreign"], 0, "{seen:#}");
    assert_eq!(
        seen["stranger"], 401,
        "without the token nothing is shown: {seen:#}"
    );
    assert!(
        !seen["address"].as_str().unwrap().contains("token"),
        "{seen:#}"
    );
}

/// The browser itself notes answers that are refusals.
fn without_refusals(seen: &mut serde_json::Value) {
    if let Some(messages) = seen["messages"].as_array_mut() {
        messages.retain(|message| {
            !message
                .as_str()
                .unwrap_or("")
                .contains("Failed to load resource")
        });
    }
}

fn text<'s>(seen: &'s serde_json::Value, name: &str) -> &'s str {
    seen[name]
        .as_str()
        .unwrap_or_else(|| panic!("no {name}: {seen:#}"))
}

#[test]
fn the_page_leads_from_the_report_to_lines_objects_and_changes() {
    let change = "ufw.txt=ufw route allow in on lxc4f39491e6165 out on eno1\n";
    let Some(mut seen) = looked(
        "the_page_leads_from_the_report_to_lines_objects_and_changes",
        &sample(),
        ["gpu-textgen", "UFW BLOCK", change],
    ) else {
        return;
    };
    without_refusals(&mut seen);
    nothing_foreign(&seen);
    assert!(text(&seen, "report").contains("ufw"), "{seen:#}");
    assert_eq!(
        seen["reportSearch"], 1,
        "the report's own script runs: {seen:#}"
    );
    // A cited place opens its file at its line.
    let (file, line) = text(&seen, "cited").rsplit_once(':').unwrap();
    assert_eq!(
        (text(&seen, "citedFile"), text(&seen, "citedLine")),
        (file, line)
    );
    assert!(!text(&seen, "citedText").is_empty(), "{seen:#}");
    assert!(seen["rows"].as_u64().unwrap() >= 10, "{seen:#}");
    assert!(text(&seen, "object").contains("apiVersion"), "{seen:#}");
    assert!(text(&seen, "log").contains("WARNING: Retrying"), "{seen:#}");
    // The tree, a file of it, and the search.
    let folders = seen["folders"].to_string();
    assert!(
        folders.contains("cluster-resources/ (") && folders.contains("nodes/ ("),
        "{seen:#}"
    );
    assert!(seen["foundFiles"].as_u64().unwrap() > 1, "{seen:#}");
    assert!(seen["fileLines"].as_u64().unwrap() > 0, "{seen:#}");
    let found = seen["found"].as_u64().unwrap();
    assert!(
        found > 2 && seen["marked"].as_u64().unwrap() >= found,
        "{seen:#}"
    );
    // The brush leaves lines of its stretch of time only.
    let since = text(&seen, "since").trim_end_matches('Z').replace('T', " ");
    let times = seen["brushedTimes"].as_array().unwrap();
    assert!(
        (times.len() as u64) < found && !times.is_empty(),
        "{seen:#}"
    );
    assert!(
        times
            .iter()
            .all(|time| time.as_str().unwrap() >= since.as_str()),
        "{seen:#}"
    );
    // A change that removes the cause, and one that is none.
    assert!(text(&seen, "change").starts_with("gone: "), "{seen:#}");
    assert!(
        seen["changeFiles"].to_string().contains("apply.sh"),
        "{seen:#}"
    );
    let refused = text(&seen, "refused");
    assert!(
        refused.starts_with("ufw.txt") && !refused.contains("/tmp"),
        "{seen:#}"
    );
}

/// A bundle whose names and texts are markup, and whose paths lead out of it.
fn hostile(folder: &Path) {
    let lists = folder.join("cluster-resources");
    std::fs::create_dir_all(lists.join("pods")).unwrap();
    let header = r#"{"format":"1.0","tool":"casefile-collector 0.1.0","node":"n<script>alert(1)</script>","started":"2026-11-20T10:15:00Z"}"#;
    std::fs::write(folder.join("casefile.json"), header).unwrap();
    let pods = r#"{"kind":"PodList","apiVersion":"v1","items":[
{"metadata":{"name":"good","namespace":"a"},"spec":{"containers":[{"name":"<img src=x onerror=alert(1)>"}]},"status":{"reason":"<script>alert(2)</script>"}}
]}"#;
    std::fs::write(lists.join("pods/a.json"), pods).unwrap();
    let odd = "nodes/n/commands/<img src=x onerror=alert(3)>";
    std::fs::create_dir_all(folder.join(odd)).unwrap();
    let log = "2026-11-20T10:00:00Z ERROR pods </td><script>alert(4)</script> <img src=x>\n"
        .repeat(3)
        + "2026-11-20T10:10:00Z ERROR pods </pre><iframe src=https://evil.example></iframe>\n";
    std::fs::write(folder.join(odd).join("pods\"onclick=\"x.log"), &log).unwrap();
    let logs = lists.join("pods/logs/a/good");
    std::fs::create_dir_all(&logs).unwrap();
    std::fs::write(logs.join("c.log"), &log).unwrap();
}

#[test]
fn a_hostile_bundle_puts_nothing_into_the_page() {
    let folder = tempfile::tempdir().unwrap();
    hostile(folder.path());
    let change = "<b>x</b>.yaml=<script>alert(5)</script>";
    let Some(mut seen) = looked(
        "a_hostile_bundle_puts_nothing_into_the_page",
        folder.path(),
        ["good", "<script>", change],
    ) else {
        return;
    };
    without_refusals(&mut seen);
    nothing_foreign(&seen);
    assert!(
        seen["found"].as_u64().unwrap() > 0,
        "the text is found as text: {seen:#}"
    );
}
