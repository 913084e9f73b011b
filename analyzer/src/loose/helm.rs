//! What helm prints: values of a release, its history, and lists of releases, each as the entry that a bundle keeps it in.

use casefile_bundle::Entry;
use regex::Captures;
use serde_json::json;

use super::split::Section;
use super::{Taken, What};
use crate::form::Form;

/// Namespace and release where no command names them.
const UNNAMED: &str = "pasted";

static COMMAND: Form = Form::new(r"\bhelm\s+(?P<verb>get\s+values|history|hist)\b(?P<rest>[^|]*)");
static NAMESPACE: Form = Form::new(r"(?:^|\s)(?:-n|--namespace)[ =]?(?P<name>[a-z0-9][a-z0-9-]*)");
static HISTORY_ROW: Form = Form::new(
    r"^(?P<revision>\d{1,9})\s+(?P<updated>[A-Z]\w{2} [A-Z]\w{2} +\d+ \d\d:\d\d:\d\d \d{4})\s+(?P<status>[a-z-]+)\s+(?P<chart>\S+)(?:\s+(?P<app>\S*?))?(?:\s+(?P<description>[A-Z].*))?$",
);
static LIST_ROW: Form = Form::new(
    r"^(?P<name>[a-z0-9][a-z0-9.-]*)\s+(?P<namespace>[a-z0-9][a-z0-9-]*)\s+(?P<revision>\d{1,9})\s+\d{4}-\d\d-\d\d \S+ \S+ \S+\s+(?P<status>[a-z-]+)\s+(?P<chart>\S+)(?:\s+\S+)?\s*$",
);

/// Namespace and release of a command of helm's.
fn release(rest: &str) -> (String, String) {
    let namespace = NAMESPACE.captures(rest);
    let namespace = namespace.map_or("default", |found| {
        found.name("name").map_or("", |it| it.as_str())
    });
    let mut words = rest.split_whitespace();
    let mut name = UNNAMED;
    while let Some(word) = words.next() {
        match word {
            "-n" | "--namespace" | "-o" | "--output" | "--revision" | "--max"
            | "--kube-context" => {
                words.next();
            }
            _ if word.starts_with('-') => {}
            _ => {
                name = word;
                break;
            }
        }
    }
    (plain(namespace), plain(name))
}

/// A name as a part of a path: nothing else may stand in one that a person typed.
fn plain(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    if name.is_empty() || name.starts_with('.') || !name.chars().all(fits) {
        UNNAMED.to_owned()
    } else {
        name.to_owned()
    }
}

/// Takes `helm get values`, by its first line or by the command.
pub(super) fn values(section: &Section<'_>, at: usize) -> Taken {
    let head = section.line(at).trim_end();
    let command = section.command.and_then(|typed| COMMAND.captures(typed));
    let command = command.filter(|found| found["verb"].starts_with("get"));
    let file = match (head, &command) {
        ("USER-SUPPLIED VALUES:", _) => "values-user.yaml",
        ("COMPUTED VALUES:", _) => "values-all.yaml",
        (_, Some(found)) if at == 0 && head.contains(':') => {
            let mut words = found["rest"].split_whitespace();
            let all = words.any(|word| word == "-a" || word == "--all");
            if all {
                "values-all.yaml"
            } else {
                "values-user.yaml"
            }
        }
        _ => return Taken::No,
    };
    let rest = command.as_ref().map_or("", |found| &found["rest"]);
    let (namespace, name) = match command {
        Some(_) => release(rest),
        None => (UNNAMED.to_owned(), UNNAMED.to_owned()),
    };
    let skip = usize::from(head.ends_with("VALUES:"));
    let lines = section.run(at + skip, |line| !line.trim().is_empty());
    let yaml = section.range(at + skip, at + skip + lines).join("\n");
    if !crate::helm::yaml::read(&yaml).is_some_and(|read| read.is_object()) {
        return Taken::Refused(1);
    }
    let what = What::Cluster(Entry::Helm(&namespace, &name, file).path());
    Taken::Found(vec![(what, skip)], skip + lines)
}

