//! What happens when the leak check finds something: the bundle is written once more, with what was found replaced
//! where it stands. An entry in which something is found again after that is withheld, and the manifest names it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use casefile_bundle::{
    BundlePath, EntryMeta, EntryRecord, EntrySpool, HEADER_PATH, Header, Input, Limits,
    MANIFEST_PATH, Manifest, ManifestEnd, Outcome, Piece, SIGNATURE_PATH, SUM_PATH, SourceReport,
    WriteError, Writer, read_through,
};

use super::{Delivery, Target};
use crate::anonymize::Anonymizer;
use crate::leak::{Allowed, Findings, Leak, Search};
use crate::privacy;
use crate::sink::Sink;

/// Class of what is replaced here, in the manifest and the privacy report.
const CLASS: &str = "leak-check";
/// Of a line longer than a piece so much is looked at again with what follows.
const OVERLAP: usize = 4096;

/// What the leak check changed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Mended {
    /// Entries in which something was replaced, and in how many places.
    pub replaced: BTreeMap<String, u64>,
    /// Entries that were left out, and what is in them.
    pub withheld: BTreeMap<String, &'static str>,
}

impl Mended {
    /// Whether the bundle is as it was collected.
    pub fn is_empty(&self) -> bool {
        self.replaced.is_empty() && self.withheld.is_empty()
    }

    /// These entries are left out from now on.
    pub(super) fn withhold(&mut self, leaks: &[Leak]) {
        for leak in leaks {
            self.replaced.remove(&leak.path);
            self.withheld.insert(leak.path.clone(), leak.what);
        }
    }
}

/// What one rewriting works with.
pub(super) struct Mend<'a> {
    pub(super) from: Input<'a>,
    pub(super) top: &'a str,
    pub(super) spill_dir: &'a Path,
    pub(super) findings: Findings,
    pub(super) delivery: &'a Delivery,
}

/// Why a bundle could not be written once more.
#[derive(Debug, thiserror::Error)]
pub(super) enum MendError {
    /// It cannot be read.
    #[error("it cannot be read again: {0}")]
    Read(String),
    /// The other file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Mend<'_> {
    /// Writes the bundle into `sink` without what was found; `mended` learns what that changed.
    pub(super) fn write(self, sink: Sink, mended: &mut Mended) -> Result<Sink, MendError> {
        let io = |source| WriteError::Io { offset: 0, source };
        let summary = &self.findings.summary;
        let (Some(header), Some(manifest)) = (&summary.header, &summary.manifest) else {
            return Err(MendError::Read("header or manifest is missing".to_owned()));
        };
        let search = &self.findings.search;
        let target = Target::new(sink, self.delivery.recipients.as_ref()).map_err(io)?;
        let mut copy = Copy {
            writer: Writer::new(target, self.top, &clean_header(header, search))?,
            search,
            allowed: Allowed::of(&self.delivery.allowed),
            leaking: self
                .findings
                .leaks
                .iter()
                .map(|leak| leak.path.as_str())
                .collect(),
            records: manifest
                .entries
                .iter()
                .map(|one| (&one.path, one))
                .collect(),
            spill_dir: self.spill_dir,
            keys: self
                .delivery
                .recipients
                .as_ref()
                .map(|list| list.keys().clone()),
            tally: privacy::Tally::default(),
            open: None,
            mended,
            failed: None,
        };
        read_through(self.from, &Limits::default(), &mut |piece| {
            copy.piece(piece)
        })
        .map_err(|error| MendError::Read(error.to_string()))?;
        if let Some(error) = copy.failed {
            return Err(error.into());
        }
        let report = copy.tally.report(
            Anonymizer::of(&self.delivery.key),
            &self.delivery.incomplete,
        );
        copy.writer.append_bytes(privacy::meta(), &report)?;
        let end = end(manifest, search, copy.mended);
        let target = match &self.delivery.signer {
            Some(signer) => copy
                .writer
                .finish_signed(end, Some(&|statement| signer.sign(statement))),
            None => copy.writer.finish(end),
        }?;
        Ok(target.end().map_err(io)?)
    }
}

/// An entry that is being copied.
struct Open {
    spool: EntrySpool,
    /// What of a long line has not been looked at with what follows it.
    carry: Vec<u8>,
    replaced: u64,
}

/// The bundle on its way from one file to the other.
struct Copy<'a> {
    writer: Writer<Target>,
    search: &'a Search,
    allowed: Allowed,
    leaking: BTreeSet<&'a str>,
    records: BTreeMap<&'a BundlePath, &'a EntryRecord>,
    spill_dir: &'a Path,
    keys: Option<casefile_bundle::Keys>,
    tally: privacy::Tally,
    open: Option<Open>,
    mended: &'a mut Mended,
    failed: Option<WriteError>,
}

