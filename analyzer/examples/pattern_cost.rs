//! Prints which line patterns cost most on a log, in microseconds, and how often they match: the ones to sharpen.
//!
//! `cargo run --release -p casefile-analyzer-lib --example pattern_cost -- LOG`

use std::collections::BTreeMap;
use std::io::Write;

use casefile_analyzer::rules;
use casefile_analyzer::rules::compile::Look;
use casefile_analyzer::scan::literals;

fn main() -> anyhow::Result<()> {
    let path = std::env::args()
        .nth(1)
        .ok_or_else(|| anyhow::anyhow!("name a log"))?;
    let text = String::from_utf8_lossy(&std::fs::read(path)?).to_ascii_lowercase();
    let lines: Vec<&str> = text.lines().collect();
    let files = casefile_catalogue_files::leaked(std::path::Path::new(env!("CARGO_MANIFEST_DIR")))?;
    casefile_analyzer::shipped::ship(|| files);
    let (set, _) = rules::load(None)?;
    let mut rows = Vec::new();
    let mut stops: BTreeMap<String, usize> = BTreeMap::new();
    for rule in &set.rules {
        for (name, look) in &rule.looks {
            let Look::Line(index) = look else { continue };
            let regex = &set.patterns[*index].regex;
            let clauses = literals::clauses(regex.as_str());
            if clauses.is_empty() {
                continue;
            }
            let rare = literals::looked_for_in_logs(&clauses);
            let holds = |line: &&&str| {
                let any =
                    |clause: &Vec<String>| clause.iter().any(|text| line.contains(text.as_str()));
                rare.iter().any(|text| line.contains(text.as_str())) && clauses.iter().all(any)
            };
            for text in &rare {
                let count = || {
                    lines
                        .iter()
                        .filter(|line| line.contains(text.as_str()))
                        .count()
                };
                stops.entry(text.clone()).or_insert_with(count);
            }
            let tried: Vec<&&str> = lines.iter().filter(holds).collect();
            let expression = regex::bytes::RegexBuilder::new(regex.as_str())
                .unicode(false)
                .build();
            let start = std::time::Instant::now();
            let matched = expression.map_or(0, |one| {
                let matches = |line: &&&&str| one.is_match(line.as_bytes());
                tried.iter().filter(matches).count()
            });
            let micros = start.elapsed().as_micros();
            let tried = tried.len();
            let note = ["", " never in logs"][usize::from(rare.is_empty())];
            rows.push((
                micros,
                format!(
                    "{tried} tried, {matched} match {}.{name}: {rare:.80?}{note}",
                    rule.file.id
                ),
            ));
        }
    }
    rows.sort_by(|a, b| b.cmp(a));
    let total: usize = rows.iter().map(|(tried, _)| *tried as usize).sum();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{} lines, {} patterns, {total} tries",
        lines.len(),
        rows.len()
    )?;
    for (tried, what) in rows.iter().take(70) {
        writeln!(out, "{tried:>8}  {what}")?;
    }
    let mut stops: Vec<(usize, String)> = stops
        .into_iter()
        .map(|(text, count)| (count, text))
        .collect();
    stops.sort_by(|a, b| b.cmp(a));
    writeln!(out, "texts that a line is stopped at for:")?;
    for (count, text) in stops.iter().take(40) {
        writeln!(out, "{count:>8}  {text:?}")?;
    }
    Ok(())
}
