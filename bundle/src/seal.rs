//! The seal: an entry behind the manifest that speaks for every byte in front of it, so that a change anywhere is
//! noticed, also where an inflater would not care (a gzip header's time, another match of the same length).
//!
//! It has the last gzip member to itself, and that member is stored, not compressed: so every bit of it has one
//! right value. Where somebody signs, the signature is the seal; else it is the sum alone.

use std::io::Read;

use serde::{Deserialize, Serialize};

use crate::hash::{Hasher, sha256_hex};
use crate::member::stored;
use crate::reader::{Bytes, Input, Limits, OpenError, read_entry};
use crate::{MANIFEST_PATH, SUM_PATH, blame};

/// A seal's entry is smaller than this.
pub(crate) const MAX_BYTES: usize = 16 << 10;
/// The manifest is read up to this size, as everywhere.
const MAX_MANIFEST: usize = 64 << 20;

/// `manifest.json.sum`: the seal of a bundle that nobody signed. It tells damage, not intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sum {
    pub(crate) schema: String,
    pub(crate) statement: String,
}

impl Sum {
    /// The form of the entry.
    pub(crate) const SCHEMA: &str = "casefile-sum/1";
}

/// What a seal says: the manifest's hash, and length and hash of all bytes of the file before the seal's member.
pub(crate) fn statement(schema: &str, manifest: &str, archive_bytes: u64, archive: &str) -> String {
    format!(
        "{schema}\nmanifest-sha256 {manifest}\narchive-bytes {archive_bytes}\narchive-sha256 {archive}\n"
    )
}

/// In what way a bundle that nobody signed is not what its sum speaks for (empty: it is).
pub(crate) fn check_sum(input: Input<'_>, limits: &Limits) -> Result<Vec<String>, OpenError> {
    let Some(json) = read_entry(input, limits, SUM_PATH, MAX_BYTES)? else {
        return Ok(vec![format!(
            "{SUM_PATH}: missing: nothing says what the bytes around the entries were"
        )]);
    };
    match serde_json::from_slice::<Sum>(&json) {
        Ok(sum) if sum.schema == Sum::SCHEMA => check(input, limits, &sum.statement, &json),
        _ => Ok(vec![format!("{SUM_PATH}: not readable")]),
    }
}

/// In what way a bundle is not what this statement, which stands in the entry `json`, speaks for.
pub(crate) fn check(
    input: Input<'_>,
    limits: &Limits,
    statement: &str,
    json: &[u8],
) -> Result<Vec<String>, OpenError> {
    let field = |name: &str| {
        let mut lines = statement.lines();
        lines
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .map(str::to_owned)
    };
    let mut problems = Vec::new();
    let manifest = read_entry(input, limits, MANIFEST_PATH, MAX_MANIFEST)?.unwrap_or_default();
    if field("manifest-sha256") != Some(sha256_hex(&manifest)) {
        problems.push(format!("{MANIFEST_PATH}: not the one that was sealed"));
    }
    if let Some(mut file) = input.bytes()? {
        let length = field("archive-bytes").and_then(|text| text.parse().ok());
        let wrong = archive(&mut *file, length, field("archive-sha256"), json);
        problems.extend(wrong.map(|what| format!("the archive's bytes: {what}")));
    }
    Ok(problems)
}

/// What is wrong with the bytes of the file.
fn archive(
    file: &mut dyn Bytes,
    length: Option<u64>,
    hash: Option<String>,
    json: &[u8],
) -> Option<String> {
    let Some(length) = length else {
        return Some("the seal does not say how many they are".to_owned());
    };
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 256 << 10];
    let mut front = (&mut *file).take(length);
    loop {
        match front.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) => return Some(error.to_string()),
        }
    }
    if hash != Some(hasher.hex()) {
        let place = blame::changed_member(file, length).unwrap_or_default();
        return Some(format!("not the ones that were sealed{place}"));
    }
    let mut tail = Vec::new();
    let read = file.take(2 * MAX_BYTES as u64).read_to_end(&mut tail);
    (read.is_err() || !is_tail(&tail, json))
        .then(|| "what follows the sealed ones is not the seal alone".to_owned())
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