/// Takes the table of `helm history RELEASE`.
pub(super) fn history(section: &Section<'_>, at: usize) -> Taken {
    if !is_head(
        section.line(at),
        &["REVISION", "UPDATED", "STATUS", "CHART"],
    ) {
        return Taken::No;
    }
    let command = section.command.and_then(|typed| COMMAND.captures(typed));
    let (namespace, name) = match command.filter(|found| found["verb"].starts_with("hist")) {
        Some(found) => release(&found["rest"]),
        None => (UNNAMED.to_owned(), UNNAMED.to_owned()),
    };
    let rows = section.run(at + 1, |line| is_row(&HISTORY_ROW, line));
    let what = What::Cluster(Entry::Helm(&namespace, &name, "history.json").path());
    Taken::one(what, 1 + rows)
}

/// Whether a table of these columns begins with a line.
fn is_head(line: &str, columns: &[&str]) -> bool {
    let mut words = line.split_whitespace();
    columns.iter().all(|column| words.next() == Some(column))
}

fn is_row(row: &Form, line: &str) -> bool {
    row.is_match(line.trim_end())
}

/// Takes the table of `helm list`, a release a row.
pub(super) fn list(section: &Section<'_>, at: usize) -> Taken {
    const HEAD: [&str; 6] = [
        "NAME",
        "NAMESPACE",
        "REVISION",
        "UPDATED",
        "STATUS",
        "CHART",
    ];
    if !is_head(section.line(at), &HEAD) {
        return Taken::No;
    }
    let rows = section.run(at + 1, |line| is_row(&LIST_ROW, line));
    let named = (1..=rows).filter_map(|row| {
        let line = section.line(at + row).trim_end();
        let found = LIST_ROW.captures(line)?;
        let (namespace, name) = (plain(&found["namespace"]), plain(&found["name"]));
        let path = Entry::Helm(&namespace, &name, "release.json").path();
        Some((What::Cluster(path), row))
    });
    Taken::Found(named.collect(), 1 + rows)
}

/// A piece as the entry at this path holds it, line by line where it stood.
pub(crate) fn entry(path: &str, text: String) -> String {
    if path.ends_with("/history.json") {
        history_json(&text)
    } else if path.ends_with("/release.json") {
        release_json(&text).unwrap_or_default()
    } else {
        text
    }
}

fn history_json(text: &str) -> String {
    let field = |found: &Captures<'_>, name: &str| {
        found
            .name(name)
            .map_or(String::new(), |it| it.as_str().trim().to_owned())
    };
    let mut rows: Vec<String> = Vec::new();
    for line in text.lines().skip(1) {
        let Some(found) = HISTORY_ROW.captures(line.trim_end()) else {
            break;
        };
        // Helm prints the time of whoever asks, without the zone.
        let row = json!({"revision": field(&found, "revision").parse::<u64>().unwrap_or_default(),
            "status": field(&found, "status"), "chart": field(&found, "chart"),
            "description": field(&found, "description")});
        rows.push(row.to_string());
    }
    format!("[\n{}]", rows.join(",\n"))
}

fn release_json(text: &str) -> Option<String> {
    let found = LIST_ROW.captures(text.lines().next()?.trim_end())?;
    let chart = &found["chart"];
    // Names of charts hold dashes, and versions may: the first dash before a digit divides them.
    let at = chart.match_indices('-').find_map(|(at, _)| {
        let version = chart.get(at + 1..)?;
        let version = version.strip_prefix('v').unwrap_or(version);
        version
            .starts_with(|c: char| c.is_ascii_digit())
            .then_some(at)
    });
    let (chart, version) = at.map_or((chart, ""), |at| (&chart[..at], &chart[at + 1..]));
    let release = json!({"name": &found["name"], "namespace": &found["namespace"], "chart": chart,
        "chart_version": version, "revision": found["revision"].parse::<u64>().ok()?, "status": &found["status"]});
    Some(release.to_string())
}
