//! SQL over what shards wrote, and over files of other releases.

use std::collections::BTreeMap;
use std::path::Path;

use casefile_fleet::columns::write as parquet;
use casefile_fleet::commit::commits;
use casefile_fleet::plan::files;
use casefile_fleet::rows::{Cell, Rows};
use casefile_fleet::schema::{Column, Kind, Table, table};
use casefile_fleet::shard::{Settings, Shard, run};
use casefile_fleet::sql::{Engine, Source};
use casefile_fleet::store::Store;

use crate::{fleet, limits, program};

fn output(from: &Path, to: &Path) -> Store {
    let settings = Settings {
        shard: Shard { index: 0, count: 1 },
        buckets: 4,
        jobs: 2,
        program: program(),
        limits: limits(),
        max_size: 1 << 20,
        retry_failed: false,
        judge: "test".to_owned(),
    };
    let open = |folder: &Path| Store::open(folder.to_str().unwrap(), true).unwrap();
    run(&open(from), &open(to), &settings, &|_| {}).unwrap();
    open(to)
}

#[test]
fn questions_are_answered_over_the_files_of_all_buckets() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fleet(from.path(), 30);
    let store = output(from.path(), to.path());
    let files = files(&commits(&store).unwrap());
    let engine = Engine::open(vec![Source::Files(&store, files.clone())]).unwrap();
    let answer = engine
        .ask("SELECT cause, count(*) FROM incidents GROUP BY 1")
        .unwrap();
    assert_eq!(answer.texts().unwrap(), [["gpu-fallen-off-bus", "3"]]);
    let column = engine.ask("SELECT node, cluster FROM bundles LIMIT 1");
    assert_eq!(column.unwrap().texts().unwrap()[0][1], "c1");
    let objects = engine.ask(
        "SELECT count(*) AS n, bool_or(error IS NULL) AS whole, max(interrupted) AS interrupted FROM bundles",
    );
    assert_eq!(
        objects.unwrap().objects().unwrap(),
        [serde_json::json!({"n": 30, "whole": true, "interrupted": null})]
    );
    let empty = engine.ask("SELECT * FROM gpus").unwrap();
    assert!(empty.is_empty());
    // The same output twice: every bundle still counts once.
    let twice = Engine::open(vec![
        Source::Files(&store, files.clone()),
        Source::Files(&store, files),
    ]);
    let counted = twice
        .unwrap()
        .ask("SELECT count(*), count(error) FROM bundles")
        .unwrap();
    assert_eq!(counted.texts().unwrap(), [["30", "1"]]);
}

#[test]
fn nothing_is_written_by_a_question() {
    let engine = Engine::open(vec![Source::Rows(Rows::default())]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.parquet").display().to_string();
    for question in [
        format!("COPY (SELECT 1) TO '{file}'"),
        "DROP TABLE bundles".to_owned(),
        "CREATE TABLE x AS SELECT 1".to_owned(),
        "INSERT INTO bundles (bundle) VALUES ('x')".to_owned(),
        "SET datafusion.execution.batch_size = 1".to_owned(),
    ] {
        assert!(engine.ask(&question).is_err(), "{question}");
    }
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
    let wrong = engine.ask("SELECT nodename FROM bundles").err().unwrap();
    assert!(wrong.to_string().contains("nodename"), "{wrong}");
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column {
        name,
        kind,
        since: 1,
        doc: "",
    }
}

#[test]
fn files_of_three_releases_lie_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap(), false).unwrap();
    static OLDEST: [Column; 2] = [column("bundle", Kind::Text), column("node", Kind::Text)];
    static NEXT: [Column; 4] = [
        column("bundle", Kind::Text),
        column("node", Kind::Text),
        column("gpus", Kind::Int),
        column("of the future", Kind::Text),
    ];
    let old = |columns: &'static [Column]| -> &'static Table {
        Box::leak(Box::new(Table {
            name: "bundles",
            doc: "",
            columns,
        }))
    };
    let mut paths = Vec::new();
    let mut put = |table: &'static Table, digest: &str, cells: Vec<Cell>| {
        let mut row = vec![Cell::text(digest)];
        row.extend(cells);
        let mut rows = Rows::default();
        rows.push(table, row);
        let path = format!("{digest}.parquet");
        store.put(&path, parquet(table, &rows).unwrap()).unwrap();
        paths.push(path);
    };
    put(old(&OLDEST), "a", vec![Cell::text("gpu-1")]);
    put(
        old(&NEXT),
        "b",
        vec![Cell::text("gpu-2"), Cell::Int(8), Cell::text("x")],
    );
    let now = table("bundles").unwrap();
    let cells = now.columns[1..].iter().map(|column| match column.name {
        "node" => Cell::text("gpu-3"),
        "gpus" => Cell::Int(4),
        _ => Cell::Null,
    });
    put(now, "c", cells.collect());
    let files = BTreeMap::from([("bundles".to_owned(), paths)]);
    let engine = Engine::open(vec![Source::Files(&store, files)]).unwrap();
    let answer = engine
        .ask("SELECT node, gpus FROM bundles ORDER BY node")
        .unwrap();
    assert_eq!(
        answer.texts().unwrap(),
        [["gpu-1", ""], ["gpu-2", "8"], ["gpu-3", "4"]]
    );
}
