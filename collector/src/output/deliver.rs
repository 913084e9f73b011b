//! From the last entry to the name: the finished file is searched for leaks, and only then gets its name or is sent on.

use std::fs::{self, File};
use std::io::{self, Seek as _};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

use casefile_bundle::{Input, WriteError};

use super::{Delivery, Finished, OutputError};
use crate::leak;
use crate::progress::human;
use crate::seal::encrypt::Recipients;
use crate::sink::Sink;

/// Checks what was written, then gives it its name or sends it on.
pub(super) fn deliver(
    mut sink: Sink,
    hidden: Option<File>,
    names: Option<&(PathBuf, PathBuf)>,
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
    let place = match (&hidden, names) {
        (Some(file), _) => PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
        (None, Some((_, partial))) => partial.clone(),
        (None, None) => PathBuf::from("-"),
    };
    let keys = delivery.recipients.as_ref().map(Recipients::keys);
    let input = Input::new(&place, keys);
    let leaks = leak::check(input, &delivery.key, &delivery.allowed).map_err(|error| {
        remove();
        OutputError::Unchecked(error.to_string())
    })?;
    if !leaks.is_empty() {
        remove();
        return Err(OutputError::Leaks(leaks));
    }
    if let Some(file) = hidden {
        sink = send_on(file).map_err(gone)?;
    }
    let encrypted = delivery.recipients.is_some();
    let finished = settle(sink, names, encrypted).map_err(gone)?;
    if let (Some(map), Some(site)) = (delivery.map, delivery.key.site()) {
        map.write(site, &finished.path).inspect_err(|_| {
            if let Some((path, _)) = names {
                let _ = fs::remove_file(path);
            }
        })?;
    }
    Ok(finished)
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
