//! What bytes are before they are text: gzip, UTF-16, an archive or another binary file.

use std::io::Write as _;

use flate2::write::{GzEncoder, MultiGzDecoder};
use flate2::{Compression, GzBuilder};

use super::marker::Marker;
use super::{Content, Key, MAX_DEPTH, Redactor, clean_text};

/// Bytes that are looked at before anything is decided.
pub(super) const HEAD: usize = 512;
/// The most of a file that is held to be looked at as a whole; a larger one that cannot be searched is left out.
pub(super) const MAX_WHOLE: usize = 8 << 20;
/// The most that a gzip file may inflate to.
const MAX_INFLATED: u64 = 1 << 30;

/// What the beginning of a stream says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Lines of text.
    Text,
    /// One JSON value over several lines.
    Json,
    /// Gzip of something.
    Gzip,
    /// UTF-16 with a byte order mark; true for little-endian.
    Utf16(bool),
    /// Texts that end in NUL, such as an environment.
    Strings,
    /// An archive or key store that cannot be searched.
    Closed(&'static str),
    /// Any other binary file.
    Binary,
}

/// Decides by the first bytes (all of them, where there are fewer than [`HEAD`]).
pub(super) fn kind(head: &[u8]) -> Kind {
    const CLOSED: [(&[u8], &str); 8] = [
        (b"PK\x03\x04", "zip archive"),
        (b"\xfd7zXZ\0", "xz file"),
        (b"BZh", "bzip2 file"),
        (b"\x28\xb5\x2f\xfd", "zstd file"),
        (b"7z\xbc\xaf\x27\x1c", "7z archive"),
        (b"\xfe\xed\xfe\xed", "Java key store"),
        (b"SQLite format 3\0", "SQLite database"),
        (b"\xce\xce\xce\xce", "Java key store"),
    ];
    if head.starts_with(&[0x1f, 0x8b, 8]) {
        return Kind::Gzip;
    }
    if let Some((_, what)) = CLOSED.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Kind::Closed(what);
    }
    if head.get(257..262) == Some(b"ustar") {
        return Kind::Closed("tar archive");
    }
    if head.starts_with(&[0xff, 0xfe, 0, 0]) || head.starts_with(&[0, 0, 0xfe, 0xff]) {
        return Kind::Closed("UTF-32 file");
    }
    if head.starts_with(&[0xff, 0xfe]) && head.contains(&0) {
        return Kind::Utf16(true);
    }
    if head.starts_with(&[0xfe, 0xff]) && head.contains(&0) {
        return Kind::Utf16(false);
    }
    // ASCII in UTF-16 without its mark: every second byte is 0.
    let pairs = head.chunks_exact(2);
    if head.len() >= 8 && pairs.clone().all(|pair| pair[0] != 0 && pair[1] == 0) {
        return Kind::Utf16(true);
    }
    if head.len() >= 8 && pairs.clone().all(|pair| pair[0] == 0 && pair[1] != 0) {
        return Kind::Utf16(false);
    }
    let controls = head
        .iter()
        .filter(|b| (**b < 32 && !matches!(**b, b'\n' | b'\r' | b'\t' | 0x1b | 0x0c)) || **b == 127)
        .count();
    let nul = head.iter().filter(|b| **b == 0).count();
    let high = head.iter().filter(|b| **b >= 128).count();
    if head.starts_with(&[0x30]) && head.get(1).is_some_and(|b| *b >= 0x80) && high + controls > 8 {
        return Kind::Closed("DER file");
    }
    if nul > 0 && nul == controls && high == 0 && !head.windows(2).any(|two| two == [0, 0]) {
        return Kind::Strings;
    }
    let foreign = std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some());
    if nul > 0 || controls * 10 > head.len() || (foreign && high * 3 > head.len().max(24)) {
        return Kind::Binary;
    }
    let body = head.trim_ascii_start();
    let next = body.get(1..).unwrap_or_default().trim_ascii_start();
    let json = match body.first() {
        Some(b'{') => matches!(next.first(), Some(b'"' | b'}') | None),
        Some(b'[') => matches!(next.first(), Some(b'{' | b'"' | b']') | None),
        _ => false,
    };
    if json { Kind::Json } else { Kind::Text }
}

