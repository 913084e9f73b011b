//! The reader: goes through a bundle once, in pieces, on all cores, without ever unpacking it.
//!
//! The calling thread reads the file, finds members by the sizes they say of themselves, and follows
//! the tar; a pool of threads inflates members and runs the caller's [`PieceSink`]. What was
//! kept comes back sorted, so that the order of entries in the archive does not matter.

mod decoded;
mod entries;
mod folder;
mod formats;
mod input;
mod levels;
mod limits;
mod metadata;
mod peeked;
mod piece;
mod pool;
mod problem;
mod seven;
mod several;
mod sniff;
mod stream;
mod tar_block;
mod tar_overrides;
mod tar_stage;
mod top;
mod unpack;
mod utf16;
mod walk;
mod zip;

use std::ops::ControlFlow;

pub use entries::{Surveyed, list, read_chosen, read_entries, read_entry, survey};
pub use input::Input;
pub use limits::Limits;
pub use piece::{EntryInfo, Piece, PieceSink};
pub use problem::{OpenError, ReadProblem};
use top::Around;
pub use top::is_content_folder;

use crate::manifest::{Header, Manifest};
use crate::path::BundlePath;
use folder::read_folder;
pub(crate) use input::Bytes;
use input::Opened;
pub(crate) use piece::{Deliver, OwnedPiece};
use pool::{CloseOnDrop, Harvest, Shared, work};
use stream::{Counted, read_gzip};
use unpack::Inside;
use walk::Walk;

/// More threads than this do not make one file faster.
const MAX_THREADS: usize = 16;

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// A gzip-compressed tar: ours or, when there is no header, a foreign one.
    Bundle,
    /// A plain tar.
    Tar,
    /// A folder.
    Folder,
    /// A zip archive, or something that is compressed in another way.
    Archive,
    /// One text.
    Text,
}

/// What one reading found besides the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// `casefile.json`; absent in foreign archives and when it does not parse.
    pub header: Option<Header>,
    /// `manifest.json`; absent in foreign and cut archives and when it does not parse.
    pub manifest: Option<Manifest>,
    /// All that is wrong with the input, sorted.
    pub problems: Vec<ReadProblem>,
    /// The input was not read to its end: it is cut, damaged, without manifest, or over a limit.
    pub cut_short: bool,
    /// Regular files found.
    pub entries: u64,
    /// Content bytes delivered.
    pub bytes: u64,
    /// What the input is.
    pub form: Form,
}

/// What a sink kept: path, number of the piece, value.
pub type Results<T> = Vec<(BundlePath, u32, T)>;

/// Reads `input` once, inflating and calling the sink on all cores; results sorted by path and piece.
pub fn scan<'a, S: PieceSink>(
    input: impl Into<Input<'a>>,
    limits: &Limits,
    sink: &S,
) -> Result<(Summary, Results<S::Out>), OpenError> {
    struct ToPool<'a>(&'a Shared);
    impl Deliver for ToPool<'_> {
        fn deliver(&mut self, piece: OwnedPiece) -> ControlFlow<()> {
            self.0.push(piece);
            ControlFlow::Continue(())
        }
    }
    let shared = Shared::new(threads());
    run(input.into(), limits, sink, &shared, &mut ToPool(&shared))
}

/// Reads `input` once and gives the pieces to `deliver` in archive order on the calling thread.
pub(crate) fn read_in_order(
    input: Input<'_>,
    limits: &Limits,
    deliver: &mut dyn Deliver,
) -> Result<Summary, OpenError> {
    let shared = Shared::new(threads());
    run(input, limits, &NoSink, &shared, deliver).map(|(summary, _)| summary)
}

/// Reads `input` once and gives every piece to `each`, in archive order, on the calling thread.
pub fn read_through<'a>(
    input: impl Into<Input<'a>>,
    limits: &Limits,
    each: &mut dyn FnMut(&Piece<'_>) -> ControlFlow<()>,
) -> Result<Summary, OpenError> {
    struct Each<'a>(&'a mut dyn FnMut(&Piece<'_>) -> ControlFlow<()>);
    impl Deliver for Each<'_> {
        fn deliver(&mut self, piece: OwnedPiece) -> ControlFlow<()> {
            (self.0)(&piece.view())
        }
    }
    read_in_order(input.into(), limits, &mut Each(each))
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, |n| n.get().min(MAX_THREADS))
}

/// Whether a file that begins like this is an archive, or compressed.
pub fn is_packed(head: &[u8]) -> bool {
    sniff::magic(head) != sniff::Magic::Other
}

struct NoSink;

impl PieceSink for NoSink {
    type Out = ();

    fn piece(&self, _piece: &Piece<'_>) -> Option<()> {
        None
    }
}

fn run<S: PieceSink>(
    input: Input<'_>,
    limits: &Limits,
    sink: &S,
    shared: &Shared,
    deliver: &mut dyn Deliver,
) -> Result<(Summary, Results<S::Out>), OpenError> {
    let around = around(input, limits)?;
    run_inside((input, &around), limits, sink, shared, deliver)
}

