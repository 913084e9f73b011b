//! The commands that diagnose: `report`, `diagnose`, `fix` and `diff`.

use std::io::Write;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use casefile_bundle::Keys;

use super::input::{Analyze, analyze_unit, readable, unpacked_inside};
use super::template::own_template;
use super::{Exit, Terminal, analyzer, context};
use crate::cli::{DiagnoseArgs, DiagnoseFormat, DiffArgs, FixArgs, ReportArgs, ReportFormat};
use crate::compare;
use crate::diagnose::Analyzer;
use crate::fix;
use crate::join::{self, Unit};
use crate::model::Analysis;
use crate::report::{self, Format};

/// An analyzer that ends with the program: taking apart what a thousand expressions are made of is time for nothing.
fn lasting(analyzer: Analyzer) -> ManuallyDrop<Analyzer> {
    ManuallyDrop::new(analyzer)
}

pub(super) fn report(
    args: &ReportArgs,
    terminal: Terminal,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut options = options(args)?;
    let keys = Keys::load(&args.keys.identity)?;
    let units = units(&args.inputs, args.join, keys.as_ref(), errors)?;
    let placed = placed(&units, &args.output)?;
    let (analyzer, exit) = analyzer((&args.rules, Some(&args.memory)), keys.clone(), errors)?;
    let analyzer = lasting(analyzer);
    let formats: Vec<Format> = args
        .format
        .iter()
        .map(|format| match format {
            ReportFormat::Md => Format::Markdown,
            ReportFormat::Html => Format::Html,
            ReportFormat::Jira => Format::Jira,
            ReportFormat::Json => Format::Json,
            ReportFormat::Ticket => Format::Ticket,
            ReportFormat::Github => Format::GitHub,
            ReportFormat::Slack => Format::Slack,
            ReportFormat::Teams => Format::Teams,
            ReportFormat::Adf => Format::Adf,
        })
        .collect();
    for (unit, folder) in &placed {
        let readable = readable(unit)?;
        let analysis = analyze_unit(&fix::shown::analyze, &analyzer, &readable, terminal)?;
        if formats.contains(&Format::Html) {
            options.context = context::around(&readable.unit, keys.as_ref(), &analysis);
        }
        let written = report::write_reports(&analysis, folder, &formats, "report", &options)?;
        write!(out, "{}", report::render_line(&analysis))?;
        for file in written {
            writeln!(out, "wrote {}", file.display())?;
        }
        warn_problems(&analysis, errors)?;
    }
    Ok(exit)
}

/// How to print, from the files that the user names; they are read before the analysis.
fn options(args: &ReportArgs) -> anyhow::Result<report::Options> {
    let theme = args.theme.as_deref().map(|path| {
        let css = std::fs::read_to_string(path)
            .with_context(|| format!("theme {} cannot be read", path.display()))?;
        anyhow::Ok(report::Theme::new(&path.display().to_string(), &css)?)
    });
    Ok(report::Options {
        shell: args.template.as_deref().map(own_template).transpose()?,
        theme: theme.transpose()?,
        max_size: args.max_size,
        context: report::context::Context::default(),
        lang: report::lang::find(&args.lang),
    })
}

/// What is analysed as one; sentences about what stays apart go to `errors`.
pub(super) fn units(
    inputs: &[PathBuf],
    anyway: bool,
    keys: Option<&Keys>,
    errors: &mut dyn Write,
) -> anyhow::Result<Vec<Unit>> {
    let grouped = join::group(inputs, anyway, keys);
    for note in &grouped.notes {
        writeln!(errors, "note: {note}")?;
    }
    Ok(grouped.units)
}

/// Each analysis with a folder that can be written to.
fn placed<'a>(units: &'a [Unit], output: &Path) -> anyhow::Result<Vec<(&'a Unit, PathBuf)>> {
    let folders = folders(units, output)?;
    for folder in &folders {
        report::check_output_dir(folder)?;
    }
    Ok(units.iter().zip(folders).collect())
}

