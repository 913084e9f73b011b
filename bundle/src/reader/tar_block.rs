//! The tar block: the 512 bytes that a tar is made of, and what can be told from one alone.

use tar::{EntryType, Header};

/// Size of a block.
pub(crate) const BLOCK: usize = 512;

/// At most `have`, at most `left`.
pub(crate) fn within(left: u64, have: usize) -> usize {
    usize::try_from(left).map_or(have, |left| left.min(have))
}

/// A size with its padding.
pub(crate) fn padded(size: u64) -> u64 {
    size.checked_next_multiple_of(BLOCK as u64)
        .unwrap_or(u64::MAX)
}

/// What an entry that is no regular file is called.
pub(crate) fn kind_name(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Link => "hard link",
        EntryType::Symlink => "symbolic link",
        EntryType::Char => "character device",
        EntryType::Block => "block device",
        EntryType::Fifo => "named pipe",
        EntryType::GNUSparse => "sparse file",
        _ => "entry of unknown kind",
    }
}

/// Whether the header's checksum is right, with signed bytes (old tars) or unsigned ones.
pub(crate) fn checksum_fits(header: &Header) -> bool {
    let Ok(stated) = header.cksum() else {
        return false;
    };
    let (mut unsigned, mut signed) = (0_u32, 0_i64);
    for (at, byte) in header.as_bytes().iter().enumerate() {
        let byte = if (148..156).contains(&at) {
            b' '
        } else {
            *byte
        };
        unsigned += u32::from(byte);
        signed += i64::from(byte.cast_signed());
    }
    stated == unsigned || i64::from(stated) == signed
}
