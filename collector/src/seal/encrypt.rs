//! Encryption to recipients in the age format, as `age -r` does it: `age -d -i KEY` opens it.

use std::io::{self, Read, Write};
use std::path::Path;

use age::x25519;

use super::SealError;

/// Who may open a bundle.
pub struct Recipients(Vec<x25519::Recipient>);

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
        Ok((!list.is_empty()).then_some(Self(list)))
    }

    /// Copies everything from `from` to `to`, encrypted. Nothing is ever written plain.
    pub fn copy(&self, from: &mut dyn Read, to: &mut dyn Write) -> io::Result<()> {
        let recipients = self.0.iter().map(|one| one as &dyn age::Recipient);
        let encryptor = age::Encryptor::with_recipients(recipients)
            .map_err(|error| io::Error::other(error.to_string()))?;
        let mut writer = encryptor.wrap_output(to)?;
        io::copy(from, &mut writer)?;
        writer.finish()?.flush()
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
