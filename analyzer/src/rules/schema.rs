//! The JSON schema of a rule file, for editors: made from the types, with the names that the checker knows.

use casefile_catalogue_files::examples::VERDICTS;
use serde_json::{Map, Value, json};

use super::file::RuleFile;
use crate::facts::KINDS;
use crate::sources::SOURCES;
use crate::tables;

/// The schema, JSON Schema draft 2020-12.
pub fn schema() -> Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(RuleFile)).unwrap_or(Value::Null);
    schema["title"] = json!("A rule of casefile-analyzer");
    let sources: Vec<&str> = SOURCES.iter().map(|source| source.id).collect();
    schema["properties"]["needs"]["items"] = json!({ "enum": sources });
    schema["properties"]["tables"]["items"] =
        json!({ "enum": tables::names().collect::<Vec<_>>() });
    let kinds: Vec<&str> = KINDS.iter().map(|info| info.kind).collect();
    let signal = &mut schema["$defs"]["Signal"];
    signal["properties"]["fact"] = json!({ "description": "Kind of fact.", "enum": kinds });
    signal["oneOf"] =
        json!([{ "required": ["fact"] }, { "required": ["line"] }, { "required": ["message"] }]);
    signal["allOf"] = KINDS.iter().map(fields_of_kind).collect();
    schema["$defs"]["Test"] = test();
    short_forms(&mut schema);
    schema
}

/// What may be written shorter than its type says (`short`).
fn short_forms(schema: &mut Value) {
    let or_text = |long: &mut Value, what: &str| {
        *long = json!({ "anyOf": [{ "description": what, "type": "string" }, long.take()] });
    };
    or_text(
        &mut schema["$defs"]["Group"],
        "This signal alone is enough.",
    );
    for list in ["references", "refuted_by_hand"] {
        or_text(&mut schema["properties"][list], "The only one.");
    }
    for list in ["mitigate", "prevent"] {
        let remedy = &mut schema["$defs"]["RemedyFile"]["properties"];
        or_text(&mut remedy[list], "The only one.");
    }
    let text = |what: &str| json!({ "description": what, "type": "string" });
    let verdict = |word: &&str| json!({ "required": [word] });
    let mut keys: Map<String, Value> = VERDICTS
        .iter()
        .map(|word| ((*word).to_owned(), text("What the example shows.")))
        .collect();
    keys.insert(
        "like".into(),
        text("The example before whose files it has, and changes."),
    );
    keys.insert("text".into(), text("A pasted text."));
    schema["$defs"]["Example"] = json!({
        "description": "A small folder of evidence, after the verdict that is expected of it.",
        "type": "object",
        "properties": keys,
        "patternProperties": { "[/.]": { "description": "A file by its path; null leaves it out.", "type": ["string", "null"] } },
        "additionalProperties": false,
        "oneOf": VERDICTS.iter().map(verdict).collect::<Vec<_>>(),
    });
}

/// With this kind of fact, `where` may name these fields; a map's entry is `field.key`.
fn fields_of_kind(info: &crate::facts::KindInfo) -> Value {
    let test = |doc: &str| json!({ "description": doc, "$ref": "#/$defs/Test" });
    let named: Map<String, Value> = info
        .fields
        .iter()
        .map(|field| (field.name.to_owned(), test(field.doc)))
        .collect();
    let entries: Map<String, Value> = info
        .fields
        .iter()
        .map(|field| (format!("^{}\\.", field.name), test(field.doc)))
        .collect();
    json!({
        "if": { "properties": { "fact": { "const": info.kind } }, "required": ["fact"] },
        "then": { "properties": { "where": {
            "properties": named, "patternProperties": entries, "additionalProperties": false,
        } } },
    })
}

/// A field test: a plain value, or one or more named tests.
fn test() -> Value {
    json!({
        "anyOf": [
            { "type": ["string", "number", "boolean", "null"] },
            {
                "type": "object",
                "additionalProperties": false,
                "minProperties": 1,
                "properties": {
                    "eq": { "description": "Equal to this value." },
                    "in": { "description": "Equal to one of these.", "type": "array" },
                    "matches": { "description": "A text that this expression matches.", "type": "string", "format": "regex" },
                    "gt": { "description": "A number greater than this.", "type": "number" },
                    "lt": { "description": "A number less than this.", "type": "number" },
                    "missing": { "description": "Absent, null or empty.", "type": "boolean" },
                    "has": { "description": "A list that holds this value, or a map that has this key." },
                    "not": { "description": "Not so.", "$ref": "#/$defs/Test" },
                },
            },
        ],
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    #[test]
    fn the_schema_knows_every_fact_with_its_fields() {
        let schema = super::schema();
        let facts = &schema["$defs"]["Signal"]["properties"]["fact"]["enum"];
        assert!(facts.as_array().unwrap().contains(&Value::from("pod")));
        let cases = schema["$defs"]["Signal"]["allOf"].as_array().unwrap();
        let pod = cases
            .iter()
            .find(|one| one["if"]["properties"]["fact"]["const"] == "pod")
            .unwrap();
        let fields = &pod["then"]["properties"]["where"]["properties"];
        assert!(fields["phase"]["description"].is_string());
        assert_eq!(schema["additionalProperties"], false);
        assert!(schema["properties"]["title"]["description"].is_string());
    }
}
