//! What the programs that make tables of surprise share.

use std::path::Path;

/// Hands over each text below a folder that is not larger than this, in bytes.
pub(crate) fn texts(folder: &Path, largest: u64, each: &mut dyn FnMut(&str)) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(about) = entry.metadata() else {
            continue;
        };
        if about.is_dir() {
            texts(&path, largest, each);
        } else if about.is_file()
            && about.len() <= largest
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            each(&text);
        }
    }
}

/// Bits of surprise in quarters, as one printable letter.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and 63"
)]
pub(crate) fn printed(probability: f64) -> char {
    let quarters = (-probability.log2() * 4.0).round().clamp(0.0, 63.0);
    char::from(b'0' + quarters as u8)
}
