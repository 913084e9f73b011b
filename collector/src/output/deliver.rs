//! From the last entry to the name: the finished file is searched for leaks, and only then gets its name or is sent on.

use std::fs::{self, File};
use std::io::{self, Seek as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use casefile_bundle::{Input, WriteError};

use super::mend::{Mend, Mended};
use super::{Delivery, Finished, OutputError};
use crate::anonymize::Anonymizer;
use crate::leak::{self, Allowed, Leak};
use crate::progress::human;
use crate::seal::encrypt::Recipients;
use crate::sink::Sink;

/// Times that a bundle is written again: once with what was found replaced, once without what still leaks.
const MAX_ROUNDS: usize = 2;

/// Checks what was written, takes out what must not leave, then gives it its name or sends it on.
pub(super) fn deliver(
    mut sink: Sink,
    mut hidden: Option<File>,
    names: Option<&(PathBuf, PathBuf)>,
    top: &str,
    delivery: Delivery,
) -> Result<Finished, OutputError> {
    let remove = || {
        if let Some((_, partial)) = names {
            let _ = fs::remove_file(partial);
        }
    };
    let gone = |error: WriteError| {
        remove();
        failed(&error, names, "nothing was kept".to_owned())
    };
    let offset = sink.bytes();
    let settled = sink.settle();
    settled.map_err(|source| gone(WriteError::Io { offset, source }))?;
    let mended =
        harmless(&mut sink, &mut hidden, names, top, &delivery).inspect_err(|_| remove())?;
    if let Some(file) = hidden {
        sink = send_on(file).map_err(gone)?;
    }
    let mut finished = settle(sink, names, delivery.recipients.is_some()).map_err(gone)?;
    finished.mended = mended;
    if let (Some(map), Some(site)) = (delivery.map, Anonymizer::of(&delivery.key)) {
        finished.map = Some(map.path().display().to_string());
        map.write(site, &finished.path).inspect_err(|_| {
            if let Some((path, _)) = names {
                let _ = fs::remove_file(path);
            }
        })?;
    }
    Ok(finished)
}

/// Searches the bundle for leaks and writes it again without them, until nothing is found.
fn harmless(
    sink: &mut Sink,
    hidden: &mut Option<File>,
    names: Option<&(PathBuf, PathBuf)>,
    top: &str,
    delivery: &Delivery,
) -> Result<Mended, OutputError> {
    let allowed = Allowed::of(&delivery.allowed);
    let keys = delivery.recipients.as_ref().map(Recipients::keys);
    let mut mended = Mended::default();
    for round in 0..=MAX_ROUNDS {
        let place = match (&hidden, names) {
            (Some(file), _) => PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
            (None, Some((_, partial))) => partial.clone(),
            (None, None) => PathBuf::from("-"),
        };
        let from = Input::new(&place, keys);
        let findings = leak::look(from, &delivery.key, &allowed, delivery.rules.clone())
            .map_err(|error| OutputError::Unchecked(error.to_string()))?;
        let leaks = &findings.leaks;
        if leaks.is_empty() {
            return Ok(mended);
        }
        if delivery.strict || round == MAX_ROUNDS || leaks.iter().any(Leak::is_private_key) {
            return Err(OutputError::Leaks(findings.leaks));
        }
        if round > 0 {
            mended.withhold(leaks);
        }
        let other = Other::beside(names).map_err(unmended)?;
        let mend = Mend {
            from,
            top,
            spill_dir: &other.dir,
            findings,
            delivery,
        };
        let mut clean = mend
            .write(other.sink, &mut mended)
            .map_err(|error| unmended(&error))
            .inspect_err(|_| Other::remove(names))?;
        clean.settle().map_err(unmended)?;
        if let Some((_, partial)) = names {
            fs::rename(Other::name(partial), partial).map_err(unmended)?;
        }
        *sink = clean;
        *hidden = other.hidden;
    }
    Ok(mended)
}

fn unmended(error: impl std::fmt::Display) -> OutputError {
    OutputError::Unmended(error.to_string())
}

/// The file into which a bundle is written again.
struct Other {
    sink: Sink,
    hidden: Option<File>,
    dir: PathBuf,
}

impl Other {
    /// In the folder of the bundle, or without a name where it has none.
    fn beside(names: Option<&(PathBuf, PathBuf)>) -> io::Result<Self> {
        let Some((_, partial)) = names else {
            let dir = std::env::temp_dir();
            let file = tempfile::tempfile_in(&dir)?;
            let hidden = Some(file.try_clone()?);
            let sink = Sink::file(file, &dir);
            return Ok(Self { sink, hidden, dir });
        };
        let dir = match partial.parent() {
            Some(parent) if parent != Path::new("") => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let sink = Sink::file(File::create_new(Self::name(partial))?, &dir);
        let hidden = None;
        Ok(Self { sink, hidden, dir })
    }

    fn name(partial: &Path) -> PathBuf {
        let mut name = partial.as_os_str().to_owned();
        name.push(".2");
        PathBuf::from(name)
    }

    fn remove(names: Option<&(PathBuf, PathBuf)>) {
        if let Some((_, partial)) = names {
            let _ = fs::remove_file(Self::name(partial));
        }
    }
}

/// Copies what was made in a file without a name to standard output.
fn send_on(mut file: File) -> Result<Sink, WriteError> {
    let failed = |source| WriteError::Io { offset: 0, source };
    file.rewind().map_err(failed)?;
    let mut target = Sink::stdout();
    io::copy(&mut file, &mut target).map_err(failed)?;
    Ok(target)
}

fn settle(
    mut sink: Sink,
    names: Option<&(PathBuf, PathBuf)>,
    encrypted: bool,
) -> Result<Finished, WriteError> {
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
        encrypted,
        mended: Mended::default(),
        map: None,
    })
}

/// What became of a bundle that could not be written to its end. What is left of a plain one is kept when it leaks
/// nothing; of one that was to be encrypted nothing is.
pub(super) fn failure(
    error: &WriteError,
    names: Option<&(PathBuf, PathBuf)>,
    secret: bool,
    delivery: &Delivery,
) -> OutputError {
    let Some((_, partial)) = names else {
        return failed(error, names, "nothing was sent".to_owned());
    };
    let size = fs::metadata(partial).map_or(0, |meta| meta.len());
    let clean = || {
        leak::check(partial.as_path(), &delivery.key, &delivery.allowed)
            .is_ok_and(|leaks| leaks.is_empty())
    };
    let kept = if size == 0 || secret || !clean() {
        let _ = fs::remove_file(partial);
        "nothing was kept".to_owned()
    } else {
        format!(
            "{} holds what was collected until then ({}) and can be analysed; it is kept",
            partial.display(),
            human(size)
        )
    };
    failed(error, names, kept)
}

fn failed(error: &WriteError, names: Option<&(PathBuf, PathBuf)>, kept: String) -> OutputError {
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
    let path = names.map_or_else(
        || "-".to_owned(),
        |(_, partial)| partial.display().to_string(),
    );
    OutputError::Write { path, why, kept }
}
