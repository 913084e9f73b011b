//! The commands that show what is inside a bundle: `ls` and `cat`.

use std::io::Write;

use anyhow::bail;
use casefile_bundle::{Input, Keys, Limits};

use super::Exit;
use crate::cli::{CatArgs, LsArgs};

/// Longest entry that `cat` prints, in bytes.
const CAT_LIMIT: usize = 1 << 30;

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
    let read = |path: &str| casefile_bundle::read_entry(input, &Limits::default(), path, CAT_LIMIT);
    if let Some(bytes) = read(&args.path)? {
        out.write_all(&bytes)?;
        return Ok(Exit::Done);
    }
    // A path may itself hold a colon, so the plain path was tried first.
    if let Some((path, line)) = args.path.rsplit_once(':')
        && let Ok(line) = line.parse::<usize>()
        && let Some(bytes) = read(path)?
    {
        let Some(text) = bytes
            .split(|byte| *byte == b'\n')
            .nth(line.saturating_sub(1))
        else {
            bail!("{path} has fewer than {line} lines");
        };
        out.write_all(text)?;
        writeln!(out)?;
        return Ok(Exit::Done);
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
