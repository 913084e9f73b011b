//! `convert`: another tool's capture as a bundle of ours, with the redaction of a collected one.
//!
//! Entries get the paths that they have in our layout; lists of objects come out one item a line, as the collector writes them, and
//! what is only understood by its content keeps its name below `foreign/`. Nothing is unpacked to disk but what one entry spills.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, bail};
use casefile_bundle::{
    BundlePath, Clock, EntryMeta, EntrySpool, FormatVersion, Header, Input, Keys, Limits,
    ManifestEnd, Outcome, Piece, SourceReport, Writer,
};
use casefile_redact::{Content, Key, Redactor};
use chrono::{DateTime, Utc};

use super::Exit;
use super::input::readable;
use crate::cli::ConvertArgs;
use crate::join::Unit;
use crate::layouts::{Plan, Survey, Target, list_of, yaml_items};
use crate::sources::{self, About, SOURCES};
use crate::words::count;

/// Texts that are taken apart or rewritten are held up to this size, in bytes.
const HELD: usize = 64 << 20;
/// Where entries go that are read by their content.
const FOREIGN: &str = "foreign";

pub(super) fn convert(
    args: &ConvertArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    if args.output.exists() {
        bail!(
            "{} exists already; name a file that does not",
            args.output.display()
        );
    }
    let keys = Keys::load(&args.keys.identity)?;
    let readable = readable(&Unit::Alone(args.input.clone()))?;
    let path = readable.unit.input();
    let input = Input::new(path, keys.as_ref());
    let Some(survey) = Survey::of(input)? else {
        bail!("{} is a Casefile bundle already", args.input.display());
    };
    let plan = Plan::of(&survey);
    if !plan.tells {
        writeln!(
            errors,
            "{}: nothing in it is understood, so there is nothing to convert",
            args.input.display()
        )?;
        return Ok(Exit::Input);
    }
    let mut name = args.output.as_os_str().to_owned();
    name.push(".partial");
    let partial = Path::new(&name);
    let taken = taken(path)?;
    let written = write(input, &plan, partial, taken);
    let done = match written {
        Ok(done) => done,
        Err(error) => {
            // What is cut short is no bundle; that it cannot be removed changes nothing about the error.
            let _ = std::fs::remove_file(partial);
            return Err(error);
        }
    };
    std::fs::rename(partial, &args.output)
        .with_context(|| format!("naming {}", args.output.display()))?;
    let secrets: u64 = done.secrets.values().sum();
    writeln!(
        out,
        "{}: {} from {}, {} taken out",
        args.output.display(),
        count(done.entries, "file"),
        done.tool,
        count(secrets, "secret"),
    )?;
    for note in &done.notes {
        writeln!(errors, "warning: {note}")?;
    }
    Ok(Exit::Done)
}

/// When the capture was written, as far as its file says.
fn taken(path: &Path) -> anyhow::Result<DateTime<Utc>> {
    let modified = std::fs::metadata(path)
        .and_then(|data| data.modified())
        .with_context(|| format!("reading the date of {}", path.display()))?;
    Ok(modified.into())
}

/// What became of a conversion.
struct Done {
    entries: u64,
    secrets: BTreeMap<String, u64>,
    notes: Vec<String>,
    tool: String,
}

