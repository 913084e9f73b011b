//! The key of a run's pseudonyms: equal secrets read equal within one bundle, and nothing links them across bundles.

use std::any::Any;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use ring::hmac;

use super::keep::Keep;
use super::known::Known;

/// The most secret values that are remembered for the leak check, and how much of each.
const MAX_SEEN: usize = 100_000;
const MAX_SEEN_BYTES: usize = 512;
/// A shorter value stands in too many harmless places to be searched for.
const MIN_SEEN_BYTES: usize = 8;

/// What replaces names and addresses of a site in everything that passes the redaction. The collector's is one; a program
/// that replaces none needs none.
pub trait Site: Any + Send + Sync {
    /// A text with the site's names replaced.
    fn text(&self, text: &str) -> String;

    /// Bytes with the site's names replaced.
    fn bytes(&self, bytes: &[u8]) -> Vec<u8>;
}

/// Random, made once a run, never written anywhere. It also remembers, in memory, the secret values of this run, so
/// that the leak check can search the finished bundle for each of them.
#[derive(Clone)]
pub struct Key {
    inner: Arc<Inner>,
    site: Option<Arc<dyn Site>>,
    keep: Option<Arc<Keep>>,
}

struct Inner {
    key: hmac::Key,
    known: Arc<Known>,
    seen: Mutex<HashSet<Box<[u8]>>>,
}

impl Key {
    /// A fresh random key.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        // The system call itself: where there is no /dev, a static binary has no other way.
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        Ok(Self::from_bytes(&bytes))
    }

    /// The key that these bytes make. Whoever knows them can find out which secret a pseudonym stands for, so a bundle is
    /// written under a random one; tests that compare output know theirs.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self {
            inner: Arc::new(Inner {
                key: hmac::Key::new(hmac::HMAC_SHA256, bytes),
                known: Arc::new(Known::new()),
                seen: Mutex::new(HashSet::new()),
            }),
            site: None,
            keep: None,
        }
    }

    /// The same key, with which names and addresses of the site are replaced as well.
    pub fn with_site(&self, site: Arc<dyn Site>) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            site: Some(site),
            keep: self.keep.clone(),
        }
    }

    /// The same key, which leaves unexplained texts in clear that these expressions match as a whole.
    pub fn with_kept(&self, keep: Arc<Keep>) -> Self {
        Self {
            keep: Some(keep),
            ..self.clone()
        }
    }

    /// Whether an unexplained text stays in clear.
    pub fn keeps(&self, text: &str) -> bool {
        self.keep.as_ref().is_some_and(|keep| keep.matches(text))
    }

    /// The ids of this run that a place explained.
    pub(super) fn known(&self) -> &Arc<Known> {
        &self.inner.known
    }

    /// What replaces names and addresses, where that is wanted.
    pub fn site(&self) -> Option<&dyn Site> {
        self.site.as_deref()
    }

    /// A text with names and addresses of the site replaced, where that is wanted.
    pub(crate) fn anonymous(&self, text: String) -> String {
        match self.site() {
            Some(site) => site.text(&text),
            None => text,
        }
    }

    /// The same key in every run: for tests that compare output.
    #[cfg(test)]
    pub(crate) fn fixed() -> Self {
        Self::from_bytes(&[7; 32])
    }

    /// HMAC-SHA256 of a text.
    pub fn digest(&self, text: &[u8]) -> [u8; 32] {
        let tag = hmac::sign(&self.inner.key, text);
        let mut bytes = [0; 32];
        bytes.copy_from_slice(tag.as_ref());
        bytes
    }

    /// Eight hexadecimal digits that stand for a secret.
    pub fn pseudonym(&self, secret: &[u8]) -> String {
        casefile_bundle::hex(&self.digest(secret)[..4])
    }

    /// Keeps a secret's value in memory until the run ends, for the leak check.
    pub fn remember(&self, secret: &[u8]) {
        if secret.len() < MIN_SEEN_BYTES {
            return;
        }
        let secret = &secret[..secret.len().min(MAX_SEEN_BYTES)];
        let mut seen = self
            .inner
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MAX_SEEN && !seen.contains(secret) {
            seen.insert(secret.into());
        }
    }

    /// The values so far, sorted.
    pub fn seen(&self) -> Vec<Box<[u8]>> {
        let seen = self
            .inner
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut values: Vec<_> = seen.iter().cloned().collect();
        values.sort();
        values
    }
}
