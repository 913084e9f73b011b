//! What goes with what, asked of tables.

use casefile_fleet::fleet_odd::{look, unknown_messages};
use casefile_fleet::odd::{Threshold, Unit};
use casefile_fleet::rows::{Cell, Rows};
use casefile_fleet::schema::table;
use casefile_fleet::sql::{Engine, Source};

fn push(rows: &mut Rows, name: &str, cells: &[(&str, Cell)]) {
    let table = table(name).unwrap();
    let cell = |column: &str| {
        let found = cells.iter().find(|(name, _)| *name == column);
        found.map_or(Cell::Null, |(_, cell)| cell.clone())
    };
    let row = table.columns.iter().map(|column| cell(column.name));
    rows.push(table, row.collect());
}

/// A bundle of a node with its settings; `night` makes it newer.
fn bundle(rows: &mut Rows, node: usize, night: i64, sick: bool, settings: &[(&str, String)]) {
    let digest = format!("{node}-{night}");
    let cluster = format!("c{}", node / 50);
    let of = [
        ("bundle", Cell::text(&digest)),
        ("n", Cell::Int(0)),
        ("node", Cell::text(&format!("gpu-{node}"))),
        ("cluster", Cell::text(&cluster)),
    ];
    let with = |more: &[(&'static str, Cell)]| [&of[..], more].concat();
    push(rows, "bundles", &with(&[("finished", Cell::Time(night))]));
    if sick {
        let incident = [
            ("cause", Cell::text("fault")),
            ("verdict", Cell::text("confirmed")),
        ];
        push(rows, "incidents", &with(&incident));
    }
    for (name, value) in settings {
        let setting = [
            ("scope", Cell::text("node")),
            ("kind", Cell::text("sysctl")),
            ("name", Cell::text(name)),
            ("value", Cell::text(value)),
        ];
        push(rows, "settings", &with(&setting));
    }
}

/// 600 nodes in 12 clusters. Of each cluster the nodes with `x = 1` are half of those that are sick or more; `y` is drawn
/// without regard to it, and `z` is the cluster's own.
fn fleet(goes_together: bool) -> Rows {
    let mut rows = Rows::default();
    for node in 0..600 {
        let x = node % 4;
        let sick = if goes_together {
            x == 1 && node % 3 != 0
        } else {
            node % 5 == 2
        };
        let settings = [
            ("x", x.to_string()),
            ("y", (node / 7 % 3).to_string()),
            ("z", (node / 50).to_string()),
        ];
        bundle(&mut rows, node, 2, sick, &settings);
        // The night before all were sick and set otherwise, which no longer counts.
        bundle(&mut rows, node, 1, true, &[("x", "9".to_owned())]);
    }
    rows
}

#[test]
fn a_value_that_the_sick_ones_of_the_last_night_have_is_found_and_no_other() {
    let engine = Engine::open(vec![Source::Rows(fleet(true))]).unwrap();
    let looked = look(&engine, Threshold::default()).unwrap();
    assert_eq!((looked.nodes, looked.causes), (600, 1));
    let found = &looked.findings;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&*found[0].value.name, &*found[0].value.value), ("x", "1"));
    assert_eq!(found[0].of, Unit::Nodes);
    assert_eq!((found[0].counts.both, found[0].counts.sick), (100, 100));
    assert!(
        found[0].between.0 > 3.0 && found[0].chance < 1e-9,
        "{found:?}"
    );
}

#[test]
fn nothing_is_found_where_nothing_goes_together() {
    let engine = Engine::open(vec![Source::Rows(fleet(false))]).unwrap();
    let looked = look(&engine, Threshold::default()).unwrap();
    assert!(
        looked.comparisons > 5 && looked.findings.is_empty(),
        "{looked:?}"
    );
}

#[test]
fn messages_without_a_rule_are_counted_by_nodes() {
    let mut rows = Rows::default();
    for (node, known, count) in [("a", false, 5), ("b", false, 1), ("c", true, 9)] {
        let cells = [
            ("bundle", Cell::text(node)),
            ("node", Cell::text(node)),
            ("speaker", Cell::text("kernel")),
            ("template", Cell::text(if known { "old" } else { "new #" })),
            ("example", Cell::text("new 7")),
            ("count", Cell::Int(count)),
            ("known", Cell::Bool(known)),
        ];
        push(&mut rows, "said", &cells);
    }
    let engine = Engine::open(vec![Source::Rows(rows)]).unwrap();
    let messages = unknown_messages(&engine, 5).unwrap();
    assert_eq!(messages, [["kernel", "new #", "2", "6", "new 7"]]);
}
