//! `convert`: another tool's capture as a bundle of ours, with the redaction of a collected one.
//!
//! Entries get the paths that they have in our layout; objects come out in lists of their kind and namespace, one item a line, as
//! the collector writes them. What is only understood by its content keeps its name below `foreign/`, and what is not
//! understood, which is not searched in the capture either, below `not-read/`. Nothing is unpacked to disk but what entries
//! spill.

mod discovery;
mod lists;
mod manifest;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, bail};
use casefile_bundle::{
    BundlePath, Clock, EntryMeta, EntrySpool, FormatVersion, Header, Input, Keys, Limits,
    ManifestEnd, Piece, Writer,
};
use casefile_redact::{Content, Key, Redactor};
use chrono::{DateTime, Utc};
use serde_json::Value;

use self::lists::{Kind, Lists, is_list};
use super::Exit;
use super::input::readable;
use crate::cli::ConvertArgs;
use crate::join::Unit;
use crate::layouts::{Plan, Survey, Target, yaml_items};
use crate::sources;
use crate::words::count;

/// Texts that are taken apart or rewritten are held up to this size, in bytes.
const HELD: usize = 64 << 20;
/// Where entries go that are read by their content.
const FOREIGN: &str = "foreign";
/// Where entries go that are kept for people.
const NOT_READ: &str = "not-read";

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
    let Some(mut survey) = Survey::of(input)? else {
        bail!("{} is a Casefile bundle already", args.input.display());
    };
    let plan = Plan::of(&mut survey);
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
    let taken = manifest::taken(path)?;
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

/// What became of a conversion.
struct Done {
    entries: u64,
    secrets: BTreeMap<String, u64>,
    notes: Vec<String>,
    tool: String,
}

fn write(input: Input<'_>, plan: &Plan, path: &Path, taken: DateTime<Utc>) -> anyhow::Result<Done> {
    let tool = manifest::tool(plan);
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
    let key = Key::random().context("asking the system for random numbers")?;
    let mut conversion = Conversion {
        writer: Writer::new(file, &top, &header)?,
        spill: folder,
        key: key.clone(),
        plan,
        open: None,
        written: BTreeSet::new(),
        lists: Some(Lists::new(folder, key)),
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
    conversion.end_lists()?;
    let mut notes = conversion.notes;
    notes.extend(summary.problems.iter().take(20).map(ToString::to_string));
    let end = ManifestEnd {
        finished: taken,
        interrupted: summary
            .cut_short
            .then(|| "the capture was not read to its end".to_owned()),
        sources: manifest::reports(&conversion.written, &tool, taken),
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

/// A conversion under way.
struct Conversion<'a> {
    writer: Writer<File>,
    spill: &'a Path,
    key: Key,
    plan: &'a Plan,
    open: Option<Open>,
    written: BTreeSet<String>,
    /// Objects by kind and namespace; none once they are written.
    lists: Option<Lists>,
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
            self.open = Some(self.begin(path, piece.entry.size));
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

    fn begin(&mut self, path: &str, size: Option<u64>) -> Open {
        let fits = size.is_none_or(|size| usize::try_from(size).is_ok_and(|size| size <= HELD));
        let ours = match self.plan.target(path) {
            Some((_, Target::As(ours))) if fits && is_list(ours) => {
                return Open::Held {
                    path: path.to_owned(),
                    bytes: Vec::new(),
                };
            }
            Some((_, Target::As(ours))) => ours.clone(),
            Some((_, Target::Yaml(_) | Target::Split(_))) => {
                return Open::Held {
                    path: path.to_owned(),
                    bytes: Vec::new(),
                };
            }
            Some((_, Target::Double)) => return Open::Passed,
            Some((_, Target::Unknown)) => format!("{NOT_READ}/{path}"),
            Some((_, Target::Loose)) | None => format!("{FOREIGN}/{path}"),
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
            Some((_, Target::As(ours))) => self.objects_or_text(ours, path, &text),
            Some((_, Target::Yaml(ours))) => {
                let items = yaml_items(&text);
                let items: Vec<Value> = items.filter_map(|(_, item)| item.ok()).collect();
                self.objects(ours, path, &Kind::default(), &items)
            }
            Some((capture, Target::Split(split))) => {
                for part in split(capture, path, &text) {
                    match is_list(&part.path) {
                        true => self.objects_or_text(&part.path, path, &part.text)?,
                        false => self.text(part.path, path, &part.text, Content::Text)?,
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Objects in JSON go to their lists; a text that is none, as one that was cut, stays as it is.
    fn objects_or_text(&mut self, ours: &str, path: &str, text: &str) -> anyhow::Result<()> {
        match lists::in_json(text) {
            Some((of, items)) => self.objects(ours, path, &of, &items),
            None => self.text(ours.to_owned(), path, text, Content::Text),
        }
    }

    fn objects(
        &mut self,
        ours: &str,
        path: &str,
        of: &Kind,
        items: &[Value],
    ) -> anyhow::Result<()> {
        if let Some(lists) = &mut self.lists {
            if items.is_empty() {
                lists.empty(ours, path, of)?;
            }
            for item in items {
                lists.add(ours, path, of, item)?;
            }
        }
        Ok(())
    }

    /// Writes the lists, and what a client asks for before them.
    fn end_lists(&mut self) -> anyhow::Result<()> {
        let Some(lists) = self.lists.take() else {
            return Ok(());
        };
        let lists = lists.finish()?;
        for (path, text) in discovery::files(&lists) {
            // A bundle of troubleshoot has its own.
            if self.written.contains(&path) {
                continue;
            }
            self.text(path, "the kinds of its objects", &text, Content::JsonLines)?;
        }
        for (path, list) in lists {
            if self.written.contains(&path) {
                self.notes.push(format!(
                    "{}: left out, because another file is {path} already",
                    list.origin
                ));
                continue;
            }
            self.end(Streamed {
                path,
                origin: list.origin,
                redactor: list.redactor,
                spool: list.spool,
            })?;
        }
        Ok(())
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
