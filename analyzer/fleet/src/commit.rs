//! Records that say which files are a bucket's: what no record names does not count.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::store::{Store, StoreError};

/// What a commit record says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Version of the tables' schema.
    pub schema: u32,
    /// Number of buckets of the output.
    pub buckets: u32,
    /// This bucket.
    pub bucket: u32,
    /// Digest of the inputs and of what judged them.
    pub key: String,
    /// What judged.
    pub judge: String,
    /// Bundles in it, the same one under two names counted once.
    pub bundles: u64,
    /// Inputs that are the same as another one.
    pub duplicates: BTreeMap<String, String>,
    /// Inputs that could not be analysed, with the reason.
    pub refused: BTreeMap<String, String>,
    /// Files, by table.
    pub files: BTreeMap<String, String>,
    /// Rows, by table.
    pub rows: BTreeMap<String, u64>,
}

/// All commit records of an output. One that cannot be read counts as not there: its bucket is done again.
///
/// # Errors
/// [`StoreError`] where they cannot be listed.
pub fn commits(to: &Store) -> Result<BTreeMap<u32, Commit>, StoreError> {
    let mut all = BTreeMap::new();
    for object in to.list("commits")? {
        let read = to.get(&object.path)?;
        if let Ok(commit) = serde_json::from_slice::<Commit>(&read) {
            all.insert(commit.bucket, commit);
        }
    }
    Ok(all)
}
