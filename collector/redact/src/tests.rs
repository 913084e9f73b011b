//! Whole streams: planted secrets never come through, in any chunking, and what is no secret does.

use proptest::prelude::*;

use super::*;

fn clean(content: Content, text: &str, chunk: usize) -> String {
    let mut redactor = Redactor::new(content, Key::fixed());
    let mut out = Vec::new();
    for piece in text.as_bytes().chunks(chunk.max(1)) {
        redactor.push(piece, &mut out);
    }
    redactor.finish(&mut out);
    String::from_utf8(out).unwrap()
}

const PEM: &str = "tls:\n  key: |\n    -----BEGIN RSA PRIVATE KEY-----\n    MIIEowIBAAKCAQEAsecretsecret\n    \
                   c2VjcmV0\n    -----END RSA PRIVATE KEY-----\n  port: 1\n";

#[test]
fn a_secret_that_the_runtime_cut_is_found_and_quiet_parts_stay_as_they_came() {
    let text = "2026-11-20T10:15:00.1Z stdout P password: hun\n\
                2026-11-20T10:15:00.1Z stderr F other\n\
                2026-11-20T10:15:00.1Z stdout P ter2 a\n\
                2026-11-20T10:15:00.2Z stdout F nd more\n";
    let out = clean(Content::Text, text, 9);
    assert!(!out.contains("hun") && !out.contains("ter2"), "{out}");
    assert!(out.contains("stderr F other\n"), "{out}");
    let quiet = "2026-11-20T10:15:00.1Z stdout P one ha\n2026-11-20T10:15:00.1Z stdout F lf\n";
    assert_eq!(clean(Content::Text, quiet, 9), quiet);
    let open = "2026-11-20T10:15:00.1Z stdout P one ha\n";
    assert_eq!(clean(Content::Text, open, 9), open);
}

#[test]
fn a_private_key_becomes_one_placeholder_and_the_yaml_around_it_stays() {
    let out = clean(Content::Text, PEM, 7);
    assert!(
        out.starts_with("tls:\n  key: |\n    <redacted:private-key:"),
        "{out}"
    );
    assert!(out.ends_with(">\n  port: 1\n"), "{out}");
    assert!(!out.contains("MIIE") && !out.contains("c2VjcmV0"), "{out}");
}

#[test]
fn a_private_key_that_a_script_writes_line_by_line_leaves_no_line_of_it() {
    let line = "MIIEowIBAAKCAQEAsecretsecretMIIEowIBAAKCAQEAsecretsecret01234567";
    let lines = [
        "-----BEGIN RSA PRIVATE KEY-----",
        line,
        "c2VjcmV0c2VjcmV0MDE=",
        "-----END RSA PRIVATE KEY-----",
    ];
    let script: String = lines
        .iter()
        .map(|line| format!("echo \"{line}\" >> /etc/kubernetes/pki/key.pem\n"))
        .collect();
    let out = clean(Content::Text, &script, 9);
    assert!(!out.contains("MIIE") && !out.contains("c2Vjcm"), "{out}");
    assert!(out.contains(">> /etc/kubernetes/pki/key.pem\n"), "{out}");
}

#[test]
fn a_private_key_in_a_log_with_time_stamps_is_found_line_by_line() {
    let log = "t1 -----BEGIN PRIVATE KEY-----\nt2 MIIEowIBAAKCAQEA\nt3 Yw==\nt4 -----END PRIVATE KEY-----\nt5 fine\n";
    let out = clean(Content::Text, log, 5);
    assert!(!out.contains("MIIE") && !out.contains("Yw=="), "{out}");
    assert!(out.ends_with("t5 fine\n"), "{out}");
}

#[test]
fn a_private_key_that_never_ends_is_replaced_all_the_same() {
    let out = clean(
        Content::Text,
        "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n",
        3,
    );
    assert!(!out.contains("MIIE"), "{out}");
}

#[test]
fn certificates_stay_readable() {
    let text = "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n";
    assert_eq!(clean(Content::Text, text, 9), text);
}

#[test]
fn a_yaml_block_under_a_secret_key_is_replaced() {
    let out = clean(
        Content::Text,
        "a:\n  password: |\n    hunter2\n    more\n  user: me\n",
        4,
    );
    assert!(!out.contains("hunter2") && !out.contains("more"), "{out}");
    assert!(out.ends_with("  user: me\n"), "{out}");
}

#[test]
fn an_environment_variable_over_two_yaml_lines_is_replaced() {
    let out = clean(
        Content::Text,
        "- name: DB_PASSWORD\n  value: hunter2\n- name: MODE\n  value: fast\n",
        6,
    );
    assert!(!out.contains("hunter2"), "{out}");
    assert!(out.ends_with("- name: MODE\n  value: fast\n"), "{out}");
}

#[test]
fn list_items_under_a_secret_name_are_replaced_and_lists_of_objects_are_not() {
    let out = clean(
        Content::Text,
        "tokens:\n  - abcDEF123\n  - xyzXYZ789\nport: 1\nsecret:\n- name: a\n",
        5,
    );
    assert!(
        !out.contains("abcDEF123") && !out.contains("xyzXYZ789"),
        "{out}"
    );
    assert!(out.ends_with("port: 1\nsecret:\n- name: a\n"), "{out}");
}

