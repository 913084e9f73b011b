//! `daemon.json` as Go decodes it: which JSON it takes, which keys it knows, and which types they may have.

use std::fmt;
use std::net::IpAddr;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::keys::{self, Key, Kind, Release};

/// The entries of a table in their order, keys that stand twice included.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries(pub(super) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Entries;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Entries(pairs))
            }
        }
        from.deserialize_map(Pairs)
    }
}

/// Reads the text; the error has a sentence and a line.
pub(super) fn parse(text: &str, release: Release) -> Result<Entries, (String, usize)> {
    let mark = text.starts_with('\u{feff}');
    if release == Release::V20 {
        return first_value(text, mark);
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(Entries::default());
    }
    let read = serde_json::from_str::<Option<Entries>>(text);
    read.map(Option::unwrap_or_default)
        .map_err(|error| (error.to_string(), error.line()))
}

/// Until 20.10 an empty file and a byte order mark were errors, and what follows the first value was not looked at.
fn first_value(text: &str, mark: bool) -> Result<Entries, (String, usize)> {
    if mark {
        let why = "invalid character at its start: this release takes no byte order mark";
        return Err((why.to_owned(), 1));
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Option<Entries>>();
    match values.next() {
        Some(Ok(entries)) => Ok(entries.unwrap_or_default()),
        Some(Err(error)) => Err((error.to_string(), error.line())),
        None => Err(("EOF: this release takes no empty file".to_owned(), 1)),
    }
}

impl Entries {
    /// The keys that count as settings: those of a group stand for the group.
    pub(super) fn settings(&self, release: Release) -> Vec<(&str, &Value)> {
        let mut out: Vec<(&str, &Value)> = Vec::new();
        for (key, value) in &self.0 {
            match value {
                Value::Object(inside) if !keys::is_flat(key, release) => {
                    out.extend(inside.iter().map(|(key, value)| (key.as_str(), value)));
                }
                _ => out.push((key, value)),
            }
        }
        out
    }

    /// The value that counts: the last one, and of tables by name all together.
    pub(super) fn get(&self, name: &str) -> Option<Value> {
        let mut found: Option<Value> = None;
        for (_, value) in self.0.iter().filter(|(key, _)| key == name) {
            match (&mut found, value) {
                (Some(Value::Object(all)), Value::Object(more)) => all.extend(more.clone()),
                (_, Value::Null) => {}
                (found, value) => *found = Some(value.clone()),
            }
        }
        found
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        let found = self.get(name)?.as_str()?.to_owned();
        Some(found).filter(|text| !text.is_empty())
    }

    pub(super) fn list(&self, name: &str) -> Option<Vec<String>> {
        let found = self.get(name)?;
        let items = found.as_array()?.iter();
        Some(
            items
                .map(|one| one.as_str().unwrap_or_default().to_owned())
                .collect(),
        )
    }

    pub(super) fn switch(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }
}

/// The setting that a key of the file sets, if it sets one.
pub(super) fn field(name: &str, release: Release) -> Option<&'static Key> {
    keys::of(release).find(|key| key.field == name)
}

/// Whether a key is accepted: a field, or the name of a flag.
pub(super) fn is_known(name: &str, release: Release) -> bool {
    keys::of(release).any(|key| key.field == name || key.flag == name)
}

/// What is wrong with the type of a value; `None` where Go decodes it.
pub(super) fn wrong_type(value: &Value, kind: Kind, release: Release) -> Option<String> {
    if value.is_null() {
        return None;
    }
    let wants = |wanted: &str| Some(format!("cannot unmarshal {} into {wanted}", named(value)));
    let each = |wanted: &str, test: &dyn Fn(&Value) -> Option<String>| match value {
        Value::Array(items) => items.iter().find_map(test),
        _ => wants(wanted),
    };
    let by_name = |test: &dyn Fn(&Value) -> Option<String>| match value {
        Value::Object(items) => items.values().find_map(test),
        _ => wants("a table"),
    };
    match kind {
        Kind::Bool => (!value.is_boolean()).then(|| wants("a boolean"))?,
        Kind::Int => (!value.is_i64()).then(|| wants("a whole number"))?,
        Kind::Text => (!value.is_string()).then(|| wants("a string"))?,
        Kind::List => each("a list of strings", &|one| {
            wrong_type(one, Kind::Text, release)
        }),
        Kind::Map => by_name(&|one| wrong_type(one, Kind::Text, release)),
        Kind::Maps => by_name(&|one| wrong_type(one, Kind::Map, release)),
        Kind::Switches => by_name(&|one| wrong_type(one, Kind::Bool, release)),
        Kind::Ip => address(value),
        Kind::Ips => each("a list of addresses", &address),
        Kind::Bytes => size(value),
        Kind::Ulimits => by_name(&|one| ulimit(one, release)),
        Kind::Pools => each("a list of pools", &|one| {
            (!one.is_object() && !one.is_null())
                .then(|| format!("cannot unmarshal {} into a pool", named(one)))
        }),
        Kind::Runtimes => by_name(&|one| runtime(one, release)),
        Kind::Table => (!value.is_object()).then(|| wants("a table"))?,
        Kind::Nothing => None,
    }
}

fn named(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn address(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() || text.parse::<IpAddr>().is_ok() => None,
        Value::String(text) => Some(format!("{text} is an invalid IP address")),
        Value::Null => None,
        _ => Some(format!("cannot unmarshal {} into an address", named(value))),
    }
}

/// A number with an optional unit, as `64m` or `1.5 GiB`.
fn size(value: &Value) -> Option<String> {
    let Value::String(text) = value else {
        return Some(format!("invalid size: {value}"));
    };
    let number = text
        .trim_end_matches(|c: char| c.is_ascii_alphabetic())
        .trim_end();
    let unit = text.trim_start_matches(number).trim().to_ascii_lowercase();
    let unit = unit
        .strip_suffix("ib")
        .or(unit.strip_suffix('b'))
        .unwrap_or(&unit);
    let good = number.parse::<f64>().is_ok_and(|size| size >= 0.0)
        && matches!(unit, "" | "k" | "m" | "g" | "t" | "p");
    (!good).then(|| format!("invalid size: {text:?}"))
}

fn ulimit(value: &Value, release: Release) -> Option<String> {
    let known = [
        ("name", Kind::Text),
        ("hard", Kind::Int),
        ("soft", Kind::Int),
    ];
    fields(value, &known, release)
}

/// The oldest releases know neither a runtime's type nor its options.
fn runtime(value: &Value, release: Release) -> Option<String> {
    let known = [
        ("path", Kind::Text),
        ("runtimeArgs", Kind::List),
        ("runtimeType", Kind::Text),
        ("options", Kind::Table),
    ];
    let count = if release == Release::V20 { 2 } else { 4 };
    fields(value, known.get(..count)?, release)
}

fn fields(value: &Value, known: &[(&str, Kind)], release: Release) -> Option<String> {
    let inside = match value {
        Value::Object(inside) => inside,
        Value::Null => return None,
        _ => return Some(format!("cannot unmarshal {} into a table", named(value))),
    };
    inside.iter().find_map(|(name, value)| {
        // Go takes a field's name in any case.
        let (_, kind) = known
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))?;
        wrong_type(value, *kind, release).map(|why| format!("{name}: {why}"))
    })
}
