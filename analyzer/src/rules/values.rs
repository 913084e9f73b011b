//! The texts that a rule's sentences are filled with, by name.
//!
//! A large cluster has very many facts that signals are seen on, each with some twenty of them: as a map of texts they would
//! take several kilobytes a fact.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Texts by name: the names sorted, which facts of one kind share, and one text that holds all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values {
    names: Arc<[Box<str>]>,
    text: Box<str>,
    /// Where each of them ends.
    ends: Box<[u32]>,
}

impl Values {
    /// Packs texts; names that are those of `like` are not held again.
    pub(super) fn like<N: AsRef<str>, T: AsRef<str>>(
        texts: &BTreeMap<N, T>,
        like: Option<&Self>,
    ) -> Self {
        let is_alike = |like: &&Self| {
            let names = texts.keys().zip(like.names.iter());
            texts.len() == like.names.len() && names.into_iter().all(|(a, b)| a.as_ref() == &**b)
        };
        let names = match like.filter(is_alike) {
            Some(like) => Arc::clone(&like.names),
            None => texts.keys().map(|name| name.as_ref().into()).collect(),
        };
        let values = texts.values().map(AsRef::as_ref);
        let mut text = String::with_capacity(values.clone().map(str::len).sum());
        let ends = values.map(|value| {
            text.push_str(value);
            u32::try_from(text.len()).unwrap_or(u32::MAX)
        });
        let ends = ends.collect();
        Self {
            names,
            text: text.into_boxed_str(),
            ends,
        }
    }

    /// The text of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let at = self.names.binary_search_by(|one| (**one).cmp(name)).ok()?;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        let range = start as usize..*self.ends.get(at)? as usize;
        self.text.get(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_names_which_alike_ones_share() {
        let texts = |c: &str| -> BTreeMap<String, String> {
            let pairs = [("b", ""), ("a", "\u{fc}ber"), ("c", c)];
            pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).into()
        };
        let first = Values::like(&texts("x"), None);
        let second = Values::like(&texts("yz"), Some(&first));
        assert!(Arc::ptr_eq(&first.names, &second.names));
        let all = ["a", "b", "c", "d"].map(|name| second.get(name));
        assert_eq!(all, [Some("\u{fc}ber"), Some(""), Some("yz"), None]);
        assert_eq!(first.get("c"), Some("x"));
        assert_eq!(Values::default().get("a"), None);
    }
}
