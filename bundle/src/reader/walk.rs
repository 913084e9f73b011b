//! A walk: one reading of an input, entry after entry, whatever form the input has.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::levels::Levels;
use super::limits::{Limits, RATIO_FLOOR};
use super::metadata::{self, Metadata};
use super::piece::{Buf, Cutter, Deliver, EntryInfo, OwnedPiece};
use super::problem::{OpenError, ReadProblem};
use super::several;
use super::{Form, Summary};
use crate::manifest::{Header, Manifest};
use crate::path::{BundlePath, below};
use crate::{HEADER_PATH, MANIFEST_PATH};

/// Problems listed of one input.
const MAX_PROBLEMS: usize = 10_000;
/// Bytes of `casefile.json` or `manifest.json` that are parsed.
const MAX_METADATA: usize = 64 << 20;

/// State of one reading; the tar and folder stages feed it.
pub(crate) struct Walk<'a> {
    pub(crate) input: PathBuf,
    limits: Limits,
    deliver: &'a mut dyn Deliver,
    levels: Levels,
    /// Bytes read of the input so far.
    source: Rc<Cell<u64>>,
    /// Folders that everything in the input lies in, which paths are given without.
    around: String,
    /// The input is encrypted: nothing of it may lie anywhere else.
    is_locked: bool,
    seen: BTreeSet<BundlePath>,
    headers: u64,
    current: Option<Current>,
    ready: Vec<OwnedPiece>,
    problems: Vec<ReadProblem>,
    more_problems: u64,
    header: Option<Header>,
    manifest: Option<Manifest>,
    stream_cut: bool,
    entries: u64,
    bytes: u64,
    inflated: u64,
    stop: Option<Stop>,
}

struct Current {
    cutter: Cutter,
    got: u64,
    wanted: bool,
    over_limit: bool,
    metadata: Option<Vec<u8>>,
}

