//! The output: where the bundle goes, found writable before anything is collected, and the one thread that writes it.

mod deliver;
mod mend;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use age::stream::StreamWriter;
use casefile_bundle::{BundlePath, EntryMeta, Header, ManifestEnd, WriteError, Writer};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::anonymize::{Anonymizer, MapError, MapFile};
use crate::leak::Leak;
use crate::out::Done;
use crate::privacy;
use crate::progress::human;
use crate::redact::Key;
use crate::seal::encrypt::Recipients;
use crate::seal::sign::Signer;
use crate::sink::{Room, Sink, free_space};
pub use mend::Mended;

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
    /// The leak check found something.
    #[error("{}", leaks_in_words(.0))]
    Leaks(Vec<Leak>),
    /// The leak check could not read the bundle.
    #[error("the finished bundle could not be searched for secrets, so it was removed: {0}")]
    Unchecked(String),
    /// The leak check found something, and the bundle could not be written again without it.
    #[error(
        "the leak check found secrets, and the bundle cannot be written again without them: {0}. Free as much space as the bundle takes, or choose another place with -o PATH"
    )]
    Unmended(String),
    /// The map of pseudonyms cannot be written.
    #[error(transparent)]
    Map(#[from] MapError),
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

/// What the writer and the sources tell each other.
pub struct Signals {
    /// The sources shall stop: there is no place for what they bring.
    pub stop: CancellationToken,
    /// No more entries come.
    pub over: CancellationToken,
}

/// What happens to the bundle between its last entry and its name.
pub struct Delivery {
    /// The run's key, which remembers the secret values that were seen.
    pub key: Key,
    /// Places that the leak check lets pass.
    pub allowed: BTreeSet<String>,
    /// What the leak check finds blocks the bundle instead of being replaced.
    pub strict: bool,
    /// Rules of other scanners, which the leak check asks too.
    pub rules: Option<std::sync::Arc<crate::leak::Rules>>,
    /// Who signs.
    pub signer: Option<Signer>,
    /// Who may open it; everybody where nobody is named.
    pub recipients: Option<Recipients>,
    /// The map of pseudonyms, written when the bundle is there.
    pub map: Option<MapFile>,
    /// What could not be learnt before names were replaced.
    pub incomplete: Vec<String>,
}

/// The opened output.
pub struct Output {
    sink: Sink,
    /// The same file where it has no name, because it goes to standard output when it is finished.
    hidden: Option<File>,
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
    /// It is encrypted with age.
    pub encrypted: bool,
    /// What the leak check changed.
    pub mended: Mended,
    /// The map of pseudonyms, where names were replaced.
    pub map: Option<String>,
}

impl Output {
    /// Opens the output; `wanted` is a file, a folder, `-` or nothing (then the current folder), `top` the bundle's
    /// name without its ending. What goes to standard output is made in a file without a name.
    pub fn open(wanted: Option<&Path>, top: &str, encrypted: bool) -> Result<Self, OutputError> {
        let ending = if encrypted { "tar.gz.age" } else { "tar.gz" };
        let file_name = format!("{top}.{ending}");
        // A name that is made up here gives way to one that is taken: two runs may begin in the same second.
        let made_up = !wanted.is_some_and(|path| path != Path::new("-") && !is_folder(path));
        let mut path = match wanted {
            Some(path) if path == Path::new("-") => {
                let spill_dir = std::env::temp_dir();
                let (sink, hidden) = hidden(&spill_dir)?;
                return Ok(Self {
                    sink,
                    hidden: Some(hidden),
                    names: None,
                    spill_dir,
                });
            }
            None => PathBuf::from(&file_name),
            Some(path) if is_folder(path) => path.join(&file_name),
            Some(path) => path.to_path_buf(),
        };
        let dir = match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let mut made = create(&path);
        for number in 2..=MAX_RUNS {
            let taken = made
                .as_ref()
                .is_err_and(|(_, source)| source.kind() == io::ErrorKind::AlreadyExists);
            if !made_up || !taken {
                break;
            }
            path = dir.join(format!("{top}-{number}.{ending}"));
            made = create(&path);
        }
        let (file, partial) = made.map_err(|(path, source)| OutputError::Open {
            path: path.display().to_string(),
            source,
        })?;
        if let Some(free) = free_space(&dir).filter(|free| *free < MIN_FREE) {
            let _ = fs::remove_file(&partial);
            return Err(OutputError::NoSpace {
                path: dir.display().to_string(),
                free: human(free),
            });
        }
        Ok(Self {
            sink: Sink::file(file, &dir),
            hidden: None,
            names: Some((path, partial)),
            spill_dir: dir,
        })
    }

    /// The bundle's final name; none for standard output.
    pub fn path(&self) -> Option<&Path> {
        self.names.as_ref().map(|(path, _)| path.as_path())
    }

    /// Removes what was created, where nothing will be collected after all.
    pub fn abandon(self) {
        if let Some((_, partial)) = self.names {
            let _ = fs::remove_file(partial);
        }
    }

    /// Writes the bundle until `over` is cancelled and the channel is empty, then the manifest; `end` makes it, and
    /// learns which entries the disk had no room for.
    /// (The channel's senders may outlive the run, in a thread that hangs in a dead file system.) Then it is
    /// searched for leaks, and only then gets its name or is sent on.
    pub fn write(
        self,
        top: &str,
        header: &Header,
        mut entries: mpsc::Receiver<Done>,
        signals: &Signals,
        delivery: Delivery,
        end: impl FnOnce(&[LeftOut]) -> ManifestEnd,
    ) -> Result<Finished, OutputError> {
        let (names, hidden) = (self.names, self.hidden);
        let over = &signals.over;
        let written = stream(self.sink, top, header, &mut entries, over, &delivery, end);
        // Sources that still wait for room in the channel learn that the bundle is closed.
        entries.close();
        let secret = hidden.is_some() || delivery.recipients.is_some();
        let result = match written {
            Ok(sink) => deliver::deliver(sink, hidden, names.as_ref(), top, delivery),
            Err(error) => Err(deliver::failure(&error, names.as_ref(), secret, &delivery)),
        };
        result.inspect_err(|_| signals.stop.cancel())
    }
}

/// Runs that may begin in one second with the same folder for their bundles.
const MAX_RUNS: u32 = 20;

fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}

