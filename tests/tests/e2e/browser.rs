//! Reports in a real Chromium: nothing loads, nothing is said on the console, axe-core finds nothing, nothing
//! runs out of the page on a phone or a desktop, and paper has headers, page numbers and everything that was folded.
//!
//! The pictures beside each sample (`look/`) were looked at by a person; `CASEFILE_UPDATE=1` takes them anew. Each
//! is laid on a coarse grid and compared block by block, the whole page section by section, so that a longer section
//! passes and another layout does not; sections and drawings are compared by name and number. `fonts.conf` gives the
//! browser the same fonts on every machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_tests::bins;
use casefile_tests::expected::Expected;
use serde_json::{Value, json};

use crate::samples::samples;
use crate::support::{run, skip};

fn folder() -> PathBuf {
    bins::checkout().join("tests/browser")
}

/// Chromium, or why there is no test.
pub(crate) fn chromium() -> Result<PathBuf, &'static str> {
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

/// Whether pictures are taken anew instead of being compared.
fn anew() -> bool {
    std::env::var_os("CASEFILE_UPDATE").is_some()
}

/// What is looked at in each report.
pub(crate) enum Extent {
    All,
    /// Print, console and accessibility alone.
    Paper,
}

/// What `look.mjs` saw of each report, compared with the reviewed pictures of its sample unless they are taken anew.
pub(crate) fn looked(
    chromium: &Path,
    shots: &Path,
    extent: &Extent,
    pages: &[(PathBuf, &Path)],
) -> Vec<Value> {
    let mut command = Command::new("node");
    command
        .arg(folder().join("look.mjs"))
        .arg(chromium)
        .arg(shots)
        .arg(match extent {
            Extent::All => "all",
            Extent::Paper => "paper",
        });
    for (page, sample) in pages {
        let mut page = page.clone().into_os_string();
        if !anew() {
            page.push("=");
            page.push(sample.join("look"));
        }
        command.arg(page);
    }
    let output = command.output().unwrap();
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
    let pages: Vec<(PathBuf, &Path)> = pages
        .into_iter()
        .zip(all.iter().map(PathBuf::as_path))
        .collect();
    let seen = looked(&chromium, out.path(), &Extent::All, &pages);
    assert_eq!(seen.len(), pages.len());
    let mut differing = Vec::new();
    for (sample, seen) in all.iter().zip(&seen) {
        let name = sample.display();
        for nothing in ["messages", "requests", "axe"] {
            assert_eq!(seen[nothing], json!([]), "{name}: {nothing}");
        }
        assert_eq!(
            seen["blocked"],
            json!({"asked": [], "ran": false}),
            "{name}: its own policy"
        );
        assert_eq!(seen["keyboard"]["faults"], json!([]), "{name}: by keyboard");
        for view in seen["views"].as_array().unwrap() {
            assert_eq!(view["wide"], 0, "{name}: wider than the window: {view}");
            assert_eq!(view["runsOut"], json!([]), "{name}: {view}");
            assert_eq!(
                view["unnamed"], 0,
                "{name}: a place to stop at has no name: {view}"
            );
            assert_eq!(
                view["sideways"],
                json!([]),
                "{name}: a drawing scrolls sideways: {view}"
            );
        }
        let read = paper(
            test,
            &out.path()
                .join(format!("{}.pdf", seen["report"].as_str().unwrap())),
        );
        if let Some(pages) = read.as_u64() {
            let budget = budget(sample);
            assert!(
                pages <= budget,
                "{name}: {pages} pages on paper, {budget} are enough"
            );
        }
        let first = &seen["views"][0];
        // A phone shows words in the place of wide drawings.
        let desktop = seen["views"].as_array().unwrap().iter();
        let desktop = desktop.rev().find(|view| view["width"] == "desktop");
        let read = json!({
            "views": heights(seen),
            "pages": read,
            "sections": first["sections"],
            "drawings": desktop.map(|view| view["drawings"].clone()),
            "parts": seen["parts"],
        });
        compare(sample, &read, out.path());
        differing.extend(differences(seen));
    }
    assert!(
        differing.is_empty(),
        "{}\nlook at them, then CASEFILE_UPDATE=1",
        differing.join("\n")
    );
}

