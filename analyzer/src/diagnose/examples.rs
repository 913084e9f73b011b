//! Runs the examples inside the rules, each as a small folder of evidence through the whole analyzer.

use std::fmt;
use std::path::Path;

use super::{AnalyzeError, Analyzer};
use crate::model::{Analysis, Verdict};
use crate::rules::file::{Example, Expect, Kind};
use crate::rules::{RuleSet, file};

/// An example that did not come out as stated.
#[derive(Debug)]
pub struct Failure {
    /// Rule.
    pub rule: String,
    /// Example.
    pub example: String,
    /// What was stated.
    pub expected: Expect,
    /// What came out; none if the cause did not appear.
    pub got: Option<Verdict>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Missing: should fire and did not. Noisy: fired and should not. Wrong: another verdict.
        let live = |verdict: Option<Verdict>| verdict.is_some_and(Verdict::is_live);
        let word = match (live(self.expected.verdict()), live(self.got)) {
            (true, false) => "MISSING",
            (false, true) => "NOISY",
            _ => "WRONG",
        };
        let got = self.got.map_or("quiet", Verdict::word);
        write!(
            f,
            "{word} {}: {:?}: expected {:?}, got {got}",
            self.rule, self.example, self.expected
        )
    }
}

/// What came of all examples.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Examples that came out as stated.
    pub passed: usize,
    /// The others.
    pub failures: Vec<Failure>,
}

/// Why the examples could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExampleError {
    /// No place to put them.
    #[error("writing an example to a temporary folder")]
    Write(#[from] std::io::Error),
    /// The analyzer did not start or read the example.
    #[error("analyzing an example")]
    Analyze(#[from] AnalyzeError),
}

/// Runs all examples of a set.
pub fn run(set: RuleSet) -> Result<Outcome, ExampleError> {
    let cases: Vec<(String, Kind, Example)> = set
        .rules
        .iter()
        .flat_map(|rule| {
            let file = &rule.file;
            let examples = file.examples.all().iter();
            examples.map(|example| (file.id.clone(), file.kind, example.clone()))
        })
        .collect();
    let analyzer = Analyzer::new(set)?;
    let mut outcome = Outcome::default();
    for (rule, kind, example) in cases {
        let folder = tempfile::tempdir()?;
        write(folder.path(), &example)?;
        let analysis = analyzer.analyze(folder.path())?;
        let got = match example.expect.verdict() {
            // A cause that only the state of a failing thing suggests is no finding of its rule.
            wanted if is_candidate(&analysis, &rule) => wanted.filter(|one| !one.is_live()),
            _ => verdict(&analysis, &rule, kind),
        };
        if got == example.expect.verdict() {
            outcome.passed += 1;
        } else {
            outcome.failures.push(Failure {
                rule,
                example: example.name,
                expected: example.expect,
                got,
            });
        }
    }
    Ok(outcome)
}

fn verdict(analysis: &Analysis, rule: &str, kind: file::Kind) -> Option<Verdict> {
    match kind {
        Kind::Cause => analysis
            .differential
            .iter()
            .find(|row| row.cause == rule)
            .map(|row| row.verdict),
        Kind::Benign => analysis
            .benign
            .iter()
            .any(|noise| noise.id == rule)
            .then_some(Verdict::Confirmed),
    }
}

fn is_candidate(analysis: &Analysis, rule: &str) -> bool {
    let mut all = analysis.unexplained.iter().flat_map(|one| &one.candidates);
    all.any(|candidate| candidate.cause == rule)
}

fn write(folder: &Path, example: &Example) -> std::io::Result<()> {
    for (path, text) in &example.files {
        // Examples come from rule files of strangers too; a path must stay inside the folder.
        let path = casefile_bundle::BundlePath::new(path).map_err(std::io::Error::other)?;
        let target = folder.join(path.as_str());
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(target, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::rules;

    #[test]
    fn every_example_of_every_rule_comes_out_as_stated() {
        let (set, faults) = rules::load(None).unwrap();
        assert!(faults.is_empty());
        let outcome = super::run(set).unwrap();
        let failures: Vec<String> = outcome.failures.iter().map(ToString::to_string).collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn every_rule_shows_when_it_fires_when_it_is_quiet_and_when_it_cannot_know() {
        let (set, _) = rules::load(None).unwrap();
        for rule in &set.rules {
            let file = &rule.file;
            let has = |live: bool| {
                file.examples.all().iter().any(|example| {
                    example
                        .expect
                        .verdict()
                        .is_some_and(crate::model::Verdict::is_live)
                        == live
                })
            };
            assert!(has(true), "{} has no example that fires", file.id);
            assert!(has(false), "{} has no example that stays quiet", file.id);
            let family = file.kind == super::Kind::Benign || !file.references.is_empty();
            assert!(family, "{} names no reference", file.id);
        }
    }
}
