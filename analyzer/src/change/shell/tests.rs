//! Whatever a text holds, a shell takes it as one word, and a program as a name.

use std::process::Command as Process;

use proptest::prelude::*;

use super::{Dialect, Line, Program, Script, Test, one_line, run};

/// Text of the kind that breaks scripts.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("'".to_owned()),
        Just("\"".to_owned()),
        Just("$(touch PWNED)".to_owned()),
        Just("`touch PWNED`".to_owned()),
        Just(";touch PWNED;".to_owned()),
        Just("\n".to_owned()),
        Just("\\".to_owned()),
        Just("-n".to_owned()),
        Just("--".to_owned()),
        Just("*".to_owned()),
        Just("~".to_owned()),
        Just("!x".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("${PATH}".to_owned()),
        "[ -~]{0,8}",
    ];
    prop::collection::vec(piece, 0..6).prop_map(|parts| parts.concat())
}

/// What bash prints for a script, in an empty folder.
fn bash(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, text).unwrap();
    let output = Process::new("/bin/bash")
        .arg(&script)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(!folder.path().join("PWNED").exists(), "{text}");
    String::from_utf8(output.stdout).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_word_is_the_text_that_it_was_made_of(text in hostile()) {
        let script = Script::from(run(Program::Printf).word("%s\\n").text(text.clone()));
        prop_assert_eq!(script.unfit().is_some(), text.starts_with('-'));
        if script.unfit().is_none() {
            prop_assert_eq!(bash(&script.render(Dialect::Script)), format!("{text}\n"));
        }
    }

    #[test]
    fn a_name_with_a_dash_is_behind_the_end_of_options(text in hostile()) {
        let script = Script::from(run(Program::Kubectl).words(&["delete", "-o", "name"]).text(format!("-{text}")));
        let line = script.render(Dialect::Script);
        prop_assert!(line.starts_with("kubectl delete -o name -- "), "{}", line);
        let firewall = Script::from(run(Program::Ufw).word("route").text(format!("-{text}")));
        prop_assert!(firewall.unfit().is_some());
    }

    #[test]
    fn what_people_read_is_one_line(text in hostile()) {
        let obeyed = one_line(&text).chars().any(|c| c.is_control() || c == '\u{202e}');
        prop_assert!(!obeyed, "{:?}", text);
    }
}

#[test]
fn a_long_text_is_one_word() {
    let text = "'$(x)`y`\"\n;".repeat(64 << 10 >> 4);
    let script = Script::from(run(Program::Printf).word("%s").text(text.clone()));
    assert_eq!(bash(&script.render(Dialect::Script)), text);
}

#[test]
fn programs_are_known_from_all_branches() {
    let test = Test::Succeeds(run(Program::Ufw).word("status").into());
    let script = Script::default().then(Line::If(
        test,
        run(Program::Kubectl).word("get").into(),
        run(Program::Helm)
            .word("list")
            .pipe(run(Program::Grep).text("x"))
            .into(),
    ));
    let names: Vec<&str> = script.programs().into_iter().map(Program::name).collect();
    assert_eq!(names, ["grep", "helm", "kubectl", "ufw"]);
}
