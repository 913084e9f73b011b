use super::super::compile::{Trust, compile};
use super::super::messages::Vocabulary;

const GOOD: &str = "\
id: a
title: A thing broke
family: node
severity: low
signals:
  seen:
    line: 'thing (?P<name>\\w+) broke'
    says: the thing {name} broke
  fact:
    fact: pod
    where: { phase: Pending }
    says: '{namespace}/{name} waits'
likely:
  - all: [seen]
summary: It was {seen.name}.
refuted_by: [{ state: all-well }]
";

fn errors(text: &str) -> Vec<String> {
    match compile(
        "dir/a.yaml",
        text,
        Trust::Foreign,
        &Vocabulary::default(),
        &mut Vec::new(),
    ) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

/// What the checker says of the good rule with one text replaced.
fn says(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    errors(&GOOD.replace(from, to)).join("\n")
}

#[test]
fn each_kind_of_mistake_is_said_with_its_place() {
    assert!(errors(GOOD).is_empty(), "{:?}", errors(GOOD));
    for (from, to, place, what) in [
        ("fact: pod", "fact: pud", ":10:11", "unknown fact"),
        ("phase:", "fase:", ":11:14", "no field"),
        ("all: [seen]", "all: [sen]", ":14:11", "unknown signal"),
        ("{seen.name}", "{seen.nam}", ":15:17", "not known here"),
        (
            "thing {name} broke",
            "thing {nam} broke",
            ":8:21",
            "not known here",
        ),
        ("(?P<name>", "(?P<name", ":7:5", "does not compile"),
        (
            "phase: Pending",
            "phase: { not: { matches: 'Pend(ing' } }",
            ":11:14",
            "field phase: expression does not compile",
        ),
        (
            "'thing (?P<name>\\w+) broke'",
            "'(?P<name>\\w+)'",
            ":7:5",
            "no text of",
        ),
        (
            "family: node",
            "family: node\nneeds: [jurnal]",
            ":4:9",
            "unknown source",
        ),
        (
            "family: node",
            "family: node\ntables: [egress]",
            ":4:10",
            "unknown table",
        ),
        (
            "family: node",
            "family: node\nchain: [[x, y], [y, x]]",
            "",
            "leads back",
        ),
        (
            "refuted_by: [{ state: all-well }]",
            "",
            ":1:5",
            "nothing speaks against it",
        ),
        ("state: all-well", "signal: sen", ":16:", "unknown signal"),
        (
            "likely:\n  - all: [seen]",
            "confirmed:\n  - all: [seen, fact]",
            ":14:",
            "says under same what they share",
        ),
        (
            "'thing (?P<name>\\w+) broke'",
            "'(?P<name>\\w+) not found'\n    in: [journal]",
            ":7:5",
            "no channel reaches",
        ),
        (
            "line: 'thing (?P<name>\\w+) broke'",
            "message: kubelet/nothing",
            ":",
            "unknown message",
        ),
        ("id: a", "id: b", ":1:5", "the file's name"),
        ("severity: low", "severty: low", ":", "severty"),
    ] {
        let said = says(from, to);
        assert!(said.contains(&format!("dir/a.yaml{place}")), "{said}");
        assert!(said.contains(what), "{said}");
    }
}

#[test]
fn all_mistakes_of_a_file_are_said_at_once() {
    let text = GOOD
        .replace("fact: pod", "fact: pud")
        .replace("[seen]", "[sen]");
    assert_eq!(errors(&text).len(), 2);
}
