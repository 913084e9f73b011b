//! Every cited place, in every format, against the bundle: it exists, and holds the text that is quoted.

use std::collections::BTreeMap;
use std::path::Path;

use casefile_bundle::Limits;
use casefile_tests::bins;
use serde_json::Value;

use crate::samples::samples;
use crate::support::{diagnose, run};

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
        let missing = parts(text).into_iter().find(|part| {
            // In JSON entries a quoted text may stand with its quotes escaped.
            let escaped = serde_json::to_string(part).unwrap();
            !stands.contains(part) && !stands.contains(escaped.trim_matches('"'))
        });
        missing.map(|part| format!("{path}:{number} does not hold {part:?}"))
    }

    /// The same for a place as it is printed.
    fn fault_at(&mut self, place: &str, text: &str) -> Option<String> {
        match place.rsplit_once(':') {
            Some((path, line)) if line.parse::<u64>().is_ok() => {
                self.fault(path, line.parse().ok(), text)
            }
            _ => self.fault(place, None, text),
        }
    }
}

/// What of a printed quote must stand in the bundle as it is: of a long line the two ends, of a line with hidden
/// characters, which are shown by their numbers, what stands between them.
fn parts(quote: &str) -> Vec<&str> {
    let ends = quote.split("…[").enumerate().map(|(nth, part)| match nth {
        0 => part,
        _ => part.split_once("left out]…").map_or(part, |(_, end)| end),
    });
    let shown = ends.flat_map(|end| end.split("\\u{").enumerate());
    let shown = shown.map(|(nth, part)| match nth {
        0 => part,
        _ => part.split_once('}').map_or(part, |(_, rest)| rest),
    });
    shown
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
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
        let mut lines = Lines::new(&bundle);
        let mut faults = cited(&diagnose(&bundle), &mut lines);
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().to_str().unwrap();
        let formats = ["--format", "md,jira,html,json"];
        let arguments = ["report", bundle.to_str().unwrap(), "-o", folder];
        let ended = run(bins::ANALYZER, &[&arguments[..], &formats[..]].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let read = |name: &str| std::fs::read_to_string(out.path().join(name)).unwrap();
        let json: Value = serde_json::from_str(&read("report.json")).unwrap();
        faults.extend(cited(&json, &mut lines));
        for name in ["report.md", "report.jira", "report.html"] {
            faults.extend(named(&read(name), name, &mut lines));
        }
        let (markdown, jira) = (read("report.md"), read("report.jira"));
        let mut quotes = quoted(&markdown, "```", &mut lines);
        quotes.append(&mut quoted(&jira, "{noformat}", &mut lines));
        faults.extend(quotes.into_iter().flatten());
        faults.extend(linked(&read("report.html"), &json, &mut lines));
        assert_eq!(faults, Vec::<String>::new(), "{}", sample.display());
    }
}

/// Faults of the citations in a report for machines.
fn cited(report: &Value, lines: &mut Lines<'_>) -> Vec<String> {
    let mut found = Vec::new();
    citations(report, &mut found);
    assert!(found.len() > 20);
    let mut faults = Vec::new();
    for one in found {
        let path = one["path"].as_str().unwrap();
        // Evidence quotes; other places only point. Problems of the input as a whole have no path, and what a
        // fix writes into its copy is in no bundle.
        let quotes = one.get("role").is_some();
        let text = one["text"].as_str().filter(|_| quotes).unwrap_or("");
        if !path.is_empty() {
            faults.extend(lines.fault(path, one["line"].as_u64(), text));
        }
    }
    faults
}

/// Faults of places in a written report, as readers see them: `PATH:LINE` with a path of the bundle's layout.
fn named(text: &str, name: &str, lines: &mut Lines<'_>) -> Vec<String> {
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
    // A healthy node's report is two pages.
    assert!(seen > 0, "{name} cites no place");
    faults
}