/// The folder of each analysis: the output folder itself, or one below it for each of several.
fn folders(units: &[Unit], output: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if units.len() == 1 {
        return Ok(vec![output.to_owned()]);
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    for unit in units {
        let folder = output.join(unit.name());
        if let Some(other) = folders.iter().position(|known| *known == folder) {
            bail!(
                "the reports of {} and {} would both be written to {}; rename one, or run twice with different -o",
                units[other].input().display(),
                unit.input().display(),
                folder.display()
            );
        }
        folders.push(folder);
    }
    Ok(folders)
}

fn warn_problems(analysis: &Analysis, errors: &mut dyn Write) -> std::io::Result<()> {
    const SHOWN: usize = 10;
    for problem in analysis.problems.iter().take(SHOWN) {
        if problem.place.path.is_empty() {
            writeln!(errors, "warning: {}", problem.text)?;
        } else {
            writeln!(errors, "warning: {}: {}", problem.place, problem.text)?;
        }
    }
    if analysis.problems.len() > SHOWN {
        let more = analysis.problems.len() - SHOWN;
        writeln!(
            errors,
            "warning: {more} more problems; the report lists them"
        )?;
    }
    Ok(())
}

pub(super) fn diagnose(
    args: &DiagnoseArgs,
    terminal: Terminal,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let document = matches!(args.format, DiagnoseFormat::Sarif);
    let keys = Keys::load(&args.keys.identity)?;
    let units = units(&args.inputs, args.join, keys.as_ref(), errors)?;
    if document && units.len() > 1 {
        bail!(
            "SARIF is one document per input; run it once for each of the {} inputs",
            units.len()
        );
    }
    let (analyzer, mut exit) = analyzer((&args.rules, Some(&args.memory)), keys, errors)?;
    let analyzer = lasting(analyzer.as_of(args.at).asking_about(args.about.clone()));
    let text = report::TextOptions {
        full: args.full,
        width: terminal
            .width
            .unwrap_or(report::TextOptions::default().width),
    };
    // One document holds a test suite for each input.
    let mut suites: Vec<Analysis> = Vec::new();
    for (unit, after) in units.iter().zip(1..) {
        let readable = readable(unit)?;
        let analyze: &Analyze = match units.get(after) {
            Some(_) => &Analyzer::analyze_unit,
            None => &Analyzer::analyze_last,
        };
        let analysis = analyze_unit(analyze, &analyzer, &readable, terminal)?;
        match args.format {
            DiagnoseFormat::Text if args.quiet => {
                write!(out, "{}", report::render_line(&analysis))?;
            }
            DiagnoseFormat::Text if terminal.colour => {
                write!(out, "{}", report::render_colour(&analysis, text))?;
            }
            DiagnoseFormat::Text => write!(out, "{}", report::render_text(&analysis, text))?,
            DiagnoseFormat::Ticket => {
                let ticket =
                    report::render(&analysis, Format::Ticket, &report::Options::default())?;
                write!(out, "{ticket}")?;
            }
            DiagnoseFormat::Json => write!(out, "{}", report::render_json(&analysis)?)?,
            DiagnoseFormat::Sarif => write!(out, "{}", report::render_sarif(&analysis)?)?,
            DiagnoseFormat::Junit => {}
        }
        warn_problems(&analysis, errors)?;
        let reached = args.fail_on.is_some_and(|limit| {
            analysis
                .incidents
                .iter()
                .any(|incident| limit.reached_by(incident.verdict))
        });
        if reached {
            exit = Exit::Findings;
        }
        if args.format == DiagnoseFormat::Junit {
            suites.push(analysis);
        }
    }
    if args.format == DiagnoseFormat::Junit {
        write!(out, "{}", report::render_junit(&suites))?;
    }
    Ok(exit)
}

pub(super) fn fix(
    args: &FixArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let keys = Keys::load(&args.keys.identity)?;
    let units = units(&args.inputs, args.join, keys.as_ref(), errors)?;
    let placed = placed(&units, &args.output)?;
    let (analyzer, exit) = analyzer((&args.rules, Some(&args.memory)), keys, errors)?;
    let analyzer = lasting(analyzer);
    for (unit, folder) in &placed {
        let readable = readable(unit)?;
        fix::command::run(args, &analyzer, &readable.unit, folder, out)?;
    }
    Ok(exit)
}

pub(super) fn diff(
    args: &DiffArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    compare::command::check(args)?;
    let keys = Keys::load(&args.keys.identity)?;
    let (analyzer, exit) = analyzer((&args.rules, Some(&args.memory)), keys, errors)?;
    let analyzer = lasting(analyzer);
    let inputs: Vec<PathBuf> = args
        .inputs
        .iter()
        .map(|input| unpacked_inside(input).unwrap_or_else(|| input.clone()))
        .collect();
    compare::command::run(&analyzer, args, &inputs, out)?;
    Ok(exit)
}
