//! A setting of a TOML file with the line that made it, and the settings it took the place of.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::de::{DeTable, DeValue};

/// A line of a captured file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The path on the host.
    pub host_path: String,
    /// The path of the copy in the bundle.
    pub bundle_path: String,
    /// Line, counted from 1.
    pub line: u32,
}

impl std::fmt::Display for Place {
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
        if let Self::Str(text) = self { Some(text) } else { None }
    }

    /// The boolean of a boolean value.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(set) = self { Some(*set) } else { None }
    }

    /// The integer of an integer value.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        if let Self::Int(number) = self { Some(*number) } else { None }
    }

    /// The strings of a list; other items are left out.
    #[must_use]
    pub fn strings(&self) -> Vec<String> {
        match self {
            Self::List(items) => items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
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
    pub place: Place,
}

/// A value with the line that set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The value in effect.
    pub value: Value,
    /// The assignment that won.
    pub place: Place,
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
        history.push(Superseded { value: older.value, place: older.place });
        history.append(&mut self.overrode);
        self.overrode = history;
    }
}

/// A table and where it was first opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// The line of its header, or of its first key.
    pub place: Place,
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
    pub fn place(&self) -> &Place {
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
        if let Self::Table(section) = self { Some(section) } else { None }
    }

    /// The setting, if it is one.
    #[must_use]
    pub fn setting(&self) -> Option<&Setting> {
        if let Self::Leaf(setting) = self { Some(setting) } else { None }
    }
}

impl Section {
    /// An empty section at a place.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self { place, entries: BTreeMap::new() }
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
        if path.is_empty() { Some(self) } else { self.get(path)?.section() }
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
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let key = if bare { key.to_owned() } else { format!("\"{key}\"") };
    if prefix.is_empty() { key } else { format!("{prefix}.{key}") }
}

/// Where a TOML file stops being TOML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The line, with its file.
    pub place: Place,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// What is wrong there.
    pub message: String,
}

/// Offsets of line starts, to turn spans into lines.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    host_path: &'a str,
    bundle_path: &'a str,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str, host_path: &'a str, bundle_path: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        Self { text, starts, host_path, bundle_path }
    }

    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }

    fn place(&self, offset: usize) -> Place {
        Place {
            host_path: self.host_path.to_owned(),
            bundle_path: self.bundle_path.to_owned(),
            line: u32::try_from(self.line(offset)).unwrap_or(u32::MAX),
        }
    }

    fn column(&self, offset: usize) -> u32 {
        let start = self.starts.get(self.line(offset) - 1).copied().unwrap_or(0);
        let before = self.text.get(start..offset).map_or(0, |head| head.chars().count());
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

/// Parses a TOML text into settings with their lines.
///
/// # Errors
/// [`Malformed`] at the first place that is not TOML, or holds an integer beyond 64 bits.
pub fn parse(text: &str, host_path: &str, bundle_path: &str) -> Result<Section, Malformed> {
    // Go's parsers skip a byte order mark; its three bytes count in no line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::new(text, host_path, bundle_path);
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        Malformed { place: lines.place(offset), column: lines.column(offset), message }
    })?;
    section(table.get_ref(), lines.place(0), &lines)
}

fn section(table: &DeTable<'_>, place: Place, lines: &Lines<'_>) -> Result<Section, Malformed> {
    let mut out = Section::new(place);
    for (key, value) in table {
        let place = lines.place(key.span().start);
        let node = match value.get_ref() {
            DeValue::Table(inner) => Node::Table(section(inner, place, lines)?),
            other => {
                let item_lines = match other {
                    DeValue::Array(items) => items.iter().map(|item| lines.place(item.span().start).line).collect(),
                    _ => Vec::new(),
                };
                let value = plain(other).ok_or_else(|| {
                    let at = value.span().start;
                    let message = "integer does not fit 64 bits".to_owned();
                    Malformed { place: lines.place(at), column: lines.column(at), message }
                })?;
                Node::Leaf(Setting { value, place, overrode: Vec::new(), item_lines })
            }
        };
        out.entries.insert(key.get_ref().to_string(), node);
    }
    Ok(out)
}

fn plain(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::Str(text.to_string()),
        DeValue::Boolean(set) => Value::Bool(*set),
        DeValue::Integer(number) => Value::Int(i64::from_str_radix(number.as_str(), number.radix()).ok()?),
        DeValue::Float(number) => Value::Other(number.to_string()),
        DeValue::Datetime(moment) => Value::Other(moment.to_string()),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| plain(item.get_ref())).collect::<Option<Vec<_>>>()?)
        }
        DeValue::Table(entries) => {
            let pairs = entries.iter().map(|(key, value)| Some((key.get_ref().to_string(), plain(value.get_ref())?)));
            Value::Table(pairs.collect::<Option<BTreeMap<_, _>>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_knows_its_line() {
        let text = "version = 2\n\n[plugins.\"io.containerd.grpc.v1.cri\"]\n  sandbox_image = \"x\"\n  a.b = true\n";
        let root = parse(text, "/c.toml", "b/c.toml").expect("valid");
        let cri = root.section(&["plugins", "io.containerd.grpc.v1.cri"]).expect("section");
        assert_eq!(cri.place.line, 3);
        assert_eq!(cri.setting(&["sandbox_image"]).map(|s| s.place.line), Some(4));
        assert_eq!(cri.setting(&["a", "b"]).map(|s| s.place.line), Some(5));
    }

    #[test]
    fn a_broken_file_names_line_and_column() {
        let broken = parse("a = 1\nb = [1,\nc = \n", "/c.toml", "b").expect_err("broken");
        assert!(broken.place.line >= 2, "{broken:?}");
        let twice = parse("a = 1\n[t]\nx=1\n[t]\ny=1\n", "/c.toml", "b").expect_err("table twice");
        assert_eq!(twice.place.line, 4);
        assert!(parse("a = 99999999999999999999\n", "/c.toml", "b").is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC*") {
            let _ = parse(&text, "/c", "b");
        }

        #[test]
        fn no_nesting_makes_the_parser_overflow(depth in 0_usize..3000, open in proptest::sample::select(vec!["[", "{a=", "a.", "[a."])) {
            let _ = parse(&format!("x = {}", open.repeat(depth)), "/c", "b");
            let _ = parse(&open.repeat(depth), "/c", "b");
        }
    }
}