/// For each quote that stands below a place, as Markdown and wiki markup print both, its fault or none.
fn quoted(report: &str, fence: &str, lines: &mut Lines<'_>) -> Vec<Option<String>> {
    let written: Vec<String> = report
        .lines()
        .map(|line| {
            line.trim_start()
                .replace("&#58;", ":")
                .replace("&#45;", "-")
                .replace("&#95;", "_")
        })
        .collect();
    let mut found = Vec::new();
    for part in written.windows(4) {
        let [cited, open, quote, close] = part else {
            continue;
        };
        let place = ["`", "{{"].into_iter().find_map(|mark| {
            let (before, rest) = cited.split_once(mark)?;
            let item = |c: char| c.is_ascii_digit() || ". -*".contains(c);
            let place = rest.split(['`', '}']).next()?;
            (before.chars().all(item) && place.contains('/')).then_some(place)
        });
        if let Some(place) = place.filter(|_| open.starts_with(fence) && close.starts_with(fence)) {
            found.push(lines.fault_at(place, quote));
        }
    }
    found
}

/// Faults of the page: a quote that does not stand at its place, a link to an excerpt of another line, and a line
/// of evidence that no excerpt of the page shows.
fn linked(html: &str, report: &Value, lines: &mut Lines<'_>) -> Vec<String> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let page = roxmltree::Document::parse_with_options(html, options).unwrap();
    let is = |node: &roxmltree::Node<'_, '_>, class: &str| node.attribute("class") == Some(class);
    let text = |node: roxmltree::Node<'_, '_>| -> String {
        let texts = node.descendants().filter(roxmltree::Node::is_text);
        texts.filter_map(|part| part.text()).collect()
    };
    let mut faults = Vec::new();
    let mut excerpts: BTreeMap<String, String> = BTreeMap::new();
    let items = page.descendants().filter(|node| {
        node.has_tag_name("li")
            && node
                .parent_element()
                .is_some_and(|list| is(&list, "evidence"))
    });
    for item in items {
        let find = |class: &str| item.descendants().find(|node| is(node, class));
        let place = text(find("place").unwrap());
        let quote = find("excerpt").map(text).unwrap_or_default();
        faults.extend(lines.fault_at(&place, &quote));
        excerpts.insert(item.attribute("id").unwrap().to_owned(), place);
    }
    let links = page
        .descendants()
        .filter(|node| node.has_tag_name("a") && is(node, "place"));
    for link in links {
        let to = link.attribute("href").unwrap().trim_start_matches('#');
        if excerpts.get(to) != Some(&text(link)) {
            faults.push(format!("{} links to {:?}", text(link), excerpts.get(to)));
        }
    }
    // Of many lines the first ones are shown, and the rest counted.
    for incident in report["incidents"].as_array().unwrap() {
        for line in incident["evidence"].as_array().unwrap().iter().take(12) {
            let place = match line["line"].as_u64() {
                Some(number) => format!("{}:{number}", line["path"].as_str().unwrap()),
                None => line["path"].as_str().unwrap().to_owned(),
            };
            if !excerpts.values().any(|shown| *shown == place) {
                faults.push(format!("no excerpt of the page shows {place}"));
            }
        }
    }
    faults
}

#[test]
fn a_quote_that_does_not_stand_at_its_place_is_found() {
    let sample = bins::checkout().join("samples/time-slicing-neighbour/bundle");
    let log = "cluster-resources/pods/logs/team-b/train-lora-0/train.log";
    let mut lines = Lines::new(&sample);
    let report =
        |quote: &str, place: &str| format!("- `{place}`: says\n  ```text\n  {quote}\n  ```\n");
    let wiki = |quote: &str, place: &str| {
        format!("*1.* {{{{{place}}}}} says\n{{noformat}}\n{quote}\n{{noformat}}\n")
    };
    let right = "torch.OutOfMemoryError: CUDA …[9 characters left out]… unallocated.";
    for (quote, line, faults) in [
        (right, 4, 0),
        ("CUDA …[9 characters left out]… nonsense", 4, 1),
        (right, 3, 1),
        (right, 4000, 1),
    ] {
        let place = format!("{log}:{line}");
        for (text, fence) in [
            (report(quote, &place), "```"),
            (wiki(quote, &place), "{noformat}"),
        ] {
            let found = quoted(&text, fence, &mut lines);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found.into_iter().flatten().count(), faults, "{text}");
        }
    }
}
