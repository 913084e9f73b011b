//! The two files that say what a bundle is: its header and its manifest.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::problem::ReadProblem;
use crate::HEADER_PATH;
use crate::manifest::{FormatVersion, Header, Manifest};

/// What one of them says.
pub(crate) enum Metadata {
    Header(Header),
    Manifest(Box<Manifest>),
    /// A format that this program does not know.
    NewerMajor {
        major: u32,
        known: u32,
    },
}

pub(crate) fn read(path: &str, json: &[u8]) -> Result<Metadata, ReadProblem> {
    let known = FormatVersion::CURRENT.major;
    match major_version(json) {
        Some(major) if major > known => Ok(Metadata::NewerMajor { major, known }),
        _ if path == HEADER_PATH => parse(path, json).map(Metadata::Header),
        _ => parse(path, json).map(|manifest| Metadata::Manifest(Box::new(manifest))),
    }
}

fn parse<T: DeserializeOwned>(path: &str, json: &[u8]) -> Result<T, ReadProblem> {
    serde_json::from_slice(json).map_err(|error| ReadProblem::BadMetadata {
        path: path.to_owned(),
        message: error.to_string(),
    })
}

/// The major version, read leniently: a newer format may have changed everything else.
fn major_version(json: &[u8]) -> Option<u32> {
    #[derive(Deserialize)]
    struct Versioned {
        format: FormatVersion,
    }
    let versioned: Versioned = serde_json::from_slice(json).ok()?;
    Some(versioned.format.major)
}
