//! Verification: does every entry have the content that the manifest says?

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::hash::Hasher;
use crate::path::BundlePath;
use crate::reader::{Deliver, Form, Input, Limits, OpenError, OwnedPiece, Summary, read_in_order};
use crate::seal::check_sum;
use crate::{MANIFEST_PATH, SIGNATURE_PATH, SUM_PATH};

/// What a comparison of a bundle with its manifest found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyReport {
    /// Entries whose content is as the manifest says.
    pub intact: u64,
    /// Entries whose content differs, sorted.
    pub changed: Vec<BundlePath>,
    /// Entries of the manifest that are not there, sorted.
    pub missing: Vec<BundlePath>,
    /// Entries that the manifest does not name, sorted; all of them when there is no manifest.
    pub extra: Vec<BundlePath>,
    /// What is wrong with the bytes around the entries, where nobody signed; of a signed bundle
    /// [`crate::read_signature`] says it. A folder has no such bytes.
    pub wrapping: Vec<String>,
    /// What else the reading found.
    pub summary: Summary,
}

impl VerifyReport {
    /// Whether the bundle is complete and unchanged, with nothing to complain about.
    pub fn is_clean(&self) -> bool {
        self.changed.is_empty()
            && self.missing.is_empty()
            && self.extra.is_empty()
            && self.wrapping.is_empty()
            && self.summary.manifest.is_some()
            && self.summary.problems.is_empty()
            && !self.summary.cut_short
    }
}

#[derive(Default)]
struct Hashes {
    current: Hasher,
    done: BTreeMap<BundlePath, String>,
}

impl Deliver for Hashes {
    fn deliver(&mut self, piece: OwnedPiece) -> ControlFlow<()> {
        self.current.update(piece.bytes());
        if piece.last {
            let hash = std::mem::take(&mut self.current).hex();
            self.done.insert(piece.entry.path.clone(), hash);
        }
        ControlFlow::Continue(())
    }
}

/// Compares the SHA-256 of each entry with the manifest's, and the bytes around them with what was sealed.
pub fn verify<'a>(input: impl Into<Input<'a>>, limits: &Limits) -> Result<VerifyReport, OpenError> {
    let input = input.into();
    let mut hashes = Hashes::default();
    let summary = read_in_order(input, limits, &mut hashes)?;
    let mut found = hashes.done;
    let mut report = VerifyReport {
        intact: 0,
        changed: Vec::new(),
        missing: Vec::new(),
        extra: Vec::new(),
        wrapping: Vec::new(),
        summary,
    };
    let records = report.summary.manifest.iter().flat_map(|m| &m.entries);
    for record in records {
        match found.remove(&record.path) {
            Some(hash) if hash == record.sha256 => report.intact += 1,
            Some(_) => report.changed.push(record.path.clone()),
            None => report.missing.push(record.path.clone()),
        }
    }
    report.changed.sort();
    report.missing.sort();
    let holds = |wanted: &str| found.keys().any(|path| path.as_str() == wanted);
    // Of an unpacked bundle the sum speaks for the manifest alone.
    let summed = match report.summary.form {
        Form::Bundle => true,
        Form::Folder => holds(SUM_PATH),
        Form::Tar | Form::Archive | Form::Text => false,
    };
    if summed && report.summary.manifest.is_some() && !holds(SIGNATURE_PATH) {
        report.wrapping = check_sum(input, limits)?;
    }
    let extra = found.into_keys();
    report.extra = extra
        .filter(|p| !matches!(p.as_str(), MANIFEST_PATH | SIGNATURE_PATH | SUM_PATH))
        .collect();
    Ok(report)
}
