//! A member: one gzip stream of at most 1 MiB, which says its own size so that a reader can hop over it.
//!
//! The gzip header carries an extra subfield `CF` of 8 bytes: the size of the whole member and the
//! size of what it inflates to, both little-endian `u32`. Any gzip tool ignores it.

use std::io;

use flate2::{Compress, Compression, FlushCompress, Status};
use libdeflater::Decompressor;

/// Inflated bytes in a member that this crate writes, at most.
pub(crate) const MEMBER_BYTES: usize = 1 << 20;
/// Inflated bytes in a member that the reader takes in one piece; more is decoded as a stream.
pub(crate) const MEMBER_BYTES_READ: usize = MEMBER_BYTES + (64 << 10);
/// Size of a whole member that the reader takes in one piece. Stored blocks add 5 bytes per 64 KiB.
pub(crate) const MEMBER_FILE_BYTES_READ: usize = MEMBER_BYTES_READ + (16 << 10);
/// Size of a member's gzip header: 10 fixed bytes, 2 of length, 12 of the `CF` subfield.
pub(crate) const HEAD_BYTES: usize = 24;
/// Size of a gzip trailer: CRC-32 and size.
const TAIL_BYTES: usize = 8;
/// Deflate level. On 300 MB of journal lines: level 1 gives 72 MB in 1.2 s, 2 gives 54 MB in 1.5 s,
/// 4 gives 49 MB in 2.3 s, 6 gives 46 MB in 3.6 s; a sick node should not be kept busy for the last 10 %.
const LEVEL: u32 = 2;

/// What a member's header says of itself. Not to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemberSizes {
    /// Bytes of the whole member in the file.
    pub(crate) file: usize,
    /// Bytes it inflates to.
    pub(crate) inflated: usize,
}

impl MemberSizes {
    /// Reads the sizes from a header in exactly the shape that this crate writes, when they are
    /// within what a reader may take in one piece.
    pub(crate) fn parse(head: &[u8]) -> Option<Self> {
        let head: &[u8; HEAD_BYTES] = head.get(..HEAD_BYTES)?.try_into().ok()?;
        if head[..4] != [0x1f, 0x8b, 8, 4] || head[10..16] != [12, 0, b'C', b'F', 8, 0] {
            return None;
        }
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let sizes = Self {
            file: usize::try_from(number(16)).ok()?,
            inflated: usize::try_from(number(20)).ok()?,
        };
        let sane = sizes.file > HEAD_BYTES + TAIL_BYTES
            && sizes.file <= MEMBER_FILE_BYTES_READ
            && sizes.inflated <= MEMBER_BYTES_READ;
        sane.then_some(sizes)
    }
}

/// Compresses members, one after the other.
pub(crate) struct Packer(Compress);

impl Packer {
    pub(crate) fn new() -> Self {
        Self(Compress::new(Compression::new(LEVEL), false))
    }

    /// Appends `content` as one member to `out`.
    pub(crate) fn pack(&mut self, content: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let start = out.len();
        out.extend_from_slice(&[0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255]);
        out.extend_from_slice(&[12, 0, b'C', b'F', 8, 0]);
        out.extend_from_slice(&[0; 8]);
        self.0.reset();
        loop {
            let done = usize::try_from(self.0.total_in()).map_err(io::Error::other)?;
            let rest = content.get(done..).unwrap_or_default();
            out.reserve(rest.len() / 4 + 1024);
            let status = self.0.compress_vec(rest, out, FlushCompress::Finish)?;
            if status == Status::StreamEnd {
                break;
            }
        }
        let too_big = |_| io::Error::other("gzip member too big");
        let inflated = u32::try_from(content.len()).map_err(too_big)?;
        out.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
        out.extend_from_slice(&inflated.to_le_bytes());
        let whole = u32::try_from(out.len() - start).map_err(too_big)?;
        out[start + 16..start + 20].copy_from_slice(&whole.to_le_bytes());
        out[start + 20..start + 24].copy_from_slice(&inflated.to_le_bytes());
        Ok(())
    }
}

/// Appends `content` (at most 65,535 bytes) as one member that is stored, not compressed: its bytes follow from the
/// content alone.
pub(crate) fn stored(content: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let length =
        u16::try_from(content.len()).map_err(|_| io::Error::other("stored member too big"))?;
    let inflated = u32::from(length);
    let whole = inflated + 24 + 5 + 8;
    out.extend_from_slice(&[0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255]);
    out.extend_from_slice(&[12, 0, b'C', b'F', 8, 0]);
    out.extend_from_slice(&whole.to_le_bytes());
    out.extend_from_slice(&inflated.to_le_bytes());
    out.push(1);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(!length).to_le_bytes());
    out.extend_from_slice(content);
    out.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    out.extend_from_slice(&inflated.to_le_bytes());
    Ok(())
}

/// What is wrong with a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberFault {
    /// It inflates, but its sizes are not what it said: decode it as a stream.
    SizesLie,
    /// Its data is broken.
    Damaged(&'static str),
}

/// Inflates members, one after the other. A member is whole and says its size, and then libdeflate needs two thirds of the
/// time of a decoder that takes a stream.
pub(crate) struct Unpacker(Decompressor);

impl Unpacker {
    pub(crate) fn new() -> Self {
        Self(Decompressor::new())
    }

    /// Inflates a whole member into `out`, which must hold the size that the member said.
    pub(crate) fn unpack(
        &mut self,
        member: &[u8],
        sizes: MemberSizes,
        out: &mut [u8],
    ) -> Result<(), MemberFault> {
        let body_end = member.len().saturating_sub(TAIL_BYTES);
        let (Some(body), Some(tail)) = (member.get(HEAD_BYTES..body_end), member.get(body_end..))
        else {
            return Err(MemberFault::SizesLie);
        };
        let out = out.get_mut(..sizes.inflated).ok_or(MemberFault::SizesLie)?;
        // Whether the data ends before the trailer is not told; what is inflated has the sum that the trailer says.
        let inflated = self.0.deflate_decompress(body, out);
        if inflated != Ok(out.len()) {
            // The trailer says the inflated size once more: where both agree, the data is at fault.
            let said = u32::try_from(sizes.inflated).map(u32::to_le_bytes);
            let agrees = said.is_ok_and(|s| tail.get(4..) == Some(&s[..]));
            return Err(if agrees {
                MemberFault::Damaged("broken deflate data")
            } else {
                MemberFault::SizesLie
            });
        }
        if tail.get(..4) != Some(&crc32fast::hash(out).to_le_bytes()[..]) {
            return Err(MemberFault::Damaged("CRC-32 does not match"));
        }
        Ok(())
    }
}
