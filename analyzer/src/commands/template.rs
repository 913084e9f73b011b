//! The command `template`, and the templates that users bring.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use super::Exit;
use crate::cli::{TemplateArgs, TemplateCommand};
use crate::report::{self, Format, own};

pub(super) fn own_template(path: &Path) -> anyhow::Result<report::Shell> {
    if !path.exists()
        && let Some(shell) = path.to_str().and_then(own::shipped)
    {
        return Ok(shell);
    }
    let source = std::fs::read_to_string(path).with_context(|| {
        format!(
            "template {} cannot be read; `casefile-analyzer template list` names the shipped ones",
            path.display()
        )
    })?;
    let name = path.display().to_string();
    let format = if name.contains(".html") {
        Format::Html
    } else if name.contains(".jira") {
        Format::Jira
    } else {
        Format::Markdown
    };
    Ok(report::Shell {
        name,
        format,
        source,
    })
}

pub(super) fn run(
    args: &TemplateArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match &args.command {
        TemplateCommand::List => {
            for name in own::names() {
                writeln!(out, "{name}")?;
            }
            writeln!(out, "\nA template sees:")?;
            for (name, meaning) in own::VARIABLES {
                writeln!(out, "  {name}: {meaning}")?;
            }
            Ok(Exit::Done)
        }
        TemplateCommand::Show { name } => match own::source(name) {
            Some(source) => {
                out.write_all(source.as_bytes())?;
                Ok(Exit::Done)
            }
            None => {
                writeln!(
                    errors,
                    "error: no template {name:?}; `casefile-analyzer template list` lists them"
                )?;
                Ok(Exit::Usage)
            }
        },
        TemplateCommand::Check { file } => {
            let faults = own::check(&own_template(file)?);
            for fault in &faults {
                writeln!(out, "{fault}")?;
            }
            if faults.is_empty() {
                writeln!(out, "{}: nothing is wrong with it", file.display())?;
            }
            Ok(if faults.is_empty() {
                Exit::Done
            } else {
                Exit::Findings
            })
        }
    }
}
