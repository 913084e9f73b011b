//! The command `rules`.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use super::{Exit, load};
use crate::cli::{RulesArgs, RulesCommand};
use crate::diagnose::examples;
use crate::rules::{self, RuleSet, docs, prose, scaffold, schema, show};

pub(super) fn run(
    args: &RulesArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match &args.command {
        RulesCommand::List(rules) => {
            let (set, _, exit) = load(rules, errors)?;
            show::list(&set, out)?;
            Ok(exit)
        }
        RulesCommand::Show { id, rules } => {
            let (set, _, exit) = load(rules, errors)?;
            let Some(rule) = set.rules.iter().find(|rule| rule.file.id == *id) else {
                writeln!(errors, "error: there is no rule {id}{}", like(&set, id))?;
                return Ok(Exit::Usage);
            };
            show::page(&set, rule, &|id| format!("`{id}`"), out)?;
            Ok(exit)
        }
        RulesCommand::Test(rules) => test_rules(rules.rules.as_deref(), out, errors),
        RulesCommand::New { id, family, output } => {
            let path = scaffold::write(id, family, output)?;
            writeln!(out, "wrote {}", path.display())?;
            let folder = output.display();
            writeln!(
                out,
                "check it with: casefile-analyzer rules test --rules {folder}"
            )?;
            Ok(Exit::Done)
        }
        RulesCommand::Schema => {
            writeln!(out, "{}", serde_json::to_string_pretty(&schema::schema())?)?;
            Ok(Exit::Done)
        }
        RulesCommand::Docs { output, rules } => {
            let (set, _, exit) = load(rules, errors)?;
            let written = docs::write(&set, output)
                .with_context(|| format!("writing the reference to {}", output.display()))?;
            let index = output.join("README.md");
            writeln!(
                out,
                "wrote {} files; start at {}",
                written.len(),
                index.display()
            )?;
            Ok(exit)
        }
    }
}

/// Ids that share a word with one that does not exist.
fn like(set: &RuleSet, id: &str) -> String {
    const SHOWN: usize = 5;
    let words: Vec<&str> = id.split('-').filter(|word| word.len() > 2).collect();
    let mut near: Vec<(usize, &str)> = set
        .rules
        .iter()
        .map(|rule| rule.file.id.as_str())
        .map(|known| {
            (
                words.iter().filter(|word| known.contains(*word)).count(),
                known,
            )
        })
        .filter(|(shared, _)| *shared > 0)
        .collect();
    near.sort_by_key(|(shared, known)| (std::cmp::Reverse(*shared), *known));
    let names: Vec<&str> = near
        .into_iter()
        .take(SHOWN)
        .map(|(_, known)| known)
        .collect();
    if names.is_empty() {
        "; `casefile-analyzer rules list` lists them".to_owned()
    } else {
        format!("; did you mean {}?", names.join(", "))
    }
}

fn test_rules(
    folder: Option<&Path>,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let (set, faults) = rules::load(folder)?;
    for fault in &faults {
        writeln!(errors, "error: {fault}")?;
    }
    let vocabulary = rules::messages::Vocabulary::fault();
    if let Some(fault) = &vocabulary {
        writeln!(errors, "error: {fault}")?;
    }
    let style: Vec<String> = set.rules.iter().flat_map(prose::faults).collect();
    for fault in &style {
        writeln!(errors, "style: {fault}")?;
    }
    let outcome = examples::run(set)?;
    for failure in &outcome.failures {
        writeln!(out, "{failure}")?;
    }
    writeln!(
        out,
        "{} examples passed, {} failed",
        outcome.passed,
        outcome.failures.len()
    )?;
    // How users' own rules speak is theirs to decide.
    let speaks = style.is_empty() || folder.is_some();
    let good = outcome.failures.is_empty() && faults.is_empty() && vocabulary.is_none() && speaks;
    Ok(if good { Exit::Done } else { Exit::Findings })
}