/// UTF-16 with its byte order mark, cleaned as text and written back the same way.
pub(super) fn utf16(bytes: &[u8], little: bool, depth: usize, marker: &mut Marker) -> Vec<u8> {
    let units = bytes.chunks_exact(2).map(|pair| match little {
        true => u16::from_le_bytes([pair[0], pair[1]]),
        false => u16::from_be_bytes([pair[0], pair[1]]),
    });
    let text: String = char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    let cleaned = marker.key().anonymous(clean_text(&text, depth + 1, marker));
    if cleaned == text {
        return bytes.to_vec();
    }
    let written = cleaned.encode_utf16();
    written
        .flat_map(|unit| match little {
            true => unit.to_le_bytes(),
            false => unit.to_be_bytes(),
        })
        .collect()
}

/// A binary file: whole where the texts in it hold nothing secret, left out otherwise.
pub(super) fn binary(bytes: &[u8], depth: usize, marker: &mut Marker) -> Vec<u8> {
    let mut texts = String::new();
    for text in bytes.split(|b| !(32..127).contains(b) && *b != b'\n') {
        if text.len() >= 6 {
            texts.push_str(&String::from_utf8_lossy(text));
            texts.push('\n');
        }
    }
    // Binary files are full of random letters: only what is surely secret leaves one out.
    let guesses = std::mem::replace(&mut marker.guesses, false);
    let cleaned = clean_text(&texts, depth + 1, marker);
    marker.guesses = guesses;
    if cleaned == texts {
        bytes.to_vec()
    } else {
        left_out("binary file", bytes, marker)
    }
}

/// What stands for a file that is left out.
pub(super) fn left_out(what: &str, bytes: &[u8], marker: &mut Marker) -> Vec<u8> {
    let mark = marker.mark("left-out", bytes);
    format!("{mark} {what} left out: it cannot be searched for secrets\n").into_bytes()
}

/// Gzip that is inflated, cleaned and packed again while it streams.
pub(super) struct Gzip {
    decoder: Option<MultiGzDecoder<Inner>>,
    failed: bool,
}

/// The middle: takes what was inflated.
struct Inner {
    redactor: Box<Redactor>,
    encoder: GzEncoder<Vec<u8>>,
    bytes: u64,
    cleaned: Vec<u8>,
    site: Key,
}

impl Inner {
    fn hand_on(&mut self) -> std::io::Result<()> {
        match self.site.site() {
            Some(site) => self.encoder.write_all(&site.bytes(&self.cleaned))?,
            None => self.encoder.write_all(&self.cleaned)?,
        }
        self.cleaned.clear();
        Ok(())
    }
}

impl std::io::Write for Inner {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len() as u64;
        if self.bytes > MAX_INFLATED {
            return Err(std::io::Error::other("too much"));
        }
        self.redactor.push(bytes, &mut self.cleaned);
        self.hand_on()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Gzip {
    pub(super) fn new(depth: usize, marker: &Marker) -> Self {
        let redactor = Redactor::nested(Content::Text, depth + 1, marker.key());
        Self {
            decoder: Some(MultiGzDecoder::new(Inner {
                redactor: Box::new(redactor),
                encoder: GzBuilder::new().write(Vec::new(), Compression::default()),
                bytes: 0,
                cleaned: Vec::new(),
                site: marker.key(),
            })),
            failed: depth >= MAX_DEPTH,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let Some(decoder) = self.decoder.as_mut().filter(|_| !self.failed) else {
            return;
        };
        self.failed = decoder.write_all(bytes).is_err();
        let packed = decoder.get_mut().encoder.get_mut();
        out.append(packed);
    }

    /// Ends the stream. What came behind a broken place is left out.
    pub(super) fn finish(&mut self, marker: &mut Marker, out: &mut Vec<u8>) {
        let Some(mut decoder) = self.decoder.take() else {
            return;
        };
        self.failed |= decoder.try_finish().is_err();
        let inner = decoder.get_mut();
        inner.redactor.finish(&mut inner.cleaned);
        if self.failed {
            let rest = left_out("the rest of a gzip file", b"", marker);
            inner.cleaned.extend_from_slice(&rest);
        }
        // Writing to memory does not fail.
        let _ = inner.hand_on();
        let _ = inner.encoder.try_finish();
        marker.absorb(inner.redactor.counts());
        out.append(inner.encoder.get_mut());
    }
}