/// Creates the unfinished file of a bundle, where neither it nor the bundle is there.
fn create(path: &Path) -> Result<(File, PathBuf), (PathBuf, io::Error)> {
    let mut partial = path.to_owned().into_os_string();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    nothing_there(path).map_err(|source| (path.to_owned(), source))?;
    nothing_there(&partial).map_err(|source| (partial.clone(), source))?;
    match File::create_new(&partial) {
        Ok(file) => Ok((file, partial)),
        Err(source) => Err((path.to_owned(), source)),
    }
}

/// Refuses a name that is taken: it may be the bundle of an earlier run, the unfinished one of a run that was killed or
/// still goes on, or, for root, a device.
fn nothing_there(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "it is there already, and nothing is overwritten",
        )),
    }
}

fn leaks_in_words(leaks: &[Leak]) -> String {
    use std::fmt::Write as _;
    let mut text = "no bundle: the leak check found secrets in it, so it was removed:".to_owned();
    for leak in leaks.iter().take(20) {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  {leak}");
    }
    if leaks.len() > 20 {
        let _ = write!(text, "\n  and {} more places", leaks.len() - 20);
    }
    text.push_str(if leaks.iter().any(Leak::is_private_key) {
        "\nA private key blocks the bundle. Leave its source out with --skip SOURCE, or, if it is no key, add --allow-leak PATH:LINE."
    } else {
        "\nWithout --strict-leaks they are replaced. For a place that holds no secret, add --allow-leak PATH:LINE."
    });
    text
}

/// A file without a name, which is gone when the program ends.
fn hidden(dir: &Path) -> Result<(Sink, File), OutputError> {
    let open = |source| OutputError::Open {
        path: dir.display().to_string(),
        source,
    };
    let file = tempfile::tempfile_in(dir).map_err(open)?;
    let again = file.try_clone().map_err(open)?;
    Ok((Sink::file(file, dir), again))
}

fn stream(
    sink: Sink,
    top: &str,
    header: &Header,
    entries: &mut mpsc::Receiver<Done>,
    over: &CancellationToken,
    delivery: &Delivery,
    end: impl FnOnce(&[LeftOut]) -> ManifestEnd,
) -> Result<Sink, WriteError> {
    let mut tally = privacy::Tally::default();
    let room = sink.room();
    let mut left_out = Vec::new();
    let offset = sink.bytes();
    let target = Target::new(sink, delivery.recipients.as_ref());
    let target = target.map_err(|source| WriteError::Io { offset, source })?;
    let mut writer = Writer::new(target, top, header)?;
    let runtime = Handle::current();
    let mut flushed = Instant::now();
    loop {
        match runtime.block_on(next(entries, over)) {
            Next::Entry(done) => {
                tally.add(&done.meta);
                append(&mut writer, *done, &room, &mut left_out)?;
            }
            Next::Quiet => {}
            Next::Over => break,
        }
        if flushed.elapsed() >= FLUSH_EVERY {
            writer.flush()?;
            flushed = Instant::now();
        }
    }
    let report = tally.report(Anonymizer::of(&delivery.key), &delivery.incomplete);
    writer.append_bytes(privacy::meta(), &report)?;
    let target = match &delivery.signer {
        Some(signer) => {
            writer.finish_signed(end(&left_out), Some(&|statement| signer.sign(statement)))
        }
        None => writer.finish(end(&left_out)),
    }?;
    target
        .end()
        .map_err(|source| WriteError::Io { offset: 0, source })
}

/// The sink, behind the encryption where there are recipients: what is written is never plain on the disk then.
enum Target {
    Plain(Sink),
    Locked(StreamWriter<Sink>),
}

impl Target {
    fn new(sink: Sink, recipients: Option<&Recipients>) -> io::Result<Self> {
        Ok(match recipients {
            Some(recipients) => Self::Locked(recipients.lock(sink)?),
            None => Self::Plain(sink),
        })
    }

    fn end(self) -> io::Result<Sink> {
        match self {
            Self::Plain(sink) => Ok(sink),
            Self::Locked(writer) => writer.finish(),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(sink) => sink.write(bytes),
            Self::Locked(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(sink) => sink.flush(),
            Self::Locked(writer) => writer.flush(),
        }
    }
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
    writer: &mut Writer<Target>,
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
