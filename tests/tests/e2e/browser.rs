//! Reports in a real Chromium: nothing loads, nothing is said on the console, axe-core finds nothing, nothing
//! runs out of the page on a phone or a desktop, and paper has headers, page numbers and everything that was folded.
//!
//! The pictures beside each sample (`look/`) were looked at by a person; `CASEFILE_UPDATE=1` takes them anew. Each
//! is laid on a coarse grid and compared block by block, so that another font passes and another layout does not;
//! sections, drawings and pages are compared as numbers and names.

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
    let all = samples();
    let pages: Vec<PathBuf> = std::thread::scope(|scope| {
        let half = all.len().div_ceil(2);
        let render = |part: &[PathBuf]| -> Vec<PathBuf> {
            part.iter().map(|one| rendered(one, out.path())).collect()
        };
        let parts: Vec<_> = all
            .chunks(half)
            .map(|part| scope.spawn(move || render(part)))
            .collect();
        let done = parts.into_iter().map(|part| part.join().unwrap());
        done.flatten().collect()
    });
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
        let first = &seen["views"][0];
        let read = json!({
            "views": heights(seen),
            "pages": read,
            "sections": first["sections"],
            "drawings": first["drawings"],
        });
        compare(sample, &read, out.path());
    }
    let differing = pictures(&chromium, &all, out.path());
    assert!(
        differing.is_empty(),
        "{}\nlook at them, then CASEFILE_UPDATE=1",
        differing.join("\n")
    );
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

/// The pictures of each report, how many rows of blocks each is compared in, and the share of blocks that may
/// differ: more than a serif font moves, less than a part that is missing. Paper breaks elsewhere with another
/// font, so of paper the number of pages is compared.
const PICTURES: [(&str, u32, f64); 6] = [
    ("phone-light", 24, 0.22),
    ("phone-dark", 24, 0.22),
    ("desktop-light", 12, 0.1),
    ("desktop-dark", 12, 0.1),
    ("page", 60, 0.005),
    ("paper", 30, 1.0),
];

/// Compares with what was read off the reviewed pictures, or takes pictures and figures anew.
fn compare(sample: &Path, read: &Value, shots: &Path) {
    let look = sample.join("look");
    let reviewed = look.join("reviewed.json");
    if std::env::var_os("CASEFILE_UPDATE").is_some() {
        std::fs::create_dir_all(&look).unwrap();
        for (picture, ..) in PICTURES {
            let shot = shots.join(format!("{}-{picture}.webp", name(sample)));
            std::fs::copy(shot, look.join(format!("{picture}.webp"))).unwrap();
        }
        std::fs::write(&reviewed, format!("{read:#}\n")).unwrap();
    }
    let text = std::fs::read_to_string(&reviewed).unwrap_or_default();
    let then: Value = serde_json::from_str(&text).unwrap_or_default();
    assert!(then.is_object(), "{} is missing", reviewed.display());
    for exact in ["sections", "drawings"] {
        assert_eq!(read[exact], then[exact], "{}: {exact}", sample.display());
    }
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
}

fn name(sample: &Path) -> &str {
    sample.file_name().unwrap().to_str().unwrap()
}

/// Pictures that are not those that were reviewed, each with how it differs.
fn pictures(chromium: &Path, samples: &[PathBuf], shots: &Path) -> Vec<String> {
    let (mut pairs, mut tolerances) = (Vec::new(), Vec::new());
    for sample in samples {
        for (picture, rows, tolerance) in PICTURES {
            let now = shots.join(format!("{}-{picture}.webp", name(sample)));
            let then = sample.join(format!("look/{picture}.webp"));
            if picture != "paper" {
                pairs.push((rows, now, then));
                tolerances.push(tolerance);
            }
        }
    }
    let found = differences(chromium, &pairs);
    assert_eq!(found.len(), pairs.len());
    let compared = pairs.iter().zip(found).zip(tolerances);
    let differing = compared.filter(|((_, found), tolerance)| found.0 > *tolerance);
    differing
        .map(|(((_, _, then), (share, worst)), _)| {
            format!(
                "{}: {:.0} of 100 blocks differ, most of them {worst} hundredths down the picture",
                then.display(),
                share * 100.0
            )
        })
        .collect()
}

/// The share of blocks that differ, and where most of them are, for each pair of pictures.
fn differences(chromium: &Path, pairs: &[(u32, PathBuf, PathBuf)]) -> Vec<(f64, u64)> {
    let mut command = Command::new("node");
    command.arg(folder().join("compare.mjs")).arg(chromium);
    for (rows, now, then) in pairs {
        command.arg(rows.to_string()).arg(now).arg(then);
    }
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = said.lines().map(|line| {
        let found: Value = serde_json::from_str(line).unwrap();
        (
            found["share"].as_f64().unwrap(),
            found["worst"].as_u64().unwrap(),
        )
    });
    lines.collect()
}

/// The comparison of pictures can fail: a page in another order or without its first part is another page.
#[test]
fn a_page_that_lost_a_part_is_not_taken_for_the_reviewed_one() {
    let test = "a_page_that_lost_a_part_is_not_taken_for_the_reviewed_one";
    let chromium = match chromium() {
        Ok(path) => path,
        Err(why) => return skip(test, why),
    };
    let out = tempfile::tempdir().unwrap();
    let sample = bins::checkout().join("samples/fixed");
    let page = rendered(&sample, out.path());
    let html = std::fs::read_to_string(&page).unwrap();
    let spoilt = html.replace("</style>", "#state, .status { display: none }</style>");
    let other = html.replace("</style>", "body { font-family: serif }</style>");
    assert!(spoilt != html && other != html);
    let (mut pairs, mut tolerances) = (Vec::new(), Vec::new());
    for (name, html) in [("spoilt", spoilt), ("other-font", other)] {
        let path = out.path().join(format!("{name}.html"));
        std::fs::write(&path, html).unwrap();
        looked(&chromium, out.path().to_str().unwrap(), &[path]);
        for (picture, rows, tolerance) in PICTURES {
            let now = out.path().join(format!("{name}-{picture}.webp"));
            if ["phone-light", "desktop-light", "page"].contains(&picture) {
                let then = sample.join(format!("look/{picture}.webp"));
                pairs.push((rows, now, then));
                tolerances.push(tolerance);
            }
        }
    }
    let found = differences(&chromium, &pairs);
    for (((_, now, _), (share, _)), tolerance) in pairs.iter().zip(found).zip(tolerances) {
        let spoilt = now
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("spoilt");
        assert_eq!(share > tolerance, spoilt, "{}: {share}", now.display());
    }
}