enum Stop {
    /// Nothing more is wanted.
    Satisfied,
    /// A limit.
    Limit,
    /// The whole input is refused.
    Refused(OpenError),
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        input: &Path,
        limits: &Limits,
        strip_top: bool,
        deliver: &'a mut dyn Deliver,
    ) -> Self {
        Self {
            input: input.to_owned(),
            limits: *limits,
            deliver,
            levels: Levels::new(input, strip_top),
            source: Rc::default(),
            around: String::new(),
            is_locked: false,
            seen: BTreeSet::new(),
            headers: 0,
            current: None,
            ready: Vec::new(),
            problems: Vec::new(),
            more_problems: 0,
            header: None,
            manifest: None,
            stream_cut: false,
            entries: 0,
            bytes: 0,
            inflated: 0,
            stop: None,
        }
    }

    /// Gives paths without these folders.
    pub(crate) fn inside(mut self, around: &str) -> Self {
        around.clone_into(&mut self.around);
        self
    }

    /// Of an input that is encrypted.
    pub(crate) fn locked(self, is_locked: bool) -> Self {
        Self { is_locked, ..self }
    }

    /// Whether what was decoded of the input may be kept in a file.
    pub(crate) fn may_keep(&self) -> bool {
        !self.is_locked
    }

    /// Whether that is worth its while.
    pub(crate) fn reads_again(&self) -> bool {
        self.deliver.reads_again()
    }

    /// A path as it is given.
    fn given<'p>(&self, path: &'p str) -> &'p str {
        below(path, &self.around)
    }

    /// Whether reading should end here.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.is_some()
    }

    pub(crate) fn refuse(&mut self, error: OpenError) {
        self.stop = Some(Stop::Refused(error));
    }

    pub(crate) fn problem(&mut self, problem: ReadProblem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more_problems += 1;
        }
    }

    /// Counts what is read of the input.
    pub(crate) fn source(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.source)
    }

    /// Bytes read of the input so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.source.get()
    }

    /// Whether archives in this input are opened. A bundle of ours holds none; what looks like one there is a captured file.
    pub(crate) fn nests(&self) -> bool {
        self.header.is_none()
    }

    /// Begins an archive that is an entry; none for the input itself.
    pub(crate) fn enter(&mut self, path: Option<&BundlePath>) {
        self.levels.enter(path);
    }

    /// Ends the innermost archive.
    pub(crate) fn leave(&mut self) {
        self.levels.leave();
    }

    /// Notes what could not be read of an entry.
    pub(crate) fn unreadable(&mut self, path: &str, why: &str) {
        self.stream_cut = true;
        let (path, message) = (self.given(path).to_owned(), why.to_owned());
        self.problem(ReadProblem::Unreadable { path, message });
    }

    /// Notes that the input, or the archive inside it that is being read, ended before its content did.
    pub(crate) fn cut(&mut self, at: u64, why: &str) {
        if let Some(archive) = self.levels.archive().map(str::to_owned) {
            let why = format!("cut short after {at} bytes of content: {why}");
            return self.unreadable(&archive, &why);
        }
        self.stream_cut = true;
        let why = why.to_owned();
        self.problem(ReadProblem::Cut { at, why });
    }

    /// Counts inflated bytes, wanted or not, against the limits. `compressed` is what was read of
    /// the file for all of them so far.
    pub(crate) fn count(&mut self, inflated: usize, compressed: u64) {
        self.inflated = self.inflated.saturating_add(inflated as u64);
        let limit = self.limits.max_ratio;
        if self.inflated > self.limits.max_total_bytes {
            let limit = self.limits.max_total_bytes;
            self.stop_at_limit(ReadProblem::TotalOverLimit { limit });
        } else if self.inflated > RATIO_FLOOR && self.inflated / limit.max(1) > compressed {
            self.stop_at_limit(ReadProblem::RatioOverLimit { limit });
        }
    }

    /// Counts bytes that were inflated inside the input.
    pub(crate) fn count_inner(&mut self, inflated: usize) {
        self.count(inflated, self.consumed());
    }

    fn stop_at_limit(&mut self, problem: ReadProblem) {
        if self.stop.is_none() {
            self.problem(problem);
            self.stream_cut = true;
            self.stop = Some(Stop::Limit);
        }
    }

    /// Counts an entry of any kind; false when there are too many.
    pub(crate) fn count_entry(&mut self) -> bool {
        self.headers += 1;
        let limit = self.limits.max_entries;
        if self.headers > limit {
            self.stop_at_limit(ReadProblem::TooManyEntries { limit });
        }
        self.headers <= limit
    }

    /// The path under which an entry is delivered, or `None` with a problem noted.
    pub(crate) fn name(&mut self, raw: &[u8], is_folder: bool) -> Option<BundlePath> {
        let (path, renamed) = match BundlePath::from_raw(raw) {
            Ok(named) => named,
            Err(_)
                if is_folder
                    && raw.iter().all(|b| matches!(b, b'.' | b'/'))
                    && !raw.starts_with(b"..") =>
            {
                self.levels.note_here();
                return None;
            }
            Err(error) => {
                let path = printable(raw);
                let why = error.to_string();
                self.problem(ReadProblem::UnsafePath { path, why });
                return None;
            }
        };
        let path = match BundlePath::new(&self.levels.name(path, is_folder)?) {
            Ok(path) => path,
            Err(error) => {
                let (path, why) = (printable(raw), error.to_string());
                self.problem(ReadProblem::UnsafePath { path, why });
                return None;
            }
        };
        if renamed {
            let path = self.given(path.as_str()).to_owned();
            self.problem(ReadProblem::Renamed { path });
        }
        Some(path)
    }

    /// Begins a regular file; false when its content is to be skipped.
    pub(crate) fn begin(&mut self, path: BundlePath, size: Option<u64>) -> bool {
        let path = path.below(&self.around);
        if !self.seen.insert(path.clone()) {
            let path = path.to_string();
            self.problem(ReadProblem::Duplicate { path });
            return false;
        }
        let is_metadata = matches!(path.as_str(), HEADER_PATH | MANIFEST_PATH);
        let index = u32::try_from(self.entries).unwrap_or(u32::MAX);
        self.entries += 1;
        let entry = EntryInfo { index, path, size };
        let wanted = self.deliver.wants(&entry);
        if self.deliver.is_done() && self.stop.is_none() {
            self.stop = Some(Stop::Satisfied);
        }
        self.current = Some(Current {
            cutter: Cutter::new(Arc::new(entry)),
            wanted,
            got: 0,
            over_limit: false,
            metadata: is_metadata.then(Vec::new),
        });
        true
    }

    /// Whether more of the current entry would be thrown away.
    pub(crate) fn unwanted(&self) -> bool {
        let unwanted = |c: &Current| c.over_limit || !(c.wanted || c.metadata.is_some());
        self.current.as_ref().is_none_or(unwanted)
    }

    /// Lets a block whose content goes on with the current entry begin with the line that the block before it ends with.
    pub(crate) fn lead(&mut self, buf: &mut Buf) {
        let room = self.limits.max_entry_bytes;
        let current = self.current.as_mut();
        if let Some(current) = current.filter(|one| one.wanted && one.got < room) {
            current.cutter.lead(buf);
        }
    }

    /// Takes content of the current entry.
    pub(crate) fn content(&mut self, buf: &Arc<Buf>, range: Range<usize>) {
        let Some(current) = &mut self.current else {
            return;
        };
        let room = self.limits.max_entry_bytes.saturating_sub(current.got);
        let given = range.len() as u64;
        let taken = given.min(room);
        let end = range.start + usize::try_from(taken).unwrap_or(range.len());
        let wanted = range.start..end;
        if let Some(metadata) = &mut current.metadata
            && metadata.len() + wanted.len() <= MAX_METADATA
        {
            metadata.extend_from_slice(buf.bytes().get(wanted.clone()).unwrap_or_default());
        }
        current.got += taken;
        self.bytes += taken;
        if current.wanted && !wanted.is_empty() {
            current.cutter.content(buf, wanted, &mut self.ready);
        }
        if given > room && !current.over_limit {
            current.over_limit = true;
            let path = current.cutter.entry().path.to_string();
            let limit = self.limits.max_entry_bytes;
            self.problem(ReadProblem::EntryOverLimit { path, limit });
        }
        self.pass_on();
    }

    /// Notes that bytes are lost here, within the current entry or between entries.
    pub(crate) fn gap(&mut self, lost: u64, at: u64, why: &str) {
        let path = match &mut self.current {
            Some(current) => {
                if current.wanted {
                    current.cutter.gap(&mut self.ready);
                }
                current.cutter.entry().path.to_string()
            }
            None => "archive".to_owned(),
        };
        let why = why.to_owned();
        self.problem(ReadProblem::Damaged {
            path,
            lost,
            at,
            why,
        });
        self.pass_on();
    }

    /// Ends the current entry, complete or with its end missing.
    pub(crate) fn end(&mut self, complete: bool) {
        let Some(current) = self.current.take() else {
            return;
        };
        let entry = Arc::clone(current.cutter.entry());
        if current.wanted {
            current.cutter.end(&mut self.ready);
        }
        if !complete && let Some(expected) = entry.size {
            let path = entry.path.to_string();
            let got = current.got;
            self.problem(ReadProblem::CutEntry {
                path,
                got,
                expected,
            });
        }
        if let Some(metadata) = current.metadata
            && complete
        {
            self.metadata(entry.path.as_str(), &metadata);
        }
        self.pass_on();
    }

    fn pass_on(&mut self) {
        for piece in self.ready.drain(..) {
            // A limit still lets the last piece of what was begun through.
            let open = matches!(self.stop, None | Some(Stop::Limit));
            if open && self.deliver.deliver(piece).is_break() {
                self.stop = Some(Stop::Satisfied);
            }
        }
    }

    fn metadata(&mut self, path: &str, json: &[u8]) {
        match metadata::read(path, json) {
            Ok(Metadata::Header(header)) => self.header = Some(header),
            Ok(Metadata::Manifest(manifest)) => self.manifest = Some(*manifest),
            Ok(Metadata::NewerMajor { major, known }) => {
                let path = self.input.clone();
                self.refuse(OpenError::NewerMajor { path, major, known });
            }
            Err(problem) => self.problem(problem),
        }
    }

    /// Ends the reading.
    pub(crate) fn finish(mut self, form: Form) -> Result<Summary, OpenError> {
        let satisfied = match self.stop.take() {
            Some(Stop::Refused(error)) => return Err(error),
            Some(Stop::Satisfied) => true,
            Some(Stop::Limit) | None => false,
        };
        let has_manifest = self.seen.contains(MANIFEST_PATH);
        let has_header = self.seen.contains(HEADER_PATH);
        if has_header && !has_manifest && !satisfied {
            self.stream_cut = true;
            self.problem(ReadProblem::NoManifest);
        }
        let several = self.levels.finish();
        if self.header.is_none() && !several.is_empty() {
            several::note(&self.input, several);
        }
        self.problems.sort();
        self.problems.dedup();
        if self.more_problems > 0 {
            let count = self.more_problems;
            self.problems.push(ReadProblem::More { count });
        }
        Ok(Summary {
            header: self.header,
            manifest: self.manifest,
            problems: self.problems,
            cut_short: self.stream_cut,
            entries: self.entries,
            bytes: self.bytes,
            form,
        })
    }
}

/// A hostile name as far as it can be shown.
pub(crate) fn printable(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    text.chars()
        .take(200)
        .flat_map(char::escape_default)
        .collect()
}
