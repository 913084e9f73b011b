//! What is given to a command: bundles, folders, and text from a file or standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use casefile_bundle::OpenError;

use super::Terminal;
use crate::diagnose::{AnalyzeError, Analyzer};
use crate::join::Unit;
use crate::model::Analysis;
use crate::progress::Progress;

/// Longest pasted text, in bytes.
const PASTE_LIMIT: u64 = 256 << 20;

/// How one input becomes an analysis: with what its fixes would do, or without.
pub(super) type Analyze = dyn Fn(&Analyzer, &Path) -> Result<Analysis, AnalyzeError>;

pub(super) fn analyze_unit(
    alone: &Analyze,
    analyzer: &Analyzer,
    unit: &Unit,
    terminal: Terminal,
) -> anyhow::Result<Analysis> {
    match unit {
        Unit::Alone(input) => analyze(alone, analyzer, input, terminal),
        Unit::Joined(members) => {
            let _progress = terminal.progress.then(|| Progress::start(unit.input()));
            Ok(analyzer.analyze_joined(members)?)
        }
    }
}

/// Analyses a bundle or folder, and loose text: a text file, or standard input as `-`.
fn analyze(
    analyze: &Analyze,
    analyzer: &Analyzer,
    input: &Path,
    terminal: Terminal,
) -> anyhow::Result<Analysis> {
    let _progress = terminal.progress.then(|| Progress::start(input));
    if input.as_os_str() == "-" {
        let folder =
            staged("pasted.txt", &mut std::io::stdin().lock()).context("reading standard input")?;
        return Ok(analyze(analyzer, folder.path())?);
    }
    let inside = unpacked_inside(input);
    match analyze(analyzer, inside.as_deref().unwrap_or(input)) {
        Err(AnalyzeError::Open(OpenError::NotABundle { .. })) if is_text(input) => {
            let mut file = std::fs::File::open(input)
                .with_context(|| format!("opening {}", input.display()))?;
            let name = input
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let name = name.unwrap_or_else(|| "input.txt".into());
            let folder =
                staged(&name, &mut file).with_context(|| format!("reading {}", input.display()))?;
            let mut analysis = analyze(analyzer, folder.path())?;
            analysis.input.name = name;
            Ok(analysis)
        }
        other => Ok(other?),
    }
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
