//! Sets of bytes as tables, which are read without a search.

/// Letters and digits.
pub(crate) const LETTERS_AND_DIGITS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// The set of these bytes.
pub(crate) const fn of(marks: &[u8]) -> [bool; 256] {
    with([false; 256], marks)
}

/// A set and these bytes.
pub(crate) const fn with(mut table: [bool; 256], marks: &[u8]) -> [bool; 256] {
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
}

/// Whether all of a text is hexadecimal digits: eight at a time, for most texts show at once that they are not.
pub(crate) fn all_hex(text: &[u8]) -> bool {
    let (parts, rest) = text.as_chunks::<8>();
    let all = |part: &[u8]| {
        part.iter()
            .fold(true, |all, byte| all & byte.is_ascii_hexdigit())
    };
    parts.iter().all(|part| all(part)) && all(rest)
}
