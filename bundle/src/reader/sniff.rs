//! Sniffing: what a file is, by its first bytes.

use tar::Header;

use super::tar_block::checksum_fits;

/// Bytes that are enough to tell.
pub(crate) const SNIFF_BYTES: usize = 512;

/// The forms that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Magic {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    Lz4,
    Zip,
    Seven,
    Tar,
    Other,
}

/// First bytes of what is opened.
const OPENED: &[(&[u8], Magic)] = &[
    (&[0x1f, 0x8b], Magic::Gzip),
    (b"BZh", Magic::Bzip2),
    (b"\xfd7zXZ\0", Magic::Xz),
    (b"\x28\xb5\x2f\xfd", Magic::Zstd),
    (b"\x04\x22\x4d\x18", Magic::Lz4),
    (b"PK\x03\x04", Magic::Zip),
    (b"PK\x05\x06", Magic::Zip),
    (b"7z\xbc\xaf\x27\x1c", Magic::Seven),
];
/// What a bzip2 stream's first block, or its end, begins with.
const BZIP2_BLOCKS: [&[u8]; 2] = [b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"];

/// Tells the form of a file from its first bytes.
pub(crate) fn magic(head: &[u8]) -> Magic {
    if let Some((_, magic)) = OPENED.iter().find(|(magic, _)| head.starts_with(magic)) {
        let block = head.get(4..10).unwrap_or_default();
        return match magic {
            Magic::Bzip2 if !BZIP2_BLOCKS.contains(&block) => Magic::Other,
            magic => *magic,
        };
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
        (
            b"age-encryption.org/",
            "encrypted with age: name its key with --identity KEY, or decrypt it first with age -d -i KEY -o FILE.tar.gz FILE.tar.gz.age",
        ),
        (
            b"-----BEGIN AGE ENCRYPTED FILE",
            "encrypted with age: decrypt it first with age -d -i KEY -o FILE.tar.gz FILE.tar.gz.age",
        ),
        (b"-----BEGIN PGP", "encrypted or signed with PGP"),
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
    match text(head) {
        Some(t) if t.trim_start().starts_with(['{', '[']) => "it looks like JSON".to_owned(),
        Some(_) => "it looks like plain text".to_owned(),
        None => "neither an archive nor text, and of no known kind".to_owned(),
    }
}

/// The first bytes as text; none where they hold what no text does.
pub(crate) fn text(head: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The end of the sniffed bytes may cut a character in two.
        Err(e) if e.error_len().is_none() => {
            std::str::from_utf8(head.get(..e.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let odd = |c: char| c.is_control() && !c.is_whitespace() && !matches!(c, '\u{1b}' | '\u{8}');
    (!text.chars().any(odd)).then_some(text)
}
