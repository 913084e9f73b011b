//! Versions and metadata: what a bundle says of itself, right, newer or broken.

use casefile_bundle::{Limits, OpenError, list};

use crate::support::{Scratch, content, file, gzip, sentences, tar_of};

const HEADER: &str = r#"{"format":"1.0","tool":"t","node":"n","started":"2026-11-20T10:15:00Z","clock":{"utc":"2026-11-20T10:15:00Z"}}"#;

#[test]
fn a_newer_major_version_is_refused_with_a_sentence_whatever_else_it_holds() {
    let scratch = Scratch::new();
    let newer = br#"{"format":"2.0","everything":{"is":["different"]}}"#;
    for entries in [
        vec![file("t/casefile.json", newer), file("t/a", b"1")],
        vec![file("t/a", b"1"), file("t/casefile.json", newer)],
        vec![file("t/manifest.json", newer)],
    ] {
        let error = list(&scratch.file(&gzip(&tar_of(&entries))), &Limits::default()).unwrap_err();
        assert!(matches!(error, OpenError::NewerMajor { major: 2, .. }));
        assert!(error.to_string().ends_with(
            "written by format 2; this program reads up to 1: use a newer casefile-analyzer"
        ));
    }
}

#[test]
fn a_newer_minor_version_with_unknown_fields_is_read() {
    let header = HEADER
        .replace("1.0", "1.7")
        .replace("{\"format", "{\"new\":[1],\"format");
    let scratch = Scratch::new();
    let bytes = tar_of(&[
        file("t/casefile.json", header.as_bytes()),
        file("t/a", b"1"),
    ]);
    let (summary, read) = content(&scratch.file(&bytes));
    assert_eq!(summary.header.unwrap().format.minor, 7);
    assert_eq!(read["a"], b"1");
}

#[test]
fn metadata_that_does_not_parse_is_named_with_line_and_column_and_the_rest_is_read() {
    let scratch = Scratch::new();
    let bytes = tar_of(&[
        file("t/casefile.json", b"{\"format\":\"1.0\",\n\"tool\": oops}"),
        file("t/a", b"1"),
        file("t/manifest.json", b"\xff\xfe"),
    ]);
    let (summary, read) = content(&scratch.file(&bytes));
    assert_eq!(read["a"], b"1");
    assert_eq!(
        sentences(&summary),
        [
            "casefile.json: expected value at line 2 column 9",
            "manifest.json: expected value at line 1 column 1",
        ]
    );
}

#[test]
fn a_bundle_without_manifest_counts_as_cut_short() {
    let scratch = Scratch::new();
    let bytes = tar_of(&[
        file("t/casefile.json", HEADER.as_bytes()),
        file("t/a", b"1"),
    ]);
    let (summary, _) = content(&scratch.file(&gzip(&bytes)));
    assert!(summary.cut_short);
    assert_eq!(
        sentences(&summary),
        ["manifest.json is missing: the bundle was cut short"]
    );
}
