//! What the rules cost: the same bundle without rules, with them, and with every rule twice.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::ensure;
use casefile_analyzer::diagnose::Analyzer;
use casefile_analyzer::rules::{self, RuleSet};

/// Prints seconds for each set, and what the rules add to an analysis without any.
pub(crate) fn print(bundle: &Path) -> anyhow::Result<()> {
    let files =
        casefile_catalogue_files::leaked(&casefile_tests::bins::checkout().join("analyzer"))?;
    casefile_analyzer::shipped::ship(|| files);
    let folder = tempfile::tempdir()?;
    write_copies(folder.path())?;
    let (once, _) = rules::load(None)?;
    let (twice, faults) = rules::load(Some(folder.path()))?;
    ensure!(faults.is_empty(), "copied rules are refused: {faults:?}");
    ensure!(
        twice.rules.len() == 2 * once.rules.len(),
        "{} rules became {}",
        once.rules.len(),
        twice.rules.len()
    );
    let none = RuleSet {
        rules: Vec::new(),
        patterns: Vec::new(),
        vocabulary: Default::default(),
        digest: String::new(),
    };
    let mut without = 0.0;
    for set in [none, once, twice] {
        let (rules, patterns) = (set.rules.len(), set.patterns.len());
        let took = best_of_runs(set, bundle)?;
        if rules == 0 {
            without = took;
        }
        println!(
            "{rules:3} rules, {patterns:4} patterns:  {took:.2} s, {:.2} s of it for the rules",
            took - without
        );
    }
    Ok(())
}

/// Reading and judging; compiling the rules is left out.
fn best_of_runs(set: RuleSet, bundle: &Path) -> anyhow::Result<f64> {
    let analyzer = Analyzer::new(set)?;
    let mut best = f64::MAX;
    for _ in 0..super::measure::RUNS {
        let start = Instant::now();
        analyzer.analyze(bundle)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Every shipped rule under another name. Its expressions match the same lines again, so each hit costs twice;
/// a spelling of their own keeps them from being merged with the first ones.
fn write_copies(folder: &Path) -> anyhow::Result<()> {
    let rules = casefile_tests::bins::checkout().join("analyzer/rules");
    for file in walkdir::WalkDir::new(&rules) {
        let file = file?;
        if file
            .path()
            .extension()
            .is_none_or(|ending| ending != "yaml")
        {
            continue;
        }
        let text = fs::read_to_string(file.path())?;
        let copy = text.replace("    line: '", "    line: '(?:)");
        let below = file.path().strip_prefix(&rules)?;
        let name = format!("twice-{}", file.file_name().to_string_lossy());
        let path = folder.join(below).with_file_name(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, copy)?;
    }
    Ok(())
}
