//! Limits: how much of a stranger's bundle is read, at most.

/// Bounds on the work and memory that one input may cause. What lies beyond is reported, not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of any kind, directories and refused ones included.
    pub max_entries: u64,
    /// Content bytes delivered of one entry; the rest of it is skipped.
    pub max_entry_bytes: u64,
    /// Inflated bytes of the whole input, what is skipped included.
    pub max_total_bytes: u64,
    /// Inflated bytes per compressed byte over the whole input, counted once 64 MiB are inflated.
    ///
    /// Deflate cannot go beyond 1032, so the default never stops a gzip file; the other limits do.
    pub max_ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_entries: 200_000,
            max_entry_bytes: 4 << 30,
            max_total_bytes: 16 << 30,
            max_ratio: 1100,
        }
    }
}

/// Inflated bytes before [`Limits::max_ratio`] counts: small files may be all zeros.
pub(crate) const RATIO_FLOOR: u64 = 64 << 20;
