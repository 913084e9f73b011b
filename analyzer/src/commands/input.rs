//! What is given to a command: bundles, folders, and text from a file or standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::Terminal;
use crate::diagnose::{AnalyzeError, Analyzer};
use crate::join::Unit;
use crate::model::{Analysis, Seen};
use crate::progress::Progress;

/// Longest stream that is kept until it was read, in bytes.
const STREAM_LIMIT: u64 = 4 << 30;

/// How one input becomes an analysis: with what its fixes would do, or without.
pub(super) type Analyze = dyn Fn(&Analyzer, &Unit) -> Result<Analysis, AnalyzeError>;

pub(super) fn analyze_unit(
    analyze: &Analyze,
    analyzer: &Analyzer,
    readable: &Readable,
    terminal: Terminal,
) -> anyhow::Result<Analysis> {
    let unit = &readable.named;
    let _progress = terminal.progress.then(|| Progress::start(unit.input()));
    let mut analysis = analyze(analyzer, &readable.unit)?;
    if analysis.seen.format == Seen::NOTHING {
        return Err(AnalyzeError::not_understood(unit.input(), &analysis).into());
    }
    if let Some(name) = name(unit, &readable.unit) {
        analysis.input.name = name;
    }
    Ok(analysis)
}

/// What a reader types again to open the same input; text that came through standard input cannot be named.
fn name(named: &Unit, read: &Unit) -> Option<String> {
    let (Unit::Alone(named), Unit::Alone(read)) = (named, read) else {
        return None;
    };
    if named.as_os_str() == "-" && !read.is_file() {
        return None;
    }
    Some(named.file_name()?.to_string_lossy().into_owned())
}

/// What the reader can open in the place of what was named. A pipe is read once, so one of these serves all that a command
/// does with its input.
pub(super) struct Readable {
    named: Unit,
    pub(super) unit: Unit,
    /// Holds a text for as long as it is read.
    _staged: Option<tempfile::TempDir>,
}

/// A bundle, archive, text or folder as it is; a folder around one thing is that thing; what comes through standard
/// input, as `-`, or through a named pipe is kept in a folder until it was read.
pub(super) fn readable(unit: &Unit) -> anyhow::Result<Readable> {
    let Unit::Alone(input) = unit else {
        return Ok(Readable {
            named: unit.clone(),
            unit: unit.clone(),
            _staged: None,
        });
    };
    let (folder, path) = if input.as_os_str() == "-" {
        let stream = &mut std::io::stdin().lock();
        staged("pasted.txt", stream).context("reading standard input")?
    } else if is_pipe(input) {
        let name = input.file_name().map(|name| name.to_string_lossy());
        let opened = std::fs::File::open(input);
        opened
            .and_then(|mut stream| staged(name.as_deref().unwrap_or("input"), &mut stream))
            .with_context(|| format!("reading {}", input.display()))?
    } else {
        let path = unpacked_inside(input).unwrap_or_else(|| innermost(input));
        return Ok(Readable {
            named: unit.clone(),
            unit: Unit::Alone(path),
            _staged: None,
        });
    };
    Ok(Readable {
        named: unit.clone(),
        unit: Unit::Alone(path),
        _staged: Some(folder),
    })
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// What a folder holds that holds one thing only: what unpacking into an empty folder, or a download, leaves.
fn innermost(path: &Path) -> PathBuf {
    const DEEPEST: usize = 16;
    let mut path = path.to_owned();
    for _ in 0..DEEPEST {
        let mut children = std::fs::read_dir(&path).into_iter().flatten().flatten();
        let (Some(only), None) = (children.next(), children.next()) else {
            break;
        };
        let is_dir = only.file_type().is_ok_and(|kind| kind.is_dir());
        let tells = only
            .file_name()
            .to_str()
            .is_none_or(casefile_bundle::is_content_folder);
        let packed = only.file_type().is_ok_and(|kind| kind.is_file()) && is_packed(&only.path());
        if packed || (is_dir && !tells) {
            path = only.path();
        } else {
            break;
        }
    }
    path
}

fn is_packed(path: &Path) -> bool {
    let mut head = Vec::new();
    let opened = std::fs::File::open(path).and_then(|file| file.take(512).read_to_end(&mut head));
    opened.is_ok() && casefile_bundle::is_packed(&head)
}

/// The unpacked bundle in a folder that holds one and is none itself, as `tar xzf` leaves it.
pub(super) fn unpacked_inside(folder: &Path) -> Option<PathBuf> {
    let is_bundle = |path: &Path| path.join(casefile_bundle::HEADER_PATH).is_file();
    if !folder.is_dir() || is_bundle(folder) {
        return None;
    }
    let children = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    let mut bundles = children.filter(|path| is_bundle(path));
    let only = bundles.next()?;
    bundles.next().is_none().then_some(only)
}

/// Keeps a stream in a folder of its own; an archive is read as the file, text like any file of a folder.
///
/// Errors: what the system says, and a stream over the limit, which is not read in part.
fn staged(name: &str, stream: &mut dyn Read) -> std::io::Result<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(name);
    let mut file = std::fs::File::create(&path)?;
    let kept = std::io::copy(&mut stream.take(STREAM_LIMIT + 1), &mut file)?;
    if kept > STREAM_LIMIT {
        let text = format!("more than {STREAM_LIMIT} bytes: save it to a file and name that");
        return Err(std::io::Error::other(text));
    }
    let input = if is_packed(&path) {
        path
    } else {
        folder.path().to_owned()
    };
    Ok((folder, input))
}
