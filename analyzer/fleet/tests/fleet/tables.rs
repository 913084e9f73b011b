//! Tables as files.

use arrow::array::AsArray as _;
use casefile_fleet::analysed::{Analysed, Origin};
use casefile_fleet::columns::{ColumnsError, check, read, write};
use casefile_fleet::rows::Rows;
use casefile_fleet::schema::{Column, Kind, TABLES, Table, VERSION, table};
use serde_json::json;

fn rows() -> Rows {
    let report = json!({
        "title": "GPU 0 fell off the bus",
        "tool": "casefile-analyzer 0.1.0",
        "input": {"node": "gpu-1", "finished": "2026-11-20T10:00:00Z", "cut_short": false},
        "incidents": [{
            "cause": {"id": "gpu-fallen-off-bus", "title": "GPU 0 fell off the bus"},
            "verdict": "confirmed", "severity": "high", "subjects": ["node/gpu-1"],
            "evidence": [{"role": "for", "says": "x", "path": "a", "line": 3, "text": "Xid 79", "count": 2}],
            "symptoms": ["2 pods fail"],
        }],
        "coverage": [{"source": "journal", "outcome": "collected", "missing": []}],
        "state": {"nodes": [{"name": "gpu-1", "ready": true, "cards": [{"bus_id": "0000:81:00.0"}]}]},
    });
    let analysed = Analysed {
        report,
        ..Analysed::default()
    };
    analysed.rows(&origin())
}

fn origin() -> Origin {
    Origin {
        digest: "d".repeat(64),
        input: "a.tar.gz".to_owned(),
        bytes: 10,
    }
}

#[test]
fn a_report_becomes_rows_and_the_same_rows_the_same_bytes() {
    let incidents = table("incidents").unwrap();
    let (first, second) = (
        write(incidents, &rows()).unwrap(),
        write(incidents, &rows()).unwrap(),
    );
    assert!(first == second);
    let batches = read(first.clone().into()).unwrap();
    assert_eq!(batches[0].num_rows(), 1);
    assert_eq!(check(incidents, first.into()).unwrap(), (VERSION, 1));
    for name in [
        "bundles", "nodes", "gpus", "evidence", "symptoms", "coverage",
    ] {
        assert_eq!(rows().of(table(name).unwrap()).len(), 1, "{name}");
    }
}

#[test]
fn a_report_of_another_release_has_nulls_where_it_lacks_fields() {
    let analysed = Analysed {
        report: json!({"schema": "casefile.report/1", "incidents": [{"verdict": "likely"}], "from the future": 1}),
        ..Analysed::default()
    };
    let rows = analysed.rows(&origin());
    for table in TABLES {
        write(table, &rows).unwrap();
    }
    assert_eq!(rows.of(table("incidents").unwrap()).len(), 1);
}

#[test]
fn a_bundle_that_lost_bytes_in_its_middle_says_so_in_its_row() {
    let lost = json!({"path": "journal/kernel.json", "text": "512 bytes lost"});
    let analysed = Analysed {
        report: json!({"problems": [lost, {"path": "", "text": "something else"}]}),
        ..Analysed::default()
    };
    let file = write(table("bundles").unwrap(), &analysed.rows(&origin())).unwrap();
    let batches = read(file.into()).unwrap();
    let problem = batches[0].column_by_name("problem").unwrap();
    assert_eq!(
        problem.as_string::<i32>().value(0),
        "journal/kernel.json: 512 bytes lost"
    );
}

#[test]
fn a_bundle_with_endless_lines_gives_no_endless_tables() {
    let line = json!({"source": "x", "outcome": "collected", "why": "y".repeat(10_000)});
    let analysed = Analysed {
        report: json!({"coverage": vec![line; 6_000]}),
        ..Analysed::default()
    };
    let coverage = table("coverage").unwrap();
    let rows = analysed.rows(&origin());
    assert_eq!(rows.of(coverage).len(), 5_000);
    assert!(write(coverage, &rows).unwrap().len() < 5_000 * 5_000);
}

#[test]
fn a_file_that_is_no_parquet_or_another_one_s_is_refused_with_its_column() {
    let nodes = table("nodes").unwrap();
    assert!(matches!(
        check(nodes, b"PAR1 and nothing"[..].to_vec().into()),
        Err(ColumnsError::Parquet(_))
    ));
    static FOREIGN: [Column; 1] = [Column {
        name: "ready",
        kind: Kind::Text,
        since: 1,
        doc: "",
    }];
    let foreign = Table {
        name: "nodes",
        doc: "",
        columns: &FOREIGN,
    };
    let file = write(&foreign, &Rows::default()).unwrap();
    let error = check(nodes, file.into()).unwrap_err();
    assert!(error.to_string().contains("`ready`"), "{error}");
}
