//! The other end of `casefile_fleet::worker`: one request a line, one answer a line.

use std::io::{BufRead as _, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use casefile_bundle::Keys;
use casefile_fleet::analysed::Analysed;
use casefile_fleet::worker::{Answer, Job};

use super::{said, settings};
use crate::cli::WorkerArgs;
use crate::commands::input::{analyze_unit, readable};
use crate::commands::{Exit, Terminal, analyzer};
use crate::diagnose::{AnalyzeError, Analyzer};
use crate::fix;
use crate::join::Unit;
use crate::report::{self, Format};

/// Answers until standard input ends.
pub(super) fn run(
    args: &WorkerArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let keys = Keys::load(&args.keys.identity)?;
    let (analyzer, exit) = analyzer((&args.rules, None), keys.clone(), errors)?;
    for line in std::io::stdin().lock().lines() {
        let job: Job = serde_json::from_str(&line?)?;
        let done = catch_unwind(AssertUnwindSafe(|| one(&analyzer, keys.as_ref(), &job)));
        let answer = done.unwrap_or_else(|_| {
            Answer::Refused("the analyzer failed on this bundle, which is a bug in casefile".into())
        });
        serde_json::to_writer(&mut *out, &answer)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(exit)
}

fn one(analyzer: &Analyzer, keys: Option<&Keys>, job: &Job) -> Answer {
    match analysed(analyzer, keys, job) {
        Ok(analysed) => Answer::Analysed(Box::new(analysed)),
        Err(error) if is_the_input_s(&error) => Answer::Refused(why(&error, job)),
        Err(error) => Answer::Failed(why(&error, job)),
    }
}

/// Whether it is the bundle that is at fault, rather than the disk or us.
fn is_the_input_s(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<AnalyzeError>(),
        Some(AnalyzeError::Open(_) | AnalyzeError::NotUnderstood { .. })
    )
}

/// An error with its causes in one line, without the path: it is that of a copy, another one in each run, and the
/// rows of a bundle must be the same wherever it was read. Whoever prints it names the bundle.
fn why(error: &anyhow::Error, job: &Job) -> String {
    if let Some(AnalyzeError::NotUnderstood { entries, .. }) = error.downcast_ref() {
        // The whole list of what is accepted would stand in each of 10,000 rows.
        return format!("nothing in it was understood ({entries} files)");
    }
    let all: Vec<String> = error.chain().map(ToString::to_string).collect();
    let text = all.join(": ").replace('\n', " ");
    let path = job.path.display().to_string();
    match text.strip_prefix(&format!("{path}: ")) {
        Some(rest) => rest.replace(&path, &job.name),
        None => text.replace(&path, &job.name),
    }
}

/// Reads one bundle: the analysis, what its texts say, how it is set up; and writes its reports where they are wanted.
pub(super) fn analysed(
    analyzer: &Analyzer,
    keys: Option<&Keys>,
    job: &Job,
) -> anyhow::Result<Analysed> {
    let readable = readable(&Unit::Alone(job.path.clone()))?;
    let analysis = if job.reports.is_some() {
        analyze_unit(
            &fix::shown::analyze,
            analyzer,
            &readable,
            Terminal::default(),
        )?
    } else {
        analyze_unit(
            &Analyzer::analyze_unit,
            analyzer,
            &readable,
            Terminal::default(),
        )?
    };
    if let Some(folder) = &job.reports {
        let formats = [Format::Markdown, Format::Html, Format::Json, Format::Ticket];
        let options = report::Options::default();
        report::write_reports(&analysis, folder, &formats, "report", &options)?;
    }
    let node = analysis.input.node.clone().unwrap_or_default();
    let said = said::collect(analyzer, &readable.unit, keys, &node)?;
    let captured = settings::collect(&readable.unit, keys, &analysis)?;
    Ok(Analysed {
        report: serde_json::from_str(&report::render_json(&analysis)?)?,
        cluster: captured.cluster,
        said,
        settings: captured.settings,
    })
}
