//! `report` and `diagnose` as people and pipelines run them: own templates, clashes, limits, colours.

use std::path::PathBuf;
use std::process::Command;

use casefile_tests::bins;

use crate::support::{Ended, ended, run};

fn bundle() -> PathBuf {
    bins::checkout().join("samples/toolkit-wrong-containerd/bundle")
}

fn report(more: &[&str], folder: &std::path::Path) -> Ended {
    let bundle = bundle();
    let mut arguments = vec![
        "report",
        bundle.to_str().unwrap(),
        "-o",
        folder.to_str().unwrap(),
    ];
    arguments.extend(more);
    run(bins::ANALYZER, &arguments)
}

#[test]
fn a_template_that_cannot_be_used_is_named_with_its_line_and_leaves_no_report() {
    let folder = tempfile::tempdir().unwrap();
    for (source, told) in [
        ("ok\n{% for %}", "line 2"),
        ("ok\n{{ nmae }}", "template check"),
        (
            "ok\n{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "without end",
        ),
    ] {
        let template = folder.path().join("ours.md.j2");
        std::fs::write(&template, source).unwrap();
        let out = folder.path().join("out");
        let ended = report(&["--template", template.to_str().unwrap()], &out);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(
            ended.err.contains("ours.md.j2, line 2") && ended.err.contains(told),
            "{}",
            ended.err
        );
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0, "a half report");
    }
    let ended = run(
        bins::ANALYZER,
        &[
            "template",
            "check",
            folder.path().join("ours.md.j2").to_str().unwrap(),
        ],
    );
    assert_eq!(ended.code, 1, "{ended:?}");
}

#[test]
fn a_shipped_template_is_known_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let ended = report(
        &["--template", "gpu-troubleshooting", "--format", "md"],
        folder.path(),
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    let text = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    assert!(text.starts_with("# GPU Pod Troubleshooting Report"));
    assert!(text.contains("- **Total GPU nodes:** 1\n"), "{text}");
}

#[test]
fn two_inputs_of_one_name_do_not_overwrite_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = bundle();
    let path = bundle.to_str().unwrap();
    let out = folder.path().to_str().unwrap();
    let ended = run(bins::ANALYZER, &["report", path, path, "-o", out]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(
        ended.err.contains("would both be written to"),
        "{}",
        ended.err
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_output_that_is_no_folder_is_said_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    std::fs::write(&file, "mine").unwrap();
    let ended = report(&[], &file);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("out cannot be used"), "{}", ended.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_report_for_a_ticket_fits_the_ticket() {
    let folder = tempfile::tempdir().unwrap();
    let ended = report(
        &["--format", "md,jira", "--max-size", "20000"],
        folder.path(),
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    for name in ["report.md", "report.jira"] {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(text.len() <= 20_000, "{name} has {} bytes", text.len());
        assert!(
            text.contains("were left out") && text.contains("Resolution Process"),
            "{name}"
        );
    }
}

#[test]
fn colours_come_only_where_they_are_shown() {
    let diagnose = |variables: &[(&str, &str)]| {
        let mut command = Command::new(bins::find(bins::ANALYZER));
        command.arg("diagnose").arg(bundle()).env_clear();
        command.envs(variables.iter().copied());
        ended(command.output().unwrap())
    };
    let piped = diagnose(&[]);
    assert!(!piped.out.contains('\u{1b}') && !piped.err.contains('\u{1b}'));
    let forced = diagnose(&[("CLICOLOR_FORCE", "1")]);
    assert!(
        forced.out.contains("\u{1b}[")
            && forced.out.contains("toolkit-configures-wrong-containerd")
    );
    let asked_not_to = diagnose(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]);
    assert!(!asked_not_to.out.contains('\u{1b}'));
}

#[test]
fn exit_codes_tell_a_pipeline_what_was_found() {
    let bundle = bundle();
    let path = bundle.to_str().unwrap();
    for format in ["text", "json", "sarif", "junit"] {
        let ended = run(
            bins::ANALYZER,
            &[
                "diagnose",
                path,
                "--format",
                format,
                "--fail-on",
                "confirmed",
            ],
        );
        assert_eq!(ended.code, 1, "{format}");
    }
    let fixed = bins::checkout().join("samples/fixed/bundle");
    let ended = run(
        bins::ANALYZER,
        &["diagnose", fixed.to_str().unwrap(), "--fail-on", "likely"],
    );
    assert_eq!(ended.code, 0, "{ended:?}");
}
