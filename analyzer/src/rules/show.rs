//! Rules for people: the list, and one rule as a page of a runbook in Markdown.

use std::io::{self, Write};

use super::file::{Group, Kind, RuleFile, Same, Signal, StepFile};
use super::{Rule, RuleSet, template};
use crate::parsers::Channel;
use crate::sources;

/// One line a rule, sorted by family.
pub fn list(set: &RuleSet, out: &mut dyn Write) -> io::Result<()> {
    let mut rules: Vec<&Rule> = set.rules.iter().collect();
    rules.sort_by_key(|rule| (&rule.file.family, &rule.file.id));
    let width = |text: fn(&Rule) -> usize| rules.iter().map(|rule| text(rule)).max().unwrap_or(0);
    let (families, ids) = (
        width(|rule| rule.file.family.len()),
        width(|rule| rule.file.id.len()),
    );
    for rule in &rules {
        let file = &rule.file;
        let word = match file.kind {
            Kind::Cause => file.severity.word(),
            Kind::Benign => "benign",
        };
        writeln!(
            out,
            "{:families$}  {:ids$}  {word:8}  {}",
            file.family, file.id, file.title
        )?;
    }
    Ok(())
}

/// The page of one rule. `link` makes a reference to another rule.
pub fn page(
    set: &RuleSet,
    rule: &Rule,
    link: &dyn Fn(&str) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let file = &rule.file;
    writeln!(out, "# {}\n", file.title)?;
    let kind = match file.kind {
        Kind::Cause => format!("severity {}", file.severity.word()),
        Kind::Benign => "known to be harmless".to_owned(),
    };
    writeln!(out, "`{}` · family {} · {kind}\n", file.id, file.family)?;
    if file.catch_all {
        writeln!(out, "Named only where nothing more specific holds.\n")?;
    }
    // A page is about no bundle, so sentences that need facts of one are left out.
    let plain = |text: &str| template::fill_sentences(text, |_| None);
    paragraph(out, "What happens", &plain(&file.summary))?;
    paragraph(out, "Why", &plain(&file.explanation))?;
    chain(rule, out)?;
    paragraph(
        out,
        "How to tell it from its look-alikes",
        &plain(&file.look_alikes),
    )?;
    investigation(rule, out)?;
    if !file.remedy.title.is_empty() || !file.remedy.steps.is_empty() {
        writeln!(out, "## What to do\n")?;
        let title = template::fill_command(&file.remedy.title, |_| None);
        if !title.is_empty() {
            writeln!(out, "{title}.\n")?;
        }
        steps(out, &file.remedy.steps)?;
        files(rule, out)?;
    }
    if !file.remedy.verify.is_empty() {
        writeln!(out, "## Check that it worked\n")?;
        steps(out, &file.remedy.verify)?;
    }
    list_of(out, "Until then", &file.remedy.mitigate)?;
    list_of(out, "So that it does not come back", &file.remedy.prevent)?;
    writeln!(out, "## How the analyzer decides\n")?;
    verdicts(rule, out)?;
    list_of(out, "What would speak against it", &speaks_against(file))?;
    needs(rule, out)?;
    neighbours(set, rule, link, out)?;
    list_of(out, "References", &file.references)
}

/// What speaks against a cause: what the analyzer looks at, and what a person can.
fn speaks_against(file: &RuleFile) -> Vec<String> {
    let looked = file.refuted_by.iter();
    let looked = looked.map(|one| file.refutation(one).to_owned());
    let by_hand = file.refuted_by_hand.iter();
    looked
        .chain(by_hand.map(|text| format!("{text} (by hand)")))
        .collect()
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
        writeln!(out, "- {}", template::fill_command(item, |_| None))?;
    }
    writeln!(out)
}

/// From root to symptom; what only a bundle can fill in stands as `<name>`.
fn chain(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    if rule.file.chain.is_empty() {
        return Ok(());
    }
    writeln!(out, "## From cause to symptom\n")?;
    for [from, to] in &rule.file.chain {
        let text = |text: &str| template::fill_command(text, |_| None);
        writeln!(out, "- {} → {}", text(from), text(to))?;
    }
    writeln!(out)
}

fn investigation(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    if rule.file.observations.is_empty() {
        return Ok(());
    }
    writeln!(out, "## How to look at it by hand\n")?;
    for one in &rule.file.observations {
        writeln!(out, "{}", template::fill_command(&one.ask, |_| None))?;
        command(out, &one.run)?;
        if let Some(answers) = &one.answers {
            writeln!(out, "{}\n", template::fill_command(answers, |_| None))?;
        }
    }
    Ok(())
}

fn command(out: &mut dyn Write, run: &str) -> io::Result<()> {
    let run = template::fill_command(run, |_| None);
    writeln!(out, "\n```sh\n{}\n```\n", run.trim_end())
}

