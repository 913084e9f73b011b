//! Reports in a real Chromium: nothing loads, nothing is said on the console, axe-core finds nothing, nothing
//! runs out of the page on a phone or a desktop, and paper has headers, page numbers and everything that was folded.
//!
//! Pictures beside some samples (`look/`) were looked at by a person; `CASEFILE_UPDATE=1` takes them anew. They are
//! not compared pixel by pixel, because fonts and Chromium's versions move pixels without anybody's fault; what is
//! compared is what was read off them: the height of the page and the number of printed pages, within a fifth.

use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_tests::bins;
use serde_json::{Value, json};

use crate::samples::samples;
use crate::support::{run, skip};

fn folder() -> PathBuf {
    bins::checkout().join("tests/browser")
}

/// Chromium, or why there is no test.
fn chromium() -> Result<PathBuf, &'static str> {
    if !folder().join("node_modules/axe-core").exists() {
        return Err("tests/browser/node_modules is absent (npm ci in tests/browser)");
    }
    let found = |name: &str| {
        let folders = ["/usr/bin", "/usr/local/bin", "/snap/bin"].map(Path::new);
        folders
            .iter()
            .map(|one| one.join(name))
            .find(|path| path.exists())
    };
    found("node").ok_or("node is not installed")?;
    found("chromium").ok_or("chromium is not installed")
}

/// Renders a sample as `NAME.html` into a folder.
fn rendered(sample: &Path, out: &Path) -> PathBuf {
    let name = sample.file_name().unwrap().to_str().unwrap();
    let (bundle, folder) = (sample.join("bundle"), out.join(name));
    let arguments = [
        "report",
        bundle.to_str().unwrap(),
        "-o",
        folder.to_str().unwrap(),
        "--format",
        "html",
    ];
    let ended = run(bins::ANALYZER, &arguments);
    assert_eq!(ended.code, 0, "{ended:?}");
    let page = out.join(format!("{name}.html"));
    std::fs::rename(folder.join("report.html"), &page).unwrap();
    page
}

/// What `look.mjs` saw of each report.
fn looked(chromium: &Path, shots: &str, pages: &[PathBuf]) -> Vec<Value> {
    let output = Command::new("node")
        .arg(folder().join("look.mjs"))
        .arg(chromium)
        .arg(shots)
        .args(pages)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_sample_can_be_read_in_a_browser_by_everybody_and_on_paper() {
    let test = "every_sample_can_be_read_in_a_browser_by_everybody_and_on_paper";
    let chromium = match chromium() {
        Ok(path) => path,
        Err(why) => return skip(test, why),
    };
    let out = tempfile::tempdir().unwrap();
    let pages: Vec<PathBuf> = samples()
        .iter()
        .map(|one| rendered(one, out.path()))
        .collect();
    let seen = looked(&chromium, out.path().to_str().unwrap(), &pages);
    assert_eq!(seen.len(), pages.len());
    for (sample, seen) in samples().iter().zip(&seen) {
        let name = sample.display();
        for nothing in ["messages", "requests", "axe"] {
            assert_eq!(seen[nothing], json!([]), "{name}: {nothing}");
        }
        assert_eq!(
            seen["blocked"],
            json!({"asked": [], "ran": false}),
            "{name}: its own policy"
        );
        for view in seen["views"].as_array().unwrap() {
            assert_eq!(view["wide"], 0, "{name}: wider than the window: {view}");
            assert_eq!(view["runsOut"], json!([]), "{name}: {view}");
            assert_eq!(
                view["unnamed"], 0,
                "{name}: a place to stop at has no name: {view}"
            );
        }
        let read = paper(
            test,
            &out.path()
                .join(format!("{}.pdf", seen["report"].as_str().unwrap())),
        );
        let read = json!({"views": heights(seen), "pages": read});
        compare(sample, &read, out.path());
    }
}

fn heights(seen: &Value) -> Value {
    let views = seen["views"].as_array().unwrap().iter();
    views
        .filter(|view| view["colorScheme"] == "light")
        .map(|view| {
            (
                view["width"].as_str().unwrap().to_owned(),
                view["height"].clone(),
            )
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The number of pages; each bears the title above and its number below, and what is folded is there.
fn paper(test: &str, pdf: &Path) -> Value {
    let Ok(output) = Command::new("pdftotext")
        .arg("-layout")
        .arg(pdf)
        .arg("-")
        .output()
    else {
        skip(
            test,
            "pdftotext is not installed, so paper is not looked at",
        );
        return Value::Null;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pages: Vec<&str> = text
        .split('\u{c}')
        .filter(|page| !page.trim().is_empty())
        .collect();
    for (number, page) in (1..).zip(&pages) {
        let foot = format!("page {number} of {}", pages.len());
        assert!(page.contains(&foot), "{}: no {foot:?}", pdf.display());
        assert!(
            page.contains("casefile-analyzer"),
            "{}: page {number} names no tool",
            pdf.display()
        );
    }
    // The list of cited entries is folded on a screen; a report without a cause has none.
    let unfolded = !text.contains("Entries and lines") || text.contains("SHA-256 of");
    assert!(unfolded, "what is folded is missing on paper");
    json!(pages.len())
}

/// Compares with what was read off the reviewed pictures, or takes pictures and figures anew.
fn compare(sample: &Path, read: &Value, shots: &Path) {
    // Pictures are kept of those samples that have the folder; everything else is asserted of all of them.
    let look = sample.join("look");
    if !look.is_dir() {
        return;
    }
    let reviewed = look.join("reviewed.json");
    if std::env::var_os("CASEFILE_UPDATE").is_some() {
        let name = sample.file_name().unwrap().to_str().unwrap();
        for view in ["phone-light", "phone-dark", "desktop-light", "desktop-dark"] {
            let shot = shots.join(format!("{name}-{view}.png"));
            std::fs::copy(shot, look.join(format!("{view}.png"))).unwrap();
        }
        let page = Command::new("pdftoppm")
            .args(["-r", "60", "-png", "-singlefile", "-f", "1", "-l", "1"])
            .arg(shots.join(format!("{name}.pdf")))
            .arg(look.join("paper-1"))
            .status();
        assert!(page.is_ok_and(|status| status.success()), "pdftoppm");
        std::fs::write(&reviewed, format!("{read:#}\n")).unwrap();
    }
    let text = std::fs::read_to_string(&reviewed).unwrap_or_default();
    let then: Value = serde_json::from_str(&text).unwrap_or_default();
    for pointer in ["/views/phone", "/views/desktop", "/pages"] {
        let of = |value: &Value| value.pointer(pointer).and_then(Value::as_f64);
        let (Some(now), Some(then)) = (of(read), of(&then)) else {
            continue;
        };
        assert!(
            (now - then).abs() <= then / 5.0,
            "{} {pointer} is {now}, was {then} when the pictures were reviewed; look at them, then CASEFILE_UPDATE=1",
            sample.display()
        );
    }
    assert!(then.is_object(), "{} is missing", reviewed.display());
}
