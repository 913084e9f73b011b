//! A few letters in lower case, without memory of their own.

/// So many are looked at.
const ROOM: usize = 64;

/// The last letters of a text in lower case; what is no ASCII stands there as a question mark, which no word has.
pub(super) struct Lower {
    bytes: [u8; ROOM],
    length: usize,
}

impl Lower {
    pub(super) fn of(text: &[u8]) -> Self {
        let text = &text[text.len().saturating_sub(ROOM)..];
        let mut bytes = [0; ROOM];
        for (to, from) in bytes.iter_mut().zip(text) {
            *to = match from.is_ascii() {
                true => from.to_ascii_lowercase(),
                false => b'?',
            };
        }
        Self {
            bytes,
            length: text.len(),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        // All of it is ASCII.
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}