impl Copy<'_> {
    fn piece(&mut self, piece: &Piece<'_>) -> ControlFlow<()> {
        const OWN: [&str; 5] = [
            HEADER_PATH,
            MANIFEST_PATH,
            SIGNATURE_PATH,
            SUM_PATH,
            privacy::PATH,
        ];
        let path = piece.entry.path.as_str();
        if OWN.contains(&path) || self.mended.withheld.contains_key(path) {
            return ControlFlow::Continue(());
        }
        match self.take(piece) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn take(&mut self, piece: &Piece<'_>) -> Result<(), WriteError> {
        let io = |source: io::Error| WriteError::Io { offset: 0, source };
        let mut open = self.open.take().unwrap_or_else(|| Open {
            spool: EntrySpool::locked(self.spill_dir, self.keys.clone()),
            carry: Vec::new(),
            replaced: 0,
        });
        if self.leaking.contains(piece.entry.path.as_str()) {
            let clean = self.clean(piece, &mut open);
            open.spool.write_all(&clean).map_err(io)?;
        } else {
            open.spool.write_all(piece.bytes).map_err(io)?;
        }
        if piece.last {
            return self.close(piece, open);
        }
        self.open = Some(open);
        Ok(())
    }

    /// What of the piece can be written; the end of a line that goes on waits.
    fn clean(&self, piece: &Piece<'_>, open: &mut Open) -> Vec<u8> {
        let path = piece.entry.path.as_str();
        let carried = open.carry.len();
        let mut bytes = std::mem::take(&mut open.carry);
        bytes.extend_from_slice(piece.bytes);
        let line =
            |at: usize| 1 + memchr::memchr_iter(b'\n', &bytes[carried.min(at)..at]).count() as u64;
        let keep = |at: usize| self.allowed.has(path, piece.seq, line(at));
        let goes_on = !piece.ends_line && !piece.last;
        let wanted = bytes
            .len()
            .saturating_sub(if goes_on { OVERLAP } else { 0 });
        let until = self.search.boundary(&bytes, wanted);
        let (clean, replaced) = self.search.clean(&bytes[..until], &keep);
        open.replaced += replaced;
        open.carry = bytes.split_off(until);
        clean
    }

    fn close(&mut self, piece: &Piece<'_>, open: Open) -> Result<(), WriteError> {
        let io = |source: io::Error| WriteError::Io { offset: 0, source };
        let path = &piece.entry.path;
        let record = self.records.get(path);
        let mut redactions = record.map(|one| one.redactions.clone()).unwrap_or_default();
        if open.replaced > 0 {
            *redactions.entry(CLASS.to_owned()).or_default() += open.replaced;
            *self.mended.replaced.entry(path.to_string()).or_default() += open.replaced;
        }
        let named = self.search.clean_text(path.as_str());
        let meta = EntryMeta {
            path: match named == path.as_str() {
                true => path.clone(),
                false => BundlePath::from_parts(named.split('/')),
            },
            source: record.map(|one| one.source.clone()).unwrap_or_default(),
            truncated: record.and_then(|one| one.truncated.clone()),
            redactions,
            origin: record
                .and_then(|one| one.origin.as_deref())
                .map(|origin| self.search.clean_text(origin)),
        };
        self.tally.add(&meta);
        match self.writer.append(meta, open.spool.finish().map_err(io)?) {
            Err(WriteError::Duplicate(_)) => Ok(()),
            other => other,
        }
    }
}

fn clean_header(header: &Header, search: &Search) -> Header {
    let options = header.options.iter();
    Header {
        options: options
            .map(|(name, value)| (name.clone(), search.clean_text(value)))
            .collect(),
        ..header.clone()
    }
}

/// The manifest's end: its sentences searched as well, and what was replaced and withheld as notes of the sources.
fn end(manifest: &Manifest, search: &Search, mended: &Mended) -> ManifestEnd {
    let source_of = |path: &str| {
        let mut entries = manifest.entries.iter();
        entries
            .find(|entry| entry.path.as_str() == path)
            .map_or("", |entry| entry.source.as_str())
    };
    let mut sources: Vec<SourceReport> = manifest.sources.clone();
    for report in &mut sources {
        report.why = report.why.as_deref().map(|why| search.clean_text(why));
        for note in &mut report.notes {
            *note = search.clean_text(note);
        }
    }
    for (path, count) in &mended.replaced {
        let values = if *count == 1 { "value" } else { "values" };
        let note = format!("{path}: {count} secret {values} found by the leak check and replaced");
        let mut reports = sources.iter_mut();
        if let Some(report) = reports.find(|report| report.id == source_of(path))
            && !report
                .notes
                .iter()
                .any(|one| one.starts_with(&format!("{path}: ")) && one.ends_with("and replaced"))
        {
            report.notes.push(note);
        }
    }
    for (path, what) in &mended.withheld {
        let mut reports = sources.iter_mut();
        if let Some(report) = reports.find(|report| report.id == source_of(path)) {
            let why = format!("{path}: withheld, it holds {what}");
            report.notes.push(why.clone());
            if report.outcome == Outcome::Collected {
                report.outcome = Outcome::Partial;
                report.why = Some(why);
            }
        }
    }
    ManifestEnd {
        finished: manifest.finished,
        interrupted: manifest
            .interrupted
            .as_deref()
            .map(|why| search.clean_text(why)),
        sources,
    }
}