#[test]
fn equal_secrets_read_equal_and_different_ones_do_not() {
    let out = clean(
        Content::Text,
        "password: aaa1\nDB_PASSWORD=aaa1\npassword: bbb2\n",
        100,
    );
    let marks: Vec<_> = out
        .lines()
        .map(|line| &line[line.find('<').unwrap()..])
        .collect();
    assert_eq!(marks[0], marks[1]);
    assert_ne!(marks[0], marks[2]);
}

#[test]
fn toml_and_json_stay_valid() {
    let toml_text = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"nvcr.io\".auth]\n  \
                     username = \"$oauthtoken\"\n  password = \"nvapi-0123456789abcdefghij\"\n  auth = 'dXNlcjpwYXNz'\n";
    let out = clean(Content::Text, toml_text, 11);
    assert!(
        !out.contains("nvapi-0") && !out.contains("dXNlcjpwYXNz"),
        "{out}"
    );
    let table: toml::Table = out.parse().unwrap();
    assert_eq!(table["version"].as_integer(), Some(2));
    assert!(out.contains("$oauthtoken"));
    let pretty = serde_json::to_string_pretty(&serde_json::json!({
        "auths": {"nvcr.io": {"auth": "dXNlcjpwYXNz", "email": "a@b"}}, "token": "abcd1234efgh"
    }))
    .unwrap();
    let out = clean(Content::Text, &pretty, 13);
    assert!(
        !out.contains("dXNlcjpwYXNz") && !out.contains("abcd1234efgh"),
        "{out}"
    );
    serde_json::from_str::<serde_json::Value>(&out).unwrap();
}

#[test]
fn the_manifest_gets_counts_by_class() {
    let mut redactor = Redactor::new(Content::JsonLines, Key::fixed());
    let mut out = Vec::new();
    redactor.push(
        b"{\"MESSAGE\":\"login password=abc123 at https://u:pw1@h/\"}\n",
        &mut out,
    );
    redactor.finish(&mut out);
    assert_eq!(
        redactor.counts(),
        BTreeMap::from([("password".to_owned(), 1), ("url-password".to_owned(), 1)])
    );
}

#[test]
fn bytes_that_are_no_text_pass_without_harm() {
    let mut redactor = Redactor::new(Content::Text, Key::fixed());
    let mut out = Vec::new();
    redactor.push(b"\xff\xfe\n\xffpassword: x1y2\xff\n", &mut out);
    redactor.finish(&mut out);
    assert!(out.starts_with(b"\xff\xfe\n"));
    assert!(!out.windows(4).any(|w| w == b"x1y2"));
}

#[test]
fn a_line_without_end_is_handed_on_in_pieces() {
    let long = "a word, ".repeat(1 << 20);
    assert_eq!(clean(Content::Text, &long, 1 << 16), long);
}

#[test]
fn of_a_line_without_end_little_is_held_back() {
    const PIECE: usize = 1 << 20;
    let piece = "a word, ".repeat(PIECE / 8);
    let mut redactor = Redactor::new(Content::Text, Key::fixed());
    let mut out = Vec::new();
    for pieces in 1..=20 {
        redactor.push(piece.as_bytes(), &mut out);
        assert!(out.len() + MAX_LINE + PIECE >= pieces * PIECE);
    }
    redactor.finish(&mut out);
    assert_eq!(out.len(), 20 * PIECE);
}

/// Ways a secret is planted; `@` is its place.
const TEMPLATES: [&str; 20] = [
    "password: @\n",
    "  - password: \"@\"  # comment\n",
    "auth = '@'\n",
    "export NGC_API_KEY=@\n",
    "{\"a\":1,\"clientSecret\":\"@\",\"b\":[2]}\n",
    "time=\"x\" level=error msg=\"login with password=@ failed\"\n",
    "{\"MESSAGE\":\"Authorization: Bearer @\",\"PRIORITY\":\"3\"}\n",
    "GET https://me:@@nvcr.io/v2/ HTTP/1.1\n",
    "run --token @ --v=2\n",
    "run --token=@ --v=2\n",
    "{\"args\":[\"--password\",\"@\"]}\n",
    "{\"env\":[{\"name\":\"HF_TOKEN\",\"value\":\"@\"}]}\n",
    "- name: HF_TOKEN\n  value: @\n",
    "secret_key: |\n  @\nnext: 1\n",
    "{\"data\":{\"v.yaml\":\"db:\\n  password: @\\n  port: 1\\n\"}}\n",
    "{\"ann\":\"{\\\"env\\\":[{\\\"name\\\":\\\"API_KEY\\\",\\\"value\\\":\\\"@\\\"}]}\"}\n",
    "Environment=\"DB_PASSWORD=@\"\n",
    "GET /v2?access_token=@&x=1\n",
    "-----BEGIN EC PRIVATE KEY-----\n@\n-----END EC PRIVATE KEY-----\n",
    "password = \"\"\"\n@\n\"\"\"\n",
];

