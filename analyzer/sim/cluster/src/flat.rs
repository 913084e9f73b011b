//! Maps of few entries.
//!
//! The first entry of a B-tree takes a node of more than half a kilobyte. A large cluster has very many maps of one or two:
//! labels, selectors, resources. These are kept as a sorted list, and as a tree where they are long.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

/// More entries than this are kept as a tree, so that adding one by one to a long map stays quick.
const FEW: usize = 32;

/// A map in the order of its keys.
#[derive(Clone)]
pub struct Flat<K, V>(Kept<K, V>);

#[derive(Clone)]
enum Kept<K, V> {
    Few(Vec<(K, V)>),
    Many(BTreeMap<K, V>),
}

impl<K: Ord, V> Flat<K, V> {
    /// One without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// One with these entries; of those with one key the last counts.
    fn of(mut entries: Vec<(K, V)>) -> Self {
        // The API server writes maps in the order of their keys.
        if entries.len() <= FEW && entries.is_sorted_by(|(one, _), (next, _)| one < next) {
            entries.shrink_to_fit();
            return Self(Kept::Few(entries));
        }
        let mut map = Self::default();
        map.extend(entries);
        map
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match &self.0 {
            Kept::Few(few) => {
                let at = few
                    .binary_search_by(|(one, _)| one.borrow().cmp(key))
                    .ok()?;
                few.get(at).map(|(_, value)| value)
            }
            Kept::Many(many) => many.get(key),
        }
    }

    /// Whether there is a value of a key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: K, value: V) {
        match &mut self.0 {
            Kept::Few(few) => match few.binary_search_by(|(one, _)| one.cmp(&key)) {
                Ok(at) => few[at].1 = value,
                Err(at) if few.len() < FEW => {
                    few.reserve_exact(1);
                    few.insert(at, (key, value));
                }
                Err(_) => {
                    let mut many: BTreeMap<K, V> = std::mem::take(few).into_iter().collect();
                    many.insert(key, value);
                    self.0 = Kept::Many(many);
                }
            },
            Kept::Many(many) => {
                many.insert(key, value);
            }
        }
    }

    /// Keeps the entries that a function wants.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        match &mut self.0 {
            Kept::Few(few) => {
                few.retain_mut(|(key, value)| keep(key, value));
                few.shrink_to_fit();
            }
            Kept::Many(many) => many.retain(keep),
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::Few(few) => few.len(),
            Kept::Many(many) => many.len(),
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries.
    pub fn iter(&self) -> Entries<'_, K, V> {
        self.into_iter()
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// All values.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

/// Entries of a map, one after the other.
pub enum Entries<'a, K, V> {
    /// Of a short one.
    Few(std::slice::Iter<'a, (K, V)>),
    /// Of a long one.
    Many(std::collections::btree_map::Iter<'a, K, V>),
}

impl<K, V> Clone for Entries<'_, K, V> {
    fn clone(&self) -> Self {
        match self {
            Self::Few(few) => Self::Few(few.clone()),
            Self::Many(many) => Self::Many(many.clone()),
        }
    }
}

impl<'a, K, V> Iterator for Entries<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Few(few) => few.next().map(|(key, value)| (key, value)),
            Self::Many(many) => many.next(),
        }
    }
}

impl<'a, K: Ord, V> IntoIterator for &'a Flat<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Entries<'a, K, V>;

    fn into_iter(self) -> Entries<'a, K, V> {
        match &self.0 {
            Kept::Few(few) => Entries::Few(few.iter()),
            Kept::Many(many) => Entries::Many(many.iter()),
        }
    }
}

impl<K: Ord, V> IntoIterator for Flat<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        let entries = match self.0 {
            Kept::Few(few) => few,
            Kept::Many(many) => many.into_iter().collect(),
        };
        entries.into_iter()
    }
}

impl<K: Ord, V> Extend<(K, V)> for Flat<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Flat<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::of(entries.into_iter().collect())
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for Flat<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V> Default for Flat<K, V> {
    fn default() -> Self {
        Self(Kept::Few(Vec::new()))
    }
}

impl<K: Ord, V: PartialEq> PartialEq for Flat<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Ord, V: Eq> Eq for Flat<K, V> {}

impl<K: Ord + fmt::Debug, V: fmt::Debug> fmt::Debug for Flat<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Ord + Serialize, V: Serialize> Serialize for Flat<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Flat<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map<K, V>(PhantomData<(K, V)>);
        impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Map<K, V> {
            type Value = Flat<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut read = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    read.push(entry);
                }
                Ok(Flat::of(read))
            }
        }
        deserializer.deserialize_map(Map(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_map_and_a_long_one_do_what_a_tree_does() {
        for most in [0, 1, 5, 32, 33, 200] {
            let entries = (0..most * 3).map(|at| (format!("k{}", at * 7919 % most), at));
            let tree: BTreeMap<String, usize> = entries.clone().collect();
            let mut flat: Flat<String, usize> = entries.collect();
            assert!(flat.iter().eq(tree.iter()) && flat.len() == tree.len());
            assert_eq!(flat.get("k3"), tree.get("k3"));
            let text = serde_json::to_string(&flat).unwrap();
            assert_eq!(text, serde_json::to_string(&tree).unwrap());
            assert_eq!(
                serde_json::from_str::<Flat<_, _>>(&text).ok(),
                Some(flat.clone())
            );
            flat.retain(|key, _| key != "k3");
            assert!(!flat.contains_key("k3"));
        }
    }
}
