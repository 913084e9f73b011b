//! Rules for people: the list, and one rule as a page of a runbook.

use std::io::{self, Write};

use super::file::StepFile;
use super::{Rule, RuleSet, template};

/// One line a rule.
pub fn list(set: &RuleSet, out: &mut dyn Write) -> io::Result<()> {
    let width = set
        .rules
        .iter()
        .map(|rule| rule.file.id.len())
        .max()
        .unwrap_or(0);
    for rule in &set.rules {
        let file = &rule.file;
        writeln!(
            out,
            "{:width$}  {:12}  {}",
            file.id,
            file.family,
            first_line(&file.summary)
        )?;
    }
    Ok(())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

/// The page of one rule.
pub fn page(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    let file = &rule.file;
    writeln!(out, "# {}\n\n{}\n", file.id, file.title)?;
    writeln!(
        out,
        "Family {}, severity {}.\n",
        file.family,
        file.severity.word()
    )?;
    // A page is about no bundle, so sentences that need facts of one are left out.
    let plain = |text: &str| template::fill_sentences(text, |_| None);
    paragraph(out, "What happened", &plain(&file.summary))?;
    paragraph(out, "Why", &plain(&file.explanation))?;
    paragraph(
        out,
        "How to tell it from its look-alikes",
        &file.look_alikes,
    )?;
    list_of(out, "What would speak against it", &file.refuted_by)?;
    writeln!(out, "## What is looked for\n")?;
    for (name, signal) in &file.signals {
        writeln!(out, "- {name}: {}", signal.says)?;
    }
    writeln!(out)?;
    steps(out, "What to do", &file.remedy.steps)?;
    steps(out, "Verify", &file.remedy.verify)?;
    list_of(out, "Until then", &file.remedy.mitigate)?;
    list_of(out, "Prevent", &file.remedy.prevent)?;
    list_of(out, "References", &file.references)
}

fn paragraph(out: &mut dyn Write, heading: &str, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    writeln!(out, "## {heading}\n\n{}\n", text.trim_end())
}

fn list_of(out: &mut dyn Write, heading: &str, items: &[String]) -> io::Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(out, "## {heading}\n")?;
    for item in items {
        writeln!(out, "- {item}")?;
    }
    writeln!(out)
}

fn steps(out: &mut dyn Write, heading: &str, steps: &[StepFile]) -> io::Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    writeln!(out, "## {heading}\n")?;
    for (step, number) in steps.iter().zip(1u32..) {
        writeln!(out, "{number}. {}", step.text)?;
        if let Some(run) = &step.run {
            writeln!(
                out,
                "\n       {}\n",
                run.trim_end().replace('\n', "\n       ")
            )?;
        }
    }
    writeln!(out)
}
