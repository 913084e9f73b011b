//! The key of a run's pseudonyms: equal secrets read equal within one bundle, and nothing links them across bundles.

use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest, Sha256};

/// Random, made once a run, never written anywhere.
#[derive(Clone)]
pub struct Key(Arc<[u8; 32]>);

impl Key {
    /// A fresh random key.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        // The system call itself: where there is no /dev, a static binary has no other way.
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        Ok(Self(Arc::new(bytes)))
    }

    /// The same key in every run: for tests that compare output.
    #[cfg(test)]
    pub fn fixed() -> Self {
        Self(Arc::new([7; 32]))
    }

    /// Eight hexadecimal digits that stand for a secret.
    pub fn pseudonym(&self, secret: &[u8]) -> String {
        let digest = Sha256::new()
            .chain_update(self.0.as_slice())
            .chain_update(secret)
            .finalize();
        let mut text = String::with_capacity(8);
        for byte in digest.iter().take(4) {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}
