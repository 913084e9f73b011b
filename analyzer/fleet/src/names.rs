//! Which objects are bundles that have arrived, and where results lie.

use sha2::{Digest, Sha256};

/// Endings that a file has while it is still being written.
const UNFINISHED: [&str; 8] = [
    ".partial",
    ".part",
    ".tmp",
    ".temp",
    ".crdownload",
    ".filepart",
    ".upload",
    ".download",
];

/// Whether an object is a bundle that may be read: not hidden, not under the name of an unfinished upload, not a
/// signature or a map of pseudonyms beside a bundle.
pub fn is_bundle(path: &str) -> bool {
    let hidden = path.split('/').any(|part| part.starts_with('.'));
    let lower = path.to_ascii_lowercase();
    let beside = [".sig", ".minisig", ".sha256", ".map", ".md5"];
    !hidden
        && !UNFINISHED.iter().any(|ending| lower.ends_with(ending))
        && !beside.iter().any(|ending| lower.ends_with(ending))
}

/// The bucket of an object. It depends on the file's name only, so it stays the same wherever the object is moved, and
/// the same bundle uploaded into two folders is seen as one.
pub fn bucket(path: &str, buckets: u32) -> u32 {
    let name = path.rsplit('/').next().unwrap_or(path);
    let hash = Sha256::digest(name.as_bytes());
    let start: [u8; 8] = [
        hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7],
    ];
    let place = u64::from_be_bytes(start) % u64::from(buckets.max(1));
    u32::try_from(place).unwrap_or(0)
}

/// The record that says which files are a bucket's.
pub fn commit(bucket: u32) -> String {
    format!("commits/{bucket:06}.json")
}

/// The bucket that a commit record belongs to.
pub fn bucket_of_commit(record: &str) -> Option<u32> {
    let name = record.strip_prefix("commits/")?;
    name.strip_suffix(".json")?.parse().ok()
}

/// A file of a table.
pub fn file(table: &str, bucket: u32, content: &str) -> String {
    format!("tables/{table}/{bucket:06}-{content}.parquet")
}

/// The bucket that a file of a table belongs to.
pub fn bucket_of(file: &str) -> Option<u32> {
    let name = file.strip_prefix("tables/")?.split('/').nth(1)?;
    name.split('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_uploads_are_not_read() {
        assert!(is_bundle("night/casefile-gpu-1.tar.gz"));
        for path in [
            "a.tar.gz.partial",
            ".hidden/a.tar.gz",
            "a.tar.gz.sig",
            "x/.a.tar.gz",
        ] {
            assert!(!is_bundle(path), "{path}");
        }
    }

    #[test]
    fn files_lead_back_to_their_bucket() {
        assert_eq!(bucket_of(&file("said", 17, "abc")), Some(17));
        assert_eq!(bucket_of_commit(&commit(17)), Some(17));
        assert_eq!(bucket("a/x.tar.gz", 64), bucket("b/x.tar.gz", 64));
        assert_eq!(bucket_of("tables/readme"), None);
    }
}
