//! Which of many roots a path lies in, in a few look-ups: an archive may hold as many captures as files.

use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};

/// The longest of the roots that a path starts with.
pub(super) fn innermost<'r, V>(roots: &'r BTreeMap<String, V>, path: &str) -> Option<&'r V> {
    let mut path = path;
    loop {
        // Whatever stands between a beginning of the path and the path starts with that beginning as well.
        let (root, value) = roots
            .range::<str, _>((Unbounded, Included(path)))
            .next_back()?;
        if path.starts_with(root.as_str()) {
            return Some(value);
        }
        let alike = path.bytes().zip(root.bytes());
        let alike = alike.take_while(|(one, other)| one == other).count();
        path = &path[..path.floor_char_boundary(alike)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};

    proptest::proptest! {
        #[test]
        fn the_innermost_root_is_the_longest_that_the_path_starts_with(
            roots in btree_set("([ab\u{e9}\u{ea}/]{0,2}/){0,3}", 0..8),
            paths in vec("[ab\u{e9}\u{ea}/]{0,8}", 1..8),
        ) {
            let known: BTreeMap<String, &String> = roots.iter().map(|root| (root.clone(), root)).collect();
            for path in &paths {
                let around = roots.iter().filter(|root| path.starts_with(root.as_str()));
                let longest = around.max_by_key(|root| root.len());
                proptest::prop_assert_eq!(innermost(&known, path).copied(), longest, "{}", path);
            }
        }
    }
}
