//! Lists that kubectl 1.6 to 1.8 dumped in the API server's inner form: `Items`, `Spec` and `Status` with capitals, and the fields
//! of `metadata` beside them. They become the published form line by line, so that places stay right.

use super::{Capture, Part, kubernetes_dirs};

/// Whether a list has that form.
pub(super) fn is(head: &str) -> bool {
    let starts = |mark: &str| {
        let mut lines = head.lines().take(8);
        lines.any(|line| line.trim_start().starts_with(mark))
    };
    starts("\"Items\": [") && !starts("\"kind\":")
}

/// The list as it is published.
pub(super) fn published(capture: &Capture, path: &str, text: &str) -> Vec<Part> {
    let below = path.strip_prefix(&capture.root).unwrap_or(path);
    let Some(super::Target::As(ours)) = kubernetes_dirs::dump(below) else {
        return Vec::new();
    };
    vec![Part {
        path: ours,
        line: 1,
        text: rewritten(text),
    }]
}

/// Blanks before an item of the list, and before its fields.
const ITEM: usize = 8;
const FIELD: usize = 12;

fn rewritten(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    // Whether the fields of metadata are still being read.
    let mut metadata = false;
    for line in text.lines() {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        let published = key(bare);
        match (indent, published) {
            (ITEM, _) if bare == "{" => {
                metadata = true;
                // With a blank before its colon, so that the line is not taken for a whole item.
                out.push_str("        {\"metadata\" : {");
            }
            (FIELD, Some((name, rest))) if metadata => {
                metadata = false;
                // The field before it ended with a comma.
                out.push_str("\"\": \"\"}, \"");
                out.push_str(&name);
                out.push_str(rest);
            }
            (ITEM, _) if metadata && bare.starts_with('}') => {
                metadata = false;
                out.push('}');
                out.push_str(line);
            }
            // The inner form prints what is not set; published, such a field is left out.
            (_, Some((_, rest)))
                if !metadata
                    && rest
                        .trim_start_matches("\":")
                        .trim_start()
                        .starts_with("null") =>
            {
                out.push_str(&line[..indent]);
                out.push('"');
                out.push_str(rest);
            }
            (_, Some((name, rest))) if !metadata => {
                out.push_str(&line[..indent]);
                out.push('"');
                out.push_str(&name);
                out.push_str(rest);
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// The published name of a field whose inner name begins with a capital, and what follows it in the line.
fn key(line: &str) -> Option<(String, &str)> {
    let rest = line.strip_prefix('"')?;
    let end = rest.find('"')?;
    let (name, rest) = rest.split_at(end);
    if !rest.starts_with("\":") || !name.starts_with(|first: char| first.is_ascii_uppercase()) {
        return None;
    }
    let capitals = name.bytes().take_while(u8::is_ascii_uppercase).count();
    // `Name`, `PodIP`; `UID`, `IP` as a whole; `APIVersion` up to its next word.
    let lower = match capitals {
        all if all == name.len() => all,
        1 => 1,
        more => more - 1,
    };
    let (first, last) = name.split_at(lower);
    Some((format!("{}{last}", first.to_ascii_lowercase()), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_list_becomes_the_published_one_line_by_line() {
        let text = r#"{
    "selfLink": "/api/v1/pods",
    "Items": [
        {
            "name": "p",
            "labels": {
                "App": "x"
            },
            "Spec": {
                "NodeName": "n1"
            },
            "Status": {
                "PodIP": "10.0.0.1",
                "Conditions": null,
                "APIVersion": "v1"
            }
        }
    ]
}"#;
        assert!(is(text));
        let out = rewritten(text);
        assert_eq!(out.lines().count(), text.lines().count());
        let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        let item = &value["items"][0];
        assert_eq!(item["metadata"]["name"], "p");
        assert_eq!(item["metadata"]["labels"]["App"], "x");
        assert_eq!(item["spec"]["nodeName"], "n1");
        assert_eq!(item["status"]["podIP"], "10.0.0.1");
        assert_eq!(item["status"]["apiVersion"], "v1");
        assert!(item["status"].get("conditions").is_none());
    }
}
