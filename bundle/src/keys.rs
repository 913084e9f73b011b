//! Keys: what an encrypted file (the age format) is opened with, and a run's own files are locked with.

use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use age::stream::{StreamReader, StreamWriter};
use age::x25519::{Identity, Recipient};
use age::{DecryptError, Decryptor, Encryptor};

/// How a file in the age format begins.
pub(crate) const AGE_MAGIC: &[u8] = b"age-encryption.org/";
/// An identity file is smaller than this.
const MAX_BYTES: u64 = 1 << 20;

/// Secret keys: `AGE-SECRET-KEY-1...`, as `age-keygen` writes them.
#[derive(Clone)]
pub struct Keys(Vec<Identity>);

/// Why a key file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}", path = path.display())]
pub struct KeyError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it, never its content.
    pub why: String,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}

impl Keys {
    /// A key that only this process has.
    pub fn of_this_run() -> Self {
        Self(vec![Identity::generate()])
    }

    /// Reads identity files; none where none is named.
    pub fn load(files: &[PathBuf]) -> Result<Option<Self>, KeyError> {
        let mut keys = Vec::new();
        for file in files {
            keys.extend(identities(file).map_err(|why| KeyError {
                path: file.clone(),
                why,
            })?);
        }
        Ok((!keys.is_empty()).then_some(Self(keys)))
    }

    /// Encrypts what is written to the result, to these keys and to the recipients. `finish` it.
    pub fn lock<W: Write>(&self, recipients: &[Recipient], out: W) -> io::Result<StreamWriter<W>> {
        let own: Vec<Recipient> = self.0.iter().map(Identity::to_public).collect();
        let all = own.iter().chain(recipients);
        let encryptor = Encryptor::with_recipients(all.map(|one| one as &dyn age::Recipient));
        encryptor
            .map_err(|error| io::Error::other(error.to_string()))?
            .wrap_output(out)
    }

    /// Decrypts a file; the reasons are for people.
    pub(crate) fn unlock<R: Read + Seek>(&self, file: R) -> Result<StreamReader<R>, String> {
        let why = |error: DecryptError| match error {
            DecryptError::NoMatchingKeys => {
                "encrypted for other keys than the given ones: ask the sender for whom".to_owned()
            }
            DecryptError::InvalidMac => "its age header was changed".to_owned(),
            DecryptError::Io(error) => format!("its age header is cut short or damaged: {error}"),
            _ => "its age header is damaged or of an unknown kind".to_owned(),
        };
        let identities = self.0.iter().map(|one| one as &dyn age::Identity);
        let decryptor = Decryptor::new(file).map_err(why)?;
        decryptor.decrypt(identities).map_err(why)
    }

    /// Decrypts what this process locked itself.
    pub(crate) fn reopen<R: Read>(&self, file: R) -> io::Result<StreamReader<R>> {
        let other = |error: DecryptError| io::Error::other(error.to_string());
        let identities = self.0.iter().map(|one| one as &dyn age::Identity);
        let decryptor = Decryptor::new(file).map_err(other)?;
        decryptor.decrypt(identities).map_err(other)
    }
}

fn identities(path: &Path) -> Result<Vec<Identity>, String> {
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot be read as a key: {error}"))?;
    if bytes.starts_with(AGE_MAGIC) || bytes.starts_with(b"-----BEGIN AGE") {
        return Err("is itself encrypted: decrypt the key first with age -d".to_owned());
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "cannot be read as a key: no text")?;
    let mut keys = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let key = line.parse().map_err(|_| {
            let number = number + 1;
            format!("line {number}: no age identity (AGE-SECRET-KEY-1..., as age-keygen writes it)")
        })?;
        keys.push(key);
    }
    if keys.is_empty() {
        return Err("no age identity in this file".to_owned());
    }
    Ok(keys)
}
