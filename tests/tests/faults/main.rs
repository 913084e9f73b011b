//! The fault table: each fault is put in for real, the collector runs, and the row says what its manifest says of it
//! and that the rest is there. `cargo test -p casefile-tests --test faults` prints the table.

#![expect(clippy::unwrap_used, reason = "a row that cannot be set up has failed")]

mod api;
mod charts;
mod charts_more;
mod children;
mod desk;
mod evidence;
mod files;
mod kubeconfig_kinds;
mod kubeconfigs;
mod lab;
mod limits;
mod output;
mod page;
mod person;
mod run;
mod secrets;
mod site;
mod tools;

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use desk::{Row, Seen};

/// Rows at a time: most of them wait.
const AT_ONCE: usize = 6;

fn all_rows() -> Vec<Row> {
    [
        // The longest come first, so that no other waits for them at the end.
        evidence::ROWS,
        tools::ROWS,
        children::ROWS,
        api::ROWS,
        output::ROWS,
        run::ROWS,
        limits::ROWS,
        files::ROWS,
        secrets::ROWS,
        kubeconfigs::ROWS,
        kubeconfig_kinds::ROWS,
        site::ROWS,
        person::ROWS,
    ]
    .concat()
}

#[test]
fn every_fault_costs_its_own_part_and_the_rest_is_complete() {
    let wanted = std::env::var("CASEFILE_FAULT").unwrap_or_default();
    let mut rows = all_rows();
    rows.retain(|row| row.fault.contains(&wanted));
    let queue = Mutex::new(rows.iter().enumerate());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some((at, row)) = queue.lock().unwrap().next() else {
                        return;
                    };
                    let seen = catch_unwind(AssertUnwindSafe(|| (row.run)()));
                    done.lock().unwrap().push((at, *row, seen.ok()));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, ..)| *at);
    let table: String = done.iter().map(|(_, row, seen)| line(row, seen)).collect();
    let head = format!(
        "{:<50} | {:>7} | {:<78} | rest\n{}\n",
        "fault",
        "took",
        "what the manifest (or the program) says",
        "-".repeat(200)
    );
    // Past the harness, which hides what a passing test prints.
    let _ = write!(std::io::stderr(), "\n{head}{table}");
    let broken: Vec<_> = done
        .iter()
        .filter(|(_, _, seen)| seen.is_none())
        .map(|(_, row, _)| row.fault)
        .collect();
    assert!(broken.is_empty(), "failed rows: {broken:?}");
    let shown = done
        .iter()
        .filter(|(_, _, seen)| matches!(seen, Some(Ok(_))));
    assert!(!wanted.is_empty() || shown.count() >= 25);
}

fn line(row: &Row, seen: &Option<Result<Seen, String>>) -> String {
    match seen {
        Some(Ok(seen)) => format!(
            "{:<50} | {:>5.1} s | {:<78} | {}\n",
            row.fault,
            seen.took.as_secs_f64(),
            short(&seen.said),
            seen.rest
        ),
        Some(Err(why)) => format!("{:<50} | skipped: {why}\n", row.fault),
        None => format!("{:<50} | FAILED, see above\n", row.fault),
    }
}

fn short(text: &str) -> String {
    let text = text.replace('\n', "; ");
    if text.chars().count() <= 78 {
        return text;
    }
    text.chars().take(77).chain(['…']).collect()
}