fn write(input: Input<'_>, plan: &Plan, path: &Path, taken: DateTime<Utc>) -> anyhow::Result<Done> {
    let tool = tool(plan);
    let nodes = plan.nodes();
    let node = match nodes.iter().collect::<Vec<_>>().as_slice() {
        [node] => (**node).to_owned(),
        _ => "cluster".to_owned(),
    };
    let header = Header {
        format: FormatVersion::CURRENT,
        tool: format!("casefile-analyzer {}", env!("CARGO_PKG_VERSION")),
        node: node.clone(),
        started: taken,
        options: BTreeMap::from([("converted-from".to_owned(), tool.clone())]),
        clock: Clock {
            utc: taken,
            monotonic_ns: None,
            timezone: None,
            synchronised: None,
        },
    };
    let file = File::create_new(path).with_context(|| format!("writing {}", path.display()))?;
    let top = format!("casefile-{node}-{}", taken.format("%Y%m%dT%H%M%SZ"));
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut conversion = Conversion {
        writer: Writer::new(file, &top, &header)?,
        spill: folder,
        key: Key::random().context("asking the system for random numbers")?,
        plan,
        open: None,
        written: BTreeSet::new(),
        lists: BTreeMap::new(),
        secrets: BTreeMap::new(),
        notes: Vec::new(),
        failed: None,
    };
    let summary = casefile_bundle::read_through(input, &Limits::default(), &mut |piece| {
        conversion.piece(piece)
    })?;
    if let Some(error) = conversion.failed.take() {
        return Err(error);
    }
    for (path, items) in std::mem::take(&mut conversion.lists) {
        conversion.text(
            path,
            "one file an object",
            &list(&items),
            Content::JsonLines,
        )?;
    }
    let mut notes = conversion.notes;
    notes.extend(summary.problems.iter().take(20).map(ToString::to_string));
    let end = ManifestEnd {
        finished: taken,
        interrupted: summary
            .cut_short
            .then(|| "the capture was not read to its end".to_owned()),
        sources: reports(&conversion.written, &tool, taken),
    };
    conversion
        .writer
        .finish(end)?
        .sync_all()
        .with_context(|| format!("writing {}", path.display()))?;
    Ok(Done {
        entries: u64::try_from(conversion.written.len()).unwrap_or(u64::MAX),
        secrets: conversion.secrets,
        notes,
        tool,
    })
}

/// The tools whose captures an input holds, with their versions.
fn tool(plan: &Plan) -> String {
    let all: BTreeSet<String> = plan
        .captures
        .iter()
        .map(|one| {
            let version = one.identity.version.as_deref().unwrap_or("");
            format!("{} {version}", one.title).trim_end().to_owned()
        })
        .collect();
    match all.is_empty() {
        true => "loose files".to_owned(),
        false => all.into_iter().collect::<Vec<_>>().join(", "),
    }
}

/// What the manifest says of each source: what another tool took may be a part of it.
fn reports(written: &BTreeSet<String>, tool: &str, at: DateTime<Utc>) -> Vec<SourceReport> {
    let there = |source: &About| {
        let mut sources = written.iter().filter_map(|path| sources::of_entry(path));
        sources.any(|one| one.id == source.id)
    };
    let told = SOURCES.iter().filter(|one| one.expected || there(one));
    let rows = told.map(|source| {
        let there = there(source);
        SourceReport {
            id: source.id.to_owned(),
            title: source.title.to_owned(),
            outcome: if there {
                Outcome::Partial
            } else {
                Outcome::Skipped
            },
            why: Some(if there {
                format!("as {tool} took it; whether it took all is not known")
            } else {
                format!("not part of {tool}")
            }),
            started: at,
            finished: at,
            notes: Vec::new(),
        }
    });
    rows.collect()
}

/// A conversion under way.
struct Conversion<'a> {
    writer: Writer<File>,
    spill: &'a Path,
    key: Key,
    plan: &'a Plan,
    open: Option<Open>,
    written: BTreeSet<String>,
    /// Objects of lists that the capture holds one file an object, as lines of JSON.
    lists: BTreeMap<String, Vec<String>>,
    secrets: BTreeMap<String, u64>,
    notes: Vec<String>,
    failed: Option<anyhow::Error>,
}

/// The entry that is being read.
enum Open {
    /// It goes on under this path as it is.
    Stream(Box<Streamed>),
    /// It is rewritten when all of it is there.
    Held { path: String, bytes: Vec<u8> },
    /// It is left out.
    Passed,
}

struct Streamed {
    path: String,
    origin: String,
    redactor: Redactor,
    spool: EntrySpool,
}

