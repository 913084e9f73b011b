//! `upload`: a bundle that is there, or every bundle of a folder that was not sent yet.

use std::path::{Path, PathBuf};

use super::{UploadError, send, without_query};

/// Holds the address, where the command line does not: a signed one is a secret, and arguments are for all to see.
pub(crate) const ADDRESS: &str = "CASEFILE_UPLOAD";

/// The address of the command line, else of the environment.
pub(crate) fn address(given: Option<&str>) -> Option<String> {
    let named = std::env::var(ADDRESS).ok();
    given
        .map(str::to_owned)
        .or(named)
        .filter(|address| !address.is_empty())
}

/// Sends a bundle, or those of a folder; gives the exit code. What was sent from a folder has a file `.sent` beside it
/// and is not sent again.
pub(crate) fn command(place: &Path, given: Option<&str>) -> u8 {
    let Some(address) = address(given) else {
        crate::complain(&format!(
            "upload: name the address, or put it into {ADDRESS}"
        ));
        return crate::USAGE;
    };
    let runtime = match crate::threads::runtime() {
        Ok(runtime) => runtime,
        Err(why) => {
            crate::complain(&why);
            return crate::NO_OUTPUT;
        }
    };
    let bundles = match unsent(place) {
        Ok(bundles) => bundles,
        Err(error) => {
            crate::complain(&format!("{}: {error}", place.display()));
            return crate::NO_OUTPUT;
        }
    };
    let mut code = 0;
    for bundle in bundles {
        match runtime.block_on(send(&bundle, &address)) {
            Ok(()) if place.is_dir() => {
                if let Err(error) = std::fs::write(beside(&bundle), without_query(&address) + "\n")
                {
                    crate::complain(&format!("{}: {error}", beside(&bundle).display()));
                    code = crate::NO_OUTPUT;
                }
            }
            Ok(()) => {}
            Err(error) => {
                crate::complain(&error);
                // The rest goes on; with a wrong address there is no rest.
                if matches!(error, UploadError::Address(_) | UploadError::Plain) {
                    return crate::USAGE;
                }
                code = crate::NO_OUTPUT;
            }
        }
    }
    code
}

/// The bundle itself, or the bundles of a folder without a note that they were sent, the oldest name first.
pub(super) fn unsent(place: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !std::fs::metadata(place)?.is_dir() {
        return Ok(vec![place.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(place)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let whole = name.ends_with(".tar.gz") || name.ends_with(".tar.gz.age");
        if name.starts_with("casefile-") && whole && !beside(&path).exists() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The note that a bundle was sent.
fn beside(bundle: &Path) -> PathBuf {
    let mut name = bundle.as_os_str().to_owned();
    name.push(".sent");
    PathBuf::from(name)
}
