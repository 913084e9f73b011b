//! Which kinds of change have a row on a real program: `docs/changes.md`, and what the others lack.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use casefile_analyzer::change::Change;
use casefile_tests::bins;

use super::{Row, booted, crio, helm, rows, templates};
use crate::fix_cluster;

/// Kinds whose step is a person's: a script runs nothing of it, so there is no program to run it with.
const BY_HAND: [(&str, &str); 4] = [
    ("manual", "A person does it."),
    (
        "package",
        "A person installs it with the node's package manager or the operator that owns it.",
    ),
    ("hardware", "A person resets or replaces the part."),
    ("reboot", "A person drains the node and starts it anew."),
];

const HEAD: &str = "# Kinds of change, and the real programs that they were tried on

Written by `CASEFILE_UPDATE=1 cargo test -p casefile-tests --test e2e fix_real::kinds`, and compared by it. Each row is a change of that kind
that a test hands to the program, once as the rule proposes it, in part also as a wrong change that must not help; what the program then does
is compared with what the replay said, and with what `apply.sh --back` leaves.

| kind | tried on |
|---|---|
";

fn all() -> Vec<Row> {
    let mut all: Vec<Row> = rows::ROWS.to_vec();
    all.extend(booted::rows());
    all.extend(fix_cluster::rows());
    all.extend(helm::rows());
    all.extend([crio::ROW, templates::row("")]);
    all
}

/// The kinds that a row's title names, without what it says in brackets.
fn kinds_of(row: &Row) -> impl Iterator<Item = &'static str> {
    let title = row.kind.split(" (").next().unwrap_or_default();
    title.split(", ").filter_map(|part| part.split(' ').next())
}

#[test]
fn each_kind_of_change_has_a_row_on_a_real_program_or_is_a_persons() {
    let mut programs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in all() {
        for kind in kinds_of(&row) {
            let own = programs.entry(kind).or_default();
            if !own.contains(&row.program) {
                own.push(row.program);
            }
        }
    }
    let mut now = HEAD.to_owned();
    for file in Change::KINDS {
        let kind = file.replace('_', "-");
        let by_hand = BY_HAND.iter().find(|(own, _)| *own == kind);
        let tried = match (programs.get(kind.as_str()), by_hand) {
            (_, Some((_, why))) => (*why).to_owned(),
            (Some(own), None) => own.join("; "),
            (None, None) => panic!("{kind} has no row on a real program"),
        };
        let _ = writeln!(now, "| `{kind}` | {tried} |");
    }
    let path = bins::checkout().join("docs/changes.md");
    if std::env::var_os("CASEFILE_UPDATE").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let read = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        read == now,
        "docs/changes.md names other rows: run this with CASEFILE_UPDATE=1"
    );
}
