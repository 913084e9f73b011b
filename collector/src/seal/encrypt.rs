//! Encryption to recipients in the age format, as `age -r` does it: `age -d -i KEY` opens it.

use std::io::{self, Write};
use std::path::Path;

use age::stream::StreamWriter;
use age::x25519;
use casefile_bundle::Keys;

use super::SealError;

/// Who may open a bundle. This run is one of them, with a key that is never written: it has to search the finished
/// file for leaks, and to read back what big entries left in temporary files.
pub struct Recipients {
    list: Vec<x25519::Recipient>,
    own: Keys,
}

impl Recipients {
    /// Each text is a recipient (`age1...`) or a file with one in each line.
    pub fn parse(texts: &[String]) -> Result<Option<Self>, SealError> {
        let mut list = Vec::new();
        for text in texts {
            if text.starts_with("age1") {
                list.push(one(text, &format!("--encrypt-to {text}"))?);
                continue;
            }
            let name = format!("--encrypt-to {text}");
            let content = std::fs::read_to_string(Path::new(text)).map_err(|error| {
                SealError::new(
                    &name,
                    format!("neither a recipient (age1...) nor a readable file: {error}"),
                )
            })?;
            let before = list.len();
            for (number, line) in content.lines().enumerate() {
                let line = line.trim();
                if !line.is_empty() && !line.starts_with('#') {
                    list.push(one(line, &format!("{name}: line {}", number + 1))?);
                }
            }
            if list.len() == before {
                return Err(SealError::new(&name, "no recipient in this file"));
            }
        }
        Ok((!list.is_empty()).then(|| Self {
            list,
            own: Keys::of_this_run(),
        }))
    }

    /// Encrypts what is written to the result; `finish` it. Nothing of it is ever written plain.
    pub fn lock<W: Write>(&self, to: W) -> io::Result<StreamWriter<W>> {
        self.own.lock(&self.list, to)
    }

    /// What opens the file in this run.
    pub fn keys(&self) -> &Keys {
        &self.own
    }
}

fn one(text: &str, name: &str) -> Result<x25519::Recipient, SealError> {
    if text.starts_with("AGE-SECRET-KEY-") {
        return Err(SealError::new(
            "--encrypt-to",
            "this is a secret key, not a recipient: give what age-keygen -y prints for it",
        ));
    }
    text.parse()
        .map_err(|why: &str| SealError::new(name, format!("no age recipient: {why}")))
}
