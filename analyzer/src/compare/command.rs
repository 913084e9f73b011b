//! The command `diff`: what is printed, and what is written to a folder.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::{Comparison, compare, history, page, text};
use crate::cli::{DiffArgs, DiffFormat};
use crate::diagnose::Analyzer;
use crate::report::{self, Format};

/// Base name of the files.
const NAME: &str = "comparison";

/// Whether the answer can be kept, before anything is read.
pub(crate) fn check(args: &DiffArgs) -> anyhow::Result<()> {
    match &args.output {
        Some(folder) => report::check_output_dir(folder)?,
        None if args.format.len() > 1 => {
            bail!("only one format is printed; name a folder with -o for several")
        }
        None => {}
    }
    Ok(())
}

/// Compares the inputs one after another, prints and writes what is asked for.
pub(crate) fn run(
    analyzer: &Analyzer,
    args: &DiffArgs,
    inputs: &[PathBuf],
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut steps = Vec::new();
    for pair in inputs.windows(2) {
        steps.push(compare(analyzer, &pair[0], &pair[1])?);
    }
    let whole = || whole(analyzer, inputs, &steps);
    let Some(folder) = &args.output else {
        return match args.format.first().copied().unwrap_or(DiffFormat::Text) {
            DiffFormat::Text => print_text(&steps, out),
            DiffFormat::Json => print_json(&steps, out),
            other => Ok(out.write_all(rendered(&whole()?, &steps, other)?.as_bytes())?),
        };
    };
    print_text(&steps, out)?;
    write(&whole()?, &steps, &args.format, folder, out)
}

/// The first against the last, where there are more than two; else the one comparison.
fn whole(
    analyzer: &Analyzer,
    inputs: &[PathBuf],
    steps: &[Comparison],
) -> anyhow::Result<Comparison> {
    match (inputs, steps) {
        (_, [only]) => Ok(only.clone()),
        ([first, .., last], _) => Ok(compare(analyzer, first, last)?),
        _ => bail!("a comparison needs two inputs"),
    }
}

fn print_text(steps: &[Comparison], out: &mut dyn Write) -> anyhow::Result<()> {
    for one in steps {
        write!(out, "{}", text(one))?;
    }
    Ok(write!(out, "{}", history(steps))?)
}

fn print_json(steps: &[Comparison], out: &mut dyn Write) -> anyhow::Result<()> {
    for one in steps {
        writeln!(out, "{}", serde_json::to_string_pretty(one)?)?;
    }
    Ok(())
}

fn rendered(
    whole: &Comparison,
    steps: &[Comparison],
    format: DiffFormat,
) -> anyhow::Result<String> {
    Ok(match format {
        DiffFormat::Text => text(whole),
        DiffFormat::Md => page(whole, steps, Format::Markdown)?,
        DiffFormat::Html => page(whole, steps, Format::Html)?,
        DiffFormat::Jira => page(whole, steps, Format::Jira)?,
        DiffFormat::Json => format!("{}\n", serde_json::to_string_pretty(whole)?),
    })
}

fn write(
    whole: &Comparison,
    steps: &[Comparison],
    formats: &[DiffFormat],
    folder: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let known = [
        (DiffFormat::Md, "md"),
        (DiffFormat::Html, "html"),
        (DiffFormat::Jira, "jira"),
        (DiffFormat::Json, "json"),
    ];
    let wanted = |format: DiffFormat| match formats {
        [] => format != DiffFormat::Jira,
        named => named.contains(&format),
    };
    let mut files = Vec::new();
    for (format, extension) in known.into_iter().filter(|(format, _)| wanted(*format)) {
        let path = folder.join(format!("{NAME}.{extension}"));
        files.push((path, rendered(whole, steps, format)?));
    }
    for file in report::write_rendered(folder, files)? {
        writeln!(out, "wrote {}", file.display())?;
    }
    Ok(())
}
