//! `sql` and `fleet odd`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use casefile_bundle::Keys;
use casefile_fleet::analysed::Origin;
use casefile_fleet::commit::commits;
use casefile_fleet::fleet_odd::{Looked, look, unknown_messages};
use casefile_fleet::odd::{Finding, Threshold, Unit, Value};
use casefile_fleet::rows::Rows;
use casefile_fleet::sql::{Answer, Engine, Source};
use casefile_fleet::store::{Store, digest, is_remote};
use casefile_fleet::worker::Job;
use casefile_fleet::{inbox, plan, schema};
use serde_json::json;

use super::show::{plural, quiet};
use super::worker::analysed;
use crate::cli::{OddArgs, SqlArgs, SqlFormat, WorkArgs};
use crate::commands::{Exit, analyzer};

pub(in crate::commands) fn sql(
    args: &SqlArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    if args.question == "schema" && args.inputs.is_empty() {
        out.write_all(schema::documentation().as_bytes())?;
        return Ok(Exit::Done);
    }
    if args.inputs.is_empty() {
        bail!("name what is asked: an output of `fleet run`, the folder of an inbox, or bundles");
    }
    let opened = open(&args.inputs, &args.work, errors)?;
    let answer = opened.engine()?.ask(&args.question)?;
    match args.format {
        SqlFormat::Table => table(&answer, out)?,
        SqlFormat::Csv => csv(&answer, out)?,
        SqlFormat::Json => lines(&answer, out)?,
    }
    Ok(Exit::Done)
}

/// What is asked: places of Parquet files, and rows of bundles that were analysed for it.
struct Opened {
    outputs: Vec<Store>,
    inboxes: Vec<Store>,
    rows: Option<Rows>,
}

impl Opened {
    fn engine(&self) -> anyhow::Result<Engine> {
        let mut sources = Vec::new();
        for store in &self.outputs {
            let commits = commits(store)?;
            // A misspelt place must not look like a night without incidents.
            if commits.is_empty() {
                bail!("{}: no output of `fleet run` is there", store.shown());
            }
            sources.push(Source::Files(store, plan::files(&commits)));
        }
        for store in &self.inboxes {
            sources.push(Source::Files(store, inbox::files(store)?));
        }
        sources.extend(self.rows.clone().map(Source::Rows));
        Ok(Engine::open(sources)?)
    }
}

fn open(inputs: &[String], work: &WorkArgs, errors: &mut dyn Write) -> anyhow::Result<Opened> {
    let mut opened = Opened {
        outputs: Vec::new(),
        inboxes: Vec::new(),
        rows: None,
    };
    let mut bundles = Vec::new();
    for input in inputs {
        let path = Path::new(input.strip_prefix("file://").unwrap_or(input));
        if is_remote(input) || path.join("commits").is_dir() {
            opened.outputs.push(Store::open(input, false)?);
        } else if path.join("reports").is_dir() && path.join("quarantine").is_dir() {
            opened.inboxes.push(Store::open(input, false)?);
        } else {
            bundles.push(path.to_owned());
        }
    }
    if !bundles.is_empty() {
        opened.rows = Some(read(&bundles, work, errors)?);
    }
    Ok(opened)
}

/// Analyses bundles for one question.
fn read(bundles: &[PathBuf], work: &WorkArgs, errors: &mut dyn Write) -> anyhow::Result<Rows> {
    let keys = Keys::load(&work.keys.identity)?;
    let (analyzer, _) = analyzer((&work.rules, None), keys.clone(), errors)?;
    let mut rows = Rows::default();
    for path in bundles {
        let job = Job {
            path: path.clone(),
            name: path.display().to_string(),
            reports: None,
        };
        let (digest, bytes) = if path.is_dir() {
            // A folder has no bytes of its own; its path stands for them.
            (casefile_fleet::columns::name(job.name.as_bytes()), 0)
        } else {
            digest(path).with_context(|| path.display().to_string())?
        };
        let analysed = analysed(&analyzer, keys.as_ref(), &job)?;
        rows.append(analysed.rows(&Origin {
            digest,
            input: job.name,
            bytes,
        }));
    }
    rows.sort();
    Ok(rows)
}

