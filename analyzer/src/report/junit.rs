//! The diagnosis as JUnit XML, for pipelines: a test case a cause. Likely and confirmed causes fail.

use std::fmt::Write as _;

use super::{escape, words};
use crate::model::{Analysis, Considered, Verdict};

/// The diagnoses, one test suite each, with a line feed at the end.
pub(crate) fn render(analyses: &[Analysis]) -> String {
    let tests: usize = analyses.iter().map(|one| one.differential.len()).sum();
    let failures: usize = analyses.iter().map(|one| count(one, fails)).sum();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<testsuites name=\"casefile-analyzer\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"0\">"
    );
    for analysis in analyses {
        suite(analysis, &mut out);
    }
    out.push_str("</testsuites>\n");
    out
}

fn fails(verdict: Verdict) -> bool {
    verdict <= Verdict::Likely
}

fn count(analysis: &Analysis, keep: fn(Verdict) -> bool) -> usize {
    let cases = analysis.differential.iter();
    cases.filter(|one| keep(one.verdict)).count()
}

fn suite(analysis: &Analysis, out: &mut String) {
    let failures = count(analysis, fails);
    let skipped = count(analysis, |verdict| {
        matches!(verdict, Verdict::Possible | Verdict::NotChecked)
    });
    let tests = analysis.differential.len();
    let name = attribute(&analysis.input.name);
    let stamp = analysis
        .reference_time
        .map(|at| format!(" timestamp=\"{}\"", at.format("%Y-%m-%dT%H:%M:%S")))
        .unwrap_or_default();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"0\"{stamp}>"
    );
    for cause in &analysis.differential {
        case(analysis, cause, out);
    }
    out.push_str("  </testsuite>\n");
}

fn case(analysis: &Analysis, cause: &Considered, out: &mut String) {
    let class = attribute(analysis.input.node.as_deref().unwrap_or("bundle"));
    let name = attribute(&cause.cause);
    let open = format!("    <testcase classname=\"casefile.{class}\" name=\"{name}\" time=\"0\"");
    let why = attribute(&escape::cut_end(&words::clause(&cause.why), 300));
    let verdict = cause.verdict.word();
    // Writing to a String cannot fail.
    let _ = match cause.verdict {
        Verdict::RuledOut | Verdict::Past => writeln!(out, "{open}/>"),
        Verdict::Possible | Verdict::NotChecked => {
            writeln!(
                out,
                "{open}><skipped message=\"{verdict}: {why}\"/></testcase>"
            )
        }
        Verdict::Confirmed | Verdict::Likely => writeln!(
            out,
            "{open}><failure type=\"{verdict}\" message=\"{}\">{}</failure></testcase>",
            attribute(&cause.title),
            escape::html(&details(analysis, cause))
        ),
    };
}

/// What a person wants to read of a failed case: the summary, the lines, the fix.
fn details(analysis: &Analysis, cause: &Considered) -> String {
    let Some(incident) = analysis
        .incidents
        .iter()
        .find(|one| one.cause == cause.cause)
    else {
        let by = cause.explained_by.as_deref().unwrap_or("another cause");
        return format!("{} Explained by {by}.", words::sentence(&cause.why));
    };
    let mut text = words::summary(incident);
    for line in &incident.evidence {
        let _ = write!(
            text,
            "\n{}: {}",
            line.place,
            escape::one_line(&line.text).trim()
        );
    }
    if !incident.remedy.title.trim().is_empty() {
        let _ = write!(text, "\nfix: {}", words::sentence(&incident.remedy.title));
    }
    text
}

fn attribute(text: &str) -> String {
    escape::html(escape::one_line(text).trim())
}
