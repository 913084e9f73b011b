//! Short forms of a rule file, and what is taken from its path: whatever a writer need not say twice.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::file::{Group, RuleFile};

/// Fills in what the path says: the cause is the file's name, the family its folder's.
pub(super) fn named(path: &str, mut file: RuleFile) -> RuleFile {
    let path = Path::new(path);
    if file.id.is_empty() {
        let stem = path.file_stem().unwrap_or_default();
        file.id = stem.to_string_lossy().into_owned();
    }
    if file.family.is_empty() {
        let folder = path.parent().and_then(Path::file_name);
        file.family = folder.unwrap_or_default().to_string_lossy().into_owned();
    }
    file
}

/// One text, or a list of them.
pub(super) fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct Texts;
    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a list of texts")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(one) = list.next_element()? {
                all.push(one);
            }
            Ok(all)
        }
    }
    from.deserialize_any(Texts)
}

/// A group that is one signal alone is written as its name.
struct Written(Group);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NameOrTable)
    }
}

struct NameOrTable;

impl<'de> Visitor<'de> for NameOrTable {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a signal, or all, any, none and same")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Written(Group {
            all: vec![name.to_owned()],
            ..Group::default()
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Group::deserialize(MapAccessDeserializer::new(map)).map(Written)
    }
}

/// Groups, of which one that is a signal alone may be its name.
pub(super) fn groups<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Group>, D::Error> {
    let written = Vec::<Written>::deserialize(from)?;
    Ok(written.into_iter().map(|one| one.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::file::Expect;

    const SHORT: &str = "\
title: T
severity: low
signals: { seen: { line: 'it broke', says: it broke } }
likely: [seen, { all: [seen], none: [other] }]
references: https://example.org
examples:
  - likely: it is said
    text: it broke
";

    #[test]
    fn short_forms_say_the_same_as_long_ones() {
        let file = named(
            "x/network/it-broke.yaml",
            serde_saphyr::from_str(SHORT).unwrap(),
        );
        assert_eq!(
            (file.id.as_str(), file.family.as_str()),
            ("it-broke", "network")
        );
        let long = SHORT.replace("likely: [seen,", "likely: [{ all: [seen] },");
        let long = long.replace("https://example.org", "[https://example.org]");
        let long: RuleFile = serde_saphyr::from_str(&long).unwrap();
        assert_eq!(
            (file.likely, file.references),
            (long.likely, long.references)
        );
        let example = &file.examples.all()[0];
        assert!(matches!(example.expect, Expect::Likely) && example.name == "it is said");
        assert_eq!(example.files["pasted.txt"], "it broke\n");
    }

    #[test]
    fn what_is_written_wrong_is_said_in_the_words_of_the_file() {
        for (from, to, part) in [
            ("[seen, {", "[seen, { al: [seen],", "al"),
            (
                "likely: [seen",
                "likely: [[seen]",
                "the name of a signal, or all",
            ),
            (
                "https://example.org",
                "{ a: b }",
                "a text or a list of texts",
            ),
            ("text: it broke", "text: [it broke]", "text holds no text"),
        ] {
            let text = SHORT.replace(from, to);
            let said = serde_saphyr::from_str::<RuleFile>(&text)
                .unwrap_err()
                .to_string();
            assert!(said.contains(part), "{said}");
        }
    }
}
