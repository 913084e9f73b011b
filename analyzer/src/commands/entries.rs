//! The commands that show what is inside a bundle: `ls` and `cat`.

use std::io::{self, Write};
use std::ops::ControlFlow;

use anyhow::bail;
use casefile_bundle::{Input, Keys, Limits, Piece};

use super::Exit;
use crate::cli::{CatArgs, LsArgs};

pub(super) fn ls(args: &LsArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let keys = Keys::load(&args.keys.identity)?;
    let input = Input::new(&args.input, keys.as_ref());
    let (_, entries) = casefile_bundle::list(input, &Limits::default())?;
    for entry in entries {
        if entry.path.as_str().starts_with(&args.prefix) {
            let size = entry
                .size
                .map_or_else(|| "?".to_owned(), |size| size.to_string());
            writeln!(out, "{size:>12}  {}", entry.path)?;
        }
    }
    Ok(Exit::Done)
}

pub(super) fn cat(
    args: &CatArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let keys = Keys::load(&args.keys.identity)?;
    let input = Input::new(&args.input, keys.as_ref());
    // The first reading of an archive of several folders finds that their names are kept, the second one gives them.
    if copy(input, &args.path, None, out)?.entry || copy(input, &args.path, None, out)?.entry {
        return Ok(Exit::Done);
    }
    // A path may itself hold a colon, so the plain path was tried first.
    if let Some((path, line)) = args.path.rsplit_once(':')
        && let Ok(line) = line.parse::<u64>()
    {
        let copied = copy(input, path, Some(line.max(1)), out)?;
        if copied.line {
            return Ok(Exit::Done);
        }
        if copied.entry {
            bail!("{path} has fewer than {line} lines");
        }
    }
    if let Some((node, rest)) = args.path.split_once(':')
        && casefile_bundle::list(input, &Limits::default())?
            .0
            .header
            .is_some_and(|header| header.node == node)
    {
        let rest = CatArgs {
            path: rest.to_owned(),
            ..args.clone()
        };
        return cat(&rest, out, errors);
    }
    writeln!(
        errors,
        "error: {} has no entry {}; `casefile-analyzer ls {}` lists them",
        args.input.display(),
        args.path,
        args.input.display()
    )?;
    Ok(Exit::Input)
}

/// What of an entry was there to be printed.
#[derive(Default)]
struct Copied {
    entry: bool,
    /// The line that was asked for.
    line: bool,
}

/// Prints an entry, or one line of it counted from 1, piece by piece: an entry may be larger than the memory.
fn copy(
    input: Input<'_>,
    path: &str,
    line: Option<u64>,
    out: &mut dyn Write,
) -> anyhow::Result<Copied> {
    let mut copied = Copied::default();
    let mut written = Ok(());
    // Lines that begin before the piece.
    let mut before = 1u64;
    let mut each = |piece: &Piece<'_>| {
        copied.entry = true;
        let step = match line {
            None => out.write_all(piece.bytes).map(|()| piece.last),
            Some(line) => {
                let step = write_line(piece, line, before, out);
                let newlines = memchr::memchr_iter(b'\n', piece.bytes).count();
                before = before.saturating_add(newlines as u64);
                step.map(|(some, ended)| {
                    copied.line |= some;
                    ended || piece.last
                })
            }
        };
        match step {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(error) => {
                written = Err(error);
                ControlFlow::Break(())
            }
        }
    };
    let mut wanted = |entry: &casefile_bundle::EntryInfo| entry.path.as_str() == path;
    casefile_bundle::read_chosen(input, &Limits::default(), &mut wanted, &mut each)?;
    written?;
    if copied.line {
        writeln!(out)?;
    }
    Ok(copied)
}

/// Prints what a piece holds of a line, where `before` is the number of the line that it begins in: whether it holds
/// some of it, and whether the line ends in it.
fn write_line(
    piece: &Piece<'_>,
    line: u64,
    before: u64,
    out: &mut dyn Write,
) -> io::Result<(bool, bool)> {
    let Some(skipped) = line.checked_sub(before) else {
        return Ok((false, true));
    };
    let mut rest = piece.bytes;
    for _ in 0..skipped {
        let Some(end) = memchr::memchr(b'\n', rest) else {
            return Ok((false, false));
        };
        rest = &rest[end + 1..];
    }
    // Behind the last newline of an entry there is no line, and behind that of a piece it is in the next one.
    if rest.is_empty() && !(piece.last && piece.bytes.is_empty()) {
        return Ok((false, piece.last));
    }
    let end = memchr::memchr(b'\n', rest);
    out.write_all(&rest[..end.unwrap_or(rest.len())])?;
    Ok((true, end.is_some()))
}
