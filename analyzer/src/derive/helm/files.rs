//! Values files of a release: their content, and the line that a value stands on.

use serde_json::Value;

use crate::derive::{Known, line_at};
use crate::facts::excerpt;
use crate::helm::lines::line_of;
use crate::helm::yaml;
use crate::model::Place;

/// The values in a file.
pub(super) fn values(known: &Known<'_>, path: &str) -> Option<Value> {
    yaml::read(known.documents.get(path)?)
}

/// The value at a path such as `toolkit.env[NAME]`. Keys that hold dots, as labels do, are taken whole.
pub(super) fn at<'a>(values: &'a Value, path: &str) -> Option<&'a Value> {
    let (path, item) = match path.split_once('[') {
        Some((path, item)) => (path, Some(item.trim_end_matches(']'))),
        None => (path, None),
    };
    let found = below(values, path)?;
    let Some(item) = item else {
        return Some(found);
    };
    let mut listed = found.as_array()?.iter();
    listed
        .find(|one| one.get("name").and_then(Value::as_str) == Some(item))?
        .get("value")
}

fn below<'a>(values: &'a Value, path: &str) -> Option<&'a Value> {
    let mut now = values;
    let mut rest = path;
    loop {
        if let Some(found) = now.get(rest) {
            return Some(found);
        }
        let (key, below) = rest.split_once('.')?;
        now = now.get(key)?;
        rest = below;
    }
}

/// The user's values of a release: of the revision that counts, and of earlier ones, the newest first.
#[derive(Default)]
pub(super) struct User {
    now: Option<Value>,
    pub(super) earlier: Vec<(u64, Value)>,
}

impl User {
    pub(super) fn read(known: &Known<'_>, folder: &str, newest: u64) -> Self {
        let prefix = format!("{folder}values-user-");
        let files = known.documents.range(prefix.clone()..);
        let files = files.take_while(|(path, _)| path.starts_with(&prefix));
        let numbered = files.filter_map(|(path, _)| {
            let number = path.strip_prefix(&prefix)?.strip_suffix(".yaml")?;
            let number = number
                .parse::<u64>()
                .ok()
                .filter(|number| *number < newest)?;
            Some((number, values(known, path)?))
        });
        let mut earlier: Vec<(u64, Value)> = numbered.collect();
        earlier.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        Self {
            now: values(known, &format!("{folder}values-user.yaml")),
            earlier,
        }
    }

    /// Whether the user set a value.
    pub(super) fn set(&self, path: &str) -> bool {
        self.now
            .as_ref()
            .is_some_and(|user| at(user, path).is_some())
    }
}

/// Where a value stands, and the text there: in the user's values where it is theirs.
pub(super) fn place(
    known: &Known<'_>,
    folder: &str,
    value: &str,
    by_user: bool,
) -> (Place, String) {
    let file = if by_user {
        "values-user.yaml"
    } else {
        "values-all.yaml"
    };
    let path = format!("{folder}{file}");
    let text = known.documents.get(&path).map_or("", String::as_str);
    let line = line_of(text, value);
    let quoted = line.and_then(|line| line_at(known.documents, &path, line));
    let quoted = quoted.map_or_else(String::new, |line| excerpt(line.trim(), 300));
    (
        Place {
            path: path.into(),
            line,
        },
        quoted,
    )
}
