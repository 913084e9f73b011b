use super::*;
use crate::Key;

fn cleaned(line: &str) -> String {
    clean(line, 0, &mut Marker::new(Key::fixed()))
        .unwrap()
        .into_owned()
}

#[test]
fn secrets_inside_strings_inside_strings_are_found_and_the_json_stays_valid() {
    let inner = serde_json::json!({"env":[{"name":"DB_PASSWORD","value":"hunter2"}]}).to_string();
    let yaml = "db:\n  password: hunter2 \"x\"\n  port: 5432\n";
    let line = serde_json::json!({
        "annotations": {"last-applied": inner}, "data": {"values.yaml": yaml},
        "args": ["--token", "hunter2", "--v=2", "--password=hunter2"],
        "token": "hunter2", "passwords": ["hunter2", "hunter2b"], "secretName": "db",
    })
    .to_string();
    let out = cleaned(&line);
    assert!(!out.contains("hunter2"), "{out}");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["secretName"], "db");
    assert_eq!(value["args"][2], "--v=2");
    assert!(
        value["data"]["values.yaml"]
            .as_str()
            .unwrap()
            .ends_with("\n  port: 5432\n")
    );
}

#[test]
fn an_address_is_what_it_is_as_a_text_of_its_own() {
    let (hex, drawn) = ("0a1b2c3d4e5f6a7b".repeat(4), "q7ZkP2mXv9".repeat(2));
    let kept = format!(r#"{{"containerID":"containerd://{hex}","host":"tcp://10.0.0.1:2376"}}"#);
    assert_eq!(cleaned(&kept), kept);
    for address in [
        format!("https://joe:hunter2@{drawn}.example.com/x"),
        format!("https://hooks.example.com/{drawn}"),
        format!("s3://bucket/{hex}{drawn}"),
        format!("https://h/?token={drawn}"),
    ] {
        let alone = clean_text(&address, 1, &mut Marker::new(Key::fixed()));
        assert!(alone.contains("<redacted:"), "{alone}");
        let line = format!(r#"{{"x":"{address}"}}"#);
        assert_eq!(cleaned(&line), format!(r#"{{"x":"{alone}"}}"#));
    }
}

#[test]
fn volumes_that_name_secrets_are_kept() {
    let line = r#"{"secret":{"secretName":"a"},"imagePullSecrets":["ngc"],"serviceAccountToken":{"path":"token"}}"#;
    assert_eq!(cleaned(line), line);
}

#[test]
fn a_piece_of_a_list_is_cleaned_without_its_brackets() {
    assert_eq!(
        cleaned(r#"{"kind":"PodList","items":["#),
        r#"{"kind":"PodList","items":["#
    );
    let cut = "{\"password\":\"b";
    assert!(clean(cut, 0, &mut Marker::new(Key::fixed())).is_none());
}
