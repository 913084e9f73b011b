//! Reports on disk: whole or not there.

use std::error::Error as _;
use std::fs;

use super::*;

fn names(dir: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn reports_replace_older_ones_and_leave_nothing_else_behind() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("report.md"), "old").unwrap();
    let written = write_reports(
        &example::model_incident(),
        dir.path(),
        &Format::ALL,
        "report",
        &Options::default(),
    )
    .unwrap();
    let appendix = "report-appendix.md".to_owned();
    let mut expected: Vec<String> = Format::ALL
        .iter()
        .map(|format| format!("report.{}", format.extension()))
        .chain([appendix])
        .collect();
    expected.sort();
    assert_eq!(written.len(), expected.len());
    assert_eq!(names(dir.path()), expected);
    assert!(
        fs::read_to_string(dir.path().join("report.md"))
            .unwrap()
            .starts_with("# GPU pods")
    );
}

#[test]
fn a_missing_output_folder_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("a/b");
    check_output_dir(&deep).unwrap();
    assert!(names(&deep).is_empty());
}

#[test]
fn an_output_folder_that_is_a_file_is_named_in_the_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("out");
    fs::write(&file, "x").unwrap();
    let error = check_output_dir(&file).unwrap_err();
    assert!(error.to_string().contains("out"), "{error}");
    assert!(error.source().is_some());
}

#[test]
fn one_report_that_cannot_be_written_leaves_no_other_behind() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("report.json")).unwrap();
    let error = write_reports(
        &example::model_incident(),
        dir.path(),
        &Format::ALL,
        "report",
        &Options::default(),
    )
    .unwrap_err();
    assert!(error.to_string().contains("report.json"), "{error}");
    assert_eq!(names(dir.path()), ["report.json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_that_names_the_folder_or_file() {
    // A folder in which nobody can create a file stands in for the full disk.
    let error = write_reports(
        &example::model_incident(),
        "/proc/self".as_ref(),
        &Format::ALL,
        "report",
        &Options::default(),
    );
    assert!(error.unwrap_err().to_string().contains("/proc/self"));
}

#[test]
fn a_base_name_cannot_leave_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["../x", "a/b", "", ".", "..", "a\\b"] {
        assert!(
            write_reports(
                &example::model_incident(),
                dir.path(),
                &Format::ALL,
                name,
                &Options::default(),
            )
            .is_err(),
            "{name}"
        );
    }
    assert!(names(dir.path()).is_empty());
}

fn shell(source: &str) -> Options {
    Options {
        shell: Some(Shell {
            name: "ours.md.j2".to_owned(),
            format: Format::Markdown,
            source: source.to_owned(),
        }),
        ..Options::default()
    }
}

#[test]
fn an_own_template_sees_the_sections_and_may_use_the_shipped_blocks() {
    let own = shell(
        "{% from \"blocks.md.j2\" import print %}\nX {{ title }}\n{% for s in sections %}{{ print(s.blocks) }}{% endfor %}",
    );
    let analysis = example::model_incident();
    let text = render(&analysis, Format::Markdown, &own).unwrap();
    assert!(text.starts_with("X GPU pods") && text.contains("| Cause | Verdict | Because |"));
    let html = render(&analysis, Format::Html, &own).unwrap();
    assert!(
        html.starts_with("<!DOCTYPE html>"),
        "it only replaces its own format"
    );
}

#[test]
fn a_wrong_template_is_named_with_its_line_and_leaves_no_report() {
    let dir = tempfile::tempdir().unwrap();
    for source in [
        "ok\n{% for %}",
        "ok\n{{ nmae }}",
        "ok\n{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    ] {
        let own = shell(source);
        let error = write_reports(
            &example::model_incident(),
            dir.path(),
            &Format::ALL,
            "report",
            &own,
        )
        .unwrap_err();
        let text = error.to_string();
        assert!(text.contains("ours.md.j2, line 2"), "{text}");
        assert!(names(dir.path()).is_empty());
    }
}
