//! Reports for machines: against their schemas.

use std::path::Path;

use casefile_tests::bins;
use serde_json::Value;

use crate::samples::samples;
use crate::support::{diagnose, run};

fn output(arguments: &[&str]) -> String {
    let ended = run(bins::ANALYZER, arguments);
    assert_eq!(ended.code, 0, "{ended:?}");
    ended.out
}

fn diagnosed(bundle: &Path, format: &str) -> String {
    output(&["diagnose", "--format", format, bundle.to_str().unwrap()])
}

/// report.json of a sample.
fn reported(sample: &Path) -> Value {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let bundle = sample.join("bundle");
    let bundle = bundle.to_str().unwrap();
    output(&["report", bundle, "-o", folder, "--format", "json"]);
    let text = std::fs::read_to_string(out.path().join("report.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn faults(schema: &Value, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors = validator.iter_errors(document);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(10)
        .collect()
}

/// Forbids every property that the schema does not document.
fn strict(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            fields.values_mut().for_each(strict);
        }
        Value::Array(items) => items.iter_mut().for_each(strict),
        _ => {}
    }
}

#[test]
fn the_report_of_every_sample_holds_to_the_published_schema_which_documents_all_of_it() {
    let mut schema: Value = serde_json::from_str(&output(&["schema"])).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    strict(&mut schema);
    let mut shown = Vec::new();
    for sample in samples() {
        let report = diagnose(&sample.join("bundle"));
        let reported = reported(&sample);
        for one in [&report, &reported] {
            let found = faults(&schema, one);
            assert_eq!(found, Vec::<String>::new(), "{}", sample.display());
        }
        for incident in reported["incidents"].as_array().unwrap() {
            shown.extend(incident["fix"]["outcome"].as_str().map(str::to_owned));
        }
    }
    assert!(shown.iter().any(|one| one == "gone"), "no fix was tried");
    assert!(
        !faults(&schema, &serde_json::json!({})).is_empty(),
        "the schema asks for something"
    );
}

/// The published pattern of a language tag has an unmatched bracket, which is no regular expression.
fn without_broken_patterns(schema: &mut Value) {
    if let Value::Object(fields) = schema {
        fields.retain(|name, value| {
            name != "pattern" || value.as_str().is_none_or(|text| !text.contains("{2}]?"))
        });
        fields.values_mut().for_each(without_broken_patterns);
    }
}

#[test]
fn sarif_of_every_sample_holds_to_the_schema_of_its_standard() {
    // The schema of SARIF 2.1.0, Copyright OASIS Open, as published.
    let schema = bins::checkout().join("tests/data/sarif-schema-2.1.0.json");
    let mut schema: Value =
        serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    without_broken_patterns(&mut schema);
    for sample in samples() {
        let log = diagnosed(&sample.join("bundle"), "sarif");
        let log: Value = serde_json::from_str(&log).unwrap();
        assert_eq!(
            faults(&schema, &log),
            Vec::<String>::new(),
            "{}",
            sample.display()
        );
    }
    let wrong = serde_json::json!({"version": "2.1.0", "runs": [{}]});
    assert!(!faults(&schema, &wrong).is_empty());
}

/// The attributes that readers of JUnit files (Jenkins, GitLab) know; there is no standard but theirs.
#[test]
fn junit_of_every_sample_has_the_structure_that_pipelines_read() {
    let known = |name: &str| -> &[&str] {
        match name {
            "testsuites" => &["name", "tests", "failures", "errors", "time"],
            "testsuite" => &[
                "name",
                "tests",
                "failures",
                "errors",
                "skipped",
                "time",
                "timestamp",
            ],
            "testcase" => &["classname", "name", "time"],
            "failure" => &["type", "message"],
            "skipped" => &["message"],
            other => panic!("element {other}"),
        }
    };
    for sample in samples() {
        let text = diagnosed(&sample.join("bundle"), "junit");
        let xml = roxmltree::Document::parse(&text).unwrap();
        for node in xml.descendants().filter(roxmltree::Node::is_element) {
            let names = known(node.tag_name().name());
            assert!(
                node.attributes().all(|one| names.contains(&one.name())),
                "{node:?}"
            );
        }
        let cases = xml
            .descendants()
            .filter(|node| node.has_tag_name("testcase"));
        let report = diagnose(&sample.join("bundle"));
        assert_eq!(
            cases.count(),
            report["differential"].as_array().unwrap().len()
        );
    }
}
