//! The output: where the bundle goes, found writable before anything is collected, and the one thread that writes it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use casefile_bundle::{BundlePath, EntryMeta, Header, ManifestEnd, WriteError, Writer};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::out::Done;
use crate::progress::human;
use crate::sink::{Room, Sink, free_space};

/// Less free space than this holds no bundle worth having.
const MIN_FREE: u64 = 4 << 20;
/// A killed run loses at most what came in this time.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// Why the bundle cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Found before collecting.
    #[error(
        "cannot write {path}: {source}; choose another place with -o PATH, or -o - for standard output"
    )]
    Open {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Found before collecting.
    #[error(
        "only {free} are free at {path}; choose another place with -o PATH, or -o - for standard output"
    )]
    NoSpace {
        /// The folder.
        path: String,
        /// For people.
        free: String,
    },
    /// Found while collecting.
    #[error("{path}: {why}; {kept}")]
    Write {
        /// The file.
        path: String,
        /// What the system said, and what to do.
        why: String,
        /// What became of the unfinished file.
        kept: String,
    },
}

/// The opened output.
pub struct Output {
    sink: Sink,
    /// Final name and the name until then; none for standard output.
    names: Option<(PathBuf, PathBuf)>,
    /// Where big entries are buffered.
    pub spill_dir: PathBuf,
}

/// An entry for which the disk has no room.
pub struct LeftOut {
    /// The source that it comes from.
    pub source: String,
    /// Where it would lie in the bundle.
    pub path: BundlePath,
    /// Its size before compression.
    pub bytes: u64,
}

/// A finished bundle.
pub struct Finished {
    /// Where it lies, `-` for standard output.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its checksum in hexadecimal.
    pub sha256: String,
}

impl Output {
    /// Opens the output; `wanted` is a file, a folder, `-` or nothing (then the current folder), `top` the bundle's
    /// name without its ending.
    pub fn open(wanted: Option<&Path>, top: &str) -> Result<Self, OutputError> {
        let file_name = format!("{top}.tar.gz");
        let path = match wanted {
            Some(path) if path == Path::new("-") => {
                return Ok(Self {
                    sink: Sink::stdout(),
                    names: None,
                    spill_dir: std::env::temp_dir(),
                });
            }
            None => PathBuf::from(&file_name),
            Some(path) if path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/') => {
                path.join(&file_name)
            }
            Some(path) => path.to_path_buf(),
        };
        let dir = match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let mut partial = path.clone().into_os_string();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let open = |source| OutputError::Open {
            path: path.display().to_string(),
            source,
        };
        if path.is_dir() {
            return Err(open(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&partial)
            .map_err(open)?;
        if let Some(free) = free_space(&dir).filter(|free| *free < MIN_FREE) {
            let _ = fs::remove_file(&partial);
            return Err(OutputError::NoSpace {
                path: dir.display().to_string(),
                free: human(free),
            });
        }
        Ok(Self {
            sink: Sink::file(file, &dir),
            names: Some((path, partial)),
            spill_dir: dir,
        })
    }

    /// Writes the bundle until `over` is cancelled and the channel is empty, then the manifest; `end` makes it, and
    /// learns which entries the disk had no room for.
    /// (The channel's senders may outlive the run, in a thread that hangs in a dead file system.)
    pub fn write(
        self,
        top: &str,
        header: &Header,
        mut entries: mpsc::Receiver<Done>,
        stop: &CancellationToken,
        over: &CancellationToken,
        end: impl FnOnce(&[LeftOut]) -> ManifestEnd,
    ) -> Result<Finished, OutputError> {
        let names = self.names;
        let result = stream(self.sink, top, header, &mut entries, over, end)
            .and_then(|sink| settle(sink, &names));
        // Sources that still wait for room in the channel learn that the bundle is closed.
        entries.close();
        result.map_err(|error| {
            stop.cancel();
            failure(&error, names.as_ref())
        })
    }
}

fn stream(
    sink: Sink,
    top: &str,
    header: &Header,
    entries: &mut mpsc::Receiver<Done>,
    over: &CancellationToken,
    end: impl FnOnce(&[LeftOut]) -> ManifestEnd,
) -> Result<Sink, WriteError> {
    let room = sink.room();
    let mut left_out = Vec::new();
    let mut writer = Writer::new(sink, top, header)?;
    let runtime = Handle::current();
    let mut flushed = Instant::now();
    loop {
        match runtime.block_on(next(entries, over)) {
            Next::Entry(done) => append(&mut writer, *done, &room, &mut left_out)?,
            Next::Quiet => {}
            Next::Over => break,
        }
        if flushed.elapsed() >= FLUSH_EVERY {
            writer.flush()?;
            flushed = Instant::now();
        }
    }
    writer.finish(end(&left_out))
}

enum Next {
    Entry(Box<Done>),
    /// Nothing came for a while: time to put what is there on the disk.
    Quiet,
    Over,
}

async fn next(entries: &mut mpsc::Receiver<Done>, over: &CancellationToken) -> Next {
    let entry = |done: Option<Done>| done.map_or(Next::Over, |done| Next::Entry(Box::new(done)));
    tokio::select! {
        biased;
        done = entries.recv() => entry(done),
        () = over.cancelled() => entry(entries.try_recv().ok()),
        () = tokio::time::sleep(FLUSH_EVERY) => Next::Quiet,
    }
}

/// Two sources may want the same file: the first one's copy is kept. An entry that would leave no room for the
/// manifest is left out; a smaller one after it may still fit.
fn append(
    writer: &mut Writer<Sink>,
    done: Done,
    room: &Room,
    left_out: &mut Vec<LeftOut>,
) -> Result<(), WriteError> {
    let meta: EntryMeta = done.meta;
    if !room.take(writer.bytes_written(), done.entry.stored_at_most()) {
        left_out.push(LeftOut {
            source: meta.source,
            path: meta.path,
            bytes: done.entry.bytes(),
        });
        return Ok(());
    }
    match writer.append(meta, done.entry) {
        Err(WriteError::Duplicate(_)) => Ok(()),
        other => other,
    }
}

fn settle(mut sink: Sink, names: &Option<(PathBuf, PathBuf)>) -> Result<Finished, WriteError> {
    let offset = sink.bytes();
    let io = |source| WriteError::Io { offset, source };
    sink.settle().map_err(io)?;
    if let Some((path, partial)) = names {
        fs::rename(partial, path).map_err(io)?;
    }
    let path = names
        .as_ref()
        .map_or_else(|| "-".to_owned(), |(path, _)| path.display().to_string());
    Ok(Finished {
        path,
        bytes: sink.bytes(),
        sha256: sink.sha256(),
    })
}

fn failure(error: &WriteError, names: Option<&(PathBuf, PathBuf)>) -> OutputError {
    let why = match error {
        WriteError::Io { source, .. } => match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => {
                format!("{source}: free some space, or choose another place with -o PATH or -o -")
            }
            _ => source.to_string(),
        },
        other => other.to_string(),
    };
    let Some((_, partial)) = names else {
        return OutputError::Write {
            path: "-".to_owned(),
            why,
            kept: "what was written is a cut bundle".to_owned(),
        };
    };
    let size = fs::metadata(partial).map_or(0, |meta| meta.len());
    let kept = if size == 0 {
        let _ = fs::remove_file(partial);
        "nothing was kept".to_owned()
    } else {
        format!(
            "{} holds what was collected until then ({}) and can be analysed; it is kept",
            partial.display(),
            human(size)
        )
    };
    OutputError::Write {
        path: partial.display().to_string(),
        why,
        kept,
    }
}