fn table(answer: &Answer, out: &mut dyn Write) -> anyhow::Result<()> {
    let head: Vec<String> = answer
        .schema
        .fields()
        .iter()
        .map(|field| quiet(field.name()))
        .collect();
    let rows: Vec<Vec<String>> = answer
        .texts()?
        .iter()
        .map(|row| row.iter().map(|cell| quiet(cell)).collect())
        .collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|at| {
            let cells = rows.iter().map(|row| row[at].chars().count());
            cells.max().unwrap_or(0).max(head[at].chars().count())
        })
        .collect();
    let mut line = |cells: &[String]| -> std::io::Result<()> {
        let mut text = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            let fill = width - cell.chars().count();
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', fill + 2));
        }
        writeln!(out, "{}", text.trim_end())
    };
    line(&head)?;
    for row in &rows {
        line(row)?;
    }
    writeln!(out, "({})", plural(rows.len() as u64, "row"))?;
    Ok(())
}

fn csv(answer: &Answer, out: &mut dyn Write) -> anyhow::Result<()> {
    let quoted = |cell: &str| {
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.to_owned()
        }
    };
    let head: Vec<String> = answer
        .schema
        .fields()
        .iter()
        .map(|field| quoted(field.name()))
        .collect();
    writeln!(out, "{}", head.join(","))?;
    for row in answer.texts()? {
        let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

fn lines(answer: &Answer, out: &mut dyn Write) -> anyhow::Result<()> {
    for row in answer.objects()? {
        writeln!(out, "{row}")?;
    }
    Ok(())
}

pub(super) fn odd(
    args: &OddArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let engine = open(&args.inputs, &args.work, errors)?.engine()?;
    let threshold = Threshold {
        chance: args.chance,
        lift: args.lift,
        ..Threshold::default()
    };
    let looked = look(&engine, threshold)?;
    let unknown = unknown_messages(&engine, args.messages)?;
    if args.json {
        let findings: Vec<_> = looked.findings.iter().map(as_json).collect();
        let document = json!({
            "schema": "casefile.odd/1",
            "nodes": looked.nodes,
            "causes": looked.causes,
            "comparisons": looked.comparisons,
            "findings": findings,
            "unknown_messages": unknown,
        });
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)?;
    } else {
        print(&looked, &unknown, args.chance, out)?;
    }
    Ok(Exit::Done)
}

fn named(value: &Value) -> String {
    quiet(&format!("{} {} = {}", value.kind, value.name, value.value))
}

fn as_json(found: &Finding) -> serde_json::Value {
    let value =
        |value: &Value| json!({"kind": value.kind, "name": value.name, "value": value.value});
    json!({
        "cause": found.cause,
        "value": value(&found.value),
        "also": found.also.iter().map(value).collect::<Vec<_>>(),
        "of": match found.of { Unit::Nodes => "nodes", Unit::Clusters => "clusters" },
        "units": found.counts.units,
        "sick": found.counts.sick,
        "with": found.counts.with,
        "both": found.counts.both,
        "lift": found.lift,
        "between": [found.between.0, found.between.1],
        "chance": found.chance,
    })
}

fn print(
    looked: &Looked,
    unknown: &[Vec<String>],
    chance: f64,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    writeln!(
        out,
        "{}, {} in play, {} compared; the chance of any false finding is at most {chance}",
        plural(looked.nodes, "node"),
        plural(looked.causes as u64, "cause"),
        plural(looked.comparisons as u64, "value"),
    )?;
    if looked.findings.is_empty() {
        writeln!(
            out,
            "\nNo setting goes with a cause more often than chance allows."
        )?;
    }
    for found in &looked.findings {
        let units = match found.of {
            Unit::Nodes => "nodes",
            Unit::Clusters => "clusters",
        };
        let s = found.counts;
        writeln!(
            out,
            "\n{} goes with {}",
            quiet(&found.cause),
            named(&found.value)
        )?;
        writeln!(
            out,
            "  {} of {} {units} with it are affected, {} of {} without; lift {:.1} ({:.1} to {:.1}, 95 %), chance {:.1e}",
            s.both,
            s.with,
            s.sick - s.both,
            s.units - s.with,
            found.lift,
            found.between.0,
            found.between.1,
            found.chance
        )?;
        for also in found.also.iter().take(5) {
            writeln!(out, "  the same {units} have {}", named(also))?;
        }
        if found.also.len() > 5 {
            writeln!(out, "  and {} more values", found.also.len() - 5)?;
        }
    }
    if !unknown.is_empty() {
        writeln!(out, "\nMessages that no rule knows, by nodes:")?;
    }
    for row in unknown {
        if let [speaker, _, nodes, times, example] = row.as_slice() {
            writeln!(
                out,
                "  {nodes:>5} nodes {times:>7} times  {}: {}",
                quiet(speaker),
                quiet(example)
            )?;
        }
    }
    Ok(())
}
