//! The examples inside a rule: each a small folder of evidence, and the verdict that is expected of it.

use std::collections::BTreeMap;

use serde_json::Value;

/// What may be expected of an example; the one that is becomes the key of its name.
pub const VERDICTS: [&str; 7] = [
    "confirmed",
    "likely",
    "possible",
    "past",
    "ruled-out",
    "not-checked",
    "quiet",
];

/// The key of the example whose files it starts from.
const LIKE: &str = "like";

/// The key of a pasted text, and the file that holds it.
const TEXT: (&str, &str) = ("text", "pasted.txt");

/// An example with all of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// One of [`VERDICTS`].
    pub verdict: &'static str,
    /// What it shows.
    pub name: String,
    /// Its files by path.
    pub files: BTreeMap<String, String>,
}

/// The examples of a rule, from what stands under `examples`.
///
/// # Errors
/// What is wrong with the first one that cannot be read, as a sentence.
pub fn examples(written: &[Value]) -> Result<Vec<Example>, String> {
    let mut all: Vec<Example> = Vec::new();
    for one in written {
        let read = example(one, &all)?;
        all.push(read);
    }
    Ok(all)
}

fn example(written: &Value, before: &[Example]) -> Result<Example, String> {
    let empty = serde_json::Map::new();
    let fields = written.as_object().unwrap_or(&empty);
    let mut heads = VERDICTS
        .iter()
        .filter_map(|word| Some((*word, fields.get(*word)?.as_str()?)));
    let (Some((verdict, name)), None) = (heads.next(), heads.next()) else {
        return Err(format!(
            "an example names its verdict once, as `- VERDICT: what it shows`; VERDICT is one of {}",
            VERDICTS.join(", ")
        ));
    };
    let fail = |what: String| format!("example {name:?}: {what}");
    let mut files = match fields.get(LIKE) {
        Some(other) => before
            .iter()
            .find(|one| Some(one.name.as_str()) == other.as_str())
            .map(|one| one.files.clone())
            .ok_or_else(|| fail(format!("no example before it has the name {other}")))?,
        None => BTreeMap::new(),
    };
    let own = fields
        .iter()
        .filter(|(key, _)| *key != LIKE && *key != verdict);
    for (key, text) in own {
        let path = if key == TEXT.0 { TEXT.1 } else { key };
        if !path.contains(['/', '.']) {
            return Err(fail(format!(
                "unknown key {key:?}; write text, like or the path of a file"
            )));
        }
        match text {
            Value::String(text) => files.insert(path.to_owned(), ended(text)),
            Value::Null => files.remove(path),
            _ => return Err(fail(format!("{key} holds no text"))),
        };
    }
    if files.is_empty() {
        return Err(fail("it has no file; write the evidence under text".into()));
    }
    Ok(Example {
        verdict,
        name: name.to_owned(),
        files,
    })
}

/// A text of one line is written without the end that a file has.
fn ended(text: &str) -> String {
    match text.is_empty() || text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_example_like_another_changes_adds_and_leaves_out_files() {
        let written = [
            json!({ "likely": "one", "a/x": "1\n", "a/y": "2\n" }),
            json!({ "quiet": "two", "like": "one", "a/y": null, "text": "said" }),
        ];
        let all = examples(&written).unwrap();
        let files = [("a/x", "1\n"), ("pasted.txt", "said\n")]
            .map(|(path, text)| (path.into(), text.into()));
        assert_eq!(all[1].files, BTreeMap::from(files));
        assert_eq!((all[0].verdict, all[1].verdict), ("likely", "quiet"));
    }

    #[test]
    fn what_cannot_be_read_is_said_with_the_name_of_its_example() {
        for (written, part) in [
            (json!({ "text": "x" }), "names its verdict once"),
            (
                json!({ "likely": "a", "quiet": "b", "text": "x" }),
                "names its verdict once",
            ),
            (
                json!({ "likely": "a", "like": "b" }),
                "example \"a\": no example before it",
            ),
            (
                json!({ "likely": "a", "expect": "likely" }),
                "unknown key \"expect\"",
            ),
            (json!({ "likely": "a", "text": 1 }), "holds no text"),
            (json!({ "likely": "a" }), "has no file"),
        ] {
            let said = examples(&[written]).unwrap_err();
            assert!(said.contains(part), "{said}");
        }
    }
}