impl Conversion<'_> {
    fn piece(&mut self, piece: &Piece<'_>) -> ControlFlow<()> {
        match self.take(piece) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn take(&mut self, piece: &Piece<'_>) -> anyhow::Result<()> {
        let path = piece.entry.path.as_str();
        if piece.seq == 0 {
            self.open = Some(self.begin(path));
        }
        match self.open.as_mut() {
            Some(Open::Stream(open)) => {
                let mut clean = Vec::with_capacity(piece.bytes.len());
                open.redactor.push(piece.bytes, &mut clean);
                open.spool.write_all(&clean)?;
            }
            Some(Open::Held { bytes, .. }) if bytes.len() < HELD => {
                let room = HELD - bytes.len();
                bytes.extend_from_slice(&piece.bytes[..piece.bytes.len().min(room)]);
                if piece.bytes.len() > room {
                    self.notes
                        .push(format!("{path}: only its first 64 MiB were converted"));
                }
            }
            _ => {}
        }
        if piece.last {
            match self.open.take() {
                Some(Open::Stream(open)) => self.end(*open)?,
                Some(Open::Held { path, bytes }) => self.rewrite(&path, &bytes)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn begin(&mut self, path: &str) -> Open {
        let ours = match self.plan.target(path) {
            Some((_, Target::As(ours))) => ours.clone(),
            Some((_, Target::Yaml(_) | Target::Split(_))) => {
                return Open::Held {
                    path: path.to_owned(),
                    bytes: Vec::new(),
                };
            }
            Some((_, Target::Double)) => return Open::Passed,
            Some((_, Target::Loose | Target::Unknown)) | None => format!("{FOREIGN}/{path}"),
        };
        self.stream(ours, path)
    }

    fn stream(&mut self, ours: String, origin: &str) -> Open {
        if self.written.contains(&ours) || BundlePath::new(&ours).is_err() {
            self.notes.push(format!(
                "{origin}: left out, because another file is {ours} already"
            ));
            return Open::Passed;
        }
        Open::Stream(Box::new(Streamed {
            path: ours,
            origin: origin.to_owned(),
            redactor: Redactor::new(Content::Text, self.key.clone()),
            spool: EntrySpool::new(self.spill),
        }))
    }

    fn end(&mut self, mut open: Streamed) -> anyhow::Result<()> {
        let mut clean = Vec::new();
        open.redactor.finish(&mut clean);
        open.spool.write_all(&clean)?;
        let redactions = open.redactor.counts();
        for (class, number) in &redactions {
            *self.secrets.entry(class.clone()).or_default() += number;
        }
        let meta = EntryMeta {
            source: sources::of_entry(&open.path)
                .map_or(FOREIGN, |source| source.id)
                .to_owned(),
            path: BundlePath::new(&open.path)?,
            truncated: None,
            redactions,
            origin: Some(open.origin),
        };
        self.writer.append(meta, open.spool.finish()?)?;
        self.written.insert(open.path);
        Ok(())
    }

    /// Writes what one text holds as the entries that we would have of it.
    fn rewrite(&mut self, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let text = String::from_utf8_lossy(bytes);
        match self.plan.target(path) {
            Some((_, Target::Yaml(ours))) => {
                let items = yaml_items(&text).into_iter();
                let items: Vec<String> = items
                    .filter_map(|(_, item)| serde_json::to_string(&item.ok()?).ok())
                    .collect();
                match list_of(ours) {
                    Some(list) => {
                        self.lists.entry(list).or_default().extend(items);
                        Ok(())
                    }
                    None => self.text(ours.clone(), path, &list(&items), Content::JsonLines),
                }
            }
            Some((capture, Target::Split(split))) => {
                for part in split(capture, path, &text) {
                    self.text(part.path, path, &part.text, Content::Text)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn text(
        &mut self,
        ours: String,
        origin: &str,
        text: &str,
        content: Content,
    ) -> anyhow::Result<()> {
        if let Open::Stream(mut open) = self.stream(ours, origin) {
            open.redactor = Redactor::new(content, self.key.clone());
            let mut clean = Vec::with_capacity(text.len());
            open.redactor.push(text.as_bytes(), &mut clean);
            open.spool.write_all(&clean)?;
            self.end(*open)?;
        }
        Ok(())
    }
}

/// Objects as a list, one a line.
fn list(items: &[String]) -> String {
    format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n{}\n]}}\n",
        items.join(",\n")
    )
}
