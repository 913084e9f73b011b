//! The examples inside a rule, read when a test of the rule asks for them: no diagnosis does.

use std::sync::OnceLock;

use casefile_catalogue_files::examples;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;

use super::file::{Example, RuleFile};

/// Cases that a rule must judge as stated.
#[derive(Debug, Clone, Default)]
pub struct Examples {
    /// Of a shipped rule its text, and its examples as JSON.
    shipped: (&'static str, &'static str),
    read: OnceLock<Vec<Example>>,
}

impl Examples {
    /// Those of a shipped rule, of which the text is given as well: what JSON takes for another kind of value says the same
    /// there.
    pub(super) fn shipped(text: &'static str, examples: &'static str) -> Self {
        Self {
            shipped: (text, examples),
            read: OnceLock::new(),
        }
    }

    /// All of them, each with all of its files.
    pub fn all(&self) -> &[Example] {
        self.read.get_or_init(|| {
            let (text, examples) = self.shipped;
            let from_text = || {
                let file: RuleFile = serde_saphyr::from_str(text).ok()?;
                file.examples.read.into_inner()
            };
            let from_json = serde_json::from_str::<Self>(examples).ok();
            let read = from_json.and_then(|all| all.read.into_inner());
            read.or_else(from_text).unwrap_or_default()
        })
    }

    /// Forgets them.
    #[cfg(test)]
    pub(super) fn clear(&mut self) {
        self.read = OnceLock::from(Vec::new());
    }
}

impl<'de> Deserialize<'de> for Examples {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = Vec::<Value>::deserialize(from)?;
        let read = examples::examples(&written).map_err(D::Error::custom)?;
        let each = read.into_iter().map(|one| {
            let verdict = Value::from(one.verdict);
            Ok(Example {
                name: one.name,
                expect: serde_json::from_value(verdict).map_err(D::Error::custom)?,
                files: one.files,
            })
        });
        let read: Result<Vec<Example>, D::Error> = each.collect();
        Ok(Self {
            shipped: Default::default(),
            read: OnceLock::from(read?),
        })
    }
}
