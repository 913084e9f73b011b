//! What a sample's report must say: `samples/<name>/expected.toml`, written by hand, and its check
//! against what `casefile-analyzer diagnose --format json` prints.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;

/// The content of an `expected.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The incidents, best first: the report's first ones must be these, in this order.
    #[serde(default)]
    pub incident: Vec<ExpectedIncident>,
    /// Causes that must be reported as well, each with exactly this verdict.
    #[serde(default)]
    pub also: BTreeMap<String, String>,
    /// Causes that may be reported as well, with the strongest verdict that is still right.
    #[serde(default)]
    pub may: BTreeMap<String, String>,
    /// Causes that must not be an incident, nor confirmed or likely anywhere.
    #[serde(default)]
    pub quiet: Vec<String>,
    /// Sources whose outcome the report must state, and which.
    #[serde(default)]
    pub coverage: BTreeMap<String, String>,
    /// What the first screen says, read off the bundle by hand.
    pub screen: Option<Screen>,
}

/// What the first screen must say.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screen {
    /// How the row `Since` begins: the first sign of this incident. Empty where nothing began.
    #[serde(default)]
    pub since: String,
    /// Words that the row `Affected` must hold.
    #[serde(default)]
    pub affected: Vec<String>,
    /// Words that it must not hold: what fails for other reasons, or does not fail.
    #[serde(default)]
    pub not_affected: Vec<String>,
}

impl Screen {
    /// Compares the first screen as `--format ticket` prints it. Each difference is a sentence.
    pub fn differences(&self, ticket: &str) -> Vec<String> {
        let row = |label: &str| {
            let mut lines = ticket.lines();
            let row = lines.find_map(|line| line.strip_prefix(label)?.strip_prefix(": "));
            row.unwrap_or_default().to_owned()
        };
        // Of two times the first is when it began at the earliest.
        let since = row("Since");
        let since = since.strip_prefix("Between ").unwrap_or(&since);
        // Where no cause is sure, what fails says who is affected.
        let affected = [row("Affected"), row("Failing")];
        let affected = affected.iter().find(|row| !row.is_empty());
        let affected = affected.cloned().unwrap_or_default();
        let mut differences = Vec::new();
        if !since.starts_with(&self.since) || since.is_empty() != self.since.is_empty() {
            differences.push(format!("since is {since:?}, not {:?}", self.since));
        }
        for words in self
            .affected
            .iter()
            .filter(|words| !affected.contains(*words))
        {
            differences.push(format!("affected does not say {words:?}: {affected}"));
        }
        for words in self
            .not_affected
            .iter()
            .filter(|words| affected.contains(*words))
        {
            differences.push(format!("affected says {words:?}: {affected}"));
        }
        differences
    }
}

/// One incident that must be found.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedIncident {
    /// Its cause id.
    pub cause: String,
    /// Its verdict, exactly.
    pub verdict: String,
    /// What the report may say of its fix, judged by hand: `heals-the-workload` only where each failing pod would run,
    /// `none` where no change is proposed.
    pub claim: String,
    /// Subjects that must be among the incident's.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// Words that must each occur in one of its symptoms.
    #[serde(default)]
    pub symptoms: Vec<String>,
    /// Lines that its evidence must cite.
    #[serde(default)]
    pub evidence: Vec<Cited>,
}

/// A line of the bundle, by words that it contains.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cited {
    /// The entry, or with a `*` at its end the beginning of its path.
    pub path: String,
    /// Words of the cited line, as they stand in the file. Where empty, any line of the entry will do.
    #[serde(default)]
    pub contains: String,
}