fn steps(out: &mut dyn Write, steps: &[StepFile]) -> io::Result<()> {
    for (step, number) in steps.iter().zip(1u32..) {
        let text = template::fill_command(&step.text, |_| None);
        writeln!(out, "{number}. {text}{}", condition(step))?;
        if let Some(run) = &step.run {
            let run = template::fill_command(run, |_| None);
            let run = run.trim_end().replace('\n', "\n   ");
            writeln!(out, "\n   ```sh\n   {run}\n   ```\n")?;
        }
        if let Some(expect) = &step.expect {
            writeln!(
                out,
                "   Then: {}\n",
                template::fill_command(expect, |_| None)
            )?;
        }
    }
    writeln!(out)
}

/// When a step is told, where not always.
fn condition(step: &StepFile) -> String {
    match (step.when.as_slice(), step.unless.as_slice()) {
        ([], []) => String::new(),
        (when, []) => format!(" (only where seen: {})", when.join(", ")),
        ([], unless) => format!(" (only where not seen: {})", unless.join(", ")),
        (when, unless) => format!(
            " (only where seen: {}; and not: {})",
            when.join(", "),
            unless.join(", ")
        ),
    }
}

fn files(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    for file in &rule.file.remedy.files {
        let content = template::fill_command(&file.content, |_| None);
        writeln!(
            out,
            "`{}`:\n\n```{}\n{}\n```\n",
            file.name,
            file.language,
            content.trim_end()
        )?;
    }
    Ok(())
}

/// The groups of each verdict in words, and the signals that they name.
fn verdicts(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    let file = &rule.file;
    let levels = [
        ("Confirmed", &file.confirmed),
        ("Likely", &file.likely),
        ("Possible", &file.possible),
        ("Ruled out", &file.ruled_out),
    ];
    for (level, groups) in levels {
        for group in groups {
            writeln!(out, "- **{level}** by {}", in_words(group))?;
        }
    }
    if !file.symptoms.is_empty() {
        writeln!(
            out,
            "- Symptoms, which do not decide: {}",
            names(&file.symptoms, ", ")
        )?;
    }
    writeln!(out, "\nThe signals:\n")?;
    for (name, signal) in &file.signals {
        let says = template::fill_command(&signal.says, |_| None);
        writeln!(out, "- `{name}`: {says} ({})", look(signal))?;
    }
    writeln!(out)
}

fn names(signals: &[String], between: &str) -> String {
    let quoted: Vec<String> = signals.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(between)
}

fn in_words(group: &Group) -> String {
    let mut parts = Vec::new();
    if !group.all.is_empty() {
        parts.push(names(&group.all, " and "));
    }
    if !group.any.is_empty() {
        let any = names(&group.any, " or ");
        parts.push(if group.all.is_empty() {
            any
        } else {
            format!("with {any}")
        });
    }
    if !group.none.is_empty() {
        parts.push(format!("without {}", names(&group.none, " or ")));
    }
    if let Some(same) = group.same {
        let what = match same {
            Same::Node => "on one node",
            Same::File => "in one file",
            Same::Subject => "about one subject",
            Same::Cluster => "in one cluster",
        };
        parts.push(what.to_owned());
    }
    parts.join(", ")
}

/// Where a signal is looked for.
fn look(signal: &Signal) -> String {
    if let Some(fact) = &signal.fact {
        return format!("fact {fact}");
    }
    let channels: Vec<&str> = signal
        .channels
        .iter()
        .map(|channel| word(*channel))
        .collect();
    if channels.is_empty() {
        "any log, event or status".to_owned()
    } else {
        channels.join(", ")
    }
}

fn word(channel: Channel) -> &'static str {
    match channel {
        Channel::Kernel => "kernel log",
        Channel::Journal => "journal",
        Channel::PodLog => "pod log",
        Channel::Event => "event",
        Channel::Status => "object status",
        Channel::Command => "command output",
        Channel::File => "file",
        Channel::Text => "pasted text",
    }
}

fn needs(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    let titles: Vec<&str> = rule
        .file
        .needs
        .iter()
        .filter_map(|id| sources::find(id))
        .map(|source| source.title)
        .collect();
    if titles.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "Without these sources it is not checked: {}.\n",
        titles.join(", ")
    )
}

/// What it explains, and what explains it.
fn neighbours(
    set: &RuleSet,
    rule: &Rule,
    link: &dyn Fn(&str) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let above = set
        .rules
        .iter()
        .filter(|other| other.file.explains.contains(&rule.file.id))
        .map(|other| link(&other.file.id));
    let below = rule.file.explains.iter().map(|id| link(id));
    let (above, below): (Vec<String>, Vec<String>) = (above.collect(), below.collect());
    if !above.is_empty() {
        writeln!(out, "May itself follow from: {}.\n", above.join(", "))?;
    }
    if !below.is_empty() {
        writeln!(
            out,
            "Explains, where they are seen too: {}.\n",
            below.join(", ")
        )?;
    }
    Ok(())
}
