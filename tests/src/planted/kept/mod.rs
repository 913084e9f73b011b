//! Look-alikes: random texts that are no secrets, where real nodes show them.

mod sorts;
mod values;

use serde_json::json;

use super::rng::Rng;
use super::{Case, Content, Document, Format};

type MakeValue = fn(&mut Rng) -> String;
type Wrap = fn(&str) -> String;

/// Of each sort in each place.
const EACH: usize = 12;

/// A sort of look-alike: its name, and a line (or several) with what must stay in it.
struct Sort {
    id: &'static str,
    name: &'static str,
    make: fn(&mut Rng) -> (String, Vec<String>),
}

const fn sort(
    id: &'static str,
    name: &'static str,
    make: fn(&mut Rng) -> (String, Vec<String>),
) -> Sort {
    Sort { id, name, make }
}

/// The whole text must stay.
fn whole(text: String) -> (String, Vec<String>) {
    (text.clone(), vec![text])
}

fn item(value: serde_json::Value) -> (String, Vec<String>) {
    whole(format!("{value}\n"))
}

/// The lines that hold them, under names that tell nothing of a secret.
const AROUND: &[(&str, Content, Wrap)] = &[
    ("YAML", Content::Text, |v| {
        format!("a:\n  id: \"{v}\"\n  port: 1\n")
    }),
    ("JSON", Content::JsonLines, |v| {
        format!(
            "{}\n",
            json!({"kind":"Pod","metadata":{"name":"a"},"status":{"id":v}})
        )
    }),
    ("log", Content::Text, |v| {
        format!("2026-11-20T10:15:00Z level=info msg=\"seen\" id={v} host=db\n")
    }),
    ("TOML", Content::Text, |v| format!("[a]\n  id = \"{v}\"\n")),
    ("journal", Content::JsonLines, |v| {
        format!(
            "{}\n",
            json!({"MESSAGE":format!("object {v} is there"),"PRIORITY":"6"})
        )
    }),
    ("argument", Content::Text, |v| {
        format!("/usr/bin/a --id={v} --v=2\n")
    }),
];

/// All look-alikes.
pub(super) fn cases(rng: &mut Rng) -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, make) in values::VALUES {
        for (place, content, around) in AROUND {
            for _ in 0..EACH {
                let value = make(rng);
                let text = around(&value);
                cases.push(case(
                    kind,
                    place,
                    *content,
                    "a.txt",
                    (text.clone(), vec![text]),
                ));
            }
        }
    }
    for sort in sorts::SORTS {
        for _ in 0..EACH {
            let made = (sort.make)(rng);
            let content = if sort.name.ends_with(".json") {
                Content::JsonLines
            } else {
                Content::Text
            };
            cases.push(case(sort.id, "as it stands", content, sort.name, made));
        }
    }
    cases
}

fn case(
    kind: &'static str,
    place: &'static str,
    content: Content,
    name: &str,
    made: (String, Vec<String>),
) -> Case {
    let (text, needles) = made;
    let format = if content == Content::JsonLines {
        Format::JsonLines
    } else {
        Format::Any
    };
    Case {
        kind,
        place,
        needles,
        document: Document::new(content, name, format, text.into_bytes()),
    }
}
