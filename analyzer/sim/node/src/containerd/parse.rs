//! TOML text turned into settings that know their lines.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::value::{FileLine, Node, Section, Setting, Value};

/// Where a TOML file stops being TOML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The line, with its file.
    pub place: FileLine,
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
        Self {
            text,
            starts,
            host_path,
            bundle_path,
        }
    }

    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }

    fn place(&self, offset: usize) -> FileLine {
        FileLine {
            host_path: self.host_path.to_owned(),
            bundle_path: self.bundle_path.to_owned(),
            line: u32::try_from(self.line(offset)).unwrap_or(u32::MAX),
        }
    }

    fn column(&self, offset: usize) -> u32 {
        let start = self.starts.get(self.line(offset) - 1).copied().unwrap_or(0);
        let before = self
            .text
            .get(start..offset)
            .map_or(0, |head| head.chars().count());
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
        let message = error
            .message()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        Malformed {
            place: lines.place(offset),
            column: lines.column(offset),
            message,
        }
    })?;
    section(table.get_ref(), lines.place(0), &lines)
}

fn section(table: &DeTable<'_>, place: FileLine, lines: &Lines<'_>) -> Result<Section, Malformed> {
    let mut out = Section::new(place);
    for (key, value) in table {
        let place = lines.place(key.span().start);
        let node = match value.get_ref() {
            DeValue::Table(inner) => Node::Table(section(inner, place, lines)?),
            other => {
                let item_lines = match other {
                    DeValue::Array(items) => items
                        .iter()
                        .map(|item| lines.place(item.span().start).line)
                        .collect(),
                    _ => Vec::new(),
                };
                let value = plain(other).ok_or_else(|| {
                    let at = value.span().start;
                    let message = "integer does not fit 64 bits".to_owned();
                    Malformed {
                        place: lines.place(at),
                        column: lines.column(at),
                        message,
                    }
                })?;
                Node::Leaf(Setting {
                    value,
                    place,
                    overrode: Vec::new(),
                    item_lines,
                })
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
        DeValue::Integer(number) => {
            Value::Int(i64::from_str_radix(number.as_str(), number.radix()).ok()?)
        }
        DeValue::Float(number) => Value::Other(number.to_string()),
        DeValue::Datetime(moment) => Value::Other(moment.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| plain(item.get_ref()))
                .collect::<Option<Vec<_>>>()?,
        ),
        DeValue::Table(entries) => {
            let pairs = entries
                .iter()
                .map(|(key, value)| Some((key.get_ref().to_string(), plain(value.get_ref())?)));
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
        let cri = root
            .section(&["plugins", "io.containerd.grpc.v1.cri"])
            .expect("section");
        assert_eq!(cri.place.line, 3);
        assert_eq!(
            cri.setting(&["sandbox_image"]).map(|s| s.place.line),
            Some(4)
        );
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