proptest! {
    #[test]
    fn planted_secrets_never_come_through_in_any_chunking(
        which in 0..TEMPLATES.len(),
        secret in "[a-z]{3}[A-Z][0-9][A-Za-z0-9_.+-]{8,30}[a-z0-9]",
        chunk in 1_usize..40,
        before in "[ -~\n]{0,60}",
    ) {
        // PEM bodies hold base64 only.
        let secret = if TEMPLATES[which].contains("BEGIN") { secret.replace(['_', '.', '-'], "x") } else { secret };
        let planted = TEMPLATES[which].replacen('@', &secret, 1);
        let text = format!("{}\n{planted}", before.replace(['|', '"', '\'', '-'], " "));
        let content = if planted.starts_with('{') { Content::JsonLines } else { Content::Text };
        let out = clean(content, &text, chunk);
        prop_assert!(!out.contains(&secret), "{out}");
    }

    #[test]
    fn any_chunking_gives_the_same_output_and_no_bytes_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..400), chunk in 1_usize..50, json in any::<bool>(),
    ) {
        let content = if json { Content::JsonLines } else { Content::Text };
        let mut outputs = Vec::new();
        for size in [chunk, 1000] {
            let mut redactor = Redactor::new(content, Key::fixed());
            let mut out = Vec::new();
            for piece in bytes.chunks(size) {
                redactor.push(piece, &mut out);
            }
            redactor.finish(&mut out);
            outputs.push(out);
        }
        prop_assert_eq!(&outputs[0], &outputs[1]);
    }

    #[test]
    fn keywords_in_any_mess_do_not_panic(text in "(password|token: |=|\"|\\\\|\\{|\\[|'|\n| |:|é|-----BEGIN PRIVATE KEY-----|value|name){0,40}") {
        clean(Content::Text, &text, 3);
        clean(Content::JsonLines, &text, 3);
    }
}

#[test]
fn sentences_and_settings_about_secrets_stay() {
    let sum = "a1b2c3d4e5f60718".repeat(4);
    for text in [
        "secret \"sh.helm.release.v1.gpu-operator-1758912452.v12\" not found",
        "MountVolume.SetUp failed for volume \"v\" : secret \"db-credentials\" not found",
        "Error: secret: not found",
        "authorization: enabled",
        "authorization: Node,RBAC",
        "token: expired",
        "pass: 12 fail: 3",
        &format!("checksum/secret: {sum}"),
        &format!("StopPodSandbox for \"{sum}\" returns successfully"),
    ] {
        assert_eq!(
            clean(Content::Text, &format!("{text}\n"), 9),
            format!("{text}\n")
        );
    }
}

#[test]
fn a_tag_that_nothing_closes_takes_few_lines() {
    let log: String = (0..300)
        .map(|at| format!("usb 1-1: device number {at} is new\n"))
        .collect();
    let out = clean(Content::Text, &format!("<password>\n{log}"), 997);
    assert!(out.matches("<redacted:").count() < 10, "{out}");
}

/// Lines that mean something to the ones behind them, that end blocks of quiet ones, and quiet ones.
const LINES: [&str; 22] = [
    "a: 1",
    "b: two words",
    "",
    "kind: Secret",
    "kind: Pod",
    "data:",
    "stringData:",
    "  k: di4u",
    "    ],",
    "---",
    "- value: x",
    "  name: DB_PASSWORD",
    "password: |",
    "password: hunter2A",
    "  --token \\",
    "2026-11-20T10:15:00.1Z stdout P half: a",
    "2026-11-20T10:15:00.1Z stdout F line",
    "we set q7ZkP2mXv9q7ZkP2mXv9 on Monday",
    "uid: 0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
    "x cGFzc3dvcmQ6IGh1bnRlcjI=",
    "GET /a%20b%2Fc?x=%7B%7D&y=%70%61%73%73",
    "{\"token\":\"hunter2A\"}",
];

#[test]
fn lines_come_out_alike_in_any_chunking() {
    let mut draws = crate::draws::Draws::new();
    for _ in 0..300 {
        // More than what is looked at before anything is decided.
        let lines = (0..60 + draws.below(40)).map(|_| draws.of(&LINES));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        let text = format!("begin\n{text}");
        let whole = clean(Content::Text, &text, text.len());
        for chunk in [1, 7, 64, 1 + draws.below(text.len())] {
            assert_eq!(clean(Content::Text, &text, chunk), whole, "{chunk} {text}");
        }
    }
}

#[test]
fn the_end_of_gzip_in_base64_is_no_short_token() {
    for packed in [
        "H4sIAAAAAAAA/9PIK9Y1Nk+1NE7VBACh+LsTCwAAAA==",
        "H4sIAAAAAAAA/9PIK9Y1NU+yMLfQBAAr/etyCwAAAA==",
        "H4sIAAAAAAAA/9PIK9Y1M0+2NDTVBACcq/x3CwAAAA==",
        "H4sIAAAAAAAA/9PIK9Y1ME+zSDTTBADAC+EjCwAAAA==",
    ] {
        let line = format!("blob {packed}\n");
        assert_eq!(clean(Content::Text, &line, 4096), line);
    }
}