/// The same where it is known which folders all of it lies in.
fn run_inside<S: PieceSink>(
    (input, around): (Input<'_>, &str),
    limits: &Limits,
    sink: &S,
    shared: &Shared,
    deliver: &mut dyn Deliver,
) -> Result<(Summary, Results<S::Out>), OpenError> {
    let opened = input.open()?;
    let harvest = |summary: Result<Summary, OpenError>, harvests: Vec<Harvest<S::Out>>| {
        let mut summary = summary?;
        let mut kept = Vec::new();
        for harvest in harvests {
            kept.extend(harvest.kept);
            summary.problems.extend(harvest.problems);
        }
        summary.problems.sort();
        let mut results: Results<S::Out> = kept
            .into_iter()
            .map(|(entry, seq, out)| (entry.path.clone(), seq, out))
            .collect();
        results.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        Ok((summary, results))
    };
    std::thread::scope(|scope| {
        // Where there is room for fewer threads, fewer do the work; without any it would never be done.
        let mut workers = Vec::new();
        for _ in 0..shared.threads() {
            let worker = std::thread::Builder::new();
            match worker.spawn_scoped(scope, || work(shared, sink)) {
                Ok(worker) => workers.push(worker),
                Err(source) if workers.is_empty() => {
                    let path = input.path().to_owned();
                    return Err(OpenError::Unreadable { path, source });
                }
                Err(_) => break,
            }
        }
        let summary = {
            let _close = CloseOnDrop(shared);
            read(input, opened, (limits, around), shared, deliver)
        };
        // A worker catches the panics of the sink; one that still died had nothing to bring home.
        let harvests = workers.into_iter().filter_map(|w| w.join().ok()).collect();
        harvest(summary, harvests)
    })
}

/// The folders below the top folder of an archive that all of it lies in. Looking for them ends with the first file that lies
/// beside, which is mostly the first or the second one.
fn around(input: Input<'_>, limits: &Limits) -> Result<String, OpenError> {
    struct Names(Around);
    impl Deliver for Names {
        fn wants(&mut self, entry: &EntryInfo) -> bool {
            self.0.note(entry.path.as_str());
            false
        }

        fn is_done(&self) -> bool {
            self.0.none()
        }

        fn deliver(&mut self, _: OwnedPiece) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }
    let opened = input.open()?;
    if !may_lie_in_folders(&opened) {
        return Ok(String::new());
    }
    if let Some(known) = several::around(input.path()) {
        return Ok(known);
    }
    let mut names = Names(Around::new());
    // Nothing is wanted, so that no piece needs a thread.
    let shared = Shared::new(1);
    let read = || read(input, opened, (limits, ""), &shared, &mut names);
    let (_, stay) = several::watched(input.path(), read)?;
    let around = names.0.finish();
    if stay {
        several::note_around(input.path(), &around);
    }
    Ok(around)
}

/// Whether folders around everything are taken off the names in it.
fn may_lie_in_folders(opened: &Opened) -> bool {
    !matches!(
        opened,
        Opened::Folder | Opened::Members(_) | Opened::Stream(_, Form::Text)
    )
}

/// Reads `input` once and gives the pieces to `deliver` in archive order, with names in which the folders stand that may lie
/// around everything; whether these are yet to be found, and by names that will stay.
pub(crate) fn read_as_named(
    input: Input<'_>,
    limits: &Limits,
    deliver: &mut dyn Deliver,
) -> Result<bool, OpenError> {
    let may_lie = may_lie_in_folders(&input.open()?);
    let known = several::around(input.path()).filter(|_| may_lie);
    let around = known.as_deref().unwrap_or("");
    let shared = Shared::new(threads());
    let read = || run_inside((input, around), limits, &NoSink, &shared, deliver);
    let (_, stay) = several::watched(input.path(), read)?;
    Ok(may_lie && known.is_none() && stay)
}

fn read(
    input: Input<'_>,
    opened: Opened,
    (limits, around): (&Limits, &str),
    shared: &Shared,
    deliver: &mut dyn Deliver,
) -> Result<Summary, OpenError> {
    let strip_top = !matches!(opened, Opened::Folder);
    let walk = Walk::new(input.path(), limits, strip_top, deliver);
    let mut walk = walk.inside(around).locked(input.keys().is_some());
    let form = match opened {
        Opened::Folder => {
            read_folder(input.path(), &mut walk);
            Form::Folder
        }
        Opened::Members(file) => {
            read_gzip(file, shared, &mut walk);
            Form::Bundle
        }
        Opened::Seven(mut file) => {
            let name = input.path().file_name().map(|name| name.to_string_lossy());
            let size = input.path().metadata().map_or(0, |data| data.len());
            // Its parts are read from where they lie, so they cannot be counted one after the other.
            walk.source().set(size);
            seven::file(
                &mut file,
                name.as_deref().unwrap_or("archive"),
                1,
                &mut walk,
            );
            Form::Archive
        }
        Opened::Stream(file, Form::Tar) => {
            let file = stream::Plain::new(file, walk.source());
            let file = file.map_err(|source| OpenError::Unreadable {
                path: input.path().to_owned(),
                source,
            })?;
            unpack::plain_tar(file, &mut walk);
            Form::Tar
        }
        Opened::Stream(file, form) => {
            let mut file = Counted::new(file, walk.source());
            unpack::read(&mut file, Inside::input(), &mut walk);
            form
        }
    };
    walk.finish(form)
}
