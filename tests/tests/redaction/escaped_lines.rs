//! Tokens on lines of their own within a string of JSON: what stands behind `\n` is seen as what begins a line, and the
//! line stays JSON.

use casefile_collector::redact::{Content, Key, Redactor};
use casefile_tests::planted::{fill, reveals};

const KINDS: &[&str] = &[
    "{{AN:3}}-{{AN:3}}-{{AN:3}}-{{AN:3}}",
    "{{hex:4}}-{{hex:4}}-{{hex:6}}-{{hex:6}}-{{hex:8}}",
    "{{an:9}}_{{an:7}}-",
    "{{an:12}}^{{an:7}}!",
    "{{an:20}}",
    "{{b64c:44}}",
    "{{hex:16}}",
    "{{hex:40}}",
    "zq_{{an:24}}",
    "live.zq.{{hex:32}}",
    "{{AN:12}}",
    "{{uuid:36}}",
];
/// Each kind is drawn so often.
const TIMES: u64 = 100;

fn redact(text: &str, key: &Key) -> Vec<u8> {
    let mut redactor = Redactor::new(Content::JsonLines, key.clone());
    let mut out = Vec::new();
    redactor.push(text.as_bytes(), &mut out);
    redactor.finish(&mut out);
    out
}

#[test]
fn a_token_behind_an_escaped_line_end_is_seen_as_one_that_begins_a_line() {
    let key = Key::random().unwrap();
    let mut more = Vec::new();
    for (kind, template) in KINDS.iter().enumerate() {
        let values: Vec<String> = (0..TIMES)
            .map(|time| fill(template, 1 + kind as u64 * TIMES + time).unwrap().text)
            .collect();
        let left = |front: &str| -> usize {
            let leaks = |value: &&String| {
                let said = format!("{front}{value}\ntwo\n");
                let line = serde_json::json!({"data": {"list": said}}).to_string() + "\n";
                let out = redact(&line, &key);
                let parsed: Result<serde_json::Value, _> = serde_json::from_slice(&out);
                assert!(parsed.is_ok(), "{}", String::from_utf8_lossy(&out));
                reveals(&out, value)
            };
            values.iter().filter(leaks).count()
        };
        let first = left("");
        for front in ["one\n", "one\r\n", "one\t", "one\u{1}"] {
            let behind = left(front);
            println!("{template}: {first} are left at the beginning, {behind} behind {front:?}");
            if behind > first {
                more.push(format!(
                    "{template} behind {front:?}: {behind}, else {first}"
                ));
            }
        }
    }
    assert!(more.is_empty(), "{more:#?}");
}
