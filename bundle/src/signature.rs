//! The signature: an entry behind the manifest that speaks for every byte in front of it.
//!
//! It has the last gzip member to itself, and that member is stored, not compressed: so every bit of it has one
//! right value, and a single changed bit anywhere in the file is noticed.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::hash::{Hasher, sha256_hex};
use crate::member::stored;
use crate::reader::{Limits, OpenError, read_entry};
use crate::{MANIFEST_PATH, SIGNATURE_PATH};

/// A signature entry is smaller than this.
const MAX_BYTES: usize = 16 << 10;
/// The manifest is read up to this size, as everywhere.
const MAX_MANIFEST: usize = 64 << 20;

/// `manifest.json.sig`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// [`Signed::SCHEMA`].
    pub schema: String,
    /// `ed25519`.
    pub algorithm: String,
    /// The key that the signature was made with, in hex; whose it is must be known from elsewhere.
    pub public_key: String,
    /// What is signed: see [`statement`].
    pub statement: String,
    /// The signature over the statement, in hex.
    pub signature: String,
}

impl Signed {
    /// The form of the entry.
    pub const SCHEMA: &str = "casefile-signature/1";
}

/// What is signed: the manifest's hash, and length and hash of all bytes of the file before the signature's member.
pub(crate) fn statement(manifest: &str, archive_bytes: u64, archive: &str) -> String {
    format!(
        "{}\nmanifest-sha256 {manifest}\narchive-bytes {archive_bytes}\narchive-sha256 {archive}\n",
        Signed::SCHEMA
    )
}

/// The signature of a bundle, and in what way the bundle is not what it speaks for (empty: it is). Whether the
/// signature itself holds is for who knows the key. None where the bundle is not signed.
pub fn read_signature(
    input: &Path,
    limits: &Limits,
) -> Result<Option<(Signed, Vec<String>)>, OpenError> {
    let Some(json) = read_entry(input, limits, SIGNATURE_PATH, MAX_BYTES)? else {
        return Ok(None);
    };
    let Ok(signed) = serde_json::from_slice::<Signed>(&json) else {
        let broken = Signed {
            schema: String::new(),
            algorithm: String::new(),
            public_key: String::new(),
            statement: String::new(),
            signature: String::new(),
        };
        return Ok(Some((
            broken,
            vec![format!("{SIGNATURE_PATH}: not readable")],
        )));
    };
    let mut problems = Vec::new();
    let field = |name: &str| {
        let mut lines = signed.statement.lines();
        lines
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .map(str::to_owned)
    };
    let manifest = read_entry(input, limits, MANIFEST_PATH, MAX_MANIFEST)?.unwrap_or_default();
    if field("manifest-sha256") != Some(sha256_hex(&manifest)) {
        problems.push(format!("{MANIFEST_PATH}: not the one that was signed"));
    }
    if input.is_file() {
        let length = field("archive-bytes").and_then(|text| text.parse().ok());
        problems.extend(archive(input, length, field("archive-sha256"), &json));
    }
    Ok(Some((signed, problems)))
}

/// What is wrong with the bytes of the file.
fn archive(input: &Path, length: Option<u64>, hash: Option<String>, json: &[u8]) -> Option<String> {
    let wrong = |what: &str| Some(format!("the archive's bytes: {what}"));
    let (Some(length), Ok(mut file)) = (length, File::open(input)) else {
        return wrong("the signature does not say how many they are");
    };
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 256 << 10];
    let mut front = (&mut file).take(length);
    loop {
        match front.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) => return wrong(&error.to_string()),
        }
    }
    if hash != Some(hasher.hex()) {
        return wrong("not the ones that were signed");
    }
    let mut tail = Vec::new();
    if file
        .take(2 * MAX_BYTES as u64)
        .read_to_end(&mut tail)
        .is_err()
        || !is_tail(&tail, json)
    {
        return wrong("what follows the signed ones is not the signature alone");
    }
    None
}

/// Whether the last member is exactly what a writer makes of this entry.
fn is_tail(tail: &[u8], json: &[u8]) -> bool {
    const HEAD: usize = 24 + 5;
    let Some(content) = tail
        .len()
        .checked_sub(8)
        .and_then(|end| tail.get(HEAD..end))
    else {
        return false;
    };
    let mut again = Vec::new();
    stored(content, &mut again).is_ok()
        && again == tail
        && content.windows(json.len()).any(|part| part == json)
}
