//! A hash: the SHA-256 of an entry, as the manifest spells it (64 lower-case hex digits).

use sha2::{Digest, Sha256};

/// A SHA-256 being computed.
#[derive(Clone, Default, Debug)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Takes more of the content.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything taken.
    pub fn hex(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The SHA-256 of `bytes` in hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut hasher = Hasher::default();
    hasher.update(bytes);
    hasher.hex()
}
