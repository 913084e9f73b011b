//! What is given to a command: bundles, folders, and text from a file or standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::Terminal;
use crate::diagnose::{AnalyzeError, Analyzer};
use crate::join::Unit;
use crate::model::Analysis;
use crate::progress::Progress;

/// Longest pasted text, in bytes.
const PASTE_LIMIT: u64 = 256 << 20;

/// How one input becomes an analysis: with what its fixes would do, or without.
pub(super) type Analyze = dyn Fn(&Analyzer, &Unit) -> Result<Analysis, AnalyzeError>;

pub(super) fn analyze_unit(
    analyze: &Analyze,
    analyzer: &Analyzer,
    unit: &Unit,
    terminal: Terminal,
) -> anyhow::Result<Analysis> {
    let _progress = terminal.progress.then(|| Progress::start(unit.input()));
    let readable = readable(unit)?;
    let mut analysis = analyze(analyzer, &readable.unit)?;
    if let (Unit::Alone(input), Some(_)) = (unit, &readable.staged)
        && let Some(name) = input.file_name()
        && input.as_os_str() != "-"
    {
        analysis.input.name = name.to_string_lossy().into_owned();
    }
    Ok(analysis)
}

/// What the reader can open in the place of what was named.
pub(super) struct Readable {
    pub(super) unit: Unit,
    /// Holds a text for as long as it is read.
    staged: Option<tempfile::TempDir>,
}

/// A bundle or folder as it is; a folder around one unpacked bundle is that bundle; loose text, a text file or
/// standard input as `-`, is put into a folder.
pub(super) fn readable(unit: &Unit) -> anyhow::Result<Readable> {
    let Unit::Alone(input) = unit else {
        return Ok(Readable {
            unit: unit.clone(),
            staged: None,
        });
    };
    let staged = if input.as_os_str() == "-" {
        let text = &mut std::io::stdin().lock();
        Some(staged("pasted.txt", text).context("reading standard input")?)
    } else if input.is_file() && is_text(input) {
        let mut file =
            std::fs::File::open(input).with_context(|| format!("opening {}", input.display()))?;
        let name = input.file_name().map(|name| name.to_string_lossy());
        let name = name.unwrap_or_else(|| "input.txt".into());
        Some(staged(&name, &mut file).with_context(|| format!("reading {}", input.display()))?)
    } else {
        None
    };
    let path = match &staged {
        Some(folder) => folder.path().to_owned(),
        None => unpacked_inside(input).unwrap_or_else(|| input.clone()),
    };
    Ok(Readable {
        unit: Unit::Alone(path),
        staged,
    })
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

/// Whether a file starts like text: no zero byte and no broken UTF-8 in its first block. A file that is
/// named like an archive was meant to be one, and is refused instead of being read as a log.
fn is_text(path: &Path) -> bool {
    let archive = ["tar", "gz", "tgz", "zip", "xz", "zst", "age"];
    if path
        .extension()
        .is_some_and(|ending| archive.iter().any(|known| ending == *known))
    {
        return false;
    }
    let mut head = Vec::new();
    let opened = std::fs::File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
    let whole = |error: std::str::Utf8Error| error.error_len().is_none();
    opened.is_ok()
        && !head.is_empty()
        && !head.starts_with(b"-----BEGIN AGE")
        && !head.contains(&0)
        && std::str::from_utf8(&head).map_or_else(whole, |_| true)
}

/// Puts loose text into a folder of its own, where it is read like any file of a folder.
fn staged(name: &str, text: &mut dyn Read) -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let mut file = std::fs::File::create(folder.path().join(name))?;
    std::io::copy(&mut text.take(PASTE_LIMIT), &mut file)?;
    Ok(folder)
}
