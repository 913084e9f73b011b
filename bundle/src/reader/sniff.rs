//! Sniffing: what a file is, by its first bytes.

use tar::Header;

use super::tar_block::checksum_fits;

/// Bytes that are enough to tell.
pub(crate) const SNIFF_BYTES: usize = 512;

/// The forms that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Magic {
    Gzip,
    Tar,
    Other,
}

/// Tells the form of a file from its first bytes.
pub(crate) fn magic(head: &[u8]) -> Magic {
    if head.starts_with(&[0x1f, 0x8b]) {
        return Magic::Gzip;
    }
    let is_tar = match head.first_chunk::<512>() {
        Some(block) => checksum_fits(Header::from_byte_slice(block)),
        None => false,
    };
    if is_tar { Magic::Tar } else { Magic::Other }
}

/// Names what a file that is no bundle looks like.
pub(crate) fn looks_like(head: &[u8]) -> String {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"PK\x03\x04", "a zip file"),
        (b"\xfd7zXZ\0", "an xz file"),
        (b"\x28\xb5\x2f\xfd", "a zstd file"),
        (b"BZh", "a bzip2 file"),
        (b"7z\xbc\xaf\x27\x1c", "a 7-zip file"),
        (b"\x04\x22\x4d\x18", "an lz4 file"),
        (
            b"age-encryption.org/",
            "encrypted with age: name its key with --identity KEY, or decrypt it first with age -d -i KEY -o FILE.tar.gz FILE.tar.gz.age",
        ),
        (
            b"-----BEGIN AGE ENCRYPTED FILE",
            "encrypted with age: decrypt it first with age -d -i KEY -o FILE.tar.gz FILE.tar.gz.age",
        ),
        (b"-----BEGIN PGP", "encrypted or signed with PGP"),
        (b"\x1f\x8b", "gzip inside gzip: decompress it once first"),
        (b"\x7fELF", "a program"),
        (b"%PDF", "a PDF document"),
    ];
    if head.is_empty() {
        return "nothing inside".to_owned();
    }
    if head.iter().all(|b| *b == 0) {
        return "it starts with zeros: an empty archive or a damaged file".to_owned();
    }
    for (magic, name) in KNOWN {
        if head.starts_with(magic) {
            return format!("it looks like {name}");
        }
    }
    let text = match std::str::from_utf8(head) {
        Ok(text) => Some(text),
        // The end of the sniffed bytes may cut a character in two.
        Err(e) if e.error_len().is_none() => head
            .get(..e.valid_up_to())
            .and_then(|b| std::str::from_utf8(b).ok()),
        Err(_) => None,
    };
    match text {
        Some(t) if t.trim_start().starts_with(['{', '[']) => "it looks like JSON".to_owned(),
        Some(t)
            if !t
                .chars()
                .any(|c| c.is_control() && !c.is_whitespace() && c != '\u{1b}') =>
        {
            "it looks like plain text".to_owned()
        }
        _ => "neither gzip nor tar, and of no known kind".to_owned(),
    }
}
