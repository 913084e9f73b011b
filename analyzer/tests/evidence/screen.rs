//! The answer of `diagnose` fits a screen and says what an engineer needs: cause, verdict, evidence with its place,
//! what speaks against it, what would settle it, what to do.

use casefile_analyzer::model::{Analysis, Verdict};
use casefile_analyzer::report;

use crate::samples::samples;
use crate::{analyze, analyzer, cases};

const COLUMNS: usize = 100;
const LINES: usize = 40;
/// Cases that are looked at, spread over all.
const CASES: usize = 30;

/// What is wrong with an answer.
fn faults(analysis: &Analysis) -> Vec<String> {
    let text = report::render_text(analysis, report::TextOptions::default());
    let lines = text.lines().map(|line| line.chars().count());
    let height: usize = lines.map(|wide| wide.div_ceil(COLUMNS).max(1)).sum();
    let mut faults = Vec::new();
    if height > LINES {
        faults.push(format!("takes {height} lines"));
    }
    let Some(incident) = analysis.incidents.first() else {
        let said = ["No cause was confirmed", "nothing was seen to fail"];
        if !said.iter().any(|words| text.contains(words)) {
            faults.push("does not say that nothing was found".to_owned());
        }
        return faults;
    };
    let sure = match incident.verdict {
        Verdict::Possible => "No cause is confirmed; possible",
        verdict => verdict.word(),
    };
    let mut wanted = vec![format!("Cause      [{}] {sure}", incident.cause)];
    let open = incident.verdict != Verdict::Confirmed && !incident.would_settle.is_empty();
    // Where the state of pods or nodes is known, a cause that is only possible gets a question and no fix.
    if incident.verdict == Verdict::Possible && !text.contains("\nFix        ") {
        wanted.extend(open.then(|| "ettle the".to_owned()));
    } else {
        wanted.extend(["\nAffected   ", "\nFix        ", "\nProof      "].map(str::to_owned));
        let first = incident.evidence.iter().take(1);
        wanted.extend(first.map(|line| format!("             {}\n", line.place)));
        wanted.extend(open.then(|| "settle it:".to_owned()));
    }
    // A label inside a text may be wrapped.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let missing = wanted
        .into_iter()
        .filter(|part| !text.contains(part) && !words.contains(part.as_str()));
    faults.extend(missing.map(|part| format!("lacks {part:?}")));
    faults
}

#[test]
fn the_answer_on_each_sample_and_on_thirty_cases_fits_a_screen_and_is_complete() {
    let analyzer = analyzer();
    let mut inputs = samples();
    let cases =
        cases("the_answer_on_each_sample_and_on_thirty_cases_fits_a_screen_and_is_complete");
    let step = (cases.len() / CASES).max(1);
    let chosen = cases.into_iter().step_by(step).take(CASES);
    inputs.extend(chosen.map(|case| (case.name, case.files)));
    let mut wrong = Vec::new();
    for (name, files) in &inputs {
        let found = faults(&analyze(&analyzer, files));
        wrong.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    println!("{} answers looked at", inputs.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