impl Expected {
    /// Reads an `expected.toml`.
    ///
    /// # Errors
    /// Names the file and what is wrong in it.
    pub fn load(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Compares a report with what is expected of the bundle it was made from. Each difference is a
    /// sentence; none means that the report is right.
    pub fn differences(&self, bundle: &Path, report: &Value) -> Vec<String> {
        let mut differences = Vec::new();
        let incidents = list(report, "incidents");
        for (place, expected) in self.incident.iter().enumerate() {
            match incidents.get(place) {
                Some(found) if found["cause"]["id"] == expected.cause.as_str() => {
                    differences.extend(expected.differences(bundle, found));
                }
                other => differences.push(format!(
                    "incident {} is {}, not {}",
                    place + 1,
                    other.map_or("missing".to_owned(), |found| found["cause"]["id"]
                        .to_string()),
                    expected.cause
                )),
            }
        }
        differences.extend(self.missing(report));
        differences.extend(self.unexpected(report));
        differences.extend(
            incidents
                .iter()
                .flat_map(|incident| untrue(bundle, incident)),
        );
        for (source, outcome) in &self.coverage {
            let mut states = list(report, "coverage").iter();
            let found = states.find(|state| state["source"] == source.as_str());
            let found = found
                .and_then(|state| state["outcome"].as_str())
                .unwrap_or("not listed");
            if found != outcome {
                differences.push(format!("source {source} is {found}, not {outcome}"));
            }
        }
        differences
    }

    /// Where a report says more or less of a fix than it may.
    pub fn claims(&self, report: &Value) -> Vec<String> {
        let incidents = list(report, "incidents");
        let each = self.incident.iter().zip(incidents);
        each.filter_map(|(expected, found)| {
            let claim = found["fix"]["claim"].as_str().unwrap_or("none");
            let (cause, wanted) = (&expected.cause, &expected.claim);
            (claim != wanted)
                .then(|| format!("the fix of {cause} is said to be {claim}, not {wanted}"))
        })
        .collect()
    }

    /// Causes of `also` that are not reported as stated.
    fn missing(&self, report: &Value) -> Vec<String> {
        let rows = list(report, "differential");
        let wrong = self.also.iter().filter_map(|(cause, verdict)| {
            let row = rows.iter().find(|row| row["cause"] == cause.as_str());
            let found = row.map_or("not considered", |row| word(&row["verdict"]));
            (found != verdict).then(|| format!("{cause} is {found}, not {verdict}"))
        });
        wrong.collect()
    }

    /// Causes that are claimed more strongly than they may be.
    fn unexpected(&self, report: &Value) -> Vec<String> {
        let strong = |cause: &str, verdict: &str, limit: &str| {
            let wanted = self.incident.iter().any(|expected| expected.cause == cause);
            !wanted && strength(verdict) > strength(limit)
        };
        let mut claims: Vec<(&str, &str)> = Vec::new();
        for incident in list(report, "incidents") {
            let (cause, verdict) = (word(&incident["cause"]["id"]), word(&incident["verdict"]));
            let quiet = self.quiet.iter().any(|quiet| quiet == cause);
            let limit = if quiet { "none" } else { self.limit(cause) };
            claims.extend(strong(cause, verdict, limit).then_some((cause, verdict)));
        }
        for considered in list(report, "differential") {
            let (cause, verdict) = (word(&considered["cause"]), word(&considered["verdict"]));
            claims.extend(strong(cause, verdict, self.limit(cause)).then_some((cause, verdict)));
        }
        claims.sort_unstable();
        claims.dedup();
        let each = claims.iter();
        each.map(|(cause, verdict)| format!("{cause} is {verdict}, which is too strong"))
            .collect()
    }
}

impl Expected {
    /// The strongest verdict that a cause may have which is not expected.
    fn limit(&self, cause: &str) -> &str {
        let stated = self.also.get(cause).or_else(|| self.may.get(cause));
        stated.map_or("possible", String::as_str)
    }
}

impl ExpectedIncident {
    fn differences(&self, bundle: &Path, found: &Value) -> Vec<String> {
        let cause = &self.cause;
        let mut differences = Vec::new();
        if found["verdict"] != self.verdict.as_str() {
            differences.push(format!(
                "{cause} is {}, not {}",
                found["verdict"], self.verdict
            ));
        }
        for subject in &self.subjects {
            if !list(found, "subjects")
                .iter()
                .any(|each| each == subject.as_str())
            {
                differences.push(format!("{cause} does not name {subject}"));
            }
        }
        for words in &self.symptoms {
            let told = list(found, "symptoms")
                .iter()
                .any(|each| word(each).contains(words));
            if !told {
                differences.push(format!("{cause} has no symptom with {words:?}"));
            }
        }
        for cited in &self.evidence {
            let shown = quotations(found).into_iter().any(|each| {
                let line = line_of(bundle, each).unwrap_or_default();
                cited.names(word(&each["path"])) && stands(&line, &cited.contains)
            });
            if !shown {
                differences.push(format!(
                    "{cause} does not cite {} {:?}",
                    cited.path, cited.contains
                ));
            }
        }
        differences
    }
}

impl Cited {
    fn names(&self, path: &str) -> bool {
        match self.path.strip_suffix('*') {
            Some(beginning) => path.starts_with(beginning),
            None => path == self.path,
        }
    }
}

/// Evidence that does not stand where it is said to stand.
fn untrue(bundle: &Path, incident: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for each in quotations(incident) {
        let (path, text) = (word(&each["path"]), word(&each["text"]));
        if each["line"].is_null() {
            if !bundle.join(path).is_file() {
                wrong.push(format!("{path} is cited and not there"));
            }
        } else if !line_of(bundle, each).is_some_and(|line| stands(&line, text)) {
            wrong.push(format!("{path}:{} does not say {text:?}", each["line"]));
        }
    }
    wrong
}

/// Everything that an incident quotes from the bundle: its evidence, and the lines that show its
/// symptoms and answer its questions.
fn quotations(incident: &Value) -> Vec<&Value> {
    let mut all: Vec<&Value> = list(incident, "evidence").iter().collect();
    for symptom in list(incident, "symptom_details") {
        all.extend(list(symptom, "evidence"));
    }
    for observation in list(incident, "observations") {
        all.extend(list(observation, "lines"));
    }
    all
}

/// Whether a text stands in a line: as it is, or as the content of a JSON string.
fn stands(line: &str, text: &str) -> bool {
    line.contains(text) || unescaped(line).contains(text)
}

/// A line with the escapes of JSON strings undone, but for `\\u`.
fn unescaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('u') => out.push_str("\\u"),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

/// The line that a piece of evidence points at.
fn line_of(bundle: &Path, evidence: &Value) -> Option<String> {
    let bytes = std::fs::read(bundle.join(evidence["path"].as_str()?)).ok()?;
    let number = usize::try_from(evidence["line"].as_u64()?).ok()?;
    let line = bytes
        .split(|byte| *byte == b'\n')
        .nth(number.checked_sub(1)?)?;
    Some(String::from_utf8_lossy(line).into_owned())
}

fn strength(verdict: &str) -> u8 {
    match verdict {
        "confirmed" => 3,
        "likely" => 2,
        "possible" => 1,
        _ => 0,
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn expected() -> Expected {
        toml::from_str(
            "quiet = [\"loud\"]\n[[incident]]\ncause = \"root\"\nverdict = \"confirmed\"\n\
             claim = \"none\"\nsymptoms = [\"stuck\"]\nevidence = [{ path = \"a.log\", contains = \"second\" }]\n",
        )
        .unwrap()
    }

    fn report(line: u32, text: &str) -> Value {
        json!({
            "incidents": [{
                "cause": {"id": "root"}, "verdict": "confirmed", "subjects": [],
                "symptoms": ["a pod is stuck"],
                "evidence": [{"path": "a.log", "line": line, "text": text, "role": "for"}],
            }],
            "differential": [{"cause": "root", "verdict": "confirmed"}],
        })
    }

    fn bundle() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.log"), "first\nsecond line\n").unwrap();
        folder
    }

    #[test]
    fn a_fix_that_claims_more_than_was_judged_is_told() {
        let mut report = report(2, "second line");
        assert_eq!(expected().claims(&report), Vec::<String>::new());
        report["incidents"][0]["fix"] = json!({"claim": "heals-the-workload"});
        assert_eq!(expected().claims(&report).len(), 1);
    }

    #[test]
    fn a_right_report_has_no_differences() {
        let folder = bundle();
        let found = expected().differences(folder.path(), &report(2, "second"));
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_first_screen_with_another_begin_or_other_pods_differs() {
        let screen: Screen = toml::from_str(
            "since = \"09:47\"\naffected = [\"2 pods\"]\nnot_affected = [\"c/d\"]\n",
        )
        .unwrap();
        let right = "T\n\nSince: 09:47, 3 h ago\nAffected: 2 pods are failing: a/b\n";
        assert_eq!(screen.differences(right), Vec::<String>::new());
        let wrong = "T\n\nSince: 09:40\nAffected: 1 pod is failing: c/d\n";
        assert_eq!(screen.differences(wrong).len(), 3);
    }

    #[test]
    fn a_quotation_that_does_not_stand_there_is_told() {
        let folder = bundle();
        let found = expected().differences(folder.path(), &report(2, "third"));
        assert_eq!(found, ["a.log:2 does not say \"third\""]);
    }

    #[test]
    fn the_content_of_a_json_string_may_be_quoted_without_its_escapes() {
        let line = r#"{"message":"no runtime for \"nvidia\" is configured"},"#;
        assert!(stands(line, "no runtime for \"nvidia\" is"));
        assert!(stands(line, r#"for \"nvidia\""#));
        assert!(!stands(line, "for nvidia"));
    }

    #[test]
    fn a_cause_that_should_be_quiet_and_is_not_is_told() {
        let folder = bundle();
        let mut report = report(2, "second");
        report["differential"] = json!([{"cause": "loud", "verdict": "likely"}]);
        let found = expected().differences(folder.path(), &report);
        assert_eq!(found, ["loud is likely, which is too strong"]);
    }

    #[test]
    fn a_cause_that_is_true_as_well_has_to_be_reported_with_its_verdict_and_one_that_may_be_need_not()
     {
        let folder = bundle();
        let stated = |table: &str, rows: Value| {
            let text = format!("[{table}]\nother = \"likely\"\n");
            let expected: Expected = toml::from_str(&text).unwrap();
            expected.differences(folder.path(), &json!({"differential": rows}))
        };
        let row = |verdict: &str| json!([{"cause": "other", "verdict": verdict}]);
        assert_eq!(stated("also", row("likely")), Vec::<String>::new());
        assert_eq!(
            stated("also", row("possible")),
            ["other is possible, not likely"]
        );
        assert_eq!(
            stated("also", json!([])),
            ["other is not considered, not likely"]
        );
        assert_eq!(stated("may", json!([])), Vec::<String>::new());
        let found = stated("may", row("confirmed"));
        assert_eq!(found, ["other is confirmed, which is too strong"]);
    }
}
