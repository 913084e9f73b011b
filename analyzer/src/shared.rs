//! Texts that very many things hold: the path of an entry, a host, a speaker, the name of a capture. Each is kept once.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A text that never changes. Its copies share it, and so do most equal ones that a thread makes one after another.
#[derive(Clone, Default, Eq)]
pub struct Shared(Arc<str>);

/// Texts that a thread remembers, each in the place that its bytes say.
const REMEMBERED: usize = 256;
/// A longer text is no name, and is not remembered.
const LONGEST: usize = 200;

thread_local! {
    static LAST: RefCell<Vec<Shared>> = const { RefCell::new(Vec::new()) };
}

impl Shared {
    /// A text that hardly any other is equal to.
    pub fn alone(text: &str) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Shared {
    fn from(text: &str) -> Self {
        if text.is_empty() {
            return Self::default();
        }
        if text.len() > LONGEST {
            return Self::alone(text);
        }
        LAST.with_borrow_mut(|last| {
            last.resize(REMEMBERED, Self::default());
            let known = &mut last[place(text) % REMEMBERED];
            if known.as_str() != text {
                *known = Self::alone(text);
            }
            known.clone()
        })
    }
}

/// A number that equal texts share and few others.
fn place(text: &str) -> usize {
    let mix = |hash: u64, byte: u64| (hash ^ byte).wrapping_mul(0x0100_0000_01b3);
    let (eights, rest) = text.as_bytes().as_chunks::<8>();
    let eights = eights.iter().map(|eight| u64::from_le_bytes(*eight));
    let hash = eights.chain(rest.iter().map(|byte| u64::from(*byte)));
    (hash.fold(text.len() as u64, mix) >> 40) as usize
}

impl From<String> for Shared {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for Shared {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl Deref for Shared {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Shared {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl PartialOrd for Shared {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Shared {
    fn cmp(&self, other: &Self) -> Ordering {
        match Arc::ptr_eq(&self.0, &other.0) {
            true => Ordering::Equal,
            false => self.0.cmp(&other.0),
        }
    }
}

impl PartialEq<str> for Shared {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Shared {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for Shared {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl Serialize for Shared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_that_follow_one_another_are_kept_once_and_compare_as_texts_do() {
        let (one, same): (Shared, Shared) = ("nodes/a".into(), String::from("nodes/a").into());
        assert!(Arc::ptr_eq(&one.0, &same.0));
        let apart = Shared::alone("nodes/a");
        assert!(!Arc::ptr_eq(&one.0, &apart.0));
        assert_eq!((&one, one.cmp(&apart)), (&apart, Ordering::Equal));
        assert!(one.as_str() < "nodes/b");
        assert_eq!(serde_json::to_string(&one).unwrap(), "\"nodes/a\"");
    }

    proptest::proptest! {
        #[test]
        fn a_text_comes_back_whatever_was_remembered(texts in proptest::collection::vec("[a-c]{0,3}|.{0,300}", 0..40)) {
            let shared: Vec<Shared> = texts.iter().map(Shared::from).collect();
            proptest::prop_assert_eq!(shared, texts);
        }
    }
}
