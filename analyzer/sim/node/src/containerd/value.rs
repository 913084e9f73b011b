//! A setting of a TOML file with the line that made it, and the settings it took the place of.

use std::collections::BTreeMap;

use serde::Serialize;

/// A line of a captured file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct FileLine {
    /// The path on the host.
    pub host_path: String,
    /// The path of the copy in the bundle.
    pub bundle_path: String,
    /// Line, counted from 1.
    pub line: u32,
}

impl std::fmt::Display for FileLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host_path, self.line)
    }
}

/// A TOML value that is no table of its own section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A string.
    Str(String),
    /// An integer in Go's 64 bits.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A float or a date, as written: containerd's settings use neither.
    Other(String),
    /// An array.
    List(Vec<Value>),
    /// A table inside an array.
    Table(BTreeMap<String, Value>),
}

impl Value {
    /// The text of a string value.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The boolean of a boolean value.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(set) = self {
            Some(*set)
        } else {
            None
        }
    }

    /// The integer of an integer value.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        if let Self::Int(number) = self {
            Some(*number)
        } else {
            None
        }
    }

    /// The strings of a list; other items are left out.
    #[must_use]
    pub fn strings(&self) -> Vec<String> {
        match self {
            Self::List(items) => items
                .iter()
                .filter_map(|item| item.as_str().map(str::to_owned))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// What Go calls the zero value: `""`, 0, false, an empty list.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Str(text) => text.is_empty(),
            Self::Int(number) => *number == 0,
            Self::Bool(set) => !set,
            Self::Other(text) => matches!(text.as_str(), "0.0" | "-0.0"),
            Self::List(items) => items.is_empty(),
            Self::Table(entries) => entries.is_empty(),
        }
    }

    /// The name of the type, for messages.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Str(_) => "a string",
            Self::Int(_) => "an integer",
            Self::Bool(_) => "a boolean",
            Self::Other(_) => "a float or date",
            Self::List(_) => "an array",
            Self::Table(_) => "a table",
        }
    }
}

/// A value that a later file took the place of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Superseded {
    /// What it was.
    pub value: Value,
    /// Where it was set.
    pub place: FileLine,
}

/// A value with the line that set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The value in effect.
    pub value: Value,
    /// The assignment that won.
    pub place: FileLine,
    /// The assignments it overrode, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrode: Vec<Superseded>,
    /// For a list: the line of each item.
    #[serde(skip)]
    pub item_lines: Vec<u32>,
}

impl Setting {
    /// Takes the place of an older setting of the same key.
    pub fn supersede(&mut self, older: Self) {
        let mut history = older.overrode;
        history.push(Superseded {
            value: older.value,
            place: older.place,
        });
        history.append(&mut self.overrode);
        self.overrode = history;
    }
}

/// A table and where it was first opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// The line of its header, or of its first key.
    pub place: FileLine,
    /// Its keys.
    pub entries: BTreeMap<String, Node>,
}

/// A key of a table: a value or another table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Node {
    /// A value.
    Leaf(Setting),
    /// A table.
    Table(Section),
}

impl Node {
    /// Where it was set or opened.
    #[must_use]
    pub fn place(&self) -> &FileLine {
        match self {
            Self::Leaf(setting) => &setting.place,
            Self::Table(section) => &section.place,
        }
    }

    /// The name of its type, for messages.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Leaf(setting) => setting.value.type_name(),
            Self::Table(_) => "a table",
        }
    }

    /// The section, if it is one.
    #[must_use]
    pub fn section(&self) -> Option<&Section> {
        if let Self::Table(section) = self {
            Some(section)
        } else {
            None
        }
    }

    /// The setting, if it is one.
    #[must_use]
    pub fn setting(&self) -> Option<&Setting> {
        if let Self::Leaf(setting) = self {
            Some(setting)
        } else {
            None
        }
    }
}

impl Section {
    /// An empty section at a place.
    #[must_use]
    pub fn new(place: FileLine) -> Self {
        Self {
            place,
            entries: BTreeMap::new(),
        }
    }

    /// The node at a path of keys.
    #[must_use]
    pub fn get(&self, path: &[&str]) -> Option<&Node> {
        let (last, front) = path.split_last()?;
        let mut at = self;
        for key in front {
            at = at.entries.get(*key)?.section()?;
        }
        at.entries.get(*last)
    }

    /// The setting at a path of keys.
    #[must_use]
    pub fn setting(&self, path: &[&str]) -> Option<&Setting> {
        self.get(path)?.setting()
    }

    /// The section at a path of keys; itself for the empty path.
    #[must_use]
    pub fn section(&self, path: &[&str]) -> Option<&Self> {
        if path.is_empty() {
            Some(self)
        } else {
            self.get(path)?.section()
        }
    }

    /// Every setting below, as dotted keys in order.
    #[must_use]
    pub fn settings(&self) -> Vec<(String, &Setting)> {
        let mut out = Vec::new();
        let mut pending: Vec<(String, &Self)> = vec![(String::new(), self)];
        while let Some((prefix, section)) = pending.pop() {
            for (key, node) in &section.entries {
                let name = dotted(&prefix, key);
                match node {
                    Node::Leaf(setting) => out.push((name, setting)),
                    Node::Table(inner) => pending.push((name, inner)),
                }
            }
        }
        out.sort_by(|a, b| a.0.cmp(&b.0));
        out
    }
}

/// Appends a key to a dotted name, quoted where TOML needs it.
#[must_use]
pub fn dotted(prefix: &str, key: &str) -> String {
    let bare = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let key = if bare {
        key.to_owned()
    } else {
        format!("\"{key}\"")
    };
    if prefix.is_empty() {
        key
    } else {
        format!("{prefix}.{key}")
    }
}
