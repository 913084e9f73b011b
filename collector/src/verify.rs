//! `verify`: whether a bundle arrived as it was written, and whose it is.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use casefile_bundle::{Input, Keys, Limits, OpenError, Signed, VerifyReport};

use crate::{NO_OUTPUT, complain, seal, summary};

/// Checks a bundle and prints what was found; the exit code.
pub(crate) fn verify(bundle: &Path, public_key: Option<&Path>, identity: &[PathBuf]) -> u8 {
    let keys = match Keys::load(identity) {
        Ok(keys) => keys,
        Err(error) => {
            complain(&format!("--identity {error}"));
            return NO_OUTPUT;
        }
    };
    // Members are read with seeks, which a pipe does not have.
    let (piped, place) = match from_pipe(bundle) {
        Ok(None) => (None, bundle.to_owned()),
        Ok(Some(file)) => {
            let place = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            (Some(file), place)
        }
        Err(error) => {
            complain(&format!("standard input: {error}"));
            return NO_OUTPUT;
        }
    };
    let (report, signature) = match read(Input::new(&place, keys.as_ref())) {
        Ok(checked) => checked,
        Err(error) => {
            complain(&format!("{:#}", anyhow::Error::from(error)));
            return NO_OUTPUT;
        }
    };
    let (by_key, broken) = judge(signature.as_ref(), public_key);
    let mut out = std::io::stdout().lock();
    for line in broken.iter().chain(&report.wrapping) {
        let _ = writeln!(out, "{line}");
    }
    if bundle.extension().is_some_and(|ending| ending == "partial") {
        let _ = writeln!(
            out,
            "unfinished: the leak check has not searched it; look through it before it leaves the site"
        );
    }
    let whole = broken.is_empty();
    let name = match piped {
        Some(_) => "standard input".to_owned(),
        None => bundle.display().to_string(),
    };
    let _ = summary::print_verify(&name, &report, whole.then_some(by_key), &mut out);
    if report.is_clean() && whole {
        0
    } else {
        NO_OUTPUT
    }
}

/// What comes through standard input, in a file without a name, where `-` asks for that.
fn from_pipe(bundle: &Path) -> io::Result<Option<File>> {
    if bundle != Path::new("-") {
        return Ok(None);
    }
    let mut file = tempfile::tempfile()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    Ok(Some(file))
}

type Checked = (VerifyReport, Option<(Signed, Vec<String>)>);

fn read(input: Input<'_>) -> Result<Checked, OpenError> {
    let limits = Limits::default();
    let report = casefile_bundle::verify(input, &limits)?;
    Ok((report, casefile_bundle::read_signature(input, &limits)?))
}

/// How the bundle is signed, and what is wrong with that.
fn judge(
    signature: Option<&(Signed, Vec<String>)>,
    public_key: Option<&Path>,
) -> (&'static str, Vec<String>) {
    match (signature, public_key) {
        (Some((signed, problems)), Some(key)) => {
            let mut broken = problems.clone();
            let held = seal::sign::verify(signed, key);
            broken.extend(held.err().map(|error| error.to_string()));
            ("signed by the given key", broken)
        }
        (Some((_, problems)), None) => (
            "signed (name the key with --public-key to check by whom)",
            problems.clone(),
        ),
        (None, Some(key)) => {
            let why = format!(
                "manifest.json.sig: missing: a signature by {} is demanded and the bundle is not signed",
                key.display()
            );
            ("not signed", vec![why])
        }
        (None, None) => ("not signed", Vec::new()),
    }
}