/// Pages on paper where nothing fails, and of an incident.
pub(crate) const PAGES: (u64, u64) = (2, 6);

/// Pages that a sample may take on paper.
fn budget(sample: &Path) -> u64 {
    let expected = Expected::load(&sample.join("expected.toml")).unwrap();
    let (healthy, incident) = PAGES;
    match expected.incident.is_empty() {
        true => healthy,
        false => incident,
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
pub(crate) fn paper(test: &str, pdf: &Path) -> Value {
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

/// The pictures of each report, and the share of blocks that may differ in one, or in each section of the whole
/// page: more than another release of the browser moves, less than a part that is missing. Of paper the number of
/// pages is compared.
const PICTURES: [(&str, f64); 6] = [
    ("phone-light", 0.1),
    ("phone-dark", 0.1),
    ("desktop-light", 0.1),
    ("desktop-dark", 0.1),
    ("page", 0.2),
    ("paper", 1.0),
];
/// A section may become so many times as high or as low before somebody has to look at it again.
const GROWN: f64 = 1.6;

/// Compares with what was read off the reviewed pictures, or takes pictures and figures anew.
fn compare(sample: &Path, read: &Value, shots: &Path) {
    let look = sample.join("look");
    let reviewed = look.join("reviewed.json");
    if anew() {
        std::fs::create_dir_all(&look).unwrap();
        for (picture, _) in PICTURES {
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

/// What `look.mjs` found to be another picture than the reviewed one, as sentences.
fn differences(seen: &Value) -> Vec<String> {
    let all = seen["differences"].as_array().unwrap().iter();
    let differing = all.filter(|one| {
        let of = |name: &str| one[name].as_f64().unwrap();
        let tolerance = PICTURES
            .iter()
            .find(|(name, _)| one["picture"] == *name)
            .unwrap()
            .1;
        of("share") > tolerance || of("higher") > GROWN || of("higher") < 1.0 / GROWN
    });
    differing
        .map(|one| {
            format!(
                "{} {}, {}: {:.0} of 100 blocks differ, most of them {} hundredths down; {:.2} times as high",
                seen["report"].as_str().unwrap(),
                one["picture"].as_str().unwrap(),
                one["part"].as_str().unwrap(),
                one["share"].as_f64().unwrap() * 100.0,
                one["worst"],
                one["higher"].as_f64().unwrap()
            )
        })
        .collect()
}

/// The comparison of pictures can fail: a page in another order or without its first part is another page.
#[test]
fn a_page_that_lost_a_part_is_not_taken_for_the_reviewed_one() {
    let test = "a_page_that_lost_a_part_is_not_taken_for_the_reviewed_one";
    if anew() {
        return skip(test, "the pictures are taken anew");
    }
    let chromium = match chromium() {
        Ok(path) => path,
        Err(why) => return skip(test, why),
    };
    let out = tempfile::tempdir().unwrap();
    let sample = bins::checkout().join("samples/fixed");
    let page = rendered(&sample, out.path());
    let html = std::fs::read_to_string(&page).unwrap();
    // Cut out rather than hidden: the page's own policy takes no other style than its own.
    let start = html.find("<dl class=\"status\">").unwrap();
    let end = start + html[start..].find("</dl>").unwrap();
    let spoilt = [&html[..start], &html[end..]].concat();
    let pages: Vec<(PathBuf, &Path)> = [("spoilt", spoilt), ("unchanged", html)]
        .into_iter()
        .map(|(name, html)| {
            let path = out.path().join(format!("{name}.html"));
            std::fs::write(&path, html).unwrap();
            (path, sample.as_path())
        })
        .collect();
    let seen = looked(&chromium, out.path(), &Extent::All, &pages);
    let pictures = |seen: &Value| -> Vec<String> {
        let all = differences(seen);
        ["phone-light", "phone-dark", "page, top"]
            .into_iter()
            .filter(|part| all.iter().any(|one| one.contains(part)))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(
        differences(&seen[1]),
        Vec::<String>::new(),
        "the same page is no other page"
    );
    assert_eq!(
        pictures(&seen[0]),
        ["phone-light", "phone-dark", "page, top"],
        "{:?}",
        differences(&seen[0])
    );
}
