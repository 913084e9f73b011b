//! Reports for machines: against their schemas; and every cited place, in every format, against the bundle.

use std::collections::BTreeMap;
use std::path::Path;

use casefile_bundle::Limits;
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

/// The lines of entries, each read once.
struct Lines<'a> {
    bundle: &'a Path,
    entries: BTreeMap<String, Option<Vec<String>>>,
}

impl<'a> Lines<'a> {
    fn new(bundle: &'a Path) -> Self {
        Lines {
            bundle,
            entries: BTreeMap::new(),
        }
    }

    /// The lines of an entry; none if the bundle has no such entry.
    fn of(&mut self, path: &str) -> Option<&Vec<String>> {
        let bundle = self.bundle;
        let read = || {
            let bytes = casefile_bundle::read_entry(bundle, &Limits::default(), path, 64 << 20);
            let text = String::from_utf8_lossy(&bytes.ok()??).into_owned();
            Some(text.lines().map(str::to_owned).collect())
        };
        self.entries
            .entry(path.to_owned())
            .or_insert_with(read)
            .as_ref()
    }

    /// What is wrong with a citation: no such entry, no such line, or the text does not stand there.
    fn fault(&mut self, path: &str, line: Option<u64>, text: &str) -> Option<String> {
        let Some(lines) = self.of(path) else {
            return Some(format!("{path} is not in the bundle"));
        };
        let number = line?;
        let index = usize::try_from(number).unwrap().checked_sub(1)?;
        let Some(stands) = lines.get(index) else {
            return Some(format!("{path} has no line {number}"));
        };
        // In JSON entries a quoted text may stand with its quotes escaped.
        let escaped = serde_json::to_string(text).unwrap();
        let escaped = escaped.trim_matches('"');
        let found = stands.contains(text) || stands.contains(escaped);
        (!found).then(|| format!("{path}:{number} does not hold {text:?}"))
    }
}

/// Every object of the report with a `path`, whatever it is.
fn citations<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            if fields.get("path").is_some_and(Value::is_string) {
                found.push(value);
            }
            fields.values().for_each(|field| citations(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| citations(item, found)),
        _ => {}
    }
}

#[test]
fn every_place_that_a_report_cites_exists_and_holds_the_text_that_is_quoted() {
    for sample in samples() {
        let bundle = sample.join("bundle");
        let report = diagnose(&bundle);
        let mut lines = Lines::new(&bundle);
        let mut cited = Vec::new();
        citations(&report, &mut cited);
        assert!(cited.len() > 20);
        let mut faults = Vec::new();
        for one in cited {
            let path = one["path"].as_str().unwrap();
            // Evidence quotes; other places only point. Problems of the input as a whole have no path.
            let quotes = one.get("role").is_some();
            let text = one["text"].as_str().filter(|_| quotes).unwrap_or("");
            if !path.is_empty() {
                faults.extend(lines.fault(path, one["line"].as_u64(), text));
            }
        }
        for format in ["md", "jira", "html"] {
            faults.extend(written(&bundle, format, &mut lines));
        }
        assert_eq!(faults, Vec::<String>::new(), "{}", sample.display());
    }
}

/// Places in a written report, as readers see them: `PATH:LINE` with a path of the bundle's layout.
fn written(bundle: &Path, format: &str, lines: &mut Lines<'_>) -> Vec<String> {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    output(&[
        "report",
        bundle.to_str().unwrap(),
        "-o",
        folder,
        "--format",
        format,
    ]);
    let text = std::fs::read_to_string(out.path().join(format!("report.{format}"))).unwrap();
    let text = text
        .replace("&#58;", ":")
        .replace("&#45;", "-")
        .replace("&#95;", "_");
    let mut faults = Vec::new();
    let mut seen = 0;
    let is_part = |c: char| c.is_alphanumeric() || "/._-~@+%:".contains(c);
    for word in text.split(|c| !is_part(c)) {
        let Some((path, line)) = word.rsplit_once(':') else {
            continue;
        };
        let top = path.split('/').next().unwrap_or("");
        let in_bundle = ["nodes", "cluster-resources", "cluster-info", "helm"].contains(&top);
        if let (true, Ok(line)) = (in_bundle, line.parse::<u64>()) {
            seen += 1;
            faults.extend(lines.fault(path, Some(line), ""));
        }
    }
    assert!(seen > 5, "{format} cites {seen} places");
    if format == "md" {
        faults.extend(quoted(&text, lines));
    }
    faults
}

/// Quotes that do not stand at the place above them, as Markdown prints both.
fn quoted(markdown: &str, lines: &mut Lines<'_>) -> Vec<String> {
    let written: Vec<&str> = markdown.lines().map(str::trim_start).collect();
    let mut faults = Vec::new();
    for part in written.windows(4) {
        let [cited, open, quote, close] = part else {
            continue;
        };
        // A long line is cut, and hidden characters are shown by their numbers.
        let shown_otherwise = quote.contains("left out]") || quote.contains("\\u{");
        if !open.starts_with("```text") || !close.starts_with("```") || shown_otherwise {
            continue;
        }
        let item = cited.trim_start_matches(|c: char| c.is_ascii_digit() || ". -".contains(c));
        let place = item
            .strip_prefix('`')
            .and_then(|rest| rest.split('`').next());
        let Some((path, line)) = place.and_then(|place| place.rsplit_once(':')) else {
            continue;
        };
        if let Ok(line) = line.parse::<u64>() {
            faults.extend(lines.fault(path, Some(line), quote));
        }
    }
    faults
}
